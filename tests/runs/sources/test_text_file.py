from __future__ import annotations

import gzip
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.sources.line_numbers import LineNumbers
from mltd.runs.sources.pieces import FollowState
from mltd.runs.sources.text_copy import TextCopy
from mltd.runs.sources.text_file import TextFile
from mltd.runs.sources.text_lines import TextLine, TextLines

TEXTS = st.lists(st.sampled_from([b"", b"a", b"bb", b"\n", b"\n\n", b"x" * 30, b"y" * 150])).map(
    b"".join
)
WALL = 64
LONGEST = 12


def lines_of(data: bytes, *, start: int = 0) -> TextLines:
    def read_at(offset: int, length: int) -> bytes:
        return data[offset : offset + length]

    lines = TextLines(read_at, longest=LONGEST, block_bytes=16, wall_bytes=WALL)
    lines.start, lines.size = start, len(data)
    return lines


def split(data: bytes) -> list[TextLine]:
    """The lines by the rule: at newlines, and at a wall behind a stretch without any."""
    lines, offset = [], 0
    while offset < len(data):
        newline = data.find(b"\n", offset)
        wall = next(w for w in range(0, len(data) + 3 * WALL, WALL) if w >= offset + WALL)
        end = newline + 1 if 0 <= newline <= wall else min(wall, len(data))
        content = data[offset:end].removesuffix(b"\n")
        lines.append(TextLine(offset, end, content[:LONGEST], max(0, len(content) - LONGEST)))
        offset = end
    return lines


@given(TEXTS, st.integers(0, 20), st.integers(0, 8))
def test_lines_are_found_in_both_directions(data: bytes, pick: int, count: int) -> None:
    text, lines = lines_of(data), split(data)
    place = min(pick, len(lines))
    offset = lines[place].offset if place < len(lines) else len(data)
    assert text.lines_from(offset, count) == lines[place : place + count]
    assert text.lines_before(offset, count) == lines[max(0, place - count) : place]
    assert text.last_lines(count) == lines[len(lines) - min(count, len(lines)) :]


@given(st.lists(st.sampled_from([b"\n", b"a"]), max_size=60).map(b"".join), st.integers(0, 59))
def test_the_line_around_any_byte_is_found(data: bytes, place: int) -> None:
    if place < len(data):
        assert lines_of(data).line_start(place) == data.rfind(b"\n", 0, place) + 1


@given(TEXTS)
def test_lines_agree_with_a_plain_split_where_none_is_huge(data: bytes) -> None:
    if max(map(len, data.split(b"\n"))) < WALL:
        texts = data.split(b"\n")
        texts = texts if texts[-1] else texts[:-1]
        lines = lines_of(data).lines_from(0, 10_000)
        assert [line.data for line in lines] == [text[:LONGEST] for text in texts]


@given(st.lists(st.binary(max_size=9), max_size=30), st.integers(1, 40))
def test_numbers_and_offsets_belong_together(texts: list[bytes], chunk: int) -> None:
    data = b"".join(text.replace(b"\n", b"") + b"\n" for text in texts)
    numbers = LineNumbers(lambda offset, length: data[offset : offset + length], stride_bytes=16)
    for start in range(0, len(data), chunk):
        numbers.extend(data[start : start + chunk])
    offsets = [line.offset for line in split(data)]
    assert numbers.numbers_at(offsets) == list(range(1, len(offsets) + 1))
    assert [numbers.offset_of(n + 1) for n in range(len(offsets))] == offsets
    assert numbers.numbers_at([len(data) + 1]) == [None]


