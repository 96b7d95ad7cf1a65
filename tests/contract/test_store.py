"""One body of tests for both stores: whatever the use cases rely on, in memory and on DynamoDB."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, cast
from uuid import uuid4

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from moto import mock_aws

from functions.aws.dynamo import DynamoStore
from functions.memory.store import INDEXES, MemoryStore
from functions.ports import BadCursor, Change, Key, Stale, Store, Table, TooLarge
from tests.contract.atomic import OneCallAtATime

HERE = Key(Table.LEDGER, "saga#a", "saga")
STEP = Key(Table.LEDGER, "saga#a", "step#000")
PERSON = Key(Table.PEOPLE, "case#a", "case")


def create_table(client: Any, name: str) -> None:
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            *({"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")),
            *({"AttributeName": p, "AttributeType": "S"} for p, _ in INDEXES.values()),
            *(
                {"AttributeName": n, "AttributeType": "N"}
                for n in sorted({sort for _, sort in INDEXES.values()})
            ),
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": index,
                "KeySchema": [
                    {"AttributeName": partition, "KeyType": "HASH"},
                    {"AttributeName": sort, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
            for index, (partition, sort) in INDEXES.items()
        ],
    )


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("dynamodb", region_name="eu-central-1")


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "memory":
        return MemoryStore()
    client = request.getfixturevalue("dynamodb")
    ledger, people = (f"{name}-{uuid4()}" for name in ("ledger", "people"))
    create_table(client, ledger)
    create_table(client, people)
    return DynamoStore(cast("Any", OneCallAtATime(client)), ledger=ledger, people=people)


def create(store: Store, key: Key, **fields: Any) -> None:
    store.write([Change(key, fields, None)])


def change(store: Store, key: Key, expect: dict[str, Any], **fields: Any) -> Any:
    [written] = store.write(
        [Change(key, {n.replace("__", "."): v for n, v in fields.items()}, expect)]
    )
    return written


def refused(store: Store, *changes: Change) -> dict[Key, Any]:
    with pytest.raises(Stale) as stale:
        store.write(list(changes))
    return dict(stale.value.current)


# What is written is read


def test_a_new_record_has_version_zero_and_nothing_of_its_key(store: Store) -> None:
    [written] = store.write([Change(HERE, {"a": 1}, None)])
    assert written == {"a": 1, "version": 0} == store.get(HERE)


def test_what_does_not_exist_is_none(store: Store) -> None:
    assert store.get(HERE) is None
    assert store.collection(Table.LEDGER, "saga#a") == []
    create(store, STEP)
    assert store.get(HERE) is None
    assert store.get(Key(Table.PEOPLE, STEP.pk, STEP.sk)) is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        {},
        [],
        [None, "", {}],
        {"k": ""},
        True,
        0,
        -1,
        9_007_199_254_740_993,
        10**37 + 1,
        "e\u0301 and é are two texts",
        "\u202egnp.exe \U0001f469\u200d\U0001f4bb \u0000 \n",
        {"nested": {"deep": [{"n": 2**63}, None]}},
    ],
)
def test_every_json_value_survives_unchanged_in_type_and_content(store: Store, value: Any) -> None:
    create(store, HERE, value=value, map={"inner": value})
    found = store.get(HERE)
    assert found is not None
    assert found["value"] == value
    assert found["map"] == {"inner": value}
    assert type(found["value"]) is type(value)


def test_whole_numbers_stay_whole_however_deep_they_stand(store: Store) -> None:
    create(store, HERE, value={"list": [1, [2, {"deep": 3}]], "map": {"deeper": {"four": 4}}})
    found = store.get(HERE)
    assert found is not None
    value: Any = found["value"]
    numbers = [value["list"][0], value["list"][1][0], value["list"][1][1]["deep"]]
    numbers.append(value["map"]["deeper"]["four"])
    assert [type(n) for n in numbers] == [int] * 4
    assert numbers == [1, 2, 3, 4]


def test_what_was_read_is_a_copy(store: Store) -> None:
    create(store, HERE, map={"a": [1]})
    found: Any = store.get(HERE)
    found["map"]["a"].append(2)
    assert store.get(HERE) == {"map": {"a": [1]}, "version": 0}


# Changes


def test_every_change_raises_the_version_by_one(store: Store) -> None:
    create(store, HERE, a=1)
    assert change(store, HERE, {"version": 0}, a=2) == {"a": 2, "version": 1}
    assert change(store, HERE, {}, b=3) == {"a": 2, "b": 3, "version": 2}
    store.write([Change(HERE, {"a": 4}, {}), Change(STEP, {}, None)])
    found = store.get(HERE)
    assert found is not None
    assert found["version"] == 3


def test_a_change_of_nothing_still_counts(store: Store) -> None:
    create(store, HERE, a=1)
    assert change(store, HERE, {"version": 0}) == {"a": 1, "version": 1}
    assert refused(store, Change(HERE, {}, {"version": 0}))


def test_a_dotted_name_writes_into_a_map_and_leaves_its_neighbours(store: Store) -> None:
    create(store, HERE, forward={"state": "prepared", "deep": {"a": 1, "b": 2}})
    change(store, HERE, {}, forward__state="started", forward__deep__a=3, forward__new=4)
    found = store.get(HERE)
    assert found is not None
    assert found["forward"] == {"state": "started", "deep": {"a": 3, "b": 2}, "new": 4}


def test_none_removes_a_field_or_a_maps_entry(store: Store) -> None:
    create(store, HERE, a=1, gone=2, m={"gone": 3, "b": 4})
    change(store, HERE, {}, gone=None, m__gone=None, never_there=None)
    assert store.get(HERE) == {"a": 1, "m": {"b": 4}, "version": 1}


def test_names_are_only_names_whatever_they_say(store: Store) -> None:
    hostile = {"status": 1, "size": 2, "SET": 3, "#n0": 4, ":v0": 5, "a b": 6, "é": 7}
    create(store, HERE, **hostile)
    change(store, HERE, {"size": 2, "#n0": 4}, **{":v0": 8})
    assert store.get(HERE) == hostile | {":v0": 8, "version": 1}


# Expectations


def test_a_record_is_created_only_where_nothing_is(store: Store) -> None:
    create(store, HERE, a=1)
    assert refused(store, Change(HERE, {"a": 2}, None)) == {HERE: {"a": 1, "version": 0}}
    assert store.get(HERE) == {"a": 1, "version": 0}


def test_a_change_needs_something_to_change(store: Store) -> None:
    assert refused(store, Change(HERE, {"a": 2}, {})) == {HERE: None}
    assert refused(store, Change(HERE, {"a": 2}, {"b": None})) == {HERE: None}
    assert store.get(HERE) is None


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ({"a": 1}, True),
        ({"a": 2}, False),
        ({"a": "1"}, False),
        ({"a": None}, False),
        ({"absent": None}, True),
        ({"absent": 1}, False),
        ({"null": None}, True),
        ({"null": 1}, False),
        ({"m.null": None}, True),
        ({"m.absent": None}, True),
        ({"m.s": "x"}, True),
        ({"m.s": None}, False),
        ({"absent.deeper": None}, True),
        ({"no": False}, True),
        ({"no": None}, False),
        ({"empty": ""}, True),
        ({"empty": None}, False),
        ({"l": [1, {"b": None}]}, True),
        ({"l": [1]}, False),
        ({"a": 1, "m.s": "y"}, False),
    ],
)
def test_an_expectation_tells_absent_and_null_from_every_value(
    store: Store,
    expect: dict[str, Any],
    holds: bool,  # noqa: FBT001 - a column of the table
) -> None:
    fields = {
        "a": 1,
        "null": None,
        "m": {"null": None, "s": "x"},
        "no": False,
        "empty": "",
        "l": [1, {"b": None}],
    }
    create(store, HERE, **fields)
    if holds:
        assert change(store, HERE, expect)["version"] == 1
    else:
        current = refused(store, Change(HERE, {"a": 9}, expect))[HERE]
        assert current["a"] == 1
        assert current["version"] == 0


# All or nothing


def test_a_lost_change_says_what_is_there_now(store: Store) -> None:
    create(store, HERE, a=1)
    change(store, HERE, {}, a=2)
    assert refused(store, Change(HERE, {"a": 3}, {"version": 0})) == {HERE: {"a": 2, "version": 1}}


def test_one_lost_change_of_many_undoes_them_all_and_names_only_the_lost(store: Store) -> None:
    create(store, HERE, a=1)
    create(store, PERSON, b=1)
    lost = refused(
        store,
        Change(HERE, {"a": 2}, {"version": 0}),
        Change(STEP, {"c": 1}, None),
        Change(PERSON, {"b": 2}, {"version": 7}),
    )
    assert lost == {PERSON: {"b": 1, "version": 0}}
    assert store.get(HERE) == {"a": 1, "version": 0}
    assert store.get(STEP) is None


def test_every_lost_change_of_a_transaction_is_named_with_what_is_there(store: Store) -> None:
    create(store, HERE, a=1)
    lost = refused(store, Change(HERE, {}, None), Change(STEP, {}, {}), Change(PERSON, {}, None))
    assert lost == {HERE: {"a": 1, "version": 0}, STEP: None}
    assert store.get(PERSON) is None


def test_a_transaction_reaches_both_tables(store: Store) -> None:
    assert store.write([Change(HERE, {"a": 1}, None), Change(PERSON, {"b": 2}, None)]) == []
    assert store.get(HERE) == {"a": 1, "version": 0}
    assert store.get(PERSON) == {"b": 2, "version": 0}


def test_a_hundred_records_are_one_transaction(store: Store) -> None:
    keys = [Key(Table.LEDGER, "saga#many", f"step#{n:03d}") for n in range(100)]
    store.write([Change(k, {"n": i}, None) for i, k in enumerate(keys)])
    assert [i["n"] for i in store.collection(Table.LEDGER, "saga#many")] == list(range(100))
    changes = [Change(k, {"n": -1}, {"version": 0}) for k in keys]
    changes[57] = Change(keys[57], {"n": -1}, {"version": 1})
    assert refused(store, *changes) == {keys[57]: {"n": 57, "version": 0}}
    assert [i["n"] for i in store.collection(Table.LEDGER, "saga#many")] == list(range(100))


def test_a_record_that_is_too_large_is_refused_and_nothing_with_it_is_written(store: Store) -> None:
    large = "x" * 410_000
    create(store, HERE, a=1)
    with pytest.raises(TooLarge):
        change(store, HERE, {"version": 0}, text=large)
    with pytest.raises(TooLarge):
        store.write([Change(HERE, {"a": 2}, {}), Change(STEP, {"text": large}, None)])
    found = store.get(HERE)
    assert found is not None
    assert found["a"] == 1
    with pytest.raises(TooLarge):
        create(store, PERSON, text=large)


def test_a_large_record_within_the_limit_survives(store: Store) -> None:
    create(store, HERE, text="é" * 150_000)
    found = store.get(HERE)
    assert found is not None
    assert len(found["text"]) == 150_000


@pytest.mark.parametrize("number", [0, 101])
def test_a_write_has_between_one_and_a_hundred_changes(store: Store, number: int) -> None:
    keys = [Key(Table.LEDGER, "saga#many", f"step#{n:03d}") for n in range(number)]
    with pytest.raises(ValueError, match="changes"):
        store.write([Change(k, {}, None) for k in keys])


def test_a_write_changes_each_record_once(store: Store) -> None:
    with pytest.raises(ValueError, match="changes"):
        store.write([Change(HERE, {"a": 1}, None), Change(HERE, {"b": 1}, None)])
    assert store.get(HERE) is None


def test_a_fraction_is_refused_because_it_would_not_survive(store: Store) -> None:
    with pytest.raises(TypeError):
        create(store, HERE, amount=180.5)
    with pytest.raises(TypeError):
        create(store, HERE, deep=[{"amount": 180.5}])
    assert store.get(HERE) is None


# Collections and indexes


def test_a_collection_is_one_partition_in_order(store: Store) -> None:
    for sk in ("step#010", "saga", "step#002", "step#000"):
        create(store, Key(Table.LEDGER, "saga#a", sk), sk_=sk)
    create(store, Key(Table.LEDGER, "saga#ab", "saga"), sk_="another's")
    create(store, Key(Table.PEOPLE, "saga#a", "saga"), sk_="another table's")
    found = [i["sk_"] for i in store.collection(Table.LEDGER, "saga#a")]
    assert found == ["saga", "step#000", "step#002", "step#010"]


def test_a_collection_of_several_megabytes_is_read_whole(store: Store) -> None:
    for n in range(8):
        create(store, Key(Table.LEDGER, "saga#big", f"step#{n:03d}"), n=n, text="x" * 300_000)
    assert [i["n"] for i in store.collection(Table.LEDGER, "saga#big")] == list(range(8))


def paged(store: Store, value: str, *, limit: int, **more: Any) -> list[list[int]]:
    pages, start = [], None
    while True:
        items, start = store.index(Table.LEDGER, "listed", value, limit=limit, start=start, **more)
        pages.append([i["n"] for i in items])
        if start is None:
            return pages


@pytest.fixture
def listed(store: Store) -> Store:
    for n in (3, 1, 4, 0, 2):
        create(store, Key(Table.LEDGER, f"saga#{n}", "saga"), n=n, listed="acme", created_at=n * 10)
    create(store, Key(Table.LEDGER, "saga#x", "saga"), n=9, listed="other", created_at=5)
    create(store, Key(Table.LEDGER, "saga#y", "saga"), n=8, created_at=5)
    create(store, Key(Table.PEOPLE, "saga#z", "saga"), n=7, listed="acme", created_at=5)
    return store


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("newest_first", [False, True])
def test_pages_of_an_index_hold_everything_once_and_in_order(
    listed: Store,
    limit: int,
    newest_first: bool,  # noqa: FBT001 - a column of the table
) -> None:
    pages = paged(listed, "acme", limit=limit, newest_first=newest_first)
    found = [n for page in pages for n in page]
    assert found == sorted(range(5), reverse=newest_first)
    assert all(len(page) <= limit for page in pages)


def test_an_index_goes_up_to_a_moment_and_includes_it(listed: Store) -> None:
    assert paged(listed, "acme", limit=2, up_to=30) == [[0, 1], [2, 3]] or paged(
        listed, "acme", limit=2, up_to=30
    ) == [[0, 1], [2, 3], []]
    assert paged(listed, "acme", limit=100, up_to=-1) == [[]]


def test_a_record_leaves_an_index_with_its_value_and_comes_back_elsewhere(listed: Store) -> None:
    change(listed, Key(Table.LEDGER, "saga#2", "saga"), {}, listed=None)
    change(listed, Key(Table.LEDGER, "saga#3", "saga"), {}, created_at=5)
    assert paged(listed, "acme", limit=100) == [[0, 3, 1, 4]]


def test_a_record_is_indexed_whole(listed: Store) -> None:
    [item], _ = listed.index(Table.LEDGER, "listed", "other")
    assert item == {"n": 9, "listed": "other", "created_at": 5, "version": 0}


@pytest.mark.parametrize(
    "start",
    ["", "x", "5.5", "-3", "e30=", "eyJwayI6eyJTIjoieCJ9fQ==", "é", "W10=", "MQ==", "bnVsbA=="],
)
def test_a_cursor_that_no_page_returned_is_refused_by_name(listed: Store, start: str) -> None:
    if start == "":
        assert listed.index(Table.LEDGER, "listed", "acme", start=start)[0]
        return
    with pytest.raises(BadCursor):
        listed.index(Table.LEDGER, "listed", "acme", start=start)


def test_a_cursor_of_another_partition_shows_nothing_of_it(listed: Store) -> None:
    _, start = listed.index(Table.LEDGER, "listed", "acme", limit=1)
    assert start is not None
    try:
        found, _ = listed.index(Table.LEDGER, "listed", "other", start=start)
    except BadCursor:
        return
    assert all(i["listed"] == "other" for i in found)


# Many at once


def test_sixteen_threads_take_each_of_thirty_claims_exactly_once(store: Store) -> None:
    keys = [Key(Table.LEDGER, f"saga#{n}", "step#000") for n in range(30)]
    for key in keys:
        create(store, key, state="prepared")
    start = Barrier(16)

    def claim(worker: int) -> list[Key]:
        start.wait()
        won = []
        for key in keys:
            try:
                change(store, key, {"version": 0}, state="started", by=worker)
            except Stale:
                continue
            else:
                won.append(key)
        return won

    with ThreadPoolExecutor(16) as pool:
        wins = [key for won in pool.map(claim, range(16)) for key in won]
    assert sorted(k.pk for k in wins) == sorted(k.pk for k in keys)


def test_transactions_of_many_threads_over_the_same_records_lose_no_update(store: Store) -> None:
    create(store, HERE, n=0)
    create(store, PERSON, n=0)
    start = Barrier(6)

    def add(_: int) -> None:
        start.wait()
        for _round in range(5):
            while True:
                here: Any = store.get(HERE)
                there: Any = store.get(PERSON)
                try:
                    store.write(
                        [
                            Change(k, {"n": i["n"] + 1}, {"version": i["version"]})
                            for k, i in ((HERE, here), (PERSON, there))
                        ]
                    )
                except Stale:
                    continue
                break

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, range(6)))
    assert store.get(HERE) == store.get(PERSON) == {"n": 30, "version": 30}


def test_in_memory_true_is_not_one_either() -> None:
    store = MemoryStore()
    create(store, HERE, one=1, no=False)
    assert refused(store, Change(HERE, {}, {"one": True}))
    assert refused(store, Change(HERE, {}, {"no": 0}))


# What only DynamoDB does


def on_dynamodb(client: Any) -> DynamoStore:
    """A store with a ledger table of its own, over the client itself."""
    name = f"ledger-{uuid4()}"
    create_table(client, name)
    return DynamoStore(client, ledger=name, people=None)


def after_one_page(client: Any) -> tuple[DynamoStore, str]:
    """A store with two listed records, and the cursor after the first."""
    store = on_dynamodb(client)
    for number in range(2):
        key = Key(Table.LEDGER, f"saga#{number}", "saga")
        create(store, key, listed="acme", created_at=number)
    _, start = store.index(Table.LEDGER, "listed", "acme", limit=1)
    assert start is not None
    return store, start


def failing(
    client: Any,
    operation: str,
    code: str,
    *,
    times: int = 1,
    reasons: list[dict[str, Any]] | None = None,
) -> None:
    """The next calls of an operation fail with that code, before they reach the service."""
    left = iter(range(times))

    def fail(**_: Any) -> Any:
        if next(left, None) is None:
            return None
        return AWSResponse("https://local", 400, {}, None), {
            "Error": {"Code": code, "Message": "by order of the test"},
            "ResponseMetadata": {"HTTPStatusCode": 400},
            **({} if reasons is None else {"CancellationReasons": reasons}),
        }

    client.meta.events.register_first(f"before-call.dynamodb.{operation}", fail)


def test_a_write_that_meets_somebodys_transaction_has_lost_like_any_other(dynamodb: Any) -> None:
    store = on_dynamodb(dynamodb)
    create(store, HERE, a=1)
    failing(dynamodb, "UpdateItem", "TransactionConflictException")
    assert refused(store, Change(HERE, {"a": 2}, {"version": 0})) == {HERE: {"a": 1, "version": 0}}
    assert change(store, HERE, {"version": 0}, a=2)["a"] == 2


def test_a_failure_of_the_service_is_not_taken_for_a_lost_write(dynamodb: Any) -> None:
    store = on_dynamodb(dynamodb)
    failing(dynamodb, "UpdateItem", "AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        create(store, HERE, a=1)
    failing(dynamodb, "TransactWriteItems", "AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        store.write([Change(HERE, {}, None), Change(STEP, {}, None)])


TWO = [Change(HERE, {"a": 2}, {"version": 0}), Change(STEP, {"a": 2}, {"version": 0})]


def test_a_transaction_that_meets_anothers_has_lost_and_names_what_is_there(dynamodb: Any) -> None:
    store = on_dynamodb(dynamodb)
    create(store, HERE, a=1)
    create(store, STEP, a=1)
    reasons = [{"Code": "None"}, {"Code": "TransactionConflict"}]
    failing(dynamodb, "TransactWriteItems", "TransactionCanceledException", reasons=reasons)
    assert refused(store, *TWO) == {STEP: {"a": 1, "version": 0}}


@pytest.mark.parametrize(
    "reasons",
    [
        None,
        [],
        [{"Code": "None"}, {"Code": "ThrottlingError", "Message": "slower"}],
        [{"Code": "ConditionalCheckFailed"}, {"Code": "ProvisionedThroughputExceeded"}],
    ],
    ids=["not told", "none", "throttled", "lost and throttled"],
)
def test_a_transaction_that_was_cancelled_for_another_reason_is_not_taken_for_lost(
    dynamodb: Any, reasons: list[dict[str, Any]] | None
) -> None:
    store = on_dynamodb(dynamodb)
    create(store, HERE, a=1)
    create(store, STEP, a=1)
    failing(dynamodb, "TransactWriteItems", "TransactionCanceledException", reasons=reasons)
    with pytest.raises(ClientError, match="TransactionCanceled"):
        store.write(TWO)


def test_a_failure_that_happens_to_name_reasons_is_not_taken_for_a_lost_write(
    dynamodb: Any,
) -> None:
    store = on_dynamodb(dynamodb)
    reasons = [{"Code": "ConditionalCheckFailed"}, {"Code": "None"}]
    failing(dynamodb, "TransactWriteItems", "InternalServerError", reasons=reasons)
    with pytest.raises(ClientError, match="InternalServerError"):
        store.write(TWO)


def test_one_item_of_a_transaction_that_is_too_large_is_named(dynamodb: Any) -> None:
    store = on_dynamodb(dynamodb)
    reasons = [
        {"Code": "None"},
        {"Code": "ValidationError", "Message": "Item size to update has exceeded the maximum"},
    ]
    failing(dynamodb, "TransactWriteItems", "TransactionCanceledException", reasons=reasons)
    with pytest.raises(TooLarge):
        store.write(TWO)


def test_what_a_lost_write_met_is_told_without_another_read(dynamodb: Any) -> None:
    store = on_dynamodb(dynamodb)
    create(store, HERE, a=1)
    failing(dynamodb, "GetItem", "AccessDeniedException")
    lost = Change(HERE, {"a": 2}, {"version": 7})
    assert refused(store, lost) == {HERE: {"a": 1, "version": 0}}
    with pytest.raises(ClientError, match="AccessDenied"):
        store.get(HERE)


@pytest.mark.parametrize(
    ("code", "started"), [("AccessDeniedException", True), ("ValidationException", False)]
)
def test_only_a_cursor_that_is_refused_is_a_bad_cursor(
    dynamodb: Any,
    code: str,
    started: bool,  # noqa: FBT001 - a column of the table
) -> None:
    store, start = after_one_page(dynamodb)
    failing(dynamodb, "Query", code)
    with pytest.raises(ClientError, match=code):
        store.index(Table.LEDGER, "listed", "acme", start=start if started else None)


def test_a_cursor_that_the_service_refuses_is_a_bad_one(dynamodb: Any) -> None:
    store, start = after_one_page(dynamodb)
    failing(dynamodb, "Query", "ValidationException")
    with pytest.raises(BadCursor):
        store.index(Table.LEDGER, "listed", "acme", start=start)


def test_a_function_without_the_people_table_cannot_touch_it(dynamodb: Any) -> None:
    store = DynamoStore(dynamodb, ledger="ledger", people=None)
    for touch in (
        lambda: store.get(PERSON),
        lambda: store.collection(Table.PEOPLE, "case#a"),
        lambda: store.index(Table.PEOPLE, "open", "case#acme"),
        lambda: create(store, PERSON),
        lambda: store.write([Change(HERE, {}, None), Change(PERSON, {}, None)]),
    ):
        with pytest.raises(PermissionError):
            touch()
