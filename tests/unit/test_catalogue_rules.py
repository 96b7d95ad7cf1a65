"""Building a catalogue that breaks a rule fails at once and names the step and the rule; one test for each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from functions.domain.catalogue import (
    Alternate,
    Authority,
    Catalogue,
    Fact,
    Kind,
    Operation,
    OtherAction,
    Permission,
    Precondition,
    Retry,
    Settlement,
    Step,
    Undo,
)
from functions.domain.catalogue_rules import CatalogueError
from functions.domain.money import Amount

CLOSED = ConfigDict(extra="forbid", strict=True, frozen=True)
CALL = Operation("team.adapters:call", Authority(scope="target:do", credential="target"))
KEYED = Settlement(settles_after=timedelta(seconds=5), keys_kept_for=timedelta(days=30))
UNSEEN = Settlement(settles_after=timedelta(seconds=5))


class Arguments(BaseModel):
    model_config = CLOSED

    thing: Annotated[str, StringConstraints(max_length=40)]


def inputs(_: BaseModel, receipt: Any) -> Mapping[str, str]:
    return {"thing": receipt.resource}


UNDO = Undo(
    name="unmake",
    run=CALL,
    settlement=KEYED,
    retry=Retry(attempts=2),
    call_timeout=timedelta(seconds=1),
    fixed_inputs=inputs,
)
MAKE = Step(
    name="make",
    version="1",
    kind=Kind.COMPENSABLE,
    description="Make a thing.",
    arguments=Arguments,
    run=CALL,
    settlement=KEYED,
    retry=Retry(attempts=2),
    call_timeout=timedelta(seconds=1),
    retain_for=timedelta(days=60),
    sentence="Make {thing}",
    undo=UNDO,
)
PUBLISH = replace(MAKE, name="publish", kind=Kind.PIVOT, undo=None, requires=("make",))
ANNOUNCE = replace(MAKE, name="announce", kind=Kind.RETRIABLE, undo=None)


def fact_query(_: BaseModel) -> str:
    return "thing"


FACT = Fact(name="thing", read=CALL, model=Arguments, query=fact_query)
PRECONDITION = Precondition(name="thing_exists", fact="thing", check=lambda _arguments, _fact: [])


def catalogue(*steps: Step, **changes: Any) -> Catalogue:
    whole = Catalogue(
        name="team",
        steps=(MAKE, PUBLISH, ANNOUNCE),
        facts=(FACT,),
        preconditions=(PRECONDITION,),
        policy="team.policy:decide",
        policy_version="1",
        approvers="team-approvers",
        operators="team-operators",
    )
    return replace(whole, **({"steps": steps} if steps else {}), **changes)


def broken(*steps: Step, **changes: Any) -> set[tuple[str, str]]:
    with pytest.raises(CatalogueError) as error:
        catalogue(*steps, **changes)
    for each in error.value.broken:
        assert each.subject in str(error.value)
    return {(each.subject, each.rule) for each in error.value.broken}


def with_argument(annotation: Any, config: ConfigDict = CLOSED) -> Step:
    fields: dict[str, Any] = {
        "thing": (Annotated[str, StringConstraints(max_length=40)], ...),
        "value": (annotation, ...),
    }
    return replace(MAKE, arguments=create_model("Other", __config__=config, **fields))


def test_a_sound_catalogue_is_built_and_answers_by_name() -> None:
    whole = catalogue()
    assert whole.step("make") is MAKE
    assert whole.step("unmake") is None
    assert whole.fact("thing") is FACT
    assert whole.precondition("thing_exists") is PRECONDITION


def test_a_compensable_step_needs_an_undo() -> None:
    assert broken(replace(MAKE, undo=None)) == {("make", "no_undo")}


def test_a_compensable_step_needs_a_way_to_observe_its_outcome() -> None:
    assert broken(replace(MAKE, settlement=UNSEEN)) == {("make", "unobservable")}
    assert broken(replace(MAKE, settlement=replace(UNSEEN, reconcile="person"))) == {
        ("make", "unobservable")
    }


@pytest.mark.parametrize(
    "settlement",
    [replace(UNSEEN, status=CALL), replace(UNSEEN, tombstone=CALL), KEYED],
    ids=["status", "tombstone", "keys"],
)
def test_any_one_way_to_observe_is_enough_for_a_compensable_step(settlement: Settlement) -> None:
    assert catalogue(replace(MAKE, settlement=settlement))


@pytest.mark.parametrize("step", [PUBLISH, ANNOUNCE], ids=["pivot", "retriable"])
def test_an_irreversible_step_has_no_undo(step: Step) -> None:
    assert broken(MAKE, replace(step, undo=replace(UNDO, name="recall"))) == {
        (step.name, "undo_of_irreversible")
    }


@pytest.mark.parametrize("step", [PUBLISH, ANNOUNCE], ids=["pivot", "retriable"])
def test_an_irreversible_step_needs_keys_a_tombstone_or_a_person(step: Step) -> None:
    only_status = replace(UNSEEN, status=CALL)
    assert broken(MAKE, replace(step, settlement=only_status)) == {(step.name, "repeatable")}
    assert catalogue(MAKE, replace(step, settlement=replace(UNSEEN, tombstone=CALL)))
    assert catalogue(MAKE, replace(step, settlement=replace(UNSEEN, reconcile="person")))


def test_an_undo_needs_keys_or_a_way_to_observe_it_or_a_person() -> None:
    unseen = replace(MAKE, undo=replace(UNDO, settlement=UNSEEN))
    assert broken(unseen) == {("make", "unobservable")}
    person = replace(UNSEEN, reconcile="person")
    assert catalogue(replace(MAKE, undo=replace(UNDO, settlement=person)))


class Inner(BaseModel):
    model_config = CLOSED

    text: str


class Endless(BaseModel):
    model_config = CLOSED

    inner: Endless | None = None


@pytest.mark.parametrize(
    "annotation",
    [
        str,
        Annotated[str, StringConstraints(pattern="^a+$")],
        int,
        Annotated[int, Field(ge=0)],
        Annotated[int, Field(le=9)],
        Annotated[int, Field(ge=0, le=2**53)],
        float,
        Annotated[float, Field(ge=0, le=1)],
        Decimal,
        Any,
        list[bool],
        Annotated[list[str], Field(max_length=3)],
        Annotated[list[Any], Field(max_length=3)],
        Annotated[list[bool], Field(max_length=100_000)],
        dict[str, bool],
        str | None,
        tuple[str, bool],
        Inner,
        Endless,
        object,
    ],
)  # fmt: skip
def test_an_argument_that_could_be_anything_or_any_amount_is_refused(annotation: Any) -> None:
    assert broken(with_argument(annotation)) == {("make", "open_arguments")}


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[str, StringConstraints(max_length=3)],
        Literal["a", "b"],
        Literal["a"],
        Annotated[int, Field(ge=1, lt=10)],
        bool,
        Amount,
        date,
        Annotated[list[Literal["a", "b"]], Field(max_length=3)],
        Annotated[str, StringConstraints(max_length=3)] | None,
        Arguments,
        Annotated[tuple[Arguments, ...], Field(max_length=3)],
    ],
)  # fmt: skip
def test_a_bounded_argument_is_accepted(annotation: Any) -> None:
    assert catalogue(with_argument(annotation))


def test_arguments_must_refuse_names_that_are_not_declared() -> None:
    step = with_argument(bool, ConfigDict(strict=True))
    assert broken(step) == {("make", "open_arguments")}


def test_arguments_must_be_strict() -> None:
    step = with_argument(bool, ConfigDict(extra="forbid"))
    assert broken(step) == {("make", "open_arguments")}


def test_a_nested_model_must_be_strict_too() -> None:
    loose = create_model(
        "Loose",
        __config__=ConfigDict(extra="forbid"),
        number=(Annotated[int, Field(ge=0, le=9)], ...),
    )
    assert broken(with_argument(loose)) == {("make", "open_arguments")}


def test_a_requirement_must_be_a_step_of_the_catalogue() -> None:
    assert broken(replace(MAKE, requires=("mkae",))) == {("make", "unknown_requirement")}


def test_a_step_cannot_require_one_of_a_later_kind() -> None:
    assert broken(replace(MAKE, requires=("announce",)), ANNOUNCE) == {("make", "late_requirement")}


def test_a_pivot_cannot_require_another_pivot() -> None:
    other = replace(PUBLISH, name="print", requires=("publish",))
    assert broken(MAKE, PUBLISH, other) == {("print", "late_requirement")}


def test_requirements_do_not_go_in_a_circle() -> None:
    other = replace(MAKE, name="paint", requires=("make",), undo=replace(UNDO, name="unpaint"))
    assert broken(replace(MAKE, requires=("paint",)), other) == {
        ("make", "circular_requirement"),
        ("paint", "circular_requirement"),
    }


def test_a_step_in_use_cannot_require_a_retired_one() -> None:
    assert broken(replace(MAKE, retired=True), PUBLISH) == {("publish", "retired_requirement")}
    assert catalogue(replace(MAKE, retired=True), replace(PUBLISH, retired=True))


def test_names_are_not_used_twice() -> None:
    again = replace(MAKE, undo=replace(UNDO, name="again"))
    assert broken(MAKE, again) == {("make", "duplicate_name")}
    assert broken(MAKE, replace(MAKE, name="other")) == {("unmake", "duplicate_name")}
    assert broken(facts=(FACT, FACT)) == {("thing", "duplicate_name")}
    assert broken(preconditions=(PRECONDITION, PRECONDITION)) == {
        ("thing_exists", "duplicate_name")
    }


def test_an_undo_is_never_a_step() -> None:
    assert broken(MAKE, replace(ANNOUNCE, name="unmake")) == {("unmake", "duplicate_name")}


@pytest.mark.parametrize(
    "name", ["Make", "make-it", "1make", "mаke", "", "m" * 61, "make\n", "_make"]
)
def test_names_are_plain_ascii(name: str) -> None:
    assert (name, "name") in broken(replace(MAKE, name=name))
    assert (name, "name") in broken(replace(MAKE, undo=replace(UNDO, name=name)))


def test_the_catalogue_has_a_plain_name_and_steps() -> None:
    assert ("My shop", "name") in broken(name="My shop")
    with pytest.raises(CatalogueError) as error:
        replace(catalogue(), steps=())
    assert [each.rule for each in error.value.broken] == ["no_steps"]


@pytest.mark.parametrize("sentence", ["Make {thign}", "Make {thing.size}", "Make {thing!r}", "Make {thing:>9}", "Make {", "Make {}", "  "])  # fmt: skip
def test_a_sentence_names_only_arguments(sentence: str) -> None:
    assert broken(replace(MAKE, sentence=sentence)) == {("make", "sentence")}


def test_an_undos_sentence_names_only_arguments() -> None:
    assert broken(replace(MAKE, undo=replace(UNDO, sentence="Unmake {it}"))) == {
        ("make", "sentence")
    }


@pytest.mark.parametrize("adapter", ["team.adapters", "team.adapters:", ":call", "team/adapters:call", "team.adapters:Call()", "team..adapters:call"])  # fmt: skip
def test_an_adapter_is_a_reference_to_a_function(adapter: str) -> None:
    bad = replace(CALL, adapter=adapter)
    expected = {("make", "reference")}
    assert broken(replace(MAKE, run=bad)) == expected
    assert broken(replace(MAKE, undo=replace(UNDO, run=bad))) == expected
    assert broken(replace(MAKE, settlement=replace(KEYED, status=bad))) == expected
    assert broken(replace(MAKE, settlement=replace(KEYED, tombstone=bad))) == expected
    assert broken(facts=(replace(FACT, read=bad),)) == {("thing", "reference")}
    assert broken(policy=adapter) == {("catalogue team", "reference")}


def test_every_operation_declares_its_authority() -> None:
    def with_authority(authority: Authority) -> Step:
        return replace(MAKE, run=replace(CALL, authority=authority))

    expected = {("make", "authority")}
    assert broken(with_authority(Authority(scope=""))) == expected
    assert broken(with_authority(Authority(scope="s", credential="../other"))) == expected
    nothing = Permission(actions=(), resources=("arn:aws:s3:::things/*",))
    assert broken(with_authority(Authority(scope="s", permissions=(nothing,)))) == expected
    everything = Permission(actions=("s3:*",), resources=("arn:aws:s3:::things/*",))
    assert broken(with_authority(Authority(scope="s", permissions=(everything,)))) == expected


def test_preconditions_and_facts_must_exist() -> None:
    assert broken(replace(MAKE, preconditions=("thing_is_blue",))) == {
        ("make", "unknown_precondition")
    }
    assert broken(preconditions=(replace(PRECONDITION, fact="thign"),)) == {
        ("thing_exists", "unknown_fact")
    }


@pytest.mark.parametrize(
    "retry",
    [
        Retry(attempts=0),
        Retry(attempts=901),
        Retry(attempts=1, interval=timedelta(0)),
        Retry(attempts=1, backoff=0.5),
        Retry(attempts=1, interval=timedelta(seconds=9), longest=timedelta(seconds=8)),
    ],
)
def test_a_budget_is_1_to_900_attempts_at_a_sensible_pace(retry: Retry) -> None:
    assert broken(replace(MAKE, retry=retry)) == {("make", "budget")}
    assert broken(replace(MAKE, undo=replace(UNDO, retry=retry))) == {("make", "budget")}


def test_a_request_has_at_least_one_attempt() -> None:
    assert broken(attempts_per_request=0) == {("catalogue team", "budget")}


def test_records_outlive_the_targets_keys() -> None:
    assert broken(replace(MAKE, retain_for=timedelta(days=29))) == {("make", "retention")}
    long = replace(KEYED, keys_kept_for=timedelta(days=61))
    assert broken(replace(MAKE, undo=replace(UNDO, settlement=long))) == {("make", "retention")}


@pytest.mark.parametrize(
    "step",
    [
        replace(MAKE, settlement=replace(KEYED, keys_kept_for=timedelta(0), status=CALL)),
        replace(MAKE, settlement=replace(KEYED, settles_after=timedelta(seconds=-1))),
        replace(MAKE, settlement=replace(UNSEEN, status=CALL), retain_for=timedelta(0)),
    ],
)
def test_times_of_keeping_are_times(step: Step) -> None:
    assert ("make", "retention") in broken(step)


def test_a_step_fits_into_a_functions_longest_life() -> None:
    assert broken(replace(MAKE, call_timeout=timedelta(minutes=5))) == {("make", "timeout")}
    assert broken(replace(MAKE, call_timeout=timedelta(0))) == {("make", "timeout")}


def test_somebody_owns_approvals_and_cases() -> None:
    assert broken(approvers="") == broken(operators="") == {("catalogue team", "owner")}


def test_versions_and_descriptions_are_given() -> None:
    assert broken(replace(MAKE, version="")) == {("make", "version")}
    assert broken(policy_version="") == {("catalogue team", "version")}
    assert broken(replace(MAKE, description=" ")) == {("make", "description")}


def test_a_setting_is_the_name_of_an_environment_variable() -> None:
    assert broken(settings=("shop url",)) == {("shop url", "name")}


def test_the_undo_order_is_about_other_compensable_steps() -> None:
    paint = replace(MAKE, name="paint", undo=replace(UNDO, name="unpaint"))
    expected = {("make", "undo_order")}
    assert broken(replace(MAKE, independent_of=("make",))) == expected
    assert broken(replace(MAKE, undo_after=("nobody",))) == expected
    assert broken(replace(MAKE, independent_of=("announce",)), ANNOUNCE) == expected
    assert broken(MAKE, replace(ANNOUNCE, undo_after=("make",))) == {("announce", "undo_order")}
    assert catalogue(replace(MAKE, independent_of=("paint",), undo_after=("paint",)), paint)


def test_a_step_is_not_independent_of_one_that_requires_it() -> None:
    paint = replace(MAKE, name="paint", requires=("make",), undo=replace(UNDO, name="unpaint"))
    frame = replace(MAKE, name="frame", requires=("paint",), undo=replace(UNDO, name="unframe"))
    assert broken(replace(MAKE, independent_of=("frame",)), paint, frame) == {
        ("make", "undo_order")
    }


def test_no_undo_waits_for_itself() -> None:
    paint = replace(MAKE, name="paint", undo=replace(UNDO, name="unpaint"), undo_after=("make",))
    assert broken(replace(MAKE, undo_after=("paint",)), paint) == {
        ("make", "undo_order"),
        ("paint", "undo_order"),
    }
    needs = replace(paint, requires=("make",))
    assert broken(MAKE, needs) == {("paint", "undo_order")}


def test_all_broken_rules_are_reported_at_once() -> None:
    assert broken(
        replace(MAKE, undo=None, sentence=""), replace(PUBLISH, requires=("nothing",)), approvers=""
    ) == {
        ("make", "no_undo"),
        ("make", "sentence"),
        ("publish", "unknown_requirement"),
        ("catalogue team", "owner"),
    }


def test_the_version_is_the_same_for_the_same_declaration() -> None:
    assert catalogue().version == catalogue().version
    assert len(catalogue().version) == 64


@pytest.mark.parametrize(
    "changed",
    [
        catalogue(replace(MAKE, description="Make another thing."), PUBLISH, ANNOUNCE),
        catalogue(replace(MAKE, retry=Retry(attempts=3)), PUBLISH, ANNOUNCE),
        catalogue(with_argument(bool), PUBLISH, ANNOUNCE),
        catalogue(replace(MAKE, undo=replace(UNDO, needs_person=True)), PUBLISH, ANNOUNCE),
        catalogue(
            replace(MAKE, run=replace(CALL, authority=Authority(scope="more"))), PUBLISH, ANNOUNCE
        ),
        catalogue(PUBLISH, MAKE, ANNOUNCE),
        catalogue(policy_version="2"),
        catalogue(facts=(replace(FACT, model=create_model("Empty", __config__=CLOSED)),)),
    ],
)
def test_the_version_changes_with_anything_that_is_declared(changed: Catalogue) -> None:
    assert changed.version != catalogue().version


# Alternates

OTHER = Alternate("on_call", Authority(scope="target:do", credential="on_call"), "The people")
PERMISSION = Permission(("s3:GetObject",), ("arn:aws:s3:::things/x",))


def with_alternates(*alternates: Alternate, run: Operation = CALL) -> Step:
    return replace(MAKE, undo=replace(UNDO, run=run, alternates=alternates))


def test_an_alternate_is_part_of_what_a_catalogue_s_version_is_made_from() -> None:
    assert catalogue(with_alternates(OTHER)).version != catalogue().version


@pytest.mark.parametrize(
    "authority",
    [
        Authority(scope="target:do", credential="target"),
        Authority(scope="target:do"),
        Authority(scope="target:do", credential="on_call", permissions=(PERMISSION,)),
        Authority(scope="target:do", role="on_call"),
    ],
    ids=["the undo's own", "nobody's", "permissions of the function", "a role where it has none"],
)
def test_an_alternate_is_another_principal_of_the_same_kind(authority: Authority) -> None:
    assert ("make", "alternate") in broken(with_alternates(replace(OTHER, authority=authority)))


def test_an_alternate_has_a_name_of_its_own_says_who_it_is_and_is_declared_once() -> None:
    assert broken(with_alternates(replace(OTHER, sentence=" "))) == {("make", "alternate")}
    assert ("On call", "name") in broken(with_alternates(replace(OTHER, name="On call")))
    twice = broken(with_alternates(OTHER, replace(OTHER, name="again")))
    assert twice == {("make", "alternate")}
    other = replace(OTHER, authority=Authority(scope="s", credential="third"))
    assert broken(with_alternates(OTHER, other)) == {("on_call", "duplicate_name")}


# Other actions

WRITE_OFF = OtherAction(
    "write_off",
    Operation("team.adapters:write_off", Authority(scope="target:do", credential="target")),
    KEYED,
    "Write it off",
)


def with_other_actions(*actions: OtherAction) -> Step:
    return replace(MAKE, undo=replace(UNDO, other_actions=actions))


def test_another_action_is_part_of_what_a_catalogue_s_version_is_made_from() -> None:
    assert catalogue(with_other_actions(WRITE_OFF)).version != catalogue().version
    assert UNDO.other_action("write_off") is None
    assert replace(UNDO, other_actions=(WRITE_OFF,)).other_action("write_off") is WRITE_OFF


@pytest.mark.parametrize(
    "changes",
    [
        {"run": CALL},
        {"sentence": " "},
        {"settlement": replace(KEYED, settles_after=timedelta(seconds=6))},
    ],
    ids=["the undo again", "says nothing", "settles later than machines wait"],
)
def test_another_action_does_something_else_and_says_what(changes: dict[str, Any]) -> None:
    other = replace(WRITE_OFF, **changes)
    assert broken(with_other_actions(other)) == {("make", "other_action")}


def test_what_another_action_did_can_be_found_out_as_for_an_undo() -> None:
    unseen = replace(WRITE_OFF, settlement=UNSEEN)
    assert broken(with_other_actions(unseen)) == {("make", "unobservable")}
    short = replace(KEYED, keys_kept_for=timedelta(days=10_000))
    assert ("make", "retention") in broken(with_other_actions(replace(WRITE_OFF, settlement=short)))


def test_another_action_has_a_name_of_its_own_among_undos_and_steps() -> None:
    for name in (UNDO.name, MAKE.name):
        taken = broken(with_other_actions(replace(WRITE_OFF, name=name)))
        assert taken == {(name, "duplicate_name")}
    assert ("Write off", "name") in broken(with_other_actions(replace(WRITE_OFF, name="Write off")))


def test_of_other_actions_there_are_few() -> None:
    many = [
        replace(
            WRITE_OFF,
            name=f"write_off_{n}",
            run=replace(WRITE_OFF.run, adapter=f"team.adapters:write_off_{n}"),
        )
        for n in range(6)
    ]
    assert broken(with_other_actions(*many)) == {("make", "other_action")}
    assert catalogue(with_other_actions(*many[:5])).version


def test_another_action_may_have_a_role_that_nobody_else_has() -> None:
    refunding = Authority("s", permissions=(PERMISSION,), role="refunding")
    own = replace(WRITE_OFF, run=replace(WRITE_OFF.run, authority=refunding))
    assert replace(UNDO, other_actions=(own,)).authorities == (UNDO.run.authority, refunding)
    other = Operation("team.adapters:give_away", refunding)
    twice = with_other_actions(own, replace(own, name="give_away", run=other))
    assert broken(twice) == {("refunding", "duplicate_name")}


def test_a_role_is_one_undo_s_own() -> None:
    own = Operation(CALL.adapter, Authority("s", permissions=(PERMISSION,), role="undoing"))
    one = with_alternates(run=own)
    again = replace(one, name="make_more", undo=one.undo and replace(one.undo, name="unmake_more"))
    assert broken(one, again) == {("undoing", "duplicate_name")}
