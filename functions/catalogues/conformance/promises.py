"""What a catalogue entry promises about its target, one check for each promise.

Each takes a bench whose target holds no effect yet, and raises PromiseBroken with what it saw instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from functions.catalogues.conformance.bench import Bench, PromiseBroken
from functions.domain.catalogue import Settlement, Step
from functions.domain.outcome import (
    Applied,
    NotFound,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)

_NO_CREDENTIAL = "opens-nothing"
Promise = Callable[[Bench], None]


def promises_of(step: Step) -> tuple[Promise, ...]:
    """The promises that a catalogue entry makes, by what it declares."""
    promised: list[Promise] = [the_receipt_is_typed_and_names_the_effect]
    if step.run.authority.credential:
        promised.append(a_credential_that_opens_nothing_is_lost_authority)
    settlement = step.settlement
    if settlement.keys_kept_for:
        promised += [the_same_key_twice_is_one_effect, another_key_is_another_effect_or_a_refusal]
        promised.append(changed_parameters_under_a_key_are_a_conflict)
    if settlement.status:
        promised += [the_status_finds_our_effect, the_status_finds_nobody_else_s_effect]
    if settlement.tombstone:
        promised += [a_tombstone_stops_a_late_call, a_tombstone_after_the_effect_finds_it]
    if step.undo:
        promised += [
            the_undo_takes_the_effect_back,
            an_undo_after_somebody_else_s_change_is_refused,
        ]
        promised += _of_an_undo(step.undo.settlement)
    return tuple(promised)


def _of_an_undo(settlement: Settlement) -> list[Promise]:
    promised: list[Promise] = []
    if settlement.keys_kept_for:
        promised.append(the_same_undo_twice_is_one_effect)
    if settlement.status:
        promised.append(the_undo_s_status_finds_our_undo_and_only_it)
    if settlement.tombstone:
        promised.append(a_tombstone_stops_a_late_undo)
    return promised


def name_of(promise: Promise) -> str:
    """A promise as a sentence, for a test's id."""
    return promise.__name__.replace("_s_", "'s_").replace("_", " ")


# The run


def the_receipt_is_typed_and_names_the_effect(bench: Bench) -> None:
    """An effect is answered with a receipt that can be stored: an id, a version, a few bounded details."""
    receipt = _receipt(bench.run(bench.call()))
    try:
        again = Receipt.model_validate_json(receipt.model_dump_json())
    except ValidationError as error:
        raise PromiseBroken(f"the receipt cannot be stored: {error}") from error
    _expect(again == receipt, "the receipt is not the same after it was stored")
    _counted("effects", bench.effects(), 1)


def the_same_key_twice_is_one_effect(bench: Bench) -> None:
    """A repeat answers with the first effect, by the same id."""
    first, second = (_receipt(bench.run(bench.call())) for _ in range(2))
    _same(first, second)
    _counted("effects", bench.effects(), 1)


def another_key_is_another_effect_or_a_refusal(bench: Bench) -> None:
    """What makes a repeat is the key, not what is asked for: another saga's effect is never taken for ours."""
    first = _receipt(bench.run(bench.call(0)))
    answer = bench.run(bench.call(1))
    if isinstance(answer, Applied):
        _expect(
            answer.receipt.resource != first.resource,
            f"another key was answered with the same effect, {first.resource}",
        )
        _counted("effects", bench.effects(), 2)
    else:
        _expect(isinstance(answer, Refused), f"another key was answered with {answer!r}")


def changed_parameters_under_a_key_are_a_conflict(bench: Bench) -> None:
    """A key with other parameters is a mix-up: nothing happens, and somebody is told."""
    _receipt(bench.run(bench.call()))
    answer = bench.run(replace(bench.call(), arguments=bench.changed))
    if bench.remembers_parameters:
        told = isinstance(answer, Unknown) and answer.cause is UnknownCause.KEY_CONFLICT
        _expect(told, f"expected Unknown(key_conflict), not {answer!r}")
    _counted("effects", bench.effects(), 1)


def a_credential_that_opens_nothing_is_lost_authority(bench: Bench) -> None:
    """A credential that is not accepted is told apart from a refusal of what was asked."""
    answer = bench.ask(bench.step.run, bench.call(), credential=_NO_CREDENTIAL)
    lost = isinstance(answer, Refused) and answer.cause is RefusalCause.AUTHORITY
    _expect(lost, f"expected Refused(authority), not {answer!r}")
    _counted("effects", bench.effects(), 0)


# What settles a run


