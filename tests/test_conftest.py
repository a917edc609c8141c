"""The guards around every test are themselves tested."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Homes, NetworkTouchedError, RequireService

# 192.0.2.0/24 is reserved for documentation: nobody answers there, even without the guard.
FAR_AWAY = ("192.0.2.1", 9)


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_no_test_can_connect_to_another_machine(kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as outgoing:
        outgoing.settimeout(0.1)
        with pytest.raises(NetworkTouchedError):
            outgoing.connect(FAR_AWAY)
        with pytest.raises(NetworkTouchedError):
            outgoing.connect_ex(FAR_AWAY)


def test_no_test_can_send_a_datagram_to_another_machine() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outgoing:
        with pytest.raises(NetworkTouchedError):
            outgoing.sendto(b"hello", FAR_AWAY)
        with pytest.raises(NetworkTouchedError):
            outgoing.sendmsg([b"hello"], [], 0, FAR_AWAY)


def test_no_test_can_look_up_a_name() -> None:
    with pytest.raises(NetworkTouchedError):
        socket.getaddrinfo("example.invalid", 443)
    with pytest.raises(NetworkTouchedError):
        socket.create_connection(("example.invalid", 443), timeout=0.1)


def test_this_machine_can_be_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])) as client,
    ):
        client.sendall(b"hello")
        accepted, _ = server.accept()
        with accepted:
            assert accepted.recv(5) == b"hello"


def test_home_is_empty_and_outside_tmp_path(own_home: Path, tmp_path: Path) -> None:
    assert Path.home() == own_home
    assert Path(os.environ["XDG_STATE_HOME"]).is_relative_to(own_home)
    assert not any(tmp_path.iterdir())
    assert not any(path.is_file() for path in own_home.rglob("*"))


@pytest.mark.parametrize("change", ["file", "folder", "mode", "removal"])
def test_a_home_that_a_test_has_changed_is_given_to_no_other(tmp_path: Path, change: str) -> None:
    homes = Homes(tmp_path)
    home = homes.take()
    assert homes.take() == home
    match change:
        case "file":
            (home / ".local" / "state" / "recent").touch()
        case "folder":
            (home / "runs").mkdir()
        case "mode":
            (home / ".cache").chmod(0o500)
        case "removal":
            (home / "run").rmdir()
    other = homes.take()
    assert other != home
    assert sorted(other.iterdir()) == [
        other / name for name in (".cache", ".config", ".local", "run")
    ]


def test_a_missing_program_skips_or_fails(
    require_service: RequireService, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_service("sh")
    monkeypatch.setenv("MLTD_REQUIRE_SERVICES", "0")
    with pytest.raises(pytest.skip.Exception, match="no-such-program"):
        require_service("sh", "no-such-program")
    monkeypatch.setenv("MLTD_REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception, match="no-such-program"):
        require_service("no-such-program")


@given(st.integers())
def test_the_guards_leave_property_tests_alone(number: int) -> None:
    with pytest.raises(NetworkTouchedError):
        socket.getaddrinfo(f"host{number}.invalid", 443)


def test_examples_are_reproducible_and_have_no_deadline() -> None:
    profile = settings.get_profile("ci")
    assert profile.derandomize
    assert profile.deadline is None
