"""Lines by their numbers, as the log pane counts them, whatever the file is like."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError
from mltd.runs.run import Run, SourceFile
from mltd.runs.sources.line_text import shown_text
from mltd.tui.log.open_log import OpenLog

from .making import STEPS, book_of

KEY = "-----BEGIN PRIVATE KEY-----\n" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldY\n" * 40
KEY += "-----END PRIVATE KEY-----\n"


def book_for(path: Path, data: bytes) -> ArtifactBook:
    """A book about one file with these bytes."""
    path.write_bytes(data)
    run = Run("made")
    run.add_file(SourceFile(str(path), format="text"))
    return ArtifactBook({"run1": run})


def texts(book: ArtifactBook, first: int, last: int) -> dict[int, str]:
    """Numbers and texts of some lines of the only file."""
    (artifact,) = book
    return {line.number: line.text for line in book.lines(artifact.name, first, last).lines}


@given(
    pieces=st.lists(
        st.sampled_from(
            [b"\n", b"\r", b"\r\n", b"loss 1", b"\x1b[31m", b"\xff", b"\xe2\x82", b" 50%"]
        )
        | st.binary(max_size=6).filter(lambda b: b"\0" not in b),
        max_size=60,
    ),
    first=st.integers(1, 30),
)
def test_lines_have_the_numbers_and_the_text_that_the_log_pane_shows(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], first: int
) -> None:
    data = b"log of a run, long enough not to be binary: " * 20 + b"".join(pieces)
    path = tmp_path_factory.mktemp("pane") / "train.log"
    book = book_for(path, data)
    log = OpenLog(str(path))
    window = log.at_end(1000)
    log.close()
    shown = {line.number: shown_text(line.line.data).text for line in window.lines}
    wanted = {number: text for number, text in shown.items() if number and number >= first}
    if not wanted:
        with pytest.raises(ArtifactError, match="so no line"):
            texts(book, first, first + 100)
        return
    assert texts(book, first, first + 100) == wanted


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_log_has_the_lines_of_what_is_in_it(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    book = book_for(tmp_path / "train.log.x", pack(STEPS.encode()))
    assert texts(book, 3, 4) == {3: "step 2 loss 2.980", 4: "step 3 loss 2.970"}
    assert texts(book, -1, -1) == {100: "step 99 loss 2.010"}
    with pytest.raises(ArtifactError, match="has 100 lines, so no line 101"):
        texts(book, 101, 102)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
def test_other_encodings_are_read_as_text(tmp_path: Path, encoding: str) -> None:
    book = book_for(tmp_path / "train.log", STEPS.encode(encoding))
    assert texts(book, 1, 1) == {1: "step 0 loss 3.000"}
    assert texts(book, 100, 105) == {100: "step 99 loss 2.010"}


def test_negative_numbers_count_from_the_end_and_two_hundred_lines_are_the_most(
    tmp_path: Path,
) -> None:
    book = book_for(tmp_path / "train.log", b"".join(b"line %d\n" % n for n in range(1, 1001)))
    assert texts(book, -3, -2) == {998: "line 998", 999: "line 999"}
    assert list(texts(book, 1, 1000)) == list(range(1, 201))
    assert list(texts(book, -5000, -1)) == list(range(1, 201))
    with pytest.raises(ArtifactError, match="comes before"):
        texts(book, 9, 3)


def test_of_a_huge_line_the_part_that_counts_is_kept_and_the_rest_is_told(tmp_path: Path) -> None:
    bar = b"\r".join(b"%d%%" % n for n in range(100)) * 10_000
    data = b"x" * 10_000_000 + b"\n" + bar + b"\rdone\nend\n"
    book = book_for(tmp_path / "train.log", data)
    first, second, third = book.lines("train.log", 1, 5, longest=100).lines
    assert (first.text, first.left_out) == ("x" * 100, 10_000_000 - 100)
    assert second.text == "done"
    assert third == (3, "end", 0, False, True)


def test_a_log_that_grows_shrinks_or_is_replaced_is_read_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    book = book_for(path, b"one\ntwo\n" * 1000)
    assert texts(book, 1999, 2005) == {1999: "one", 2000: "two"}
    with path.open("ab") as file:
        file.write(b"three\n")
    assert texts(book, 2000, 2005) == {2000: "two", 2001: "three"}
    path.write_bytes(b"another\nlog\n")
    assert texts(book, 1, 5) == {1: "another", 2: "log"}
    other = tmp_path / "new"
    other.write_bytes(b"and\nanother\n" * 1000)
    other.replace(path)
    assert texts(book, 2000, 2001) == {2000: "another"}


def test_a_look_that_takes_too_long_is_given_up_in_a_sentence_and_goes_on_later(
    tmp_path: Path,
) -> None:
    book = book_for(tmp_path / "train.log", b"0123456789\n" * 500_000)
    with pytest.raises(ArtifactError, match=r"too large to get to line 400,000 .*was reached"):
        book.lines("train.log", 400_000, 400_001, seconds=0.0)
    assert list(texts(book, 400_000, 400_001)) == [400_000, 400_001]
    packed = book_for(tmp_path / "train.log.gz", gzip.compress(b"0123456789\n" * 500_000))
    with pytest.raises(ArtifactError, match="too large to get to line 400,000"):
        packed.lines("train.log.gz", 400_000, 400_001, seconds=0.0)


def test_a_file_without_text_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="is empty"):
        book_for(tmp_path / "empty.log", b"").lines("empty.log", 1, 1)
    with pytest.raises(ArtifactError, match=r"is binary and has no lines; ask for its series"):
        book_for(tmp_path / "b.log", bytes(range(256)) * 50).lines("b.log", 1, 1)


def test_a_hole_at_the_beginning_is_left_out(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", b"\0" * 5000 + b"first\nsecond\n")
    assert texts(book, 1, 9) == {1: "first", 2: "second"}


def test_lines_within_a_private_key_are_known_wherever_one_begins_to_read(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", (STEPS + KEY + "after\n").encode())
    inside = book.lines("train.log", 110, 115).lines
    assert all(line.is_key for line in inside)
    around = book.lines("train.log", 100, 145).lines
    assert [line.number for line in around if line.is_key] == list(range(101, 143))


def test_a_file_is_let_go_after_every_look(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": STEPS})
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        book.lines("train.log", 1, 2)
        with pytest.raises(ArtifactError):
            book.lines("train.log", 500, 501)
    assert len(os.listdir("/proc/self/fd")) == before
