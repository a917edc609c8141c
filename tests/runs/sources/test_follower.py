from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.sources.fingerprint import HEAD_BYTES, TAIL_BYTES
from mltd.runs.sources.follower import FileFollower
from mltd.runs.sources.line_assembler import LineAssembler
from mltd.runs.sources.pieces import Piece

LONG = b"".join(b"step %6d loss %.4f\n" % (step, 1 / (step + 1)) for step in range(1000))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


@pytest.fixture
def followed(path: Path) -> Iterator[FileFollower]:
    with FileFollower(path) as subject:
        yield subject


def state_of(followed: FileFollower) -> str:
    return followed.status.state.value


def rewrite(path: Path, data: bytes) -> None:
    """Truncate and write, with times that differ as they would after a moment."""
    before = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))


def test_appended_bytes_come_once(path: Path, followed: FileFollower) -> None:
    assert followed.read() == []
    assert state_of(followed) == "missing"
    path.write_bytes(b"one\ntw")
    assert followed.read() == [Piece(0, 0, b"one\ntw")]
    assert followed.read() == []
    with path.open("ab") as file:
        file.write(b"o\n")
    assert followed.read() == [Piece(0, 6, b"o\n")]
    assert state_of(followed) == "following"


def test_a_read_is_no_longer_than_asked(path: Path, followed: FileFollower) -> None:
    path.write_bytes(b"0123456789")
    assert followed.read(4) == [Piece(0, 0, b"0123")]
    assert followed.unread == 6
    assert followed.read(4) == [Piece(0, 4, b"4567")]
    assert followed.read(4) == [Piece(0, 8, b"89")]


def test_the_rest_of_a_renamed_file_comes_before_the_new_one(
    path: Path, followed: FileFollower
) -> None:
    path.write_bytes(b"old 1\n")
    followed.read()
    old = path.rename(path.with_suffix(".1"))
    path.touch()
    with old.open("ab") as file:
        file.write(b"old 2\n")
    assert followed.read() == [Piece(0, 6, b"old 2\n")]
    with old.open("ab") as file:
        file.write(b"old 3\n")
    path.write_bytes(b"new\n")
    assert followed.read() == [Piece(0, 12, b"old 3\n", ends=True), Piece(1, 0, b"new\n")]


def test_logs_rotated_several_times_between_two_reads_come_in_turn(
    path: Path, followed: FileFollower
) -> None:
    path.write_bytes(b"first\n")
    followed.read()
    first, second = path.with_name("train.log.2"), path.with_name("train.log.1")
    path.rename(first)
    second.write_bytes(b"second\n")
    path.write_bytes(b"third\n")
    assert followed.read() == [
        Piece(0, 6, b"", ends=True),
        Piece(1, 0, b"second\n", ends=True),
        Piece(2, 0, b"third\n"),
    ]


def test_lines_may_be_missing_if_a_log_was_rotated_that_was_never_seen(
    path: Path, followed: FileFollower
) -> None:
    path.write_bytes(b"first\n")
    followed.read()
    path.unlink()
    path.with_name("train.log.1").write_bytes(b"second\n")
    path.write_bytes(b"third\n")
    assert followed.read() == [
        Piece(0, 6, b"", ends=True, has_gap=True),
        Piece(1, 0, b"third\n"),
    ]


def test_a_truncated_file_begins_a_generation(path: Path, followed: FileFollower) -> None:
    path.write_bytes(b"before\n")
    followed.read()
    os.truncate(path, 0)
    assert followed.read() == [Piece(0, 7, b"", ends=True, has_gap=True)]
    with path.open("ab") as file:
        file.write(b"after\n")
    assert followed.read() == [Piece(1, 0, b"after\n")]


@pytest.mark.parametrize("length", [10, len(LONG), len(LONG) + 500])
def test_a_rewritten_head_is_noticed_at_any_length(
    path: Path, followed: FileFollower, length: int
) -> None:
    path.write_bytes(LONG)
    followed.read()
    rewritten = (b"X" + LONG[1:] + LONG)[:length]
    path.write_bytes(rewritten)
    assert followed.read() == [
        Piece(0, len(LONG), b"", ends=True, has_gap=True),
        Piece(1, 0, rewritten),
    ]


def test_a_rewrite_with_the_same_head_is_noticed_before_the_offset(
    path: Path, followed: FileFollower
) -> None:
    path.write_bytes(LONG)
    followed.read()
    rewritten = LONG[:-5] + b"#####" + b"more\n"
    path.write_bytes(rewritten)
    assert [piece.generation for piece in followed.read()] == [0, 1]


def test_a_snapshot_rewritten_in_its_middle_is_noticed(path: Path, followed: FileFollower) -> None:
    path.write_bytes(LONG)
    followed.read()
    middle = len(LONG) // 2
    rewritten = LONG[:middle] + b"#" + LONG[middle + 1 :]
    rewrite(path, rewritten)
    assert followed.read()[-1] == Piece(1, 0, rewritten)


def test_a_touched_file_is_not_read_again(path: Path, followed: FileFollower) -> None:
    path.write_bytes(LONG)
    followed.read()
    rewrite(path, LONG)
    assert followed.read() == []
    path.chmod(0o600)
    assert followed.read() == []


