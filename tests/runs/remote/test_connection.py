"""One shared connection to a real sshd: opened, reused, lost, closed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.errors import InputError
from mltd.runs.remote import connection as module
from mltd.runs.remote.address import Host, parse_address
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.problems import LinkLost
from mltd.runs.remote.runtime import runtime_folder
from tests.runs.sources.sshd_server import SshdServer

from .conftest import JUMP, Configure
from .opening import opened, said


def master_of(control_path: str) -> int:
    """The process id of a master."""
    answer = subprocess.run(
        ["ssh", "-F", "none", "-S", control_path, "-O", "check", "any"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = re.search(r"pid=(\d+)", answer.stderr)
    assert found is not None
    return int(found[1])


def our_socket() -> Path:
    (place,) = [place for place in runtime_folder().iterdir() if place.is_socket()]
    return place


def await_end(pid: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":
            return  # nobody waits for orphans in some containers
        time.sleep(0.02)  # nothing announces the end of a stranger's process
    pytest.fail(f"process {pid} is still there")


def test_a_connection_is_opened_used_and_ended(far_host: Host) -> None:
    connection = opened(far_host)
    assert connection.is_alive()
    assert said(connection, b"echo $((6*7))\n") == b"42\n"
    master = master_of(str(our_socket()))
    connection.close()
    await_end(master)
    assert not connection.is_alive()
    assert not [place for place in runtime_folder().iterdir() if place.is_socket()]


def test_channels_share_one_connection(far_host: Host, sshd: SshdServer) -> None:
    connection = opened(far_host)
    before = sshd.log.count("Accepted publickey")
    assert before
    for _ in range(3):
        assert said(connection, b"echo hi\n") == b"hi\n"
    connection.open(interactive=False)
    assert sshd.log.count("Accepted publickey") == before
    connection.close()


def test_a_channel_without_connection_is_lost() -> None:
    with pytest.raises(LinkLost) as problem:
        Connection(Host("login01")).channel()
    assert problem.value.may_pass


def test_a_cut_connection_is_noticed_and_opened_again(far_host: Host, sshd: SshdServer) -> None:
    connection = opened(far_host)
    master = master_of(str(our_socket()))
    sshd.drop_connections()
    await_end(master)
    assert not connection.is_alive()
    # No second log-in behind our back: it could hang on a question that nobody sees.
    assert b"UNKNOWN port 65535" in said(connection, b"echo hi\n")
    connection.open(interactive=False)
    assert said(connection, b"echo hi\n") == b"hi\n"
    connection.close()


def test_the_socket_of_a_killed_master_is_replaced(far_host: Host) -> None:
    connection = opened(far_host)
    place = our_socket()
    master = master_of(str(place))
    os.kill(master, signal.SIGKILL)
    await_end(master)
    assert place.is_socket()
    again = opened(far_host)
    assert said(again, b"echo hi\n") == b"hi\n"
    assert master_of(str(place)) != master
    again.close()
    connection.close()


def test_a_master_that_hangs_is_replaced(far_host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCAL_SECONDS", 2.0)
    connection = opened(far_host)
    master = master_of(str(our_socket()))
    os.kill(master, signal.SIGSTOP)
    try:
        connection.open(interactive=False)
        assert said(connection, b"echo hi\n") == b"hi\n"
        connection.close()
    finally:
        os.kill(master, signal.SIGKILL)


def test_a_connection_that_is_dead_behind_its_master_is_replaced(
    far_host: Host, sshd: SshdServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As after a laptop has slept: the master lives, but nobody answers.
    monkeypatch.setattr(module, "PROBE_SECONDS", 2.0)
    connection = opened(far_host)
    master = master_of(str(our_socket()))
    frozen = sshd.connections()
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert connection.is_alive()
        connection.open(interactive=False)
        assert said(connection, b"echo hi\n") == b"hi\n"
        await_end(master)
        connection.close()
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGKILL)


def test_two_apps_share_a_connection_and_the_last_one_ends_it(far_host: Host) -> None:
    first, second = opened(far_host), opened(far_host)
    master = master_of(str(our_socket()))
    first.close()
    assert said(second, b"echo hi\n") == b"hi\n"
    assert master_of(str(our_socket())) == master
    second.close()
    await_end(master)


def test_different_users_and_ports_are_different_connections(
    far_host: Host, sshd: SshdServer
) -> None:
    first = opened(far_host)
    second = opened(Host(far_host.name, sshd.user, sshd.port))
    assert len([place for place in runtime_folder().iterdir() if place.is_socket()]) == 2
    first.close()
    assert said(second, b"echo hi\n") == b"hi\n"
    second.close()


def test_a_killed_app_leaves_no_master(far_host: Host) -> None:
    script = (
        "import sys; from mltd.runs.remote.connection import Connection;"
        "from mltd.runs.remote.address import Host;"
        f"c = Connection(Host({far_host.name!r}), persist_seconds=3); c.open(interactive=False);"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as app:
        assert app.stdout is not None
        assert app.stdout.readline() == b"open\n"
        master = master_of(str(our_socket()))
        app.kill()
    await_end(master)


def test_the_users_own_master_is_used_and_survives(
    far_host: Host, configure: Configure, tmp_path: Path
) -> None:
    own = tmp_path / "cm with space"
    words = configure(f'ControlPath "{own}"\nControlPersist 60').split()
    subprocess.run([*words, "-M", "-f", "-N", far_host.name], check=True, stdin=subprocess.DEVNULL)
    master = master_of(str(own))
    connection = opened(far_host)
    try:
        assert said(connection, b"echo hi\n") == b"hi\n"
        assert list(runtime_folder().iterdir()) == []
        connection.close()
        assert master_of(str(own)) == master
    finally:
        os.kill(master, signal.SIGTERM)
        await_end(master)


def test_where_the_users_own_master_is_gone_we_open_ours(
    far_host: Host, configure: Configure, tmp_path: Path
) -> None:
    configure(f"ControlPath {tmp_path}/cm-%C\nControlMaster auto\nControlPersist 60")
    connection = opened(far_host)
    assert our_socket().parent == runtime_folder()
    assert not list(tmp_path.glob("cm-*"))
    connection.close()


def test_settings_for_people_do_not_get_in_the_way(far_host: Host, configure: Configure) -> None:
    configure(
        "RemoteCommand tmux attach\nRequestTTY force\nLocalForward 1 127.0.0.1:1\n"
        "ForwardAgent yes\nPermitLocalCommand yes\nLocalCommand false\nLogLevel QUIET"
    )
    connection = opened(far_host)
    assert said(connection, b"tty || echo $SSH_AUTH_SOCK$SSH_TTY\n") == b"not a tty\n\n"
    connection.close()


def test_nobody_waits_for_who_holds_on_to_the_messages(
    far_host: Host, clinging_client: None
) -> None:
    connection = opened(far_host)
    assert said(connection, b"echo hi\n") == b"hi\n"
    connection.close()


def test_a_jump_host_is_used(far_host: Host, configure: Configure) -> None:
    configure(JUMP)
    connection = opened(far_host)
    assert said(connection, b"echo hi\n") == b"hi\n"
    connection.close()
    assert said(opened(far_host), b"echo hi\n") == b"hi\n"


@given(text=st.text(max_size=30) | st.text("-@:/[]~%.ab0 \n'$\\=o", max_size=20))
def test_no_name_becomes_an_option(text: str) -> None:
    for name in (f"{text}:x", f"ssh://{text}/x", f"{text}@login01:x", f"login01:{text}"):
        try:
            address = parse_address(name)
        except InputError:
            continue
        if address is None:
            continue
        connection = Connection(address.host)
        connection._socket = "/run/socket"
        ssh, *words, dashes, host, command = connection.channel()
        assert (ssh, dashes, command) == ("ssh", "--", "exec sh")
        assert not host.startswith("-")
        options = dict(zip(words[::2], words[1::2], strict=True))
        assert set(options) <= {"-S", "-o", "-p", "-l"}
        assert not options.get("-l", "").startswith("-")
        assert options["-o"] == "ProxyCommand=false"
