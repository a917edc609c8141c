"""A real sshd for the tests of links, and the client's configuration for it."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mltd.runs.remote.address import Host
from mltd.runs.remote.explore import RemoteTree
from mltd.runs.remote.runtime import runtime_folder
from tests.runs.remote.far_shells import FarShell, far_shell
from tests.runs.remote.remote_names import HOST
from tests.runs.sources.sshd_server import SshdServer, running_sshd

Configure = Callable[[str], str]
JUMP = """Host jump
    HostName localhost
    HostKeyAlias mltd-test
Host mltd-test
    ProxyJump jump
"""


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshdServer]:
    """One server for all tests of a worker; it keeps nothing but its log."""
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def configure(
    sshd: SshdServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Configure]:
    """A function that makes ssh heed these lines first, then those that reach the server."""

    def write(lines: str) -> str:
        place = tmp_path / "ssh_config"
        place.write_text(f"{lines}\n{sshd.client_config.read_text()}")
        words = f"ssh -F {shlex.quote(str(place))}"
        monkeypatch.setenv("MLTD_SSH", words)
        return words

    write("")
    # Short wherever tests are run, and of this test alone.
    with tempfile.TemporaryDirectory(prefix="mltd-", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        yield write
        end_masters()


@pytest.fixture
def far_host(configure: Configure) -> Host:
    """The server under the name that the client's configuration has for it."""
    return Host("mltd-test")


@pytest.fixture
def clinging_client(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A client that leaves a process behind which keeps its descriptors, as old masters do."""
    words = configure("BatchMode no")
    program, pid = tmp_path / "clinging", tmp_path / "pid"
    program.write_text(
        f"""#!/bin/sh
case "$*" in *ControlPersist*) sleep 300 & echo $! >> {shlex.quote(str(pid))};; esac
exec {words} "$@"
"""
    )
    program.chmod(0o700)
    monkeypatch.setenv("MLTD_SSH", shlex.quote(str(program)))
    yield
    for number in pid.read_text().split():
        os.kill(int(number), signal.SIGKILL)


def end_masters() -> None:
    """End what a test has left open."""
    for socket in runtime_folder().iterdir():
        if socket.is_socket():
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    ["ssh", "-F", "none", "-S", str(socket), "-O", "exit", "any"],
                    check=False,
                    capture_output=True,
                    timeout=60,
                )


@pytest.fixture
def far(tmp_path: Path) -> Iterator[FarShell]:
    """A shell as it answers on another machine."""
    shell = far_shell("sh", tmp_path / "far side")
    yield shell
    shell.close()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """Where copies of remote files are kept."""
    place = tmp_path / "mltd-ssh-1"
    place.mkdir()
    return place


@pytest.fixture
def tree(far: FarShell, mirror: Path) -> RemoteTree:
    """The files behind that shell."""
    return RemoteTree(HOST, far, mirror)