def test_what_cannot_be_told_apart_goes_on(path: Path, followed: FileFollower) -> None:
    """The limit that the module documents: same head, same bytes before the offset, longer."""
    path.write_bytes(LONG)
    followed.read()
    changed = bytearray(LONG + b"more\n")
    changed[HEAD_BYTES + 10] ^= 1
    assert len(LONG) - TAIL_BYTES > HEAD_BYTES + 10
    rewrite(path, bytes(changed))
    assert followed.read() == [Piece(0, len(LONG), b"more\n")]


@pytest.mark.parametrize("length", [1, 60, 4095, len(LONG)])
def test_a_longer_copy_moved_into_place_goes_on(
    path: Path, followed: FileFollower, length: int
) -> None:
    path.write_bytes(LONG[:length])
    followed.read()
    copy = path.with_suffix(".tmp")
    copy.write_bytes(LONG[:length] + b"more\n")
    copy.rename(path)
    assert followed.read() == [Piece(0, length, b"more\n")]


@pytest.mark.parametrize("length", [60, len(LONG)])
@pytest.mark.parametrize("how", ["different", "kept"])
def test_other_replacements_are_new_generations(
    path: Path, followed: FileFollower, how: str, length: int
) -> None:
    first = LONG[:length]
    path.write_bytes(first)
    followed.read()
    if how == "kept":
        path.rename(path.with_suffix(".1"))
    copy = path.with_suffix(".tmp")
    second = bytearray(first + b"more\n")
    if how == "different":
        second[len(second) // 2] ^= 1
    copy.write_bytes(second)
    copy.rename(path)
    assert followed.read() == [Piece(0, len(first), b"", ends=True), Piece(1, 0, bytes(second))]


def test_a_hole_before_the_content_is_skipped(path: Path, followed: FileFollower) -> None:
    """A writer without O_APPEND goes on at its old position after copytruncate."""
    with path.open("wb", buffering=0) as writer:
        writer.write(b"x" * (1 << 20))
        followed.read()
        os.truncate(path, 0)
        writer.write(b"after\n")
    pieces = followed.read()
    assert pieces[0] == Piece(0, 1 << 20, b"", ends=True, has_gap=True)
    assert pieces[1] == Piece(1, 1 << 20, b"after\n")
    with path.open("ab") as writer:
        writer.write(b"more\n")
    assert followed.read() == [Piece(1, (1 << 20) + 6, b"more\n")]


def test_a_deleted_file_is_read_to_its_end_and_reported_missing(
    path: Path, followed: FileFollower
) -> None:
    with path.open("wb", buffering=0) as writer:
        writer.write(b"one\n")
        followed.read()
        path.unlink()
        writer.write(b"two\n")
        assert followed.read() == [Piece(0, 4, b"two\n")]
    assert state_of(followed) == "missing"
    path.write_bytes(b"three\n")
    assert followed.read() == [Piece(0, 8, b"", ends=True), Piece(1, 0, b"three\n")]


def test_an_inode_used_again_is_told_by_its_content(path: Path, followed: FileFollower) -> None:
    path.write_bytes(b"first run\n")
    followed.read()
    inode = path.stat().st_ino
    followed.close()
    # In place, which gives exactly what a reused inode gives: the same number, other content.
    path.write_bytes(b"other run, longer\n")
    assert path.stat().st_ino == inode
    assert followed.read() == [
        Piece(0, 10, b"", ends=True, has_gap=True),
        Piece(1, 0, b"other run, longer\n"),
    ]


def test_a_link_that_points_elsewhere_begins_a_generation(path: Path) -> None:
    one, two = path.with_name("one"), path.with_name("two")
    one.write_bytes(b"1\n")
    two.write_bytes(b"2\n")
    path.symlink_to(one)
    with FileFollower(path) as followed:
        followed.read()
        path.unlink()
        path.symlink_to(two)
        assert followed.read() == [Piece(0, 2, b"", ends=True), Piece(1, 0, b"2\n")]


def test_no_line_is_lost_or_repeated_while_a_writer_rotates(path: Path) -> None:
    generations, lines_each = 6, 400
    seen = [threading.Event() for _ in range(generations)]

    def write() -> None:
        for generation in range(generations):
            if generation:
                path.rename(path.with_name(f"train.log.{generation}"))
            with path.open("ab", buffering=0) as file:
                for number in range(lines_each):
                    file.write(b"%d:%d\r\n" % (generation, number))
            # Rotating twice between two reads would hide a whole file from any reader.
            seen[generation].wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    assembler = LineAssembler()
    got: list[bytes] = []
    with FileFollower(path) as followed:
        while len(got) < generations * lines_each and writer.is_alive():
            got += [line.data for line in assembler.feed(followed.read(997))]
            if followed.generation >= 0:
                seen[followed.generation].set()
        writer.join(60)
        while pieces := followed.read():
            got += [line.data for line in assembler.feed(pieces)]
    assert got == [
        b"%d:%d\r" % (generation, number)
        for generation in range(generations)
        for number in range(lines_each)
    ]
