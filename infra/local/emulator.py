"""Starts and stops the AWS emulator on this machine: one process, on 127.0.0.1, with IAM enforced."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from infra.local.place import REGION, ROOT, LocalProblem, Place, read_json, write_json

_PROGRAM = ROOT / ".emulator" / "bin" / "ministack"
_START_SECONDS = 30
_STOP_SECONDS = 15
_ours: dict[int, subprocess.Popen[bytes]] = {}
"""What this very process started: its ends have to be waited for, or they stay as zombies."""


def start(place: Place) -> bool:
    """Start it and wait until it answers. False if it was running already. Raises LocalProblem."""
    if running(place) is not None:
        return False
    if not _PROGRAM.exists():
        raise LocalProblem("the emulator is not installed: run `make setup`")
    if _answers(place.port):
        raise LocalProblem(
            f"port {place.port} is in use by another program: end it, or choose another port "
            f"with `GATEWAY_PORT={place.port + 1} make up`"
        )
    place.folder.mkdir(parents=True, exist_ok=True)
    (place.folder / "tmp").mkdir(exist_ok=True)
    with place.emulator_log.open("w") as log:
        process = subprocess.Popen(
            [_PROGRAM],
            cwd=place.folder,
            env=_environment(place),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _ours[process.pid] = process
    write_json(place.emulator_file, {"pid": process.pid, "port": place.port})
    _await_health(place, process)
    return True


def stop(place: Place) -> bool:
    """End what `start` started, by its own process id. False if nothing was running."""
    pid = running(place)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while _is_emulator(pid):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.1)
        if pid in _ours:
            _ours.pop(pid).wait()
    place.emulator_file.unlink(missing_ok=True)
    return pid is not None


def running(place: Place) -> int | None:
    """The process id of this place's emulator, if it is alive."""
    known = read_json(place.emulator_file)
    pid = known.get("pid")
    if pid is None or not _is_emulator(pid):
        return None
    if known["port"] != place.port:
        raise LocalProblem(
            f"the emulator is running on port {known['port']}: run `make down` first"
        )
    return int(pid)


def _is_emulator(pid: int) -> bool:
    """Whether that process is alive and ours: process ids are used again."""
    shown = subprocess.run(
        ["ps", "-ww", "-p", str(pid), "-o", "stat=,args="],
        check=False,
        capture_output=True,
        text=True,
    ).stdout.strip()
    return str(_PROGRAM) in shown and not shown.startswith("Z")


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _await_health(place: Place, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{place.endpoint}/_ministack/health", timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise LocalProblem(f"the emulator did not start: see {place.emulator_log}")


def _environment(place: Place) -> dict[str, str]:
    """All that the emulator, and so every function, inherits: nothing of the caller's own AWS or Python."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "SFN_WAIT_SCALE", "LOG_LEVEL")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "AUTH": "true",
        "BIND_HOST": "127.0.0.1",
        # Two listeners of services that we do not use would bind every interface.
        "IOT_MTLS_ENABLED": "false",
        "SFTP_ENABLED": "false",
        "GATEWAY_PORT": str(place.port),
        "MINISTACK_REGION": REGION,
        "AWS_ENDPOINT_URL": place.endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "SAGAPLANE_PYTHON": str(ROOT / ".venv" / "bin" / "python"),
        "TMPDIR": str(place.folder / "tmp"),
    }
