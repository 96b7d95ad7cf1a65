"""Bytes from outside: one JSON value or problems, whatever they are."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain.parsing import MOST_BYTES, MOST_LEVELS, Parsed, parse_json
from functions.domain.problems import Code, Problem, entry_of


def found(body: bytes) -> list[tuple[str, str]]:
    result = parse_json(body)
    assert isinstance(result, list), f"accepted: {result!r:.200}"
    return [(p.code, p.pointer) for p in result]


def value(body: bytes) -> object:
    result = parse_json(body)
    assert isinstance(result, Parsed), result
    return result.value


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b"[" * (MOST_LEVELS + 1) + b"]" * (MOST_LEVELS + 1),
        b'{"a":' * 6_000 + b"1" + b"}" * 6_000,
    ],
    ids=["open brackets", "open objects", "one level too many", "a 40 KB nested object"],
)
def test_deep_nesting_is_a_problem_and_never_a_recursion_error(body: bytes) -> None:
    assert found(body) == [("too_deep", "")]
    assert Code.TOO_DEEP.status == 400


def test_a_hundred_thousand_open_brackets_are_refused_for_their_size_already() -> None:
    assert found(b"[" * 100_000) == [("too_large", "")]


def test_the_deepest_nesting_that_is_allowed_is_accepted() -> None:
    assert value(b"[" * MOST_LEVELS + b"]" * MOST_LEVELS) is not None


def test_brackets_inside_texts_are_not_nesting() -> None:
    text = '\\"' + "[" * 200 + "{" * 200
    assert value(json.dumps({"a": text}).encode()) == {"a": text}


def test_a_body_of_exactly_64_kib_is_accepted_and_one_byte_more_is_too_large() -> None:
    fits = b'"' + b"a" * (MOST_BYTES - 2) + b'"'
    assert value(fits) == "a" * (MOST_BYTES - 2)
    assert found(fits[:-1] + b'a"') == [("too_large", "")]
    assert found(b'"' + b"a" * 1_000_000 + b'"') == [("too_large", "")]
    assert Code.TOO_LARGE.status == 413


def test_the_limit_counts_bytes_so_multi_byte_text_reaches_it_earlier() -> None:
    assert found(('"' + "é" * (MOST_BYTES // 2) + '"').encode()) == [("too_large", "")]


def test_every_repeated_key_is_named_with_its_place_even_in_a_value_that_was_repeated_itself() -> (
    None
):
    body = b'{"steps":[{"id":"a","id":"b"}],"x":{"k":{"k":1,"k":2}},"x":0}'
    assert found(body) == [
        ("duplicate_key", "/steps/0/id"),
        ("duplicate_key", "/x/k/k"),
        ("duplicate_key", "/x"),
    ]


def test_keys_that_only_become_equal_once_escapes_are_read_are_repeated_keys() -> None:
    assert found(b'{"amount":"1","\\u0061mount":"2"}') == [("duplicate_key", "/amount")]


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400"])
def test_a_number_that_is_not_finite_is_refused_where_it_stands(number: bytes) -> None:
    assert found(b'{"a":[0,' + number + b"]}") == [("not_finite_number", "/a/1")]


@pytest.mark.parametrize(
    "number", [b"9007199254740993", b"-9007199254740992", b"1" * 5_000], ids=["id", "low", "long"]
)
def test_an_integer_that_a_double_cannot_hold_is_refused_with_the_hint_to_use_a_string(
    number: bytes,
) -> None:
    result = parse_json(b'{"id":' + number + b"}")
    assert isinstance(result, list)
    assert [(p.code, p.pointer) for p in result] == [("unsafe_integer", "/id")]
    assert "string" in result[0].hint


def test_an_id_sent_as_text_arrives_byte_identical() -> None:
    assert value(b'{"id":"9007199254740993"}') == {"id": "9007199254740993"}
    assert value(b"9007199254740991") == 9007199254740991


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b" \n", "invalid_json"),
        (b"{", "invalid_json"),
        (b"{} {}", "invalid_json"),
        (b"{'a':1}", "invalid_json"),
        (b'{"a":01}', "invalid_json"),
        (b'{"a":"\n"}', "invalid_json"),
        (b'{"a":1}\x00', "invalid_json"),
        ('{"a":1}'.encode("utf-16"), "invalid_utf8"),
        (b'{"a":"\xff"}', "invalid_utf8"),
        (b'"\xed\xa0\x80"', "invalid_utf8"),
        (b"\xef\xbb\xbf{}", "invalid_utf8"),
    ],
)
def test_what_is_not_json_in_utf8_is_refused(body: bytes, code: str) -> None:
    assert found(body) == [(code, "")]


def test_half_a_surrogate_pair_is_refused_and_a_whole_one_is_a_character() -> None:
    assert found(b'{"a":"\\ud800"}') == [("lone_surrogate", "/a")]
    assert found(b'{"\\udfff":1}') == [("lone_surrogate", "/\ufffd")]
    assert value(b'"\\ud83d\\ude00"') == "\U0001f600"


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    result = parse_json(body)
    assert isinstance(result, Parsed) or all(isinstance(p, Problem) for p in result)


@given(st.text(alphabet='[]{}":,\\u0d8eE+-.1NaInfity \n', max_size=200))
def test_no_text_that_is_nearly_json_raises_and_what_is_accepted_is_plain_json(text: str) -> None:
    result = parse_json(text.encode())
    if isinstance(result, Parsed):
        assert json.loads(text) == result.value
    else:
        assert all(400 <= entry_of(p.code).status < 500 for p in result)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_what_json_can_hold_exactly_arrives_as_it_was(sent: object) -> None:
    got = value(json.dumps(sent).encode())
    assert got == sent
    assert not isinstance(got, float) or math.isfinite(got)
