"""What is wrong, where, and what to change: problems as values, and the form in which HTTP carries them.

Texts that an agent wrote are data in a message too: they are quoted through `quoted`, which shortens them and lets no
control character, bidirectional override or other invisible letter through.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from functions.domain.codes import Code, entry_of
from functions.domain.outcome import Frozen, ShortText

__all__ = [
    "PROBLEM_JSON",
    "Code",
    "Problem",
    "ProblemDetails",
    "clean",
    "is_temporary",
    "listed",
    "pointer",
    "problem",
    "quoted",
]

PROBLEM_JSON = "application/problem+json"
MOST_PROBLEMS = 100
_MOST_ALLOWED = 100
_TEXT = 500
_TOKEN = 100
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_TYPE = "urn:sagaplane:problem:"

Name = Annotated[str, StringConstraints(min_length=1, max_length=_TOKEN)]


def clean(text: str, most: int = _TEXT) -> str:
    """`text` in at most `most` characters, with U+FFFD in place of everything that cannot be seen."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    return "".join("\ufffd" if unicodedata.category(c) in _INVISIBLE else c for c in short)


def quoted(value: object, most: int = 80) -> str:
    """A foreign value inside one of our sentences: cleaned, shortened, and visibly a quotation."""
    return f"“{clean(value if isinstance(value, str) else repr(value), most)}”"


def pointer(*tokens: str | int) -> str:
    """JSON Pointer (RFC 6901) to a place in the document. Tokens over 100 characters are cut short, ending in “…”."""
    return "".join(
        "/" + clean(str(t), _TOKEN).replace("~", "~0").replace("/", "~1") for t in tokens
    )


class Problem(Frozen):
    """One thing to change. Codes are stable, messages are not.

    `pointer` is the place in the document that was sent ("" is the whole of it), `step` the id that the sender gave to
    the step, `hint` what to change, `allowed` what would be accepted in that place, where that can be listed.
    """

    code: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
    pointer: Annotated[str, StringConstraints(max_length=1000)] = ""
    step: Annotated[str, StringConstraints(max_length=64)] | None = None
    message: ShortText
    hint: ShortText
    allowed: Annotated[
        tuple[Name, ...] | None,
        Field(max_length=_MOST_ALLOWED, exclude_if=lambda names: names is None),
    ] = None


def problem(
    code: str,
    message: str,
    hint: str,
    *,
    at: Sequence[str | int] = (),
    step: str | None = None,
    allowed: Iterable[str] | None = None,
) -> Problem:
    """A problem whose parts fit, whatever they were made from. `at` is the path to the place, from the root."""
    names = None if allowed is None else tuple(clean(name, _TOKEN) for name in allowed if name)
    return Problem(
        code=str(code),
        pointer=clean(pointer(*at), 1000),
        step=step,
        message=clean(message),
        hint=clean(hint),
        allowed=None if names is None else names[:_MOST_ALLOWED],
    )


def listed(problems: Sequence[Problem]) -> list[Problem]:
    """At most 100 problems; a last one says how many more there are."""
    if len(problems) <= MOST_PROBLEMS:
        return list(problems)
    kept = list(problems[: MOST_PROBLEMS - 1])
    rest = problem(
        Code.TOO_MANY_PROBLEMS,
        f"{len(problems) - len(kept)} further problems are not listed.",
        "Correct those that are listed, then send it again.",
    )
    return [*kept, rest]


def is_temporary(problems: Sequence[Problem]) -> bool:
    """Whether nothing but a lack of answers stands against it: then nothing was decided, and no attempt counts."""
    return bool(problems) and all(
        entry_of(p.code).status == Code.UNAVAILABLE.status for p in problems
    )


class ProblemDetails(Frozen):
    """RFC 9457, `application/problem+json`: the summary and every single problem.

    `attempts_left` and `saga_id` are there where they say something.
    """

    type: Annotated[str, StringConstraints(max_length=200)]
    title: ShortText
    status: Annotated[int, Field(ge=400, le=599)]
    detail: ShortText
    instance: Annotated[str, StringConstraints(max_length=300)] | None = None
    problems: Annotated[tuple[Problem, ...], Field(max_length=MOST_PROBLEMS)]
    attempts_left: Annotated[int, Field(ge=0)] | None = None
    saga_id: Annotated[str, StringConstraints(max_length=64)] | None = None

    @classmethod
    def of(
        cls,
        problems: Sequence[Problem],
        *,
        instance: str | None = None,
        attempts_left: int | None = None,
        saga_id: str | None = None,
    ) -> ProblemDetails:
        """The answer for these problems (at least one).

        One kind of problem speaks for itself; several kinds are `plan_rejected`. The lowest status wins: what the
        sender must change comes before what only time can change.
        """
        codes = {p.code for p in problems}
        entry = entry_of(problems[0].code) if len(codes) == 1 else Code.PLAN_REJECTED
        code = problems[0].code if len(codes) == 1 else entry.value
        return cls(
            type=_TYPE + code,
            title=entry.summary,
            status=min(entry_of(p.code).status for p in problems),
            detail=problems[0].message if len(problems) == 1 else f"{len(problems)} problems.",
            instance=instance,
            problems=tuple(listed(problems)),
            attempts_left=attempts_left,
            saga_id=saga_id,
        )

    def body(self) -> dict[str, Any]:
        """The JSON object to send, without the members that say nothing."""
        dumped = self.model_dump(mode="json")
        optional: tuple[Literal["instance", "attempts_left", "saga_id"], ...] = (
            "instance",
            "attempts_left",
            "saga_id",
        )
        return {k: v for k, v in dumped.items() if k not in optional or v is not None}
