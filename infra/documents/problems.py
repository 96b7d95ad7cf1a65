"""The page of every problem: from the list of codes, and from what our catalogues' preconditions say."""

from __future__ import annotations

from collections.abc import Iterator

from functions.domain.codes import Code
from infra.documents.operations import OPERATIONS
from infra.documents.preconditions import provoked

_HEAD = f"""\
# Problems

Every refusal of the API is `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, and under `problems`
every single thing that is wrong, each with

| member | says |
|---|---|
| `code` | which problem: stable, only new codes are added |
| `pointer` | where in the document that was sent, as a JSON Pointer (RFC 6901); empty for the whole of it |
| `step` | the id that you gave to the step, or null |
| `message` | what is wrong, in words; its wording may change |
| `hint` | what to change |
| `allowed` | what would be accepted in that place, where that can be listed |

`attempts_left` says how many further plans the request may have, `saga_id` which saga the answer is about. One kind of
problem gives `type` (`urn:sagaplane:problem:<code>`) and `status`; several kinds together are `{Code.PLAN_REJECTED.value}`, and the
lowest status wins.

This page is made from `functions/domain/codes.py` by `make openapi`.
"""

_CATALOGUES = """\
## Preconditions of the catalogues

A catalogue's preconditions bring codes of their own. They answer as `{failed}` does: {status}, with the place of
the argument. Just before a plan's boundary runs, its preconditions are asked again; then they refuse the step instead.
"""


def text() -> str:
    """The page as it is committed."""
    return "\n".join([_HEAD, *_codes(), "", *_preconditions()])


def _codes() -> Iterator[str]:
    yield "## Codes"
    yield ""
    yield "| code | status | title | meaning | answered by |"
    yield "|---|---|---|---|---|"
    for code in Code:
        yield f"| `{code.value}` | {code.status} | {code.summary} | {_cell(code.doc)} | {_where(code)} |"


def _where(code: Code) -> str:
    answering = [o for o in OPERATIONS if code in o.all_codes]
    if len(answering) == len(OPERATIONS):
        return "every route"
    if len(answering) > 3:  # noqa: PLR2004 - more would not fit into the cell
        return "several routes"
    return ", ".join(f"`{o.method.upper()} {o.path}`" for o in answering)


def _preconditions() -> Iterator[str]:
    failed = Code.PRECONDITION_FAILED
    yield _CATALOGUES.format(failed=failed.value, status=failed.status)
    for name, codes in provoked().items():
        yield f"### The {name} catalogue"
        yield ""
        yield "| code | precondition | steps | an example of its message |"
        yield "|---|---|---|---|"
        for each in codes:
            steps = ", ".join(f"`{step}`" for step in each.steps)
            yield f"| `{each.code}` | `{each.precondition}` | {steps} | {_cell(each.example)} |"
        yield ""


def _cell(words: str) -> str:
    return words.replace("|", "\\|")
