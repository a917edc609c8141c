"""A real network mount: what another machine writes arrives although inotify is silent."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.sources.follower import FileFollower
from mltd.runs.sources.line_assembler import Line, LineAssembler
from mltd.runs.sources.mounts import delivers_inotify, file_system_type
from mltd.runs.sources.text_file import TextFile
from mltd.runs.sources.watcher import Watcher

from .sshd_server import SshdServer, mounted_sshfs, running_sshd

LIMIT_SECONDS = 15
"""Less than the 20 s for which sshfs keeps believing its cached attributes."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshdServer]:
    with running_sshd(tmp_path_factory.mktemp("sshd")) as running:
        yield running


class Reader:
    """Follows a file on the mount the way the application does."""

    def __init__(self, path: Path, watcher: Watcher) -> None:
        self.follower = FileFollower(path)
        self.watcher = watcher
        self.assembler = LineAssembler()
        self.lines: list[Line] = []

    def await_lines(self, count: int) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        while len(self.lines) < count and time.monotonic() < deadline:
            if self.watcher.wait(1):
                while pieces := self.follower.read():
                    self.lines += self.assembler.feed(pieces)
        assert len(self.lines) >= count, (self.lines, self.follower.status)

    def texts(self) -> list[tuple[int, bytes]]:
        return [(line.generation, line.data) for line in self.lines]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_written_on_the_server_arrive_through_sshfs(
    server: SshdServer, tmp_path: Path
) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    written = remote / "train.log"
    with mounted_sshfs(server, remote, tmp_path / "mount") as mount:
        path = mount / "train.log"
        assert file_system_type(path) == "fuse.sshfs"
        assert not delivers_inotify(path)
        with Watcher([path]) as watcher:
            reader = Reader(path, watcher)
            watcher.wait(1)
            assert watcher.modes()[path].startswith("poll ")
            assert watcher.notes()[path] == "inotify is silent on fuse.sshfs"
            append(written, b"step 1\n")
            reader.await_lines(1)
            append(written, b"step 2\nst")
            reader.await_lines(2)
            append(written, b"ep 3\n")
            reader.await_lines(3)
            # The server rotates: sshfs shows the same inode number for the new file.
            written.rename(remote / "train.log.1")
            append(written, b"again 1, and longer than before\n")
            reader.await_lines(4)
            os.truncate(written, 0)
            append(written, b"short\n")
            reader.await_lines(5)
            reader.follower.close()
        assert reader.texts() == [
            (0, b"step 1"),
            (0, b"step 2"),
            (0, b"step 3"),
            (1, b"again 1, and longer than before"),
            (2, b"short"),
        ]
    assert not os.path.ismount(tmp_path / "mount")


def test_no_line_is_lost_or_repeated_while_the_server_rotates(
    server: SshdServer, tmp_path: Path
) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    written = remote / "train.log"
    generations, lines_each = 6, 200
    seen = [threading.Event() for _ in range(generations)]

    def write() -> None:
        for generation in range(generations):
            if generation:
                written.rename(remote / f"train.log.{generation}")
            with written.open("ab", buffering=0) as file:
                for number in range(lines_each):
                    if number == lines_each // 2:
                        # The rest is hardly read when the log is rotated.
                        seen[generation].wait(60)
                    file.write(b"%d:%d\n" % (generation, number))

    assembler = LineAssembler()
    got: list[bytes] = []
    with (
        mounted_sshfs(server, remote, tmp_path / "mount") as mount,
        FileFollower(mount / "train.log") as follower,
    ):
        writer = threading.Thread(target=write)
        writer.start()
        deadline = time.monotonic() + 120
        while len(got) < generations * lines_each and time.monotonic() < deadline:
            got += [line.data for line in assembler.feed(follower.read(97))]
            if follower.generation >= 0:
                seen[follower.generation].set()
        for event in seen:
            event.set()
        writer.join(60)
    assert got == [
        b"%d:%d" % (generation, number)
        for generation in range(generations)
        for number in range(lines_each)
    ]


def test_a_log_that_is_looked_at_shows_nothing_of_its_predecessor(
    server: SshdServer, tmp_path: Path
) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    written = remote / "train.log"
    old = b"".join(b"old %d\n" % number for number in range(2000))
    new = b"".join(b"newer %d\n" % number for number in range(3000))
    written.write_bytes(old)
    with mounted_sshfs(server, remote, tmp_path / "mount") as mount:
        text = TextFile(mount / "train.log")
        text.look()
        assert text.read_at(0, text.size) == old
        before = text.descriptor
        assert before is not None
        held = os.dup(before)
        written.rename(remote / "train.log.1")
        written.write_bytes(new)
        deadline = time.monotonic() + LIMIT_SECONDS
        while text.size < len(new) and time.monotonic() < deadline:
            text.look()
            # A search reads the descriptor that it was given while the log was another one.
            assert old.startswith(os.pread(held, len(old), 0))
        shown = text.read_at(0, text.size)
        os.close(held)
        text.close()
    assert shown == new


def test_a_cut_connection_is_a_status_not_a_crash(server: SshdServer, tmp_path: Path) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    (remote / "train.log").write_bytes(b"step 1\n")
    with (
        mounted_sshfs(server, remote, tmp_path / "mount") as mount,
        FileFollower(mount / "train.log") as follower,
    ):
        assert follower.read()[0].data == b"step 1\n"
        server.drop_connections()
        deadline = time.monotonic() + 60
        while follower.status.state == "following" and time.monotonic() < deadline:
            assert follower.read() == []
        # sshfs gives up its mount a moment after its connection, and then the file is gone.
        assert follower.status.state in ("unreadable", "missing")
        assert follower.status.reason


@pytest.mark.parametrize("host", ["mltd-test", "127.0.0.1"])
def test_the_server_serves_the_plain_client(server: SshdServer, host: str) -> None:
    command = ["ssh", "-F", str(server.client_config), host, "echo", "hello"]
    result = subprocess.run(command, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (result.stdout, result.returncode) == (b"hello\n", 0), result.stderr
