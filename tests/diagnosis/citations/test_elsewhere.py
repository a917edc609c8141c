"""Quotations that are not at their places: many of them take no time from those that are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.artifacts.artifact import Excerpt, Hits
from mltd.diagnosis.citations import CheckedCitation, Verdict, check

from ..answer.answers import answer, cause, log
from ..artifacts.making import book_of
from .checking import LINES, book_in, checked, verdict

INVENTED = [
    "CUDA error: device-side assert triggered",
    "NCCL watchdog caught a timeout on rank 3",
    "step 100 loss 2.51 grad_norm 17.3",
    "RuntimeError: expected scalar type Half",
    "overflow detected, skipping step 17",
    "dataloader worker 3 exited unexpectedly",
    "gradients exploded to 1e9",
    "Killed by signal 9",
    "checkpoint saved to /out/x.pt",
    "warmup finished at step 500",
    "validation loss 9.3 at epoch 3",
    "step 7 loss nan grad_norm nan",
    "step 8 loss nan grad_norm nan",
    "ECC error on device 4",
]


class SlowBook:
    """A book whose searches take seconds of a clock that only they move."""

    def __init__(self, book: ArtifactBook, seconds: float = 2.0) -> None:
        self._book = book
        self._seconds = seconds
        self.now = 0.0
        self.searches: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)

    def clock(self) -> float:
        return self.now

    def lines(self, name: str, first: int, last: int, **more: Any) -> Excerpt:
        self.now += 0.01
        return self._book.lines(name, first, last, **more)

    def search(self, name: str, pattern: str, *, seconds: float = 2.0, **more: Any) -> Hits:
        self.searches.append((name, pattern))
        self.now += min(seconds, self._seconds)
        hits = self._book.search(name, pattern, seconds=60.0, **more)
        if seconds >= self._seconds:
            return hits
        return hits._replace(lines=(), searched=9, problem="the time was over", is_late=True)


def test_wrong_quotations_take_no_time_from_right_ones(book: ArtifactBook) -> None:
    first = cause(*(log(quote, 40 + n) for n, quote in enumerate(INVENTED)), confidence=0.9)
    second = cause(log(LINES[4], 5), failure_mode="bad_batch", confidence=0.3)
    slow = SlowBook(book)
    found = check(parse_opinion(answer(first, second)), slow, clock=slow.clock)
    assert found.tally == "1 of 15 citations confirmed, 14 wrong"
    (right,) = next(one for one in found.causes if one.cause.failure_mode == "bad_batch").evidence
    assert (right.verdict, right.reason) == (Verdict.CONFIRMED, "")
    assert slow.now < 20.0
    assert len(slow.searches) < 6, "one pass for most of them, one for each whose words are common"


def test_a_slow_search_is_shared_by_those_that_need_it_and_strikes_all_the_same(
    book: ArtifactBook,
) -> None:
    slow = SlowBook(book, seconds=30.0)
    cited = [log(f"step {n} loss 9.9{n}", 40 + n) for n in range(8)]
    found = checked(book, *cited, log(LINES[4], 5), clock=slow.clock)
    assert found.tally == "1 of 9 citations confirmed, 8 wrong"
    found = check(parse_opinion(answer(cause(*cited, log(LINES[4], 5)))), slow, clock=slow.clock)
    assert found.tally == "1 of 9 citations confirmed, 8 wrong"
    assert slow.now <= 20.0
    reasons = [one.reason for one in found.citations if one.is_struck]
    assert reasons[0] == (
        "what is quoted is not at line 40; the rest of the file was searched only up to line 9"
    )


def test_without_time_for_a_search_it_is_struck_where_it_was_said_to_be(
    book: ArtifactBook,
) -> None:
    slow = SlowBook(book, seconds=30.0)
    first = log("CUDA error: device-side assert triggered", 40)
    found = check(parse_opinion(answer(cause(first))), slow, clock=slow.clock, seconds=0.01)
    (only,) = found.citations
    assert only.verdict is Verdict.WRONG
    assert only.reason == "what is quoted is not at line 40; the rest of the file was not searched"


@pytest.mark.parametrize(("count", "expected"), [(700, Verdict.WRONG), (5000, Verdict.UNREADABLE)])
def test_of_a_stretch_that_was_not_read_to_its_end_nobody_knows(
    tmp_path: Path, count: int, expected: Verdict
) -> None:
    whole = "\n".join(f"line {n} is quiet" for n in range(count))
    slow = SlowBook(book_of(tmp_path, {"train.log": whole}), seconds=30.0)
    cited = log("CUDA error: device-side assert triggered", 1, 9000)
    found = check(parse_opinion(answer(cause(cited))), slow, clock=slow.clock)
    assert found.citations[0].verdict is expected
    assert found.citations[0].reason


def test_in_one_pass_each_is_found_where_it_stands(tmp_path: Path) -> None:
    lines = [f"step {n} loss {n * 0.001:.3f} quiet" for n in range(20_000)]
    lines[15_000] = "first part of the message"
    lines[15_002] = "second part of the message"
    lines[18_000] = "Killed by the scheduler"
    book = SlowBook(book_of(tmp_path, {"train.log": "\n".join(lines), "b.log": lines[7]}))
    cited = [
        log("first part of the message ... second part", 3),
        log("killed by the scheduler", 3),
        log("Killed by the scheduler", 3),
        log("step 12345 loss 12.345", 3),
        log("step 12345 loss 12.346", 3),
        log(lines[7], 5, name="b.log"),
    ]
    found = check(parse_opinion(answer(cause(*cited))), book, clock=book.clock)
    assert [_told(one) for one in found.citations] == [
        ("elsewhere", 15_001),
        ("wrong", None),
        ("elsewhere", 18_001),
        ("elsewhere", 12_346),
        ("wrong", None),
        ("elsewhere", 1),
    ]
    assert "nor anywhere else" in found.citations[1].reason
    assert "nor anywhere else" in found.citations[4].reason


@pytest.mark.parametrize("said", ["12.345", "12.3450", "0012.345", "1.2345e1", "1.2345E+01"])
def test_a_number_is_found_far_away_in_any_notation(tmp_path: Path, said: str) -> None:
    lines = [f"step {n}\tloss {n * 0.001:.3f}" for n in range(13_000)]
    book = book_of(tmp_path, {"train.log": "\n".join(lines)})
    assert verdict(book, log(f"step 12345 loss {said}", 3)).line == 12_346


def test_what_is_like_every_line_is_struck_without_claiming_too_much(tmp_path: Path) -> None:
    lines = [f"loss was 1e-{n % 7 + 1} again" for n in range(500)]
    book = book_of(tmp_path, {"train.log": "\n".join(lines)})
    found = verdict(book, log("loss was 9 again", 100))
    assert found.is_struck
    assert "too many lines of the file are like it" in found.reason


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    told: list[tuple[int, int]] = []
    good, bad = log(LINES[4], 5), log("nobody wrote this", 5)
    both = (cause(good, bad), cause(good, failure_mode="bad_batch"))
    check(
        parse_opinion(answer(*both)),
        book,
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(2, 3), (3, 3)]


def _told(found: CheckedCitation) -> tuple[str, int | None]:
    return found.verdict.value, found.line
