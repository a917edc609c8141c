"""Files over a real ssh connection: live, late, refused; and whole after fifty cuts."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from mltd.runs.remote.address import Host
from mltd.runs.remote.backoff import Backoff
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.host_link import HostLink
from mltd.runs.remote.link_state import LinkPhase
from mltd.runs.remote.mirrored_file import MirroredFile
from mltd.runs.sources.pieces import FollowState
from tests.runs.remote.link_parts import await_that, children
from tests.runs.sources.sshd_server import SshdServer

CUTS = 50


@pytest.fixture
def link(far_host: Host) -> Iterator[HostLink]:
    before = children(), set(threading.enumerate())
    with HostLink(Connection(far_host), backoff=Backoff(0.02, 0.05), pause=0.05) as made:
        yield made
    assert children() <= before[0]
    assert set(threading.enumerate()) <= before[1]


def test_a_log_is_followed_live(link: HostLink, tmp_path: Path) -> None:
    far = tmp_path / "late $(touch x) \udcff\n.log"
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    await_that(lambda: file.is_looked_at, link)
    assert file.status.state is FollowState.MISSING
    for number in range(2):
        with far.open("ab") as log:
            log.write(b"line %d\n" % number)
        await_that(partial(_is_copied, file, 7 * (number + 1)), link)
    assert file.local.read_bytes() == far.read_bytes()
    assert link.state.kind is LinkPhase.CONNECTED
    assert not (tmp_path / "x").exists()


def _is_copied(file: MirroredFile, length: int) -> bool:
    return file.size == length


def test_what_is_no_file_is_told_and_disturbs_no_other(link: HostLink, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "train.log").write_bytes(b"text")
    files = [
        link.follow(os.fsencode(tmp_path / name), tmp_path / "copies" / name)
        for name in ("pipe", "train.log", ".")
    ]
    await_that(lambda: all(file.is_looked_at for file in files), link)
    assert [file.status.state for file in files] == [
        FollowState.UNREADABLE,
        FollowState.FOLLOWING,
        FollowState.UNREADABLE,
    ]


class Writer(threading.Thread):
    """Writes a thousand lines a second."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.lines: list[bytes] = []
        self._is_over = threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        with self.path.open("ab", buffering=0) as log:
            while not self._is_over.wait(0.003):
                due = int((time.monotonic() - began) * 1000)
                new = range(len(self.lines), due)
                lines = [b"step %d loss 0.%d\n" % (n, n * 7919 % 100003) for n in new]
                log.write(b"".join(lines))
                self.lines += lines

    def end(self) -> bytes:
        """All that was written."""
        self._is_over.set()
        self.join()
        return b"".join(self.lines)


def test_fifty_cuts_lose_and_repeat_nothing(
    link: HostLink, sshd: SshdServer, tmp_path: Path
) -> None:
    far = tmp_path / "train.log"
    older = b"".join(b"earlier %d of %d\n" % (n, n * 7919 % 100003) for n in range(100_000))
    far.write_bytes(older)
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    phases: list[LinkPhase] = []
    link.on_change(lambda: phases.append(link.state.kind))
    await_that(lambda: file.is_looked_at, link)
    writer = Writer(far)
    writer.start()
    for number in range(CUTS):
        if number % 5 in (1, 3):
            # In the middle of a look, or of the rest that comes behind.
            await_that(lambda: link.state.kind is LinkPhase.CONNECTED, link)
        else:
            # Mostly in the middle of a log-in.
            await_that(sshd.connections)
        time.sleep(number % 7 * 0.01)
        sshd.drop_connections()
        await_that(lambda: link.state.kind is not LinkPhase.CONNECTED, link)
    expected = older + writer.end()
    await_that(lambda: file.size == len(expected) and file.is_complete, link)
    assert file.local.read_bytes() == expected == far.read_bytes()
    assert file.generation == 0
    pairs = list(itertools.pairwise(phases))
    assert pairs.count((LinkPhase.RECONNECTING, LinkPhase.CONNECTED)) > CUTS // 3
