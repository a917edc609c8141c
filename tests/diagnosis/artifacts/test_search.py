"""Searches: exact, in time, and harmless whatever the pattern is."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from mltd.diagnosis.artifacts import ArtifactError, Hits, searching

from .making import STEPS, TRACEBACK, book_of
from .test_lines import KEY, book_for

CATASTROPHIC = r"(\w+\s?)+$!"


def numbers(hits: Hits) -> list[int]:
    return [line.number for line in hits.lines if line.is_match]


def children() -> set[str]:
    found = Path("/proc/self/task").glob("*/children")
    return set("".join(path.read_text() for path in found).split())


def test_matching_lines_come_with_their_numbers_and_the_exact_count(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": STEPS + TRACEBACK})
    hits = book.search("train.log", r"loss 2\.[89]", most=3)
    expected = [
        n for n, line in enumerate(STEPS.splitlines(), 1) if re.search(r"loss 2\.[89]", line)
    ]
    assert numbers(hits) == expected[:3]
    assert (hits.total, hits.searched, hits.problem) == (len(expected), 104, "")
    assert hits.lines[0].text == "step 1 loss 2.990"


@pytest.mark.parametrize("is_packed", [False, True])
def test_context_is_shown_once_and_marked(tmp_path: Path, is_packed: bool) -> None:
    data = "".join(f"{'hit' if n in (5, 7, 200_000) else 'line'} {n}\n" for n in range(1, 200_001))
    raw = gzip.compress(data.encode()) if is_packed else data.encode()
    book = book_for(tmp_path / "train.log", raw)
    hits = book.search("train.log", "hit", context=2)
    assert [line.number for line in hits.lines] == [3, 4, 5, 6, 7, 8, 9, 199_998, 199_999, 200_000]
    assert numbers(hits) == [5, 7, 200_000]
    assert [line.text for line in hits.lines][-3:] == ["line 199998", "line 199999", "hit 200000"]


def test_a_search_goes_on_from_a_line(tmp_path: Path) -> None:
    data = b"".join(b"hit %d\n" % n for n in range(1, 300_001))
    book = book_for(tmp_path / "train.log", data)
    assert numbers(book.search("train.log", "hit", most=2)) == [1, 2]
    later = book.search("train.log", "hit", most=2, first=250_000)
    assert numbers(later) == [250_000, 250_001]
    assert later.total == 50_001


def test_capitals_make_a_search_exact(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", b"loss NaN\nloss nan\n")
    assert numbers(book.search("train.log", "nan")) == [1, 2]
    assert numbers(book.search("train.log", "NaN")) == [1]


@pytest.mark.parametrize("pattern", ["(", "[a", "*x", "(?P<n>a)(?P<n>b)", "a{9999999999999}"])
def test_an_invalid_pattern_is_a_sentence(tmp_path: Path, pattern: str) -> None:
    book = book_of(tmp_path, {"train.log": STEPS})
    with pytest.raises(ArtifactError, match="the pattern is not a regex"):
        book.search("train.log", pattern)


def test_an_empty_or_endless_pattern_is_refused(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": STEPS})
    for pattern in ("", "a" * 1001, "a\0b"):
        with pytest.raises(ArtifactError, match="pattern"):
            book.search("train.log", pattern)


def test_a_catastrophic_pattern_is_given_up_in_time_and_what_was_found_is_told(
    tmp_path: Path,
) -> None:
    slow = b"aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa\n" * 50_000
    book = book_for(tmp_path / "train.log", slow)
    # Fifty thousand lines, of which each would take hours.
    hits = book.search("train.log", CATASTROPHIC, seconds=1.0)
    assert "too slow" in hits.problem
    assert hits.searched == 0


def test_a_pattern_that_takes_long_to_compile_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It takes a second or two, and that is what a process gets beyond its time.
    monkeypatch.setattr(searching, "_GRACE_SECONDS", 0.3)
    book = book_of(tmp_path, {"train.log": STEPS})
    before = children()
    with pytest.raises(ArtifactError, match="took too long"):
        book.search("train.log", "[\x01-\U0010ffff]" * 180, seconds=0.1)
    assert children() <= before, "the process that compiles it is ended"


def test_a_search_through_a_huge_file_says_how_far_it_came(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", b"0123456789\n" * 500_000)
    hits = book.search("train.log", "xyz", seconds=0.0)
    assert "time for a search was over after line 0" in hits.problem


def test_a_match_far_inside_a_long_line_is_seen(tmp_path: Path) -> None:
    data = (
        b"a" * 30_000
        + b" needle "
        + b"b" * 20_000
        + b"\nshort\n"
        + b"c" * 5_000_000
        + b"\nneedle\n"
    )
    book = book_for(tmp_path / "train.log", data)
    hits = book.search("train.log", "needle", longest=1000)
    assert numbers(hits) == [1, 4]
    assert "needle" in hits.lines[0].text
    assert len(hits.lines[0].text) <= 1001
    assert hits.lines[0].left_out > 40_000


def test_what_a_bar_showed_last_is_searched(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", b"loss nan\rloss 2.0\nloss 1.0\rloss nan\n")
    assert numbers(book.search("train.log", "nan")) == [2]


def test_lines_within_a_private_key_are_known_without_their_neighbours(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", (STEPS * 3000 + KEY + STEPS).encode())
    hits = book.search("train.log", "QUJD", most=5)
    assert hits.total == 40
    assert all(line.is_key for line in hits.lines)


def test_a_search_leaves_no_process_behind(tmp_path: Path) -> None:
    book = book_for(tmp_path / "train.log", b"a" * 40 + b"\n")
    before = children()
    book.search("train.log", CATASTROPHIC, seconds=0.3)
    assert children() <= before
