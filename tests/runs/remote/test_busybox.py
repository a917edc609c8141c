"""The same files seen with the tools that different machines have."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote.backfill import Backfill
from mltd.runs.remote.marks import Mark
from mltd.runs.remote.mirrored_file import MirroredFile
from mltd.runs.remote.polling import Poller
from mltd.runs.sources.pieces import FollowState
from tests.runs.remote.far_tools import KINDS, shell
from tests.runs.remote.mirrored_log import MirroredLog
from tests.runs.sources.sshd_server import require

LINES = b"".join(b"step %d loss 0.%d\n" % (step, step * 7919 % 100003) for step in range(20000))
NAMES = [
    b"a b",
    b'it\'s "quoted"',
    b"$(touch x)`touch y`",
    b"-rf",
    b"line\nbreak",
    b"ends so\n",
    b"\xff\xfe\x80",
    b"*?[a]",
    b"~",
    b"\\n\\",
    "雪 é".encode(),
]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def log(kind: str, tmp_path: Path) -> Iterator[MirroredLog]:
    made = MirroredLog(tmp_path, shell(kind, tmp_path / "tools"))
    yield made
    made.close()


def test_a_short_log_that_rsync_replaces_goes_on_in_its_generation(
    log: MirroredLog, tmp_path: Path
) -> None:
    new = tmp_path / "far" / ".train.log.Xa3f1"
    for length in (1, 60, 60, 700, 4095):
        log.write(LINES[:length], "wb", new)
        new.rename(log.far)
        log.look()
        assert log.read == [LINES[:length]]
        assert log.file.generation == 0
    other = LINES[:50] + b"another run\n" * 500
    log.write(other, "wb", new)
    new.rename(log.far)
    log.look()
    assert log.read == [LINES[:4095], other]


def test_a_log_that_grows_is_copied_as_it_grows(log: MirroredLog) -> None:
    log.look()
    assert log.state() is FollowState.MISSING
    log.write(b"")
    log.look()
    assert log.local.read_bytes() == b""
    for end in range(1000, 9000, 1000):
        log.write(LINES[end - 1000 : end])
        log.look()
        assert log.read == [LINES[:end]]
    assert log.state() is FollowState.FOLLOWING


def test_the_unread_rest_of_a_rotated_log_comes_before_its_successor(log: MirroredLog) -> None:
    log.write(LINES[:7000])
    log.look()
    log.write(LINES[7000:9000])
    log.far.rename(log.folder / "old and gone")
    log.write(b"new\n")
    log.look()
    assert log.read == [LINES[:9000], b"new\n"]


def test_what_is_shorter_or_other_than_before_begins_anew(log: MirroredLog) -> None:
    log.write(LINES[:7000])
    log.look()
    log.write(b"short\n", "wb")
    log.look()
    log.write(b"longer\n" * 2000, "wb")
    log.look()
    assert log.read == [LINES[:7000], b"short\n", b"longer\n" * 2000]


def test_a_snapshot_that_keeps_its_length_is_read_again(kind: str, log: MirroredLog) -> None:
    if kind.endswith("ls"):
        pytest.skip("ls tells the minute at best")
    log.write(b'{"step": 1}' + b" " * 9000)
    log.look()
    log.write(b'{"step": 2}' + b" " * 9000, "wb")
    log.look()
    assert [text[:11] for text in log.read] == [b'{"step": 1}', b'{"step": 2}']


def test_the_end_of_a_big_log_comes_first_and_the_rest_behind_it(log: MirroredLog) -> None:
    log.write(LINES)
    log.look()
    start = log.file.start
    assert len(LINES) - start <= (128 + 64) << 10
    assert start % (64 << 10) == 0
    assert log.local.read_bytes()[start:] == LINES[start:]
    with log.local.open("rb") as copy:
        assert os.lseek(copy.fileno(), 0, os.SEEK_DATA) == start
    Backfill(lambda: [log.file]).run(log.conversation, lambda: True)
    assert log.file.is_complete
    assert log.local.read_bytes() == LINES


def test_what_cannot_be_read_is_told_and_read_once_it_can(
    log: MirroredLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def status(now: float) -> tuple[FollowState, str]:
        log.look(now)
        return log.file.status.state, log.file.status.reason

    assert status(0) == (FollowState.MISSING, "no such file yet")
    log.far.mkdir()
    assert status(10) == (FollowState.UNREADABLE, "it is a directory over there")
    log.far.rmdir()
    os.mkfifo(log.far)
    assert status(20) == (FollowState.UNREADABLE, "it is a named pipe over there")
    log.far.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(log.folder)
        server.bind(log.far.name)
        assert status(30) == (FollowState.UNREADABLE, "it is a socket over there")
    log.far.unlink()
    log.far.symlink_to("/dev/null")
    assert status(40) == (FollowState.UNREADABLE, "it is a device over there")
    log.far.unlink()
    log.write(b"at last\n")
    assert status(50) == (FollowState.FOLLOWING, "")
    assert log.read == [b"at last\n"]
    log.far.unlink()
    assert status(60) == (FollowState.MISSING, "deleted or renamed over there")
    assert log.local.read_bytes() == b"at last\n"


@pytest.mark.parametrize("kind", ["sh", "bash", "busybox"], indirect=True)
def test_a_forbidden_file_is_told_and_read_once_it_may_be(kind: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        place.chmod(0o755)
        log = MirroredLog(place, as_nobody(shell(kind, place / "tools")))
        log.write(b"secret")
        for forbidden in (log.far, log.folder):
            usual = forbidden.stat().st_mode
            forbidden.chmod(0)
            log.look(now := log.file.rests_until)
            assert log.state() is FollowState.UNREADABLE
            assert log.file.status.reason == "permission denied over there"
            forbidden.chmod(usual)
            log.look(now)
            assert log.state() is FollowState.UNREADABLE, "it is asked for seldom"
            log.look(log.file.rests_until)
            assert log.state() is FollowState.FOLLOWING
        log.close()


def as_nobody(argv: list[str]) -> list[str]:
    """Nothing is forbidden to root."""
    if os.geteuid() != 0:
        return argv
    (setpriv,) = require("setpriv")
    return [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", *argv]


def test_names_may_hold_any_byte(log: MirroredLog, tmp_path: Path) -> None:
    far = [os.path.join(os.fsencode(log.folder), name) for name in NAMES]
    files = [MirroredFile(path, tmp_path / f"{n}") for n, path in enumerate(far)]
    for number, path in enumerate(far):
        Path(os.fsdecode(path)).write_bytes(b"first of %d\n" % number)
    log.poller.look(files, 0.0, 0.0)
    for number, path in enumerate(far):
        os.rename(path, path + b"!")
        with open(path + b"!", "ab") as old:
            old.write(b"rest of %d\n" % number)
        Path(os.fsdecode(path)).write_bytes(b"second of %d\n" % number)
    readers = [file.local.open("rb") for file in files]
    log.poller.look(files, 0.0, 0.0)
    for number, (file, reader) in enumerate(zip(files, readers, strict=True)):
        assert reader.read() == b"first of %d\nrest of %d\n" % (number, number)
        assert file.local.read_bytes() == b"second of %d\n" % number
        reader.close()
    assert sorted(os.listdir(os.fsencode(log.folder))) == sorted(
        [*NAMES, *(name + b"!" for name in NAMES)]
    )


def test_names_are_also_seen_from_the_home(kind: str, tmp_path: Path) -> None:
    argv = shell(kind, tmp_path / "tools")
    log = MirroredLog(tmp_path, ["env", "-C", str(tmp_path), *argv])
    (tmp_path / "-n").write_bytes(b"text")
    file = MirroredFile(b"-n", tmp_path / "copy")
    Poller(log.conversation).look([file], 0.0, 0.0)
    log.close()
    assert file.local.read_bytes() == b"text"


def test_many_unchanged_files_cost_no_answer(log: MirroredLog, tmp_path: Path) -> None:
    files = []
    for number in range(150):
        far = log.folder / f"rank{number}.log"
        far.write_bytes(b"rank %d\n" % number)
        files.append(MirroredFile(os.fsencode(far), tmp_path / "copies" / far.name))
    assert log.poller.look(files, 0.0, 0.0).is_news
    assert [f.local.read_bytes() for f in files] == [b"rank %d\n" % n for n in range(150)]
    asked: list[bytes | Mark] = []
    talk = log.conversation

    class Overheard:
        def define(self, script: bytes) -> None:
            talk.define(script)

        def ask(self, script: bytes, most: int) -> Iterator[bytes | Mark]:
            for item in talk.ask(script, most=most):
                asked.append(item)
                yield item

    log.poller._conversation = Overheard()  # type: ignore[assignment]
    assert not log.poller.look(files, 0.0, 0.0).is_news
    assert asked == []
