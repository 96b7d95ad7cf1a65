"""Reads the sign-in form out of a hosted page, so that a script can fill it in as a browser would."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(slots=True)
class Form:
    """Where it goes, what it carries along, and what its two visible fields are called."""

    action: str
    hidden: dict[str, str] = field(default_factory=dict)
    username: str = ""
    password: str = ""


def sign_in_form(page: str) -> Form | None:
    """The first form of the page that asks for a name and a password."""
    reader = _Reader()
    reader.feed(page)
    return next((form for form in reader.forms if form.username and form.password), None)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", "")))
        elif tag == "input" and self.forms and given.get("name"):
            self._input(self.forms[-1], given)

    @staticmethod
    def _input(form: Form, given: dict[str, str]) -> None:
        match given.get("type", "text"):
            case "hidden":
                form.hidden[given["name"]] = given.get("value", "")
            case "password":
                form.password = form.password or given["name"]
            case "text" | "email":
                form.username = form.username or given["name"]
