"""The rest of big files comes behind their end, backwards, and only if it is the same file's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote import backfill
from mltd.runs.remote.backfill import Backfill
from mltd.runs.remote.mirrored_file import MirroredFile
from tests.runs.remote.mirrored_log import MirroredLog

LINES = b"".join(b"step %d loss 0.%d\n" % (step, step * 7919 % 100003) for step in range(90000))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[MirroredLog]:
    made = MirroredLog(tmp_path, ["sh"])
    yield made
    made.close()


def first_data(path: Path) -> int:
    with path.open("rb") as copy:
        return os.lseek(copy.fileno(), 0, os.SEEK_DATA)


def test_a_copy_never_has_a_gap_while_it_is_completed(log: MirroredLog) -> None:
    log.write(LINES)
    log.look()
    starts: list[int] = []

    def check() -> None:
        start = log.file.start
        starts.append(start)
        assert start == 0 or first_data(log.local) == start
        assert log.local.read_bytes()[start:] == LINES[start:]

    Backfill(lambda: [log.file], check).run(log.conversation, lambda: True)
    assert starts == sorted(starts, reverse=True)
    assert len(starts) > 2
    assert starts[-1] == 0
    assert log.file.is_complete


def test_a_file_that_grows_meanwhile_is_complete_in_the_end(log: MirroredLog) -> None:
    log.write(LINES[:1_500_000])
    log.look()
    fill = Backfill(lambda: [log.file])
    position = 1_500_000
    while log.file.start:
        fill.step(log.conversation)
        log.write(LINES[position : position + 1000])
        position += 1000
        log.look()
    assert log.local.read_bytes() == LINES[:position]


def test_the_file_that_is_looked_at_comes_first(log: MirroredLog, tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        (log.folder / name).write_bytes(LINES)
        files.append(MirroredFile(os.fsencode(log.folder / name), tmp_path / "copies" / name))
    log.poller.look(files, 0.0, 0.0)
    order = list(files)
    fill = Backfill(lambda: order)
    fill.step(log.conversation)
    assert files[0].start < files[1].start
    order.reverse()
    fill.run(log.conversation, lambda: files[1].start > 0)
    assert files[1].start == 0
    assert files[0].start > 0


@pytest.mark.parametrize("is_seen", [False, True])
def test_nothing_of_a_successor_gets_into_a_copy(log: MirroredLog, is_seen: bool) -> None:
    log.write(LINES)
    log.look()
    fill = Backfill(lambda: [log.file])
    fill.step(log.conversation)
    start = log.file.start
    log.write(b"other\n" * 300_000, "wb")
    if is_seen:
        log.look()
        fill.run(log.conversation, lambda: True)
        assert log.local.read_bytes() == b"other\n" * 300_000
    else:
        fill.run(log.conversation, lambda: True)
        assert log.file.start == start
        assert not fill.is_wanted, "it rests until a look has shown what happened"


def test_a_chunk_that_was_on_its_way_when_a_generation_began_is_dropped(log: MirroredLog) -> None:
    log.write(LINES)
    log.look()
    fill = Backfill(lambda: [log.file])
    chunk = fill._request(log.conversation, None)
    assert chunk is not None
    log.file.begin(1 << 17, b"new generation")
    fill._store(chunk)
    assert log.file.start == 1 << 17
    assert log.local.read_bytes()[1 << 17 :] == b"new generation"


def test_a_disk_that_is_nearly_full_ends_it_with_a_note(
    log: MirroredLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write(LINES)
    log.look()
    monkeypatch.setattr(backfill, "free_bytes", lambda path: 0)
    fill = Backfill(lambda: [log.file])
    fill.run(log.conversation, lambda: True)
    assert log.file.start > 0
    assert "nearly full" in log.file.note
    assert not fill.is_wanted
