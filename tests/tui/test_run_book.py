from __future__ import annotations

from mltd.tui.engine.protocol import (
    LogFile,
    RunRow,
    RunsFound,
    RunStatus,
    SeriesChanged,
    SeriesInfo,
    StatusChanged,
)
from mltd.tui.run_book import RunBook


def book_with_two_runs() -> RunBook:
    book = RunBook()
    book.learn(RunsFound((RunRow(0, "first", "/a"), RunRow(1, "second", "/b"))))
    return book


def info(name: str, role: str | None) -> SeriesInfo:
    return SeriesInfo(f"0:{name}", name, role, "loss", ("step",), 3, 1.0, 0.5, 2.0)


def test_runs_are_walked_in_a_circle() -> None:
    book = book_with_two_runs()
    assert book.beside(1) == 1
    assert book.beside(-1) == 1
    book.selected = 1
    assert book.beside(1) == 0
    assert book.position == (2, 2)


def test_an_empty_book_has_nowhere_to_go() -> None:
    assert RunBook().beside(1) == 0


def test_a_metric_is_found_by_its_name_before_its_role() -> None:
    book = book_with_two_runs()
    loss, other = info("lm loss", "train/loss"), info("train/loss", None)
    book.learn(SeriesChanged(0, (loss, other)))
    assert book.find_series(0, "train/loss") == other
    assert book.find_series(0, "lm loss") == loss
    book.learn(SeriesChanged(0, (loss,)))
    assert book.find_series(0, "train/loss") == loss
    assert book.find_series(0, "nothing") is None


def test_a_log_is_found_by_its_last_part() -> None:
    book = book_with_two_runs()
    book.learn(StatusChanged(RunStatus(1, "second", files=(LogFile("/b/train.err"),))))
    assert book.find_path(1, "train.err") == "/b/train.err"
    assert book.find_path(1, "err") is None
    assert book.find_path(0, "train.err") is None


def test_news_about_a_run_that_is_not_shown_is_kept() -> None:
    book = book_with_two_runs()
    book.learn(StatusChanged(RunStatus(1, "second", state="failed")))
    book.selected = 1
    assert book.current.status is not None
    assert book.current.status.state == "failed"
