"""The people's page as files: which there are, how they are sent, and what they may never hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.handlers import console

AUTH = "https://sagaplane-production-1.auth.us-east-1.amazoncognito.com"
SOURCES = sorted(console.STATIC.iterdir())
SCRIPTS = [path for path in SOURCES if path.suffix == ".js"]
IMPORT = re.compile(r"""^import [^;]*? from "([^"]+)";$""", re.MULTILINE)


@pytest.fixture(autouse=True)
def _deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AUTH_URL", AUTH)
    monkeypatch.setenv("CLIENT_ID", "the-people-s-client")
    for made in (console._files, console._headers):
        made.cache_clear()
    yield
    for made in (console._files, console._headers):
        made.cache_clear()


def get(file: str | None = None, **headers: str) -> dict[str, Any]:
    parameters = {"pathParameters": {"file": file}} if file is not None else {}
    return console.handler({**parameters, "headers": headers}, None)


def policy(answer: dict[str, Any]) -> dict[str, str]:
    directives = answer["headers"]["content-security-policy"].split("; ")
    return dict(directive.split(" ", 1) for directive in directives)


def test_the_page_itself_is_answered_where_no_file_is_named() -> None:
    answer = get()
    assert answer["statusCode"] == 200
    assert answer["headers"]["content-type"] == "text/html; charset=utf-8"
    assert answer["body"].startswith("<!doctype html>")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_every_file_of_the_folder_is_sent_as_what_it_is(path: Path) -> None:
    answer = get(path.name)
    assert (answer["statusCode"], answer["body"]) == (200, path.read_text(encoding="utf-8"))
    assert answer["headers"]["content-type"].startswith(
        {
            ".js": "text/javascript",
            ".css": "text/css",
            ".html": "text/html",
            ".svg": "image/svg+xml",
        }[path.suffix]
    )


@pytest.mark.parametrize(
    "name",
    [
        "../console.py",
        "..%2fconsole.py",
        "static/app.js",
        "/etc/passwd",
        "app.js/",
        "APP.JS",
        "app.js\x00.html",
        ".",
        "__init__.py",
        "constructor",
    ],
)
def test_nothing_else_can_be_asked_for(name: str) -> None:
    answer = get(name)
    assert answer["statusCode"] == 404
    assert answer["body"] == "There is no such file.\n"


def test_a_browser_that_has_a_file_is_told_so_and_gets_nothing_twice() -> None:
    first = get("app.js")
    etag = first["headers"]["etag"]
    for held in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = get("app.js", **{"if-none-match": held})
        assert (again["statusCode"], again["body"]) == (304, "")
        assert again["headers"]["etag"] == etag
    assert get("app.js", **{"if-none-match": '"other"'})["statusCode"] == 200
    assert get("dom.js")["headers"]["etag"] != etag


def test_a_file_is_asked_for_again_each_time_so_that_a_deployment_is_seen_at_once() -> None:
    assert get("app.js")["headers"]["cache-control"] == "no-cache"


def test_the_configuration_says_where_to_sign_in_and_nothing_else() -> None:
    answer = get("config.json")
    assert json.loads(answer["body"]) == {"auth_url": AUTH, "client_id": "the-people-s-client"}
    assert answer["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize("file", [None, "app.js", "config.json", "nowhere"])
def test_every_answer_lets_the_page_run_its_own_scripts_and_reach_the_api_and_the_sign_in_only(
    file: str | None,
) -> None:
    answer = get(file)
    assert policy(answer) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": f"'self' {AUTH}",
        "form-action": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    headers = answer["headers"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_the_page_holds_no_script_and_no_style_of_its_own() -> None:
    page = get()["body"]
    assert re.findall(r"<script(?![^>]* src=\"console/)", page) == []
    assert "<style" not in page
    assert re.findall(r"\s(?:on\w+|style)=", page) == []


def test_addresses_in_the_page_are_relative_so_that_it_works_under_any_path() -> None:
    named = re.findall(r"(?:src|href)=\"([^\"]+)\"", get()["body"])
    assert named
    assert [n for n in named if not n.startswith(("console/", "#"))] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_no_script_can_turn_a_text_into_markup_or_code(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    ways = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|"
        r"\beval\b|new Function|setTimeout\([\"'`]|setInterval\([\"'`]|javascript:|\.cssText|setHTML|import\(",
    )
    assert ways.findall(source) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_elements_are_made_in_one_place(path: Path) -> None:
    made = re.findall(r"\.createElement(?:NS)?\(", path.read_text(encoding="utf-8"))
    assert bool(made) == (path.name == "dom.js")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_a_script_imports_files_that_are_there_and_reaches_nothing_outside(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    for imported in IMPORT.findall(source):
        assert imported.startswith("./"), imported
        assert (console.STATIC / imported).exists(), imported
    addresses = set(re.findall(r"https?://[^\"'`\s]+", source))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "localStorage" not in source
    assert "cookie" not in source


def test_every_script_is_asked_for_at_once_and_not_one_after_the_other() -> None:
    preloaded = set(re.findall(r"modulepreload\" href=\"console/([^\"]+)\"", get()["body"]))
    assert preloaded == {path.name for path in SCRIPTS} - {"app.js"}


def test_each_script_is_small_enough_to_read() -> None:
    assert {p.name: n for p in SCRIPTS if (n := len(p.read_text().splitlines())) > 300} == {}
