"""What a catalogue must be. Building one that breaks a rule fails at once, with everything that is wrong.

The rules are the seeds': no fictional undo, no side effect whose outcome nobody can learn, no call past the pivot that
could be made twice, no limit left to the agent's text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from string import Formatter

from pydantic import BaseModel

from functions.domain.argument_limits import open_ends
from functions.domain.catalogue import (
    Authority,
    Catalogue,
    Kind,
    Operation,
    Retry,
    Settlement,
    Step,
    Undo,
)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REFERENCE = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*:[a-z_][a-z0-9_]*")
_SETTING = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_LONGEST_FUNCTION = timedelta(minutes=15)  # Lambda's own limit
_MOST_ATTEMPTS = 900  # Step Functions repeats at most 999 times, and the machine has some to spare
_MOST_OTHER_ACTIONS = 5  # each that is chosen keeps the attempts of what it replaces in the record
_ORDER = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Broken:
    """One broken rule: whose (a step, or the name of what else was declared), which, and in words."""

    subject: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.message} [{self.rule}]"


class CatalogueError(ValueError):
    """A catalogue breaks rules; `broken` has all of them."""

    def __init__(self, catalogue: str, broken: tuple[Broken, ...]) -> None:
        self.catalogue = catalogue
        self.broken = broken
        super().__init__("\n  ".join([f"catalogue {catalogue!r}:", *map(str, broken)]))


Rule = Iterator[Broken]


def check(catalogue: Catalogue) -> None:
    """Raises CatalogueError with every rule that is broken."""
    broken = tuple(chain(_whole(catalogue), *(_step(step, catalogue) for step in catalogue.steps)))
    if broken:
        raise CatalogueError(catalogue.name, broken)


def _whole(catalogue: Catalogue) -> Rule:
    me = f"catalogue {catalogue.name}"
    if not catalogue.steps:
        yield Broken(me, "no_steps", "has no steps")
    yield from _all_names(catalogue)
    if not _REFERENCE.fullmatch(catalogue.policy):
        yield Broken(me, "reference", f"policy {catalogue.policy!r} is not package.module:function")
    if not catalogue.policy_version:
        yield Broken(me, "version", "has no policy_version")
    if not catalogue.approvers or not catalogue.operators:
        yield Broken(me, "owner", "names nobody who owns its approvals, or its cases")
    if catalogue.attempts_per_request < 1:
        yield Broken(me, "budget", "attempts_per_request is below 1")
    facts = {fact.name for fact in catalogue.facts}
    for precondition in catalogue.preconditions:
        if precondition.fact not in facts:
            message = f"reads {precondition.fact!r}, which is no fact here"
            yield Broken(precondition.name, "unknown_fact", message)
    for fact in catalogue.facts:
        yield from _operation(fact.name, "read", fact.read)


def _all_names(catalogue: Catalogue) -> Rule:
    steps = tuple(step.name for step in catalogue.steps)
    undos = tuple(
        name
        for step in catalogue.steps
        if step.undo
        for name in (step.undo.name, *(each.name for each in step.undo.other_actions))
    )
    yield from _names("catalogue", (catalogue.name,))
    yield from _names("step", steps)
    yield from _names("undo", undos)
    yield from _names("fact", tuple(fact.name for fact in catalogue.facts))
    yield from _names("precondition", tuple(p.name for p in catalogue.preconditions))
    for name in sorted({*steps} & {*undos}):
        yield Broken(name, "duplicate_name", "is a step and an undo: an undo is never a step")
    roles = Counter(
        authority.role
        for step in catalogue.steps
        if step.undo
        for authority in step.undo.authorities
        if authority.role is not None
    )
    for role, count in roles.items():
        if count > 1:
            yield Broken(role, "duplicate_name", f"{count} times a role: each is one undo's own")
    for setting in catalogue.settings:
        if not _SETTING.fullmatch(setting):
            yield Broken(setting, "name", "is no name of an environment variable")


def _names(what: str, names: tuple[str, ...]) -> Rule:
    for name, count in Counter(names).items():
        if not _NAME.fullmatch(name):
            yield Broken(name, "name", f"a {what}'s name is plain ASCII, [a-z][a-z0-9_]{{0,59}}")
        if count > 1:
            yield Broken(name, "duplicate_name", f"{count} times the name of a {what}")


def _step(step: Step, catalogue: Catalogue) -> Rule:
    if not step.version:
        yield Broken(step.name, "version", "has no version")
    if not step.description.strip():
        yield Broken(step.name, "description", "has no description: an agent chooses by it")
    for message in open_ends(step.arguments):
        yield Broken(step.name, "open_arguments", message)
    yield from _sentence(step.name, step.sentence, step.arguments)
    yield from _operation(step.name, "run", step.run)
    yield from _settlement(step.name, step.settlement, step.retain_for)
    yield from _pace(step.name, step.retry, step.call_timeout)
    yield from _compensation(step)
    yield from _requirements(step, catalogue)
    yield from _undo_order(step, catalogue)
    known = {precondition.name for precondition in catalogue.preconditions}
    for name in step.preconditions:
        if name not in known:
            yield Broken(step.name, "unknown_precondition", f"{name!r} is no precondition here")
    longest = max(step.function_timeout, step.undo_function_timeout or timedelta(0))
    if longest > _LONGEST_FUNCTION:
        yield Broken(
            step.name, "timeout", f"its function would take {longest}, over {_LONGEST_FUNCTION}"
        )


def _compensation(step: Step) -> Rule:
    settlement = step.settlement
    if step.kind is Kind.COMPENSABLE:
        if step.undo is None:
            yield Broken(step.name, "no_undo", "is compensable and has no undo: is it the pivot?")
        if not settlement.observable:
            yield Broken(
                step.name,
                "unobservable",
                "is compensable and has no keys, status query or tombstone",
            )
    else:
        if step.undo is not None:
            yield Broken(step.name, "undo_of_irreversible", f"is {step.kind} and declares an undo")
        if not (settlement.keys_kept_for or settlement.tombstone or _by_person(settlement)):
            yield Broken(
                step.name,
                "repeatable",
                f"is {step.kind} without keys, tombstone or reconcile='person': a second call could do it twice",
            )
    if step.undo is not None:
        yield from _undo(step, step.undo)


def _undo(step: Step, undo: Undo) -> Rule:
    yield from _operation(step.name, f"undo {undo.name}", undo.run)
    yield from _settlement(step.name, undo.settlement, step.retain_for)
    yield from _pace(step.name, undo.retry, undo.call_timeout)
    if not (undo.settlement.observable or _by_person(undo.settlement)):
        yield Broken(
            step.name,
            "unobservable",
            f"undo {undo.name} has no keys, status query, tombstone or person",
        )
    if undo.sentence:
        yield from _sentence(step.name, undo.sentence, step.arguments)
    yield from _alternates(step, undo)
    yield from _other_actions(step, undo)


def _other_actions(step: Step, undo: Undo) -> Rule:
    """Another action, and not the undo again under another key; machines wait for it no longer than for the undo."""
    if len(undo.other_actions) > _MOST_OTHER_ACTIONS:
        told = f"undo {undo.name} declares more than {_MOST_OTHER_ACTIONS} other actions"
        yield Broken(step.name, "other_action", told)
    taken = [undo.run.adapter]
    for each in undo.other_actions:
        what = f"undo {undo.name} by {each.name}"
        yield from _operation(step.name, what, each.run)
        yield from _settlement(step.name, each.settlement, step.retain_for)
        if not (each.settlement.observable or _by_person(each.settlement)):
            yield Broken(
                step.name, "unobservable", f"{what} has no keys, status query, tombstone or person"
            )
        if not each.sentence.strip():
            yield Broken(step.name, "other_action", f"{what} does not say what that is")
        if each.run.adapter in taken:
            yield Broken(step.name, "other_action", f"{what} does what is declared already")
        if each.settlement.settles_after > undo.settlement.settles_after:
            yield Broken(step.name, "other_action", f"{what} settles later than the undo itself")
        taken.append(each.run.adapter)


def _alternates(step: Step, undo: Undo) -> Rule:
    """Another principal, and not the same one under another name; its permissions are never the undo's function's own."""
    yield from _names("alternate", tuple(each.name for each in undo.alternates))
    taken = [undo.run.authority]
    for each in undo.alternates:
        what, authority = f"undo {undo.name} by {each.name}", each.authority
        yield from _authority(step.name, what, authority)
        if not each.sentence.strip():
            yield Broken(step.name, "alternate", f"{what} does not say who that is")
        if authority.credential is None and authority.role is None:
            yield Broken(step.name, "alternate", f"{what} names no credential and no role")
        elif any(_same_principal(authority, other) for other in taken):
            yield Broken(step.name, "alternate", f"{what} is a principal that it has already")
        if authority.permissions and authority.role is None:
            yield Broken(
                step.name, "alternate", f"{what} has permissions and no role to give them to"
            )
        if (authority.role is None) is not (undo.run.authority.role is None):
            yield Broken(
                step.name, "alternate", f"{what} is made under a role where the undo itself is not"
            )
        taken.append(authority)


def _same_principal(one: Authority, other: Authority) -> bool:
    return (one.credential, one.role) == (other.credential, other.role)


def _by_person(settlement: Settlement) -> bool:
    return settlement.reconcile == "person"


def _requirements(step: Step, catalogue: Catalogue) -> Rule:
    for name in step.requires:
        required = catalogue.step(name)
        if required is None:
            yield Broken(
                step.name, "unknown_requirement", f"requires {name!r}, which is no step here"
            )
        elif _ORDER.index(required.kind) > _ORDER.index(step.kind) or (
            step.kind is required.kind is Kind.PIVOT
        ):
            yield Broken(
                step.name,
                "late_requirement",
                f"is {step.kind} and requires {name}, a {required.kind}",
            )
        elif required.retired and not step.retired:
            yield Broken(step.name, "retired_requirement", f"requires {name}, which is retired")
    if step.name in _reach(step.name, catalogue, lambda s: s.requires):
        yield Broken(
            step.name, "circular_requirement", "requires itself, by way of what it requires"
        )


def _undo_order(step: Step, catalogue: Catalogue) -> Rule:
    for name in (*step.independent_of, *step.undo_after):
        other = catalogue.step(name)
        if other is None or other.kind is not Kind.COMPENSABLE or other is step:
            yield Broken(step.name, "undo_order", f"{name!r} is no other compensable step here")
    if step.kind is not Kind.COMPENSABLE and (step.independent_of or step.undo_after):
        yield Broken(step.name, "undo_order", f"is {step.kind}: it has no undo to put in order")
    for name in step.independent_of:
        if step.name in _reach(name, catalogue, lambda s: s.requires):
            yield Broken(
                step.name, "undo_order", f"is not independent of {name}, which requires it"
            )
    before = {
        one.name: (*one.undo_after, *(o.name for o in catalogue.steps if one.name in o.requires))
        for one in catalogue.steps
    }
    if step.undo_after and step.name in _reach(step.name, catalogue, lambda s: before[s.name]):
        yield Broken(step.name, "undo_order", "its undo would wait for itself")


def _reach(start: str, catalogue: Catalogue, edges: Callable[[Step], tuple[str, ...]]) -> set[str]:
    """All names that can be reached from a step, itself only by way of a circle."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        step = catalogue.step(ahead.pop())
        fresh = set(edges(step)) - found if step else set()
        found |= fresh
        ahead.extend(fresh)
    return found


