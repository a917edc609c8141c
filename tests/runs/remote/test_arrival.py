"""What becomes of bytes in the cases that a model seldom reaches."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote import arrival, far_side
from mltd.runs.remote.conversation import Mark
from mltd.runs.remote.local_copy import LocalCopy, keeps_holes
from mltd.runs.remote.polling import Digest
from mltd.runs.remote.problems import LinkLost
from mltd.runs.sources.pieces import FollowState
from tests.runs.remote.mirrored_log import MirroredLog

LINES = b"".join(b"step %d loss 0.%d\n" % (step, step * 7919 % 100003) for step in range(20000))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[MirroredLog]:
    made = MirroredLog(tmp_path, ["sh"])
    yield made
    made.close()


def test_a_newer_copy_moved_over_a_log_goes_on_in_its_generation(log: MirroredLog) -> None:
    log.write(LINES[:9000])
    log.look()
    log.write(LINES[:12000], path=log.folder / "new")
    (log.folder / "new").rename(log.far)
    log.look()
    log.write(LINES[12000:13000])
    log.look()
    assert log.read == [LINES[:13000]]
    assert log.file.generation == 0


def test_a_long_rest_of_a_rotated_log_comes_whole_before_its_successor(log: MirroredLog) -> None:
    log.write(LINES[:9000])
    log.look()
    log.write(LINES[9000:] * 8)
    log.far.rename(log.folder / "train.log.1")
    log.write(b"new\n")
    log.look()
    assert log.read == [LINES[:9000] + LINES[9000:] * 8, b"new\n"]


def test_a_copy_beside_the_rotated_log_begins_anew(log: MirroredLog) -> None:
    log.write(LINES[:9000])
    log.look()
    log.far.rename(log.folder / "train.log.1")
    log.write(LINES[:12000])
    log.look()
    assert log.file.generation == 1
    assert log.local.read_bytes() == LINES[:12000]


@pytest.mark.parametrize("length", [9000, 12000])
def test_another_beginning_before_the_same_end_begins_anew(log: MirroredLog, length: int) -> None:
    log.write(b"first run\n" + b"x" * 8990)
    log.look()
    log.write((b"other run\n" + b"x" * 20000)[:length], "wb")
    log.look()
    assert [text[:5] for text in log.read] == [b"first", b"other"]


def test_a_change_in_the_middle_that_keeps_the_length_begins_anew(log: MirroredLog) -> None:
    log.write(b"a" * 9000 + b"one" + b"b" * 9000)
    log.look()
    log.write(b"a" * 9000 + b"two" + b"b" * 9000, "wb")
    log.look()
    assert [text[9000:9003] for text in log.read] == [b"one", b"two"]


def test_another_file_with_the_old_inode_is_not_its_rest(log: MirroredLog) -> None:
    log.write(b"first run\n" + b"x" * 8990)
    log.look()
    log.write(b"other run\n" + b"x" * 12000, "wb")
    log.far.rename(log.folder / "train.log.1")
    log.look()
    log.write(b"third\n")
    log.look()
    assert log.read == [b"first run\n" + b"x" * 8990, b"third\n"]


def test_a_log_without_its_name_is_read_on_for_a_while(log: MirroredLog) -> None:
    old = log.folder / "elsewhere"
    log.write(LINES[:9000])
    log.look()
    log.write(LINES[9000:10000])
    log.far.rename(old)
    log.look(now=1)
    assert log.read == [LINES[:10000]], "in the same look in which it lost its name"
    log.write(LINES[10000:11000], path=old)
    log.look(now=2)
    assert log.read == [LINES[:11000]]
    log.write(b"")
    log.look(now=3)
    log.write(LINES[11000:12000], path=old)
    log.look(now=4)
    assert log.read == [LINES[:12000]], "its successor has nothing to say yet"
    log.write(LINES[12000:13000], path=old)
    log.look(now=100)
    assert log.read == [LINES[:12000]], "not for ever: a directory may be long"
    log.write(b"successor\n")
    log.look(now=101)
    assert log.read == [LINES[:13000], b"successor\n"]


def test_a_compressed_file_is_copied_from_its_beginning(log: MirroredLog) -> None:
    packed = gzip.compress(os.urandom(1_500_000))
    log.write(packed)
    log.look()
    assert log.file.start == 0
    assert log.local.read_bytes() == packed
    assert log.file.is_complete


def test_a_file_is_copied_in_order_where_that_is_asked_for(tmp_path: Path) -> None:
    log = MirroredLog(tmp_path, ["sh"], tail_first=False)
    log.write(LINES * 10)
    first = log.look_once()
    assert first.is_more
    assert log.local.read_bytes() == LINES[: log.file.size] or log.file.size > len(LINES)
    log.look()
    assert log.read == [LINES * 10]
    assert log.file.is_complete
    log.close()


def in_small_pieces(items: Iterator[bytes | Mark]) -> Iterator[bytes | Mark]:
    for item in items:
        if isinstance(item, Mark):
            yield item
        else:
            yield from (item[n : n + 1000] for n in range(0, len(item), 1000))


def look_and_be_cut(log: MirroredLog, enough: int) -> None:
    """Lose the link when so many bytes more are here."""
    before = log.file.size
    # Where all of it came in one piece there is nothing left to be cut off.
    enough = min(enough, log.far.stat().st_size - before)
    wanted = log.file.wanted(0.0, tail_first=True)
    name = far_side.remember(log.file.number, log.file.remote)
    digest = Digest({log.file.number: log.file}, 0.0)
    for item in in_small_pieces(
        log.conversation.ask(name + b"\n" + far_side.poll([wanted], 1 << 20))
    ):
        digest.take(item)
        if log.file.size >= before + enough:
            break
    assert log.file.size >= before + enough
    log.cut()


@pytest.mark.parametrize("here", [0, 10, 9000])
def test_a_cut_in_the_middle_loses_and_repeats_nothing(log: MirroredLog, here: int) -> None:
    log.write(LINES[:here])
    log.look()
    log.write(LINES[here:200_000])
    for enough in (1, 5000, 5000):
        look_and_be_cut(log, enough)
    log.look()
    assert log.read == [LINES[:200_000]]


def stamp_of(path: Path) -> bytes:
    status = path.stat()
    times = (status.st_mtime_ns, status.st_ctime_ns)
    written = "/".join(f"{t // 10**9}.{t % 10**9:09}" for t in times)
    return f"{status.st_dev}:{status.st_ino}/{status.st_size}/{written}".encode()


@pytest.mark.parametrize("is_new", [False, True], ids=["bytes of the old", "bytes of the new"])
def test_a_name_that_changes_hands_while_its_bytes_come(log: MirroredLog, is_new: bool) -> None:
    log.write(b"old 1\n")
    before = stamp_of(log.far)
    log.far.rename(log.folder / "train.log.1")
    log.write(b"new 1\n")
    number = b"%d" % log.file.number
    digest = Digest({log.file.number: log.file}, 0.0)
    for item in (
        Mark((b"file", number, b"fresh", before)),
        Mark((b"data", b"0", b"raw")),
        b"new 1\n" if is_new else b"old 1\n",
        Mark((b"end", number, stamp_of(log.far))),
    ):
        digest.take(item)
    assert digest.outcome.is_more
    log.write(b"old 2\n", path=log.folder / "train.log.1")
    log.write(b"new 2\n")
    log.look()
    expected = [b"new 1\nnew 2\n"] if is_new else [b"old 1\nold 2\n", b"new 1\nnew 2\n"]
    assert log.read == expected


def test_a_full_disk_here_stops_one_file_and_is_tried_again(
    log: MirroredLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write(LINES[:9000])
    log.look()
    log.write(LINES[9000:12000])

    def write_half(self: LocalCopy, data: bytes, end: int) -> int:
        if end >= 10000:
            raise OSError(errno.ENOSPC, "")
        with self.path.open("r+b") as copy:
            copy.seek(end)
            copy.write(data[: 10000 - end])
        return 10000

    with monkeypatch.context() as patch:
        patch.setattr(LocalCopy, "append", write_half)
        log.look(now=1)
    assert log.state() is FollowState.UNREADABLE
    assert log.file.status.reason == "the disk here is full: No space left on device"
    assert log.file.size == 10000
    log.look(now=2)
    assert log.file.size == 10000, "not at once"
    log.look(now=60)
    assert log.state() is FollowState.FOLLOWING
    assert log.read == [LINES[:12000]]


def test_a_copy_that_was_removed_here_is_made_again(log: MirroredLog) -> None:
    log.write(LINES[:9000])
    log.look()
    log.local.unlink()
    log.write(LINES[9000:10000])
    log.look()
    log.look(now=60)
    assert log.local.read_bytes() == LINES[:10000]


@pytest.mark.parametrize("tail_first", [True, False])
def test_only_the_end_of_what_is_too_big_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail_first: bool
) -> None:
    log = MirroredLog(tmp_path, ["sh"], tail_first=tail_first)
    monkeypatch.setattr(arrival, "free_bytes", lambda path: 300_000)
    log.write(LINES)
    log.look()
    log.close()
    assert log.file.start > 0
    assert log.file.size == len(LINES)
    assert not log.file.awaits_rest
    assert "larger than the free space" in log.file.note
    assert log.state() is FollowState.FOLLOWING


def test_a_copy_is_as_old_as_the_original(log: MirroredLog) -> None:
    log.write(b"text")
    os.utime(log.far, (1_600_000_000, 1_600_000_000.5))
    log.look()
    assert log.local.stat().st_mtime == 1_600_000_000.5
    assert log.file.modified == 1_600_000_000.5


def test_a_clock_that_is_wrong_over_there_makes_no_copy_younger(log: MirroredLog) -> None:
    log.write(b"text")
    os.utime(log.far, (1_600_000_000, 1_600_000_000))
    far_now = log.far.stat().st_ctime
    log.poller.look([log.file], 0.0, wall=far_now - 3600)
    assert log.poller.clock_lead == pytest.approx(3600, abs=3)
    assert log.local.stat().st_mtime == pytest.approx(1_600_000_000 - 3600, abs=3)


def test_a_generation_is_a_new_file_and_growth_is_not(log: MirroredLog) -> None:
    log.write(b"one")
    log.look()
    inode = log.local.stat().st_ino
    with log.local.open("rb") as reader:
        log.write(b"+")
        log.look()
        assert log.local.stat().st_ino == inode
        log.write(b"2", "wb")
        log.look()
        assert log.local.stat().st_ino != inode
        assert reader.read() == b"one+"
    assert [path.name for path in log.local.parent.iterdir()] == [log.local.name]


def test_an_answer_that_cannot_be_read_is_a_lost_link(log: MirroredLog) -> None:
    for words in ((b"file",), (b"file", b"x", b"on"), (b"trouble", b"", b"none")):
        with pytest.raises(LinkLost, match="cannot be read"):
            Digest({log.file.number: log.file}, 0.0).take(Mark(words))


def test_a_file_system_without_holes_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keeps_holes(tmp_path)
    monkeypatch.setattr(os, "lseek", lambda *_: 0)
    assert not keeps_holes(tmp_path)
