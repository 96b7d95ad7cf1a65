"""A resource of our own in a deployment: CloudFormation invokes, waits, and is told over an address that it gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import urllib3

_LONGEST_REASON = 2_000
"""CloudFormation takes 4,096 bytes of answer."""
_TRIES = urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=(500, 502, 503, 504))


class Refused(Exception):
    """The deployment must not go on; the text is what its author reads."""


def settle(event: Mapping[str, Any], act: Callable[[Mapping[str, Any]], object]) -> None:
    """Do what a resource is created and updated for, and always answer: without one a deployment waits for an hour.

    `act` takes the resource's properties; Refused from it fails the deployment with its text, anything else with its
    type, and is raised again for the log. A deletion needs nothing: what was done stays.
    """
    try:
        if event["RequestType"] != "Delete":
            act(event["ResourceProperties"])
    except Refused as refused:
        _answer(event, "FAILED", str(refused))
    except Exception as error:
        _answer(event, "FAILED", f"{type(error).__name__}: the function's log says more")
        raise
    else:
        _answer(event, "SUCCESS", "")


def _answer(event: Mapping[str, Any], status: str, reason: str) -> None:
    told = {
        "Status": status,
        "Reason": reason[:_LONGEST_REASON],
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # The address is signed for a request without a content type.
    urllib3.request(
        "PUT",
        event["ResponseURL"],
        body=json.dumps(told).encode(),
        headers={"Content-Type": ""},
        retries=_TRIES,
        timeout=10,
    )