def _settlement(subject: str, settlement: Settlement, retain_for: timedelta) -> Rule:
    kept = settlement.keys_kept_for
    if kept is not None and kept <= timedelta(0):
        yield Broken(subject, "retention", "keys_kept_for is not positive: None means no keys")
    if kept is not None and retain_for < kept:
        yield Broken(
            subject, "retention", f"retain_for {retain_for} is shorter than keys_kept_for {kept}"
        )
    if retain_for <= timedelta(0):
        yield Broken(subject, "retention", "retain_for is not positive")
    if settlement.settles_after < timedelta(0):
        yield Broken(subject, "retention", "settles_after is negative")
    for what, operation in (("status", settlement.status), ("tombstone", settlement.tombstone)):
        if operation is not None:
            yield from _operation(subject, what, operation)


def _pace(subject: str, retry: Retry, call_timeout: timedelta) -> Rule:
    if retry.attempts < 1:
        yield Broken(subject, "budget", "has a budget below one attempt")
    if retry.attempts > _MOST_ATTEMPTS:
        yield Broken(subject, "budget", f"has a budget above {_MOST_ATTEMPTS} attempts")
    if retry.interval <= timedelta(0) or retry.longest < retry.interval or retry.backoff < 1:
        yield Broken(
            subject, "budget", "asks again at no sensible pace: interval, longest, backoff"
        )
    if call_timeout <= timedelta(0):
        yield Broken(subject, "timeout", "call_timeout is not positive")


