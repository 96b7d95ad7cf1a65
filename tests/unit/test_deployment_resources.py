"""A resource of our own always answers CloudFormation: a deployment never waits for one that has failed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import urllib3

from functions.aws.cloudformation import Refused, settle

Told = list[dict[str, Any]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What CloudFormation was answered."""
    answers: Told = []

    def request(method: str, url: str, *, body: bytes, **more: Any) -> None:
        assert (method, url, more["headers"]) == ("PUT", "https://cfn.example/x", CONTENT)
        answers.append(json.loads(body))

    monkeypatch.setattr(urllib3, "request", request)
    return answers


CONTENT = {"Content-Type": ""}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "RequestType": kind,
        "ResponseURL": "https://cfn.example/x",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Ours",
        "ResourceProperties": {"Name": "value"},
        **more,
    }


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_what_is_done_is_answered_under_one_name_for_good(told: Told, kind: str) -> None:
    done: list[Mapping[str, Any]] = []
    settle(event(kind, PhysicalResourceId="Ours"), done.append)
    assert done == [{"Name": "value"}]
    [answer] = told
    assert answer == {
        "Status": "SUCCESS",
        "Reason": "",
        "PhysicalResourceId": "Ours",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Ours",
    }


def test_a_deletion_does_nothing_and_is_answered(told: Told) -> None:
    def never(_: object) -> None:
        raise AssertionError

    settle(event("Delete", PhysicalResourceId="Ours"), never)
    assert [a["Status"] for a in told] == ["SUCCESS"]


def test_a_refusal_fails_the_deployment_in_its_own_words(told: Told) -> None:
    def refuse(_: object) -> None:
        raise Refused("not like this " + "." * 5_000)

    settle(event("Update"), refuse)
    [answer] = told
    assert answer["Status"] == "FAILED"
    assert answer["Reason"].startswith("not like this")
    assert len(json.dumps(answer)) < 4_096


def test_a_fault_fails_it_too_and_says_no_more_than_its_type(told: Told) -> None:
    def break_(_: object) -> None:
        raise KeyError("some secret text")

    with pytest.raises(KeyError):
        settle(event("Create"), break_)
    [answer] = told
    assert answer["Status"] == "FAILED"
    assert "KeyError" in answer["Reason"]
    assert "secret" not in answer["Reason"]
