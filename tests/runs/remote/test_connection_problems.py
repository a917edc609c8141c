"""Connections that cannot be opened to a real sshd: what is said, and whether to try again."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from mltd.runs.remote import connection as module
from mltd.runs.remote.address import Host
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.problems import LinkError, LinkKind
from mltd.runs.remote.runtime import runtime_folder
from tests.runs.sources.sshd_server import SshdServer, running_sshd

from .conftest import JUMP, Configure
from .opening import forced, opened, said


def failure(host: Host) -> LinkError:
    with pytest.raises(LinkError) as problem:
        Connection(host).open(interactive=False)
    assert str(problem.value).isprintable()
    assert list(runtime_folder().glob("????????????????")) == []
    return problem.value


@pytest.mark.parametrize(
    ("jump", "kind", "words"),
    [
        ("HostName nosuchhost.invalid", LinkKind.UNKNOWN_HOST, "nosuchhost.invalid"),
        ("Port 1", LinkKind.REFUSED, "port 1: Connection refused"),
        ("PubkeyAuthentication no", LinkKind.AUTHENTICATION, "localhost: Permission denied"),
    ],
)
def test_what_is_wrong_with_a_jump_host_is_told(
    jump: str, kind: LinkKind, words: str, far_host: Host, configure: Configure
) -> None:
    configure(f"Host jump\n {jump}\n{JUMP}")
    problem = failure(far_host)
    assert problem.kind is kind
    assert words in problem.message


def test_a_wrong_key_is_told(far_host: Host, configure: Configure, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    configure(f"Host *\n IdentityFile {key}\nMatch all")
    config = (tmp_path / "ssh_config").read_text()
    (tmp_path / "ssh_config").write_text(re.sub(r"IdentityFile \S+/user_key", "", config))
    problem = failure(far_host)
    assert (problem.kind, problem.may_pass) == (LinkKind.AUTHENTICATION, False)
    assert problem.message.endswith("@127.0.0.1: Permission denied (publickey)")
    assert "from the start" in problem.hint


def test_an_unknown_host_key_is_told(far_host: Host, configure: Configure) -> None:
    for strict in ("yes", "ask"):
        configure(f"UserKnownHostsFile /dev/null\nStrictHostKeyChecking {strict}")
        problem = failure(far_host)
        assert (problem.kind, problem.may_pass) == (LinkKind.HOST_KEY, False)
        assert "not known here" in problem.message
        assert "`ssh mltd-test`" in problem.hint


def test_a_changed_host_key_is_told(
    far_host: Host, configure: Configure, sshd: SshdServer, tmp_path: Path
) -> None:
    other = (sshd.folder / "user_key.pub").read_text()
    (tmp_path / "known").write_text(f"\nmltd-test {other}")
    configure(f"UserKnownHostsFile {tmp_path}/known")
    problem = failure(far_host)
    assert (problem.kind, problem.may_pass) == (LinkKind.HOST_KEY, False)
    assert f"has changed (Offending ED25519 key in {tmp_path}/known:2)" in problem.message


def test_a_closed_port_is_told(configure: Configure) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        problem = failure(Host("127.0.0.1", "", taken.getsockname()[1]))
    assert (problem.kind, problem.may_pass) == (LinkKind.REFUSED, True)
    assert "Connection refused" in problem.message


def test_an_unknown_name_is_told(configure: Configure) -> None:
    problem = failure(Host("nosuchhost.invalid"))
    assert (problem.kind, problem.may_pass) == (LinkKind.UNKNOWN_HOST, True)
    assert "Could not resolve hostname nosuchhost.invalid" in problem.message


def test_a_server_that_never_answers_is_given_up(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOGIN_SECONDS", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        problem = failure(Host("127.0.0.1", "", silent.getsockname()[1]))
    assert (problem.kind, problem.may_pass) == (LinkKind.TIMEOUT, True)
    assert "no answer within 1 s" in problem.message


def test_no_client_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLTD_SSH", "/nowhere/ssh")
    problem = failure(Host("login01"))
    assert (problem.kind, problem.may_pass) == (LinkKind.NOT_INSTALLED, False)
    monkeypatch.setenv("MLTD_SSH", "ssh 'x")
    assert "MLTD_SSH is not a command" in failure(Host("login01")).message


def test_a_full_disk_is_a_sentence_and_may_pass(
    far_host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    problem = failure(far_host)
    assert problem.may_pass
    assert problem.message == "no link to mltd-test: No space left on device"


def test_a_configuration_that_ssh_refuses_is_told(far_host: Host, configure: Configure) -> None:
    configure("Hots x")
    problem = failure(far_host)
    assert problem.kind is LinkKind.CONFIGURATION
    assert "ad configuration option" in problem.message


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo This account is currently not available.; exit 1", "currently not available"),
        ('bash -r -c "$SSH_ORIGINAL_COMMAND"', "restricted"),
        ("echo Choose a node:; cat", "printf"),
        ("true", "runs no commands"),
    ],
)
def test_a_log_in_without_shell_is_told(
    command: str, words: str, far_host: Host, sshd: SshdServer, configure: Configure, tmp_path: Path
) -> None:
    forced(command, sshd, configure, tmp_path)
    problem = failure(far_host)
    assert (problem.kind, problem.may_pass) == (LinkKind.NO_SHELL, False)
    assert words in problem.message


def test_what_a_log_in_prints_does_no_harm(
    far_host: Host, sshd: SshdServer, configure: Configure, tmp_path: Path
) -> None:
    forced("echo Welcome; echo mind the gap >&2; exec sh", sshd, configure, tmp_path)
    connection = opened(far_host)
    connection.close()


@pytest.mark.parametrize("shell", ["tcsh", "fish", "zsh", "ksh", "bash", "busybox sh"])
def test_any_log_in_shell_will_do(
    shell: str, far_host: Host, sshd: SshdServer, configure: Configure, tmp_path: Path
) -> None:
    program, *words = shell.split()
    if (place := shutil.which(program)) is None:
        pytest.skip(f"{shell} is not installed")
    forced(f'{" ".join([place, *words])} -c "$SSH_ORIGINAL_COMMAND"', sshd, configure, tmp_path)
    connection = opened(far_host)
    assert said(connection, b"x=5; echo $((x + 1))\n") == b"6\n"
    connection.close()


def test_too_many_sessions_may_pass(tmp_path: Path, configure: Configure) -> None:
    with running_sshd(tmp_path / "other", "MaxSessions 1") as other:
        configure("")
        (tmp_path / "ssh_config").write_text(other.client_config.read_text())
        connection = opened(Host("mltd-test"))
        with subprocess.Popen(
            connection.channel(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as channel:
            assert channel.stdin is not None
            assert channel.stdout is not None
            channel.stdin.write(b"echo hi\n")
            channel.stdin.flush()
            assert channel.stdout.readline() == b"hi\n"
            with pytest.raises(LinkError, match="Session open refused") as problem:
                Connection(Host("mltd-test")).open(interactive=False)
            assert (problem.value.kind, problem.value.may_pass) == (LinkKind.REFUSED, True)
            assert connection.is_alive()
        connection.close()