def the_status_finds_our_effect(bench: Bench) -> None:
    """By our key, before and after, with the run's own receipt; from the arguments alone, without earlier results."""
    asked = replace(bench.call(), results={})
    before = bench.ask(bench.step.settlement.status, asked)
    _expect(isinstance(before, NotFound), f"before the call: expected NotFound, not {before!r}")
    receipt = _receipt(bench.run(bench.call()))
    _same(receipt, _receipt(bench.ask(bench.step.settlement.status, asked)))


def the_status_finds_nobody_else_s_effect(bench: Bench) -> None:
    """The same effect under another key is a lookalike."""
    _receipt(bench.run(bench.call(1)))
    answer = bench.ask(bench.step.settlement.status, bench.call(0))
    _expect(isinstance(answer, NotFound), f"expected NotFound, not {answer!r}")


def a_tombstone_stops_a_late_call(bench: Bench) -> None:
    """Once the key is unusable, a call that was on its way cannot land."""
    tombstone = bench.step.settlement.tombstone
    for _ in range(2):
        answer = bench.ask(tombstone, bench.call())
        _expect(isinstance(answer, Tombstoned), f"expected Tombstoned, not {answer!r}")
    late = bench.run(bench.call())
    _expect(not isinstance(late, Applied), f"a late call was answered with {late!r}")
    _counted("effects", bench.effects(), 0)


def a_tombstone_after_the_effect_finds_it(bench: Bench) -> None:
    """It comes too late, says so with the receipt, and changes nothing."""
    receipt = _receipt(bench.run(bench.call()))
    _same(receipt, _receipt(bench.ask(bench.step.settlement.tombstone, bench.call())))
    _counted("effects", bench.effects(), 1)


# The undo


def the_undo_takes_the_effect_back(bench: Bench) -> None:
    """Once, with the inputs that were fixed when the receipt was recorded."""
    receipt = _receipt(bench.run(bench.call()))
    _receipt(bench.ask(bench.undo.run, bench.undo_call(receipt)))
    _counted("undos", bench.undone(), 1)


def the_same_undo_twice_is_one_effect(bench: Bench) -> None:
    """A repeat means what the first answer meant, whether that arrived or not."""
    undo_call = bench.undo_call(_receipt(bench.run(bench.call())))
    first, second = (_receipt(bench.ask(bench.undo.run, undo_call)) for _ in range(2))
    _same(first, second)
    _counted("undos", bench.undone(), 1)


def an_undo_after_somebody_else_s_change_is_refused(bench: Bench) -> None:
    """Newer work is never overwritten: the undo stops, and a person decides."""
    receipt = _receipt(bench.run(bench.call()))
    bench.disturb(receipt)
    answer = bench.ask(bench.undo.run, bench.undo_call(receipt))
    refused = isinstance(answer, Refused) and answer.cause is RefusalCause.PRECONDITION
    _expect(refused, f"expected Refused(precondition), not {answer!r}")
    _counted("undos", bench.undone(), 0)


def the_undo_s_status_finds_our_undo_and_only_it(bench: Bench) -> None:
    """The forward effect is not the undo's."""
    undo_call = bench.undo_call(_receipt(bench.run(bench.call())))
    status = bench.undo.settlement.status
    before = bench.ask(status, undo_call)
    _expect(isinstance(before, NotFound), f"before the undo: expected NotFound, not {before!r}")
    receipt = _receipt(bench.ask(bench.undo.run, undo_call))
    _same(receipt, _receipt(bench.ask(status, undo_call)))


def a_tombstone_stops_a_late_undo(bench: Bench) -> None:
    """Once a person settles it by hand, an undo that was on its way cannot land."""
    undo_call = bench.undo_call(_receipt(bench.run(bench.call())))
    answer = bench.ask(bench.undo.settlement.tombstone, undo_call)
    _expect(isinstance(answer, Tombstoned), f"expected Tombstoned, not {answer!r}")
    late = bench.ask(bench.undo.run, undo_call)
    _expect(not isinstance(late, Applied), f"a late undo was answered with {late!r}")
    _counted("undos", bench.undone(), 0)


def _receipt(answer: Any) -> Receipt:
    _expect(isinstance(answer, Applied), f"expected Applied, not {answer!r}")
    receipt: Receipt = answer.receipt
    return receipt


def _same(first: Receipt, second: Receipt) -> None:
    _expect(
        first.resource == second.resource,
        f"one effect has two ids: {first.resource} and {second.resource}",
    )


def _counted(what: str, found: int, expected: int) -> None:
    _expect(found == expected, f"{what} in the target's books: {found}, expected {expected}")


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a condition and what its failure means
    if not holds:
        raise PromiseBroken(otherwise)
