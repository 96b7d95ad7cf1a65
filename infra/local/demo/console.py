"""The people's page with something to decide, to settle and to look at; it stays until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading

from functions.sandbox.faults import Trouble
from infra.local import emulator
from infra.local.__main__ import down, up
from infra.local.demo.callers import Answer
from infra.local.demo.casting import cast_stage
from infra.local.demo.plans import CREDIT_NOTE, plan, steps
from infra.local.demo.stage import SceneStuck, Stage
from infra.local.place import LocalProblem, Place, read_json

_PEOPLE = {
    "approver": "decides approvals",
    "approver2": "is the second where two are needed",
    "operator": "settles cases",
}
_SAGAS = (
    ("4471", "180.00", "awaiting_approval"),
    ("4472", "220.00", "awaiting_approval"),
    ("4476", "1200.00", "awaiting_approval"),
    ("4473", "99.00", "completed"),
    ("4474", "95.00", "awaiting_manual_resolution"),
    ("4475", "90.00", "compensated"),
)
"""Order, amount, and where its saga has come to when the page is ready."""


def main() -> int:
    """0 once a person has ended it with Ctrl-C; 1 with one line where it could not begin."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        place = Place.here()
        ours = emulator.running(place) is None
        try:
            up(place)
            print("something to decide and to settle: ", end="", flush=True)
            furnish(cast_stage(place))
            print("ready")
            _tell(place)
            threading.Event().wait()
        finally:
            if ours:
                down(place)
    except (LocalProblem, SceneStuck) as problem:
        print(f"sagaplane: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def furnish(stage: Stage) -> dict[str, str]:
    """Submit a plan for each order and wait until people have something to do; answers the sagas by order."""
    for order, amount, _ in _SAGAS:
        stage.order(order, amount)
    stage.trouble("4474", "shipping", "ship", Trouble.ERROR_503, times=4)
    stage.trouble("4475", "payments", "authorize", Trouble.DECLINE)
    sagas = {order: propose(stage, order, amount) for order, amount, _ in _SAGAS}
    for order, _, status in _SAGAS:
        stage.wait(sagas[order], status)
    return sagas


def propose(stage: Stage, order: str, amount: str) -> str:
    """Submit a plan of this run for an order; that for 4471 carries the note that its agent could not put into a step."""
    notes = (CREDIT_NOTE,) if order == "4471" else ()
    request = stage.request_id(f"order-{order}")
    answer: Answer = stage.agent.post("/plans", plan(request, steps(order, amount), notes=notes))
    if "saga_id" not in answer.body:
        raise SceneStuck(f"the plan for order {order} was not admitted: {answer.body}")
    return str(answer.body["saga_id"])


def _tell(place: Place) -> None:
    passwords = place.credentials()["users"]
    print(f"\nconsole:  {read_json(place.outputs_file)['console_url']}")
    for name, part in _PEOPLE.items():
        print(f"{name}: {passwords[name]}  ({part})")
    print("\nCtrl-C ends it.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
