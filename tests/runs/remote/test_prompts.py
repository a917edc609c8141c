"""Questions of ssh in a plain terminal: a real one, in which the test types."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.sources.sshd_server import SshdServer

from .conftest import JUMP, Configure

SECRET = "correct horse"
APP = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from mltd.runs.remote.address import Host
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.problems import LinkError
connection = Connection(Host("mltd-test"))
try:
    connection.open(interactive=True)
    print("alive", connection.is_alive())
except KeyboardInterrupt:
    print("interrupted")
except LinkError as problem:
    print("problem:", problem.kind, problem)
connection.close()
echo = bool(termios.tcgetattr(0)[3] & termios.ECHO)
print("echo is", "on" if echo else "off", flush=True)
"""


class Typist:
    """A person at a terminal in which an app runs."""

    def __init__(self, master: int, app: subprocess.Popen[bytes]) -> None:
        self.app = app
        self.seen = ""
        self._master = master

    def await_text(self, words: str) -> str:
        """All that was shown up to these words; what follows is kept for the next time."""
        deadline = time.monotonic() + 60
        while words not in self.seen:
            ready, _, _ = select.select([self._master], [], [], deadline - time.monotonic())
            piece = b""
            with contextlib.suppress(OSError):  # the app is gone
                piece = os.read(self._master, 1 << 16) if ready else b""
            if not piece:
                pytest.fail(f"{words!r} never came, but {self.seen!r}")
            self.seen += piece.decode(errors="replace")
        before, _, self.seen = self.seen.partition(words)
        return before

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def has_echo(self) -> bool:
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)


@contextlib.contextmanager
def at_terminal() -> Iterator[Typist]:
    """Start the app in a terminal of its own."""
    master, slave = pty.openpty()
    app = subprocess.Popen(
        [sys.executable, "-c", APP],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Typist(master, app)
    finally:
        app.kill()
        app.wait()
        os.close(master)


@pytest.fixture
def locked_key(sshd: SshdServer, configure: Configure, tmp_path: Path) -> None:
    """The only key that opens the door has a passphrase."""
    key = tmp_path / "locked"
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", SECRET, "-f", str(key)]
    subprocess.run(make, check=True)
    with (sshd.folder / "authorized_keys").open("a") as keys:
        keys.write(key.with_suffix(".pub").read_text())
    configure("BatchMode no\nNumberOfPasswordPrompts 1")
    config = (tmp_path / "ssh_config").read_text()
    (tmp_path / "ssh_config").write_text(
        config.replace(f"IdentityFile {sshd.folder}/user_key", f"IdentityFile {key}")
    )


def test_an_unknown_host_key_is_asked_for(configure: Configure, tmp_path: Path) -> None:
    known = tmp_path / "known"
    configure(f"BatchMode no\nStrictHostKeyChecking ask\nUserKnownHostsFile {known}")
    with at_terminal() as person:
        assert "can't be established" in person.await_text("(yes/no")
        person.type("yes\n")
        # What ssh says besides its questions is shown as well.
        person.await_text("Warning: Permanently added")
        person.await_text("alive True")
        person.await_text("echo is on")
    assert known.read_text().startswith("mltd-test ")


def test_who_says_no_to_a_host_key_is_told_what_it_means(
    configure: Configure, tmp_path: Path
) -> None:
    configure(f"BatchMode no\nStrictHostKeyChecking ask\nUserKnownHostsFile {tmp_path}/known")
    with at_terminal() as person:
        person.await_text("(yes/no")
        person.type("no\n")
        person.await_text("problem: host key no link to mltd-test: its host key is not known here")


@pytest.mark.usefixtures("locked_key")
def test_a_passphrase_is_asked_for_and_not_shown() -> None:
    with at_terminal() as person:
        person.await_text("Enter passphrase for key")
        person.await_text(": ")
        assert not person.has_echo()
        person.type(f"{SECRET}\n")
        shown = person.await_text("alive True")
        assert SECRET not in shown
        person.await_text("echo is on")


@pytest.mark.usefixtures("locked_key")
def test_a_wrong_passphrase_ends_with_what_ssh_says() -> None:
    with at_terminal() as person:
        person.await_text("Enter passphrase for key")
        person.await_text(": ")
        person.type("wrong\n")
        shown = person.await_text("problem: authentication")
        assert "Permission denied (publickey)" in shown
        person.await_text("@127.0.0.1: Permission denied (publickey)")
        assert "see whether `ssh mltd-test` works" in person.await_text("echo is on")


@pytest.mark.usefixtures("locked_key")
def test_an_interrupted_question_gives_the_terminal_back() -> None:
    with at_terminal() as person:
        person.await_text("Enter passphrase for key")
        person.await_text(": ")
        assert not person.has_echo()
        person.type("\x03")
        person.await_text("interrupted")
        person.await_text("echo is on")


@pytest.mark.usefixtures("locked_key")
def test_a_client_that_is_killed_in_its_question_leaves_no_blind_terminal() -> None:
    with at_terminal() as person:
        person.await_text("Enter passphrase for key")
        person.await_text(": ")
        pid = person.app.pid
        (ssh,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        assert not person.has_echo()
        os.kill(int(ssh), signal.SIGKILL)
        person.await_text("problem: other")
        person.await_text("echo is on")


def test_over_a_jump_host_both_may_ask(
    locked_key: None, configure: Configure, tmp_path: Path
) -> None:
    config = tmp_path / "ssh_config"
    config.write_text(f"BatchMode no\n{JUMP}{config.read_text()}")
    with at_terminal() as person:
        for _ in ("the jump host", "the host behind it"):
            person.await_text("Enter passphrase for key")
            person.await_text(": ")
            person.type(f"{SECRET}\n")
        person.await_text("alive True")


def test_nobody_waits_for_who_holds_on_to_the_messages(clinging_client: None) -> None:
    with at_terminal() as person:
        person.await_text("alive True")
        person.await_text("echo is on")