def test_a_huge_line_is_clipped_and_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    path.write_bytes(b"first\n" + b"x" * (10 << 20) + b"\nlast\n")
    text = TextFile(path)
    text.look()
    tracemalloc.start()
    lines = text.last_lines(3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [line.data[:5] for line in lines] == [b"first", b"xxxxx", b"last"]
    assert len(lines[1].data) == 64 << 10
    assert lines[1].clipped == (10 << 20) - (64 << 10)
    assert peak < 4 << 20
    text.close()


def test_of_a_huge_progress_bar_the_last_states_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "bar.log"
    states = b"".join(b"\r%6d/30000 [====]" % step for step in range(1, 30_001))
    path.write_bytes(states + b"\nend\n")
    text = TextFile(path)
    text.look()
    assert text.lines_from(0, 1)[0].data.endswith(b"\r 30000/30000 [====]")
    text.close()


@pytest.fixture
def log(tmp_path: Path) -> Callable[[bytes], TextFile]:
    def make(data: bytes) -> TextFile:
        (tmp_path / "a.log").write_bytes(data)
        text = TextFile(tmp_path / "a.log")
        text.look()
        return text

    return make


def shown(text: TextFile) -> list[bytes]:
    return [line.data for line in text.last_lines(100)]


def test_growth_is_seen_at_the_next_look(log: Callable[[bytes], TextFile]) -> None:
    text = log(b"a\nb")
    assert shown(text) == [b"a", b"b"]
    with open(text.path, "ab") as file:
        file.write(b"c\nd\n")
    assert shown(text) == [b"a", b"b"], "nothing changes between two looks"
    text.look()
    assert (shown(text), text.generation) == ([b"a", b"bc", b"d"], 1)
    text.close()


@pytest.mark.parametrize("how", ["truncated", "replaced", "rewritten longer"])
def test_a_new_beginning_is_noticed(log: Callable[[bytes], TextFile], how: str) -> None:
    text = log(b"old 1\nold 2\n")
    path = Path(text.path)
    if how == "replaced":
        path.rename(path.with_suffix(".1"))
    path.write_bytes(b"new\n" if how != "rewritten longer" else b"new and longer than before\n")
    text.look()
    assert text.generation == 2
    assert shown(text)[0].startswith(b"new")
    text.close()


def test_an_empty_successor_leaves_the_old_file_on_the_screen(
    log: Callable[[bytes], TextFile],
) -> None:
    text = log(b"old\n")
    path = Path(text.path)
    path.rename(path.with_suffix(".1"))
    path.touch()
    text.look()
    assert (shown(text), text.generation) == ([b"old"], 1)
    path.write_bytes(b"new\n")
    text.look()
    assert (shown(text), text.generation) == ([b"new"], 2)
    text.close()


def test_a_newer_copy_is_no_new_beginning(log: Callable[[bytes], TextFile]) -> None:
    text = log(b"line 1\nline 2\n")
    path = Path(text.path)
    path.with_suffix(".tmp").write_bytes(b"line 1\nline 2\nline 3\n")
    os.replace(path.with_suffix(".tmp"), path)
    text.look()
    assert (shown(text)[-1], text.generation) == (b"line 3", 1)
    text.close()


def test_a_missing_file_is_waited_for_and_a_directory_is_explained(tmp_path: Path) -> None:
    text = TextFile(tmp_path / "later.log")
    text.look()
    assert text.status.state is FollowState.MISSING
    (tmp_path / "later.log").write_bytes(b"here\n")
    text.look()
    assert (text.status.state, shown(text)) == (FollowState.FOLLOWING, [b"here"])
    text.close()
    directory = TextFile(tmp_path)
    directory.look()
    assert directory.status.state is FollowState.UNREADABLE
    assert "a directory" in directory.status.reason


def copied(text: TextFile) -> list[bytes]:
    text.look()
    while text.copy_more():
        pass
    return shown(text)


def test_a_compressed_log_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "old.log.gz"
    path.write_bytes(gzip.compress(b"".join(b"line %d\n" % n for n in range(50))))
    text = TextFile(path)
    assert copied(text) == [b"line %d" % n for n in range(50)]
    assert text.is_packed
    text.close()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_are_read_also_as_they_grow(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "shell.log"
    path.write_bytes("loss 0.5\nepoch ".encode(encoding))
    text = TextFile(path)
    assert copied(text) == [b"loss 0.5", b"epoch "]
    with path.open("ab") as file:
        file.write("zwölf\n".encode("utf-32-le" if encoding == "utf-32" else "utf-16-le"))
    assert copied(text) == [b"loss 0.5", "epoch zwölf".encode()]
    text.close()


def test_a_copy_has_a_limit_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"x" * (3 << 20)))
    copy = TextCopy(path, most_bytes=1 << 20)
    while copy.step():
        pass
    assert copy.size == 1 << 20
    assert copy.note == "only the first 1 MiB are shown"
    copy.close()
