"""Temporal: a workflow of one activity, on the development server with its state on disk.

As its documentation has it: a start-to-close timeout is set, and the retry policy is left alone, or allows one attempt
only, the setting for what must not be repeated. Workflow code runs in a worker that stays up; the workers that
run activities are the ones that die, and are started again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from benchmarks.safety import workers
    from benchmarks.safety.count import Knows
    from benchmarks.safety.effect import ACTS, Act

QUEUE, BUILD = "bench", "bench"
"""Named, since a worker without a build id computes one from the code of every loaded module, two seconds' worth."""
START_TO_CLOSE = timedelta(seconds=10)
_TRIES, _PAUSE = 100, 0.2
_SERVER = Path(sys.executable).parent / "temporal"


@activity.defn
def charge(act: str, reference: str) -> str:
    """The one activity."""
    return ACTS[act](reference)


@workflow.defn
class Pay:
    """The one workflow. `attempts` is 0 for the default policy, which retries for ever."""

    @workflow.run
    async def run(self, act: str, reference: str, attempts: int) -> str:
        """Answers the effect's id."""
        return await workflow.execute_activity(
            charge,
            args=[act, reference],
            start_to_close_timeout=START_TO_CLOSE,
            retry_policy=RetryPolicy(maximum_attempts=attempts) if attempts else None,
        )


Handle = WorkflowHandle[Pay, str]


def serve_activities(address: str) -> None:
    """A worker process that runs one activity at a time, until it is killed."""
    asyncio.run(_serve_activities(address))


async def _serve_activities(address: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        await Worker(
            await Client.connect(address),
            task_queue=QUEUE,
            build_id=BUILD,
            activities=[charge],
            activity_executor=pool,
            max_concurrent_activities=1,
        ).run()


def play_default(act: Act, references: list[str]) -> dict[str, Knows]:
    """The default retry policy."""
    return _play(act, references, attempts=0)


def play_once(act: Act, references: list[str]) -> dict[str, Knows]:
    """One attempt only."""
    return _play(act, references, attempts=1)


def _play(act: Act, references: list[str], *, attempts: int) -> dict[str, Knows]:
    with _server() as address:
        return asyncio.run(_drive(address, act, references, attempts))


async def _drive(address: str, act: Act, references: list[str], attempts: int) -> dict[str, Knows]:
    client = await _connected(address)
    workflows = Worker(client, task_queue=QUEUE, build_id=BUILD, workflows=[Pay])
    async with workflows, _activity_workers(address):
        # Started one after the other: a busy machine's server gives up on three hundred starts at once.
        started = [await _begin(client, act, reference, attempts) for reference in references]
        ends = await asyncio.gather(*(_end(handle) for handle in started))
        return dict(zip(references, ends, strict=True))


async def _begin(client: Client, act: Act, reference: str, attempts: int) -> Handle:
    return await client.start_workflow(
        Pay.run, args=[act.__name__, reference, attempts], id=reference, task_queue=QUEUE
    )


async def _end(handle: Handle) -> Knows:
    try:
        await handle.result()
    except WorkflowFailureError:
        # Failed for good: its history says that the activity timed out, not whether the effect exists.
        return Knows.NOTHING
    return Knows.DONE


@asynccontextmanager
async def _activity_workers(address: str) -> AsyncIterator[None]:
    alive = [workers.start(serve_activities, address) for _ in range(workers.AT_ONCE)]
    replacing = asyncio.create_task(_replace(alive, address))
    try:
        yield
    finally:
        replacing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await replacing
        for process in alive:
            workers.end(process)


async def _replace(alive: list[BaseProcess], address: str) -> None:
    while True:
        for index, process in enumerate(alive):
            if workers.exit_code(process) is not None:
                alive[index] = workers.start(serve_activities, address)
        await asyncio.sleep(0.05)


async def _connected(address: str) -> Client:
    for _ in range(_TRIES):
        with contextlib.suppress(RuntimeError):
            return await Client.connect(address)
        await asyncio.sleep(_PAUSE)
    raise TimeoutError(f"no Temporal server at {address}")


@contextmanager
def _server() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        port, http, metrics = _free_ports(3)
        command = [str(_SERVER), "server", "start-dev", "--headless", "--ip", "127.0.0.1"]
        ports = ["--port", port, "--http-port", http, "--metrics-port", metrics]
        where = ["--db-filename", str(Path(folder) / "temporal.sqlite"), "--log-level", "never"]
        process = subprocess.Popen(
            [*command, *ports, *where],
            env={**os.environ, "HOME": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield f"127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def _free_ports(number: int) -> list[str]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [str(each.getsockname()[1]) for each in sockets]