def _operation(subject: str, what: str, operation: Operation) -> Rule:
    if not _REFERENCE.fullmatch(operation.adapter):
        yield Broken(
            subject,
            "reference",
            f"{what} adapter {operation.adapter!r} is not package.module:function",
        )
    yield from _authority(subject, what, operation.authority)


def _authority(subject: str, what: str, authority: Authority) -> Rule:
    if not authority.scope:
        yield Broken(subject, "authority", f"{what} declares no scope")
    if authority.credential is not None and not _NAME.fullmatch(authority.credential):
        yield Broken(subject, "authority", f"{what} names credential {authority.credential!r}")
    if authority.role is not None and not what.startswith("undo "):
        yield Broken(
            subject, "authority", f"{what} declares a role: only an undo is made under one"
        )
    if authority.role is not None and not _NAME.fullmatch(authority.role):
        yield Broken(subject, "authority", f"{what} names role {authority.role!r}")
    for permission in authority.permissions:
        if not permission.actions or not permission.resources:
            yield Broken(
                subject, "authority", f"{what} has a permission without actions or resources"
            )
        if any("*" in action for action in permission.actions):
            yield Broken(
                subject, "authority", f"{what} asks for actions by wildcard: name each one"
            )


def _sentence(subject: str, sentence: str, arguments: type[BaseModel]) -> Rule:
    if not sentence.strip():
        yield Broken(subject, "sentence", "has no sentence for the person who is asked")
        return
    try:
        parts = list(Formatter().parse(sentence))
    except ValueError as error:
        yield Broken(subject, "sentence", f"cannot be read: {error}")
        return
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        if name not in arguments.model_fields or spec or conversion:
            yield Broken(subject, "sentence", f"{{{name}}} is not simply the name of an argument")
