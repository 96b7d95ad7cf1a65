"""DBOS: a workflow of one step over SQLite, its default database; a process that died is started again.

As its documentation has it: the call of another service is a step, the workflow's id is the caller's, and a launch
recovers what an earlier process of this executor left pending.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from dbos import DBOS, DBOSConfig, SetWorkflowID, WorkflowHandle

from benchmarks.safety import workers
from benchmarks.safety.count import Knows
from benchmarks.safety.effect import ACTS, Act


@DBOS.step()
def charge(act: str, reference: str) -> str:
    """The one step."""
    return ACTS[act](reference)


@DBOS.workflow()
def pay(act: str, reference: str) -> str:
    """The one workflow."""
    return charge(act, reference)


def live(database: str, act: str, pending: str | None, reference: str) -> None:
    """One life of the program: launching it recovers what the last life left pending; then it dies in the next step."""
    with _launched(database):
        if pending is not None:
            _await(pending)
        with SetWorkflowID(reference):
            pay(act, reference)


def last_life(database: str, references: list[str]) -> dict[str, str]:
    """The last life dies of nothing; answers the status of every workflow there ever was."""
    with _launched(database):
        _await(references[-1])
        return {each: str(DBOS.retrieve_workflow(each).get_status().status) for each in references}


def _await(reference: str) -> None:
    handle: WorkflowHandle[str] = DBOS.retrieve_workflow(reference)
    handle.get_result()


@contextmanager
def _launched(database: str) -> Iterator[None]:
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": f"sqlite:///{database}",
        "log_level": "ERROR",
    }
    DBOS(config=config)
    DBOS.launch()
    try:
        yield
    finally:
        DBOS.destroy()


def play(act: Act, references: list[str]) -> dict[str, Knows]:
    """Some programs side by side, each with a database of its own, each with one workflow after the other."""
    lanes = [lane for n in range(workers.AT_ONCE) if (lane := references[n :: workers.AT_ONCE])]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(lanes)) as pool:
        databases = [str(Path(folder) / f"{n}.sqlite") for n in range(len(lanes))]
        played = pool.map(lambda d, lane: _lane(d, act, lane), databases, lanes)
        return {reference: knows for lane in played for reference, knows in lane.items()}


def _lane(database: str, act: Act, references: list[str]) -> dict[str, Knows]:
    pending = None
    for reference in references:
        workers.run(live, database, act.__name__, pending, reference)
        pending = reference
    statuses: dict[str, str] = workers.run(last_life, database, references).answer
    return {r: Knows.DONE if s == "SUCCESS" else Knows.NOTHING for r, s in statuses.items()}
