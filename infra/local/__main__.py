"""`python -m infra.local up|down|status|logs`: the whole product on this machine."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from infra.local import emulator
from infra.local.deploy import deploy
from infra.local.place import LocalProblem, Place, read_json
from infra.local.seed import client, seed

_LOG_MINUTES = 10
_ADDRESSES = {
    "API": "api_url",
    "console": "console_url",
    "sign-in": "auth_url",
    "sandbox": "sandbox_url",
}


def up(place: Place) -> None:
    """Start, deploy what changed, seed, and say what is up."""
    _say("emulator", lambda: emulator.start(place), "started", "running already")
    _say("cdk deploy", lambda: deploy(place), "deployed", "nothing has changed")
    outputs = seed(place)
    _show(place, outputs)


def down(place: Place) -> None:
    """End the emulator; everything in it is gone, the passwords stay for the next time."""
    print("ended" if emulator.stop(place) else "nothing was running")


def status(place: Place) -> None:
    """What is running, and where."""
    pid = emulator.running(place)
    if pid is None:
        print("nothing is running: `make up` starts it")
        return
    print(f"emulator: process {pid} on port {place.port}, log {place.emulator_log}")
    _show(place, read_json(place.outputs_file))


def logs(place: Place, function: str) -> None:
    """What a function printed in the last ten minutes."""
    since = int((time.time() - _LOG_MINUTES * 60) * 1000)
    events = client(place, "logs").filter_log_events(
        logGroupName=f"/aws/lambda/sagaplane-local-{function}", startTime=since
    )["events"]
    for event in events:
        print(event["message"].rstrip())


def main() -> int:
    """0 when done; 1 with one line on what to put right."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (up, down, status):
        commands.add_parser(command.__name__, help=command.__doc__)
    commands.add_parser("logs", help=logs.__doc__).add_argument(
        "function", help="e.g. starter, or fulfilment-reserve_stock-run"
    )
    arguments = parser.parse_args()
    try:
        place = Place.here()
        if arguments.command == "logs":
            logs(place, arguments.function)
        else:
            {"up": up, "down": down, "status": status}[arguments.command](place)
    except LocalProblem as problem:
        print(f"sagaplane: {problem}", file=sys.stderr)
        return 1
    return 0


def _say(what: str, act: Callable[[], bool], done: str, idle: str) -> None:
    print(f"{what}: ", end="", flush=True)
    began = time.monotonic()
    try:
        acted = act()
    except LocalProblem:
        print("failed")
        raise
    print(f"{done} in {time.monotonic() - began:.0f} s" if acted else idle)


def _show(place: Place, outputs: dict[str, Any]) -> None:
    for label, name in _ADDRESSES.items():
        print(f"{label}: {outputs.get(name, '-')}")
    print(f"addresses and names: {place.outputs_file}")
    print(f"users and passwords: {place.credentials_file}")


if __name__ == "__main__":
    sys.exit(main())
