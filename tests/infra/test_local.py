"""The local stage: what a person is told when something on the machine is in the way."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from infra.local import deploy, emulator
from infra.local.place import LocalProblem, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Place(tmp_path / "local", port)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for the emulator: answers its health check and nothing else."""
    path = tmp_path / "ministack"
    path.write_text(
        f"""#!{sys.executable}
import http.server, os, json, pathlib
pathlib.Path("environment.json").write_text(json.dumps(dict(os.environ)))
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
http.server.HTTPServer((os.environ["BIND_HOST"], int(os.environ["GATEWAY_PORT"])), Health).serve_forever()
"""
    )
    path.chmod(0o755)
    monkeypatch.setattr(emulator, "_PROGRAM", path)
    return path


@pytest.mark.usefixtures("program")
def test_a_second_start_finds_the_first_and_a_stop_ends_just_that(place: Place) -> None:
    assert emulator.start(place)
    try:
        pid = json.loads(place.emulator_file.read_text())["pid"]
        assert not emulator.start(place)
        assert emulator.running(place) == pid
    finally:
        assert emulator.stop(place)
    assert emulator.running(place) is None
    assert not emulator.stop(place)


@pytest.mark.usefixtures("program")
def test_the_emulator_listens_on_loopback_enforces_iam_and_knows_nothing_of_the_caller_s_aws(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "the-callers-own")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    emulator.start(place)
    try:
        seen = json.loads((place.folder / "environment.json").read_text())
    finally:
        emulator.stop(place)
    assert (seen["BIND_HOST"], seen["AUTH"]) == ("127.0.0.1", "true")
    assert (seen["IOT_MTLS_ENABLED"], seen["SFTP_ENABLED"]) == ("false", "false")
    assert seen["AWS_ENDPOINT_URL"] == place.endpoint
    assert "AWS_PROFILE" not in seen
    assert "PYTHONPATH" not in seen


@pytest.mark.usefixtures("program")
def test_a_port_in_use_is_said_in_one_line_with_the_way_out(place: Place) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", place.port))
        other.listen()
        with pytest.raises(LocalProblem) as problem:
            emulator.start(place)
    assert str(problem.value) == (
        f"port {place.port} is in use by another program: end it, or choose another port "
        f"with `GATEWAY_PORT={place.port + 1} make up`"
    )


def test_a_missing_emulator_names_the_command_that_installs_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulator, "_PROGRAM", place.folder / "nowhere")
    with pytest.raises(LocalProblem, match="run `make setup`"):
        emulator.start(place)


def test_an_emulator_that_dies_at_once_names_its_log(place: Place, program: Path) -> None:
    program.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(LocalProblem, match=r"did not start: see .*emulator\.log"):
        emulator.start(place)


@pytest.mark.usefixtures("program")
def test_a_process_id_that_is_somebody_else_s_now_is_not_ended(place: Place) -> None:
    place.folder.mkdir(parents=True)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        record = {"pid": other.pid, "port": place.port}
        place.emulator_file.write_text(json.dumps(record))
        assert not emulator.stop(place)
        assert other.poll() is None
    finally:
        other.communicate(b"\n")


def test_a_missing_node_is_said_in_one_line(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.folder.mkdir(parents=True)
    place.emulator_file.write_text(json.dumps({"pid": 1, "port": place.port}))
    monkeypatch.setattr(deploy.shutil, "which", lambda _: None)
    with pytest.raises(LocalProblem, match=r"node is missing: install Node\.js 20 or later"):
        deploy.deploy(place)


def test_a_failed_deployment_ends_with_the_log_s_path_and_its_last_lines(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.folder.mkdir(parents=True)
    place.emulator_file.write_text(json.dumps({"pid": 1, "port": place.port}))
    broken = tmp_path / "cdk"
    broken.write_text("#!/bin/sh\necho 'the catalogue is wrong' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(deploy, "_CDK", broken)
    with pytest.raises(LocalProblem) as problem:
        deploy.deploy(place)
    first, *_, last = str(problem.value).splitlines()
    assert first == f"cdk synth failed, see {place.deploy_log}:"
    assert last == "  the catalogue is wrong"


def test_nothing_is_deployed_twice(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.folder.mkdir(parents=True)
    place.emulator_file.write_text(json.dumps({"pid": 1, "port": place.port}))
    calls = tmp_path / "calls"
    cdk = tmp_path / "cdk"
    cdk.write_text(f"#!/bin/sh\necho $1 >> {calls}\n")
    cdk.chmod(0o755)
    monkeypatch.setattr(deploy, "_CDK", cdk)
    assert deploy.deploy(place)
    assert not deploy.deploy(place)
    assert calls.read_text().split() == ["synth", "bootstrap", "deploy"]


def test_a_new_emulator_gets_the_same_templates_without_another_synth(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_nothing_is_deployed_twice(place, tmp_path, monkeypatch)
    place.emulator_file.write_text(json.dumps({"pid": 2, "port": place.port}))
    assert deploy.deploy(place)
    calls = (tmp_path / "calls").read_text().split()
    assert calls == ["synth", "bootstrap", "deploy", "bootstrap", "deploy"]


def test_passwords_are_kept_for_the_owner_s_eyes_alone(place: Place) -> None:
    token = place.credentials()["sandbox_admin_token"]
    assert stat.S_IMODE(place.credentials_file.stat().st_mode) == 0o600
    assert place.credentials()["sandbox_admin_token"] == token


def test_tools_are_given_the_emulator_and_nothing_of_the_caller_s_aws(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "the-callers-own")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-token")
    given = place.environment()
    assert "AWS_PROFILE" not in given
    assert "AWS_SESSION_TOKEN" not in given
    assert given["AWS_CONFIG_FILE"] == os.devnull
    assert given["AWS_ENDPOINT_URL"] == place.endpoint
