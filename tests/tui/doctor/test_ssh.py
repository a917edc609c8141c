"""ssh: client, configuration, agent and sockets, with real ones where there are any."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote import runtime
from mltd.tui.doctor.areas import sockets, ssh
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings
from tests.conftest import RequireService

from .scene import SYSTEM, only, program

NEW = 'case "$1" in -V) echo "OpenSSH_9.2p1 Debian, OpenSSL 3" >&2;; *) {};; esac'


def around(folder: Path, **environment: str) -> Surroundings:
    return Surroundings({"PATH": f"{folder}:{SYSTEM}", **environment}, patience=20)


def test_no_client_is_a_warning(tmp_path: Path) -> None:
    line = only(ssh.client(Surroundings({"PATH": str(tmp_path)})))
    assert line.state is State.WARNING
    assert "no ssh in PATH" in line.fact


@pytest.mark.parametrize(
    ("script", "state", "fact"),
    [
        (NEW.format("exit 0"), State.OK, "OpenSSH_9.2p1"),
        ("echo 'OpenSSH_5.3p1, OpenSSL' >&2", State.WARNING, "OpenSSH_5.3p1 is older than 6.8"),
        ("echo 'Dropbear v2022.83' >&2", State.WARNING, "not OpenSSH: Dropbear v2022.83"),
    ],
)
def test_the_version_of_the_client(tmp_path: Path, script: str, state: State, fact: str) -> None:
    program(tmp_path, "ssh", script)
    line = only(ssh.client(around(tmp_path)))
    assert line.state is state
    assert fact in line.fact


def test_a_configuration_that_ssh_refuses_is_a_problem(tmp_path: Path) -> None:
    program(tmp_path, "ssh", NEW.format('echo "config line 3: Bad option: hots" >&2; exit 255'))
    _, line = ssh.client(around(tmp_path))
    assert line.state is State.PROBLEM
    assert "Bad option: hots" in line.fact


def test_the_real_client(require_service: RequireService) -> None:
    require_service("ssh")
    line = next(iter(ssh.client(Surroundings({"PATH": SYSTEM}, patience=20))))
    assert line.state is State.OK
    assert line.fact.startswith("OpenSSH_")


def test_a_client_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    program(tmp_path, "ssh", "sleep 60")
    environment = {"PATH": f"{tmp_path}:{SYSTEM}"}
    assert "does not answer" in only(ssh.client(Surroundings(environment, patience=0.5))).fact


@pytest.fixture
def agent_socket(tmp_path: Path, require_service: RequireService) -> Iterator[Path]:
    """A real agent without keys."""
    require_service("ssh-agent", "ssh-add", "ssh-keygen")
    place = tmp_path / "agent"
    started = subprocess.run(
        ["ssh-agent", "-s", "-a", str(place)], check=True, capture_output=True, text=True
    )
    pid = int(started.stdout.partition("SSH_AGENT_PID=")[2].partition(";")[0])
    yield place
    os.kill(pid, signal.SIGTERM)


def test_the_keys_of_a_real_agent_are_counted_and_not_shown(
    tmp_path: Path, agent_socket: Path
) -> None:
    here = around(tmp_path, SSH_AUTH_SOCK=str(agent_socket))
    empty = only(ssh.agent(here))
    assert (empty.state, empty.advice) == (State.WARNING, "`ssh-add`")
    for name in ("first", "second"):
        key = tmp_path / name
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "secret name", "-f", str(key)]
        subprocess.run(make, check=True)
        subprocess.run(
            ["ssh-add", "-q", str(key)],
            check=True,
            env={"PATH": SYSTEM, "SSH_AUTH_SOCK": str(agent_socket)},
        )
    full = only(ssh.agent(here))
    assert (full.state, full.fact) == (State.OK, "the agent holds 2 keys")


def test_an_agent_that_is_gone_is_noticed(tmp_path: Path, require_service: RequireService) -> None:
    require_service("ssh-add")
    stale = {"SSH_AUTH_SOCK": str(tmp_path / "gone")}
    line = only(ssh.agent(around(tmp_path, **stale)))
    assert line.state is State.WARNING
    assert "cannot be reached" in line.fact
    assert "tmux show-environment" in only(ssh.agent(around(tmp_path, TMUX="x", **stale))).advice


def test_no_agent_is_no_harm(tmp_path: Path) -> None:
    line = only(ssh.agent(around(tmp_path)))
    assert line.state is State.OK
    assert "ssh-add" in line.advice


def test_an_agent_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    program(tmp_path, "ssh-add", "sleep 60")
    environment = {"PATH": f"{tmp_path}:{SYSTEM}", "SSH_AUTH_SOCK": "/x"}
    assert "does not answer" in only(ssh.agent(Surroundings(environment, patience=0.3))).fact


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime directory with a short name, wherever tests are run; no other is used."""
    with tempfile.TemporaryDirectory(prefix="d", dir="/tmp") as folder:
        monkeypatch.setattr(runtime, "LAST_RESORT", Path("/nonexistent"))
        yield Path(folder)


def shared(folder: Path, programs: Path) -> Surroundings:
    program(programs, "ssh", "")
    return around(programs, XDG_RUNTIME_DIR=str(folder))


def test_sockets_can_be_made_where_connections_are_shared(short: Path, tmp_path: Path) -> None:
    line = only(sockets.sharing(shared(short, tmp_path / "bin")))
    assert line.state is State.OK
    assert list(short.iterdir()) == []
    used = runtime.runtime_folder({"XDG_RUNTIME_DIR": str(short)})
    assert line.fact.endswith(str(used))
    (used / "x.use").touch()
    assert only(sockets.sharing(shared(short, tmp_path / "bin"))) == line
    assert list(used.iterdir()) == [used / "x.use"]


def test_a_directory_with_a_long_name_is_noticed_before_ssh_fails(
    short: Path, tmp_path: Path
) -> None:
    deep = short / ("x" * 80)
    deep.mkdir(mode=0o700)
    line = only(sockets.sharing(shared(deep, tmp_path / "bin")))
    assert line.state is State.WARNING
    assert "bytes too long for a socket" in line.fact
    assert "XDG_RUNTIME_DIR" in line.advice
    assert list(deep.iterdir()) == []


def test_the_longest_name_that_is_allowed_really_works(short: Path, tmp_path: Path) -> None:
    room = runtime.socket_room(short / "mltd-tui") - 1
    for length, state in ((room, State.OK), (room + 1, State.WARNING)):
        folder = short / ("x" * length)
        folder.mkdir(mode=0o700)
        assert only(sockets.sharing(shared(folder, tmp_path / "bin"))).state is state


def test_a_runtime_directory_that_cannot_be_used_is_noticed(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = only(sockets.sharing(shared(short / "gone", tmp_path / "bin")))
    assert gone.state is State.WARNING
    assert "No such file" in gone.fact
    monkeypatch.setattr(os, "geteuid", lambda: short.stat().st_uid + 1)
    foreign = only(sockets.sharing(shared(short, tmp_path / "bin")))
    assert "is not yours" in foreign.fact


def test_a_mount_without_links_cannot_share(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    line = only(sockets.sharing(shared(short, tmp_path / "bin")))
    assert (line.state, list(short.iterdir())) == (State.WARNING, [])


def test_without_a_client_there_is_nothing_to_share(tmp_path: Path) -> None:
    assert list(sockets.sharing(Surroundings({"PATH": str(tmp_path)}))) == []
