"""A plan: what an agent proposes. Data, strictly read; nothing in it is authority.

The agent chooses steps of the catalogue, with arguments, in an order (seed one, "What stays deterministic"). Its rationale
and notes are for people: no rule reads them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue, StringConstraints
from pydantic_core import PydanticCustomError

from functions.domain.keys import digest
from functions.domain.outcome import Frozen
from functions.domain.parsing import Parsed, parse_json
from functions.domain.problems import Code, Problem, listed, problem, quoted
from functions.domain.schema_problems import Path, Spot, fit

MOST_STEPS = 50

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
_STEP_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REFERENCE = re.compile(r"[!-~]{1,200}")


def _ascii(name: str) -> str:
    """A name as it is, or the one letter that makes it another name than it seems."""
    foreign = next((i for i, c in enumerate(name) if not c.isascii()), None)
    if foreign is None:
        return name
    letter = name[foreign]
    raise PydanticCustomError(
        Code.NAME_NOT_ASCII.value,
        "the character at position {position} is {letter}",
        {
            "position": foreign + 1,
            "letter": f"U+{ord(letter):04X} {unicodedata.name(letter, 'without a name')}",
            "hint": "Names are plain ASCII: copy them from the catalogue.",
        },
    )


def _some(steps: Any) -> Any:
    """Between 1 and 50 steps; what is no list is left for the type's own check."""
    if not isinstance(steps, list):
        return steps
    if 1 <= len(steps) <= MOST_STEPS:
        return tuple(
            steps
        )  # what passed a validator is no longer JSON to pydantic, where a list is no tuple
    if not steps:
        hint = "Propose at least one step of the catalogue."
        raise PydanticCustomError(Code.NO_STEPS.value, "the plan has no steps", {"hint": hint})
    raise PydanticCustomError(
        Code.TOO_MANY_STEPS.value,
        "the plan has {count} steps, and at most {most} are accepted",
        {
            "count": len(steps),
            "most": MOST_STEPS,
            "hint": "Propose fewer steps, or several requests.",
        },
    )


Name = Annotated[
    str,
    # Before the pattern, which could only say "no match" about a letter that looks right.
    BeforeValidator(lambda v: _ascii(v) if isinstance(v, str) else v),
    StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$"),
    Field(description="Lower-case letters, digits and _, beginning with a letter; at most 60."),
]
StepId = Annotated[
    str,
    StringConstraints(pattern=rf"^{_STEP_ID.pattern}$"),
    Field(description="Your own id for the step: letters, digits, _ and -; at most 64."),
]
Reference = Annotated[
    str,
    # Visible ASCII only, so that no invisible letter makes one document look like another.
    StringConstraints(pattern=rf"^{_REFERENCE.pattern}$"),
    Field(description="1 to 200 visible ASCII characters, without spaces."),
]


class Provenance(Frozen):
    """Where the plan comes from, as the agent claims it. The actor's type is taken from the token, never from here."""

    run_id: Reference
    prompt_version: Reference
    source_document_id: Reference


class PlannedStep(Frozen):
    """One step as proposed.

    `uses` says whose result is meant, by required step name, where several earlier steps could give it.
    """

    id: StepId
    name: Name
    arguments: Annotated[
        dict[str, JsonValue],
        Field(max_length=100, description="An object; see the step in the catalogue."),
    ]
    uses: Annotated[
        dict[Name, StepId],
        Field(max_length=20, description="Required step name to the id of an earlier step."),
    ] = {}


class Plan(Frozen):
    """A plan that is well formed. Whether it may run is for `validation.py`."""

    request_id: Annotated[
        str,
        StringConstraints(pattern=rf"^{_REQUEST_ID.pattern}$"),
        Field(description="Letters, digits, '.', '_' and '-'; at most 100."),
    ]
    catalogue: Name
    steps: Annotated[
        tuple[PlannedStep, ...],
        BeforeValidator(_some),
        Field(description="1 to 50 steps, in the order in which they should run."),
    ]
    provenance: Provenance
    rationale: Annotated[
        str,
        StringConstraints(min_length=1, max_length=4000),
        Field(description="Why this plan, for the person who may be asked; 1 to 4000 characters."),
    ]
    notes: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=1000)], ...],
        Field(max_length=10, description="Up to 10 notes for people, 1000 characters each."),
    ] = ()


def plan_digest(plan: Plan) -> str:
    """SHA-256 of all that was proposed, texts and provenance included; the request id only names it.

    Two posts with this digest are the same plan. JSON's own equality holds: members in any order, 1 and 1.0 alike, a
    default written out or left away.
    """
    return digest(plan.model_dump(mode="json", exclude={"request_id"}))


def intent_digest(plan: Plan) -> str:
    """SHA-256 of what would run and on whose account: catalogue, steps, provenance.

    Rationale and notes are outside: words about a plan do not change what is approved.
    """
    return digest(
        plan.model_dump(mode="json", include={"catalogue", "steps", "provenance"}),
    )


def parse_plan(body: bytes) -> Plan | list[Problem]:
    """A well-formed plan, or everything that is wrong with its form. Never raises, whatever the bytes are."""
    match parse_json(body):
        case Parsed(value):
            return _plan(value)
        case problems:
            return problems


@dataclass(frozen=True, slots=True)
class Claim:
    """What a malformed plan still says about itself: enough to count the attempt."""

    request_id: str
    source_document_id: str | None
    plan_digest: str


def claim_of(body: bytes) -> Claim | None:
    """Which request a plan that was refused for its form belongs to; None where it does not say so usably."""
    parsed = parse_json(body)
    if not isinstance(parsed, Parsed) or not isinstance(parsed.value, dict):
        return None
    request_id = parsed.value.get("request_id")
    provenance = parsed.value.get("provenance")
    document = provenance.get("source_document_id") if isinstance(provenance, dict) else None
    if not isinstance(request_id, str) or not _REQUEST_ID.fullmatch(request_id):
        return None
    usable = isinstance(document, str) and _REFERENCE.fullmatch(document)
    rest = {name: value for name, value in parsed.value.items() if name != "request_id"}
    return Claim(request_id, document if usable else None, digest(rest))


def _plan(value: Any) -> Plan | list[Problem]:
    if not isinstance(value, dict):
        hint = "Send one JSON object with request_id, catalogue, steps, provenance and rationale."
        return [problem(Code.WRONG_TYPE, "The document is not an object.", hint)]
    ids = _ids(value.get("steps"))
    plan = fit(Plan, value, Spot(step=lambda path: _step_at(ids, path)))
    problems = (plan if isinstance(plan, list) else []) + _repeated(ids)
    return listed(problems) if problems or isinstance(plan, list) else plan


def _ids(steps: Any) -> list[str | None]:
    """The steps' ids as sent, None for those that are not usable."""
    if not isinstance(steps, list):
        return []
    ids = [step.get("id") if isinstance(step, dict) else None for step in steps]
    return [i if isinstance(i, str) and _STEP_ID.fullmatch(i) else None for i in ids]


def _step_at(ids: Sequence[str | None], path: Path) -> str | None:
    match path:
        case ("steps", int(index), *_) if index < len(ids):
            return ids[index]
    return None


def _repeated(ids: Sequence[str | None]) -> list[Problem]:
    return [
        problem(
            Code.REPEATED_STEP_ID,
            f"The id {quoted(own)} is already the id of an earlier step.",
            "Give each step an id of its own.",
            at=("steps", index, "id"),
            step=own,
        )
        for index, own in enumerate(ids)
        if own is not None and own in ids[:index]
    ]
