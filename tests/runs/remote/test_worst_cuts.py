"""Cuts at the worst moments over a real ssh connection: none ends the link for good."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote.address import Host
from mltd.runs.remote.backoff import Backoff
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.host_link import HostLink
from mltd.runs.remote.link_state import LinkPhase
from mltd.runs.remote.problems import LinkError, LinkKind
from tests.runs.remote.conftest import Configure
from tests.runs.remote.cutting_client import CUTS, CuttingClient
from tests.runs.remote.link_parts import await_that
from tests.runs.sources.sshd_server import SshdServer

COUNT = int(os.environ.get("MLTD_CUTS", "8"))
"""CONTRIBUTING.md says when to make it 200."""


@pytest.fixture
def client(
    configure: Configure, sshd: SshdServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> CuttingClient:
    made = CuttingClient(tmp_path / "client", configure(""), sshd)
    monkeypatch.setenv("MLTD_SSH", made.command)
    return made


@pytest.fixture
def link(client: CuttingClient) -> Iterator[HostLink]:
    connection = Connection(Host("mltd-test"))
    with HostLink(connection, backoff=Backoff(0.02, 0.05), pause=0.02) as made:
        yield made


def test_no_cut_at_the_worst_moment_ends_the_link(
    link: HostLink, client: CuttingClient, sshd: SshdServer, tmp_path: Path
) -> None:
    far = tmp_path / "train.log"
    far.write_bytes(b"")
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    failures: list[str] = []
    chance = random.Random(5)
    written = 0

    def note_failure() -> None:
        if link.state.kind is LinkPhase.FAILED:
            failures.append(link.state.message)

    def is_copied() -> bool:
        assert not failures, failures
        return link.state.kind is LinkPhase.CONNECTED and file.size == written

    link.on_change(note_failure)
    await_that(is_copied, link)
    for number in range(COUNT):
        kind = CUTS[number % len(CUTS)]
        if number % 2:
            # Four calls make a link: its settings, the log-in, the check, the shell.
            client.cut_at_call(chance.randrange(1, 5), kind)
        else:
            client.cut_after_login(kind)
        with far.open("ab") as log:
            written += log.write(b"".join(b"cut %d line %d\n" % (number, n) for n in range(500)))
        sshd.drop_connections()
        await_that(lambda: failures or len(client.cuts) > number, link)  # noqa: B023
        await_that(is_copied, link)
    assert len(client.cuts) == COUNT
    assert file.local.read_bytes() == far.read_bytes()
    assert file.generation == 0


@pytest.mark.parametrize("kind", CUTS)
def test_a_master_that_is_gone_after_a_first_success_is_a_lost_connection(
    client: CuttingClient, sshd: SshdServer, kind: str
) -> None:
    connection = Connection(Host("mltd-test"))
    connection.open(interactive=False)
    sshd.drop_connections()
    await_that(lambda: not connection.is_alive())
    client.cut_after_login(kind)
    with pytest.raises(LinkError) as problem:
        connection.open(interactive=False)
    assert (problem.value.kind, problem.value.may_pass) == (LinkKind.LOST, True)
    connection.open(interactive=False)
    connection.close()
