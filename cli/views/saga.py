"""A saga in full. An agent's view is the timeline; people also see attempts, keys, authority, receipts and provenance."""

from __future__ import annotations

from typing import Any

from cli.moments import clock
from cli.page import Page, Span
from cli.views.timeline import timeline_page
from cli.views.words import add_agent_words


def saga_page(body: dict[str, Any]) -> Page:
    """The whole of it: facts first, the agent's words last."""
    page = timeline_page(body)
    if "provenance" not in body:
        return page
    for step in body["steps"]:
        _step(page, step, crossed=body["pivot"] == "crossed")
    _provenance(page, body)
    add_agent_words(page, body.get("rationale"), body.get("notes") or [])
    return page


def _step(page: Page, step: dict[str, Any], *, crossed: bool) -> None:
    page.heading(f"{step['index']} {step['name']} ({step['kind']}, version {step['version']})")
    page.fields(
        [
            ("arguments", step["arguments"]),
            ("digest", step["arguments_digest"]),
            ("approval", step.get("approval")),
            ("open case", Span(step["case"], "bad") if step.get("case") else None),
        ],
        indent=2,
    )
    _command(page, "do", step["forward"])
    if step.get("undo"):
        barred = "  never starts: the point of no return has been crossed" if crossed else ""
        _command(page, f"undo: {step['undo']['operation']}", step["undo"], barred)


def _command(page: Page, name: str, command: dict[str, Any], barred: str = "") -> None:
    unsettled = Span("  outcome of a call unknown", "warn") if command["unsettled"] else barred
    tried = f"{command['attempts']} of {command['budget']} attempts"
    page.line(Span(name, "live"), f"  {command['state']}, {tried}", unsettled, indent=2)
    page.fields(
        [
            ("key", command["key"]),
            ("authority", _authority(command["authority"])),
            ("waits for", _undos(command.get("waits_for") or [])),
            ("inputs", _pairs(command.get("inputs"))),
            ("condition", command.get("condition")),
            ("receipt", _receipt(command.get("receipt") or command.get("result"))),
            ("notice", command.get("notice")),
            ("by hand", "settled by a person" if command.get("by_hand") else None),
        ],
        indent=4,
    )
    page.rows((_attempt(entry) for entry in command["history"]), indent=4)


def _attempt(entry: dict[str, Any]) -> tuple[str, str, str]:
    outcome = entry.get("outcome") or "not reported"
    cause = f" ({entry['cause']})" if entry.get("cause") else ""
    said = f": {entry['reason']}" if entry.get("reason") else ""
    until = f" to {clock(entry['ended_at'])}" if entry.get("ended_at") else ""
    return (
        f"#{entry['fence']} {entry['purpose']}",
        f"{clock(entry['started_at'])}{until}",
        f"{outcome}{cause}{said}",
    )


def _provenance(page: Page, body: dict[str, Any]) -> None:
    origin = body["provenance"]
    owner = f", for which {origin['owner']} answers" if origin.get("owner") else ""
    page.heading("where it comes from")
    page.fields(
        [
            ("submitted by", f"{origin['actor_type']} {origin['actor']}{owner}"),
            ("source document", f"{origin['source_document_id']} (as the agent says)"),
            (
                "agent run",
                f"{origin['run_id']}, prompt {origin['prompt_version']} (as the agent says)",
            ),
            ("tenant", body["tenant"]),
            ("catalogue", f"{body['catalogue']} {body['catalogue_version']}"),
            ("policy", body["policy_version"]),
            ("machine", body.get("machine")),
            ("execution", body.get("execution")),
        ],
        indent=2,
    )


def _undos(indexes: list[int]) -> str:
    return f"the undo of step {', '.join(str(i) for i in indexes)}" if indexes else ""


def _authority(authority: dict[str, Any]) -> str:
    credential = f", credential {authority['credential']}" if authority.get("credential") else ""
    return f"role {authority['role']}, scope {authority['scope']}{credential}"


def _receipt(receipt: dict[str, Any] | None) -> str | None:
    if not receipt:
        return None
    version = f" version {receipt['version']}" if receipt.get("version") else ""
    details = _pairs(receipt.get("details"))
    return f"{receipt['resource']}{version}{f' ({details})' if details else ''}"


def _pairs(values: dict[str, Any] | None) -> str:
    return ", ".join(f"{name}={value}" for name, value in (values or {}).items())
