from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from mltd.runs.envelope import Envelopes
from mltd.runs.run import Run
from mltd.runs.sources.watcher import Watcher
from mltd.tui.engine import service
from mltd.tui.engine.curve_protocol import (
    CompareRequest,
    Comparison,
    CurveRequest,
    Curves,
    Place,
    PlaceRequest,
)
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.protocol import (
    Diagnosed,
    Health,
    News,
    Open,
    Pulse,
    Rows,
    RunsFound,
    Select,
    SeriesChanged,
    StatusChanged,
    Survey,
    Trouble,
)
from mltd.tui.engine.service import Service
from mltd.tui.engine.timing import FOLLOWED_AT_ONCE

Kind = TypeVar("Kind", bound=News)


class Desk:
    """A service without a process: wishes go in, steps are taken by hand, news pile up."""

    def __init__(self) -> None:
        self.news: list[News] = []
        self.inbox = Inbox()
        # Nobody waits for it here: what changed is said by hand.
        self.watcher = Watcher(poll_seconds=1.0)
        self.now = 1_700_000_000.0
        self.service = Service(self.news.append, self.inbox, self.watcher, lambda: self.now)

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [item for item in self.news if isinstance(item, kind)]

    def until(self, is_reached: Callable[[], object]) -> None:
        for _ in range(2000):
            if is_reached():
                return
            self.inbox.changed(set())
            self.now += 0.25
            # Something to hear keeps the step from waiting.
            self.inbox.wish(Select(-1))
            self.service.step()
        raise AssertionError(
            f"it never came to that; news: {[type(n).__name__ for n in self.news]}"
        )

    def status(self, run: int = 0) -> StatusChanged:
        return [n for n in self.of(StatusChanged) if n.status.run == run][-1]


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.watcher.close()


def write_steps(path: Path, first: int, last: int, *, bad_from: int = 10**9) -> None:
    with path.open("a") as file:
        for step in range(first, last):
            loss = "nan" if step >= bad_from else f"{4 * 0.99**step + 0.5:.4f}"
            file.write(f"step {step}/1000 loss: {loss} lr: 3e-4 grad_norm: 1.{step % 10}\n")


def test_a_log_is_found_read_and_judged(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_steps(log, 0, 300, bad_from=250)
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(Diagnosed))
    assert desk.of(RunsFound)[0].rows[0].name == "train.log"
    assert desk.of(Diagnosed)[0].diagnosis.findings[0].id == "nan_loss"
    desk.until(lambda: desk.status().status.health is Health.CRITICAL)
    status = desk.status().status
    assert (status.step, status.total_steps) == (299, 1000)
    assert status.files[0].lines == 300
    assert [s.role for s in desk.of(SeriesChanged)[-1].series][:1] == ["train/loss"]


def test_a_growing_log_is_read_on(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_steps(log, 0, 50)
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(Diagnosed))
    write_steps(log, 50, 80)
    desk.inbox.changed({log})
    desk.until(lambda: desk.status().status.step == 79)
    assert desk.status().status.files[0].lines == 80


def test_the_metrics_of_a_log_that_stopped_growing_are_listed_no_more(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[int] = []
    describe = service.describe_series  # type: ignore[attr-defined]

    def counted(number: int, run: Run, envelopes: Envelopes) -> SeriesChanged:
        listed.append(number)
        return describe(number, run, envelopes)

    monkeypatch.setattr(service, "describe_series", counted)
    log = tmp_path / "train.log"
    write_steps(log, 0, 50)
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(Diagnosed))
    end = desk.now + 60
    desk.until(lambda: desk.now > end)
    before = len(listed)
    desk.until(lambda: desk.now > end + 300)
    assert len(listed) == before
    write_steps(log, 50, 80)
    desk.inbox.changed({log})
    desk.until(lambda: desk.of(SeriesChanged)[-1].series[0].points == 80)
    assert len(listed) > before


def test_curves_are_sent_at_once_and_again_when_they_grew(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_steps(log, 0, 50)
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(SeriesChanged) and desk.of(SeriesChanged)[-1].series)
    key = desk.of(SeriesChanged)[-1].series[0].key
    desk.inbox.wish(CurveRequest(7, ((0, key),), "step", buckets=100))
    desk.until(lambda: desk.of(Curves))
    assert desk.of(Curves)[0].extent == (0.0, 49.0)
    count = len(desk.of(Curves))
    for _ in range(5):
        desk.until(lambda: True)
    assert len(desk.of(Curves)) == count
    write_steps(log, 50, 60)
    desk.inbox.changed({log})
    desk.until(lambda: desk.of(Curves)[-1].extent == (0.0, 59.0))
    desk.inbox.wish(CurveRequest(7, ()))
    count = len(desk.of(Curves))
    write_steps(log, 60, 70)
    desk.inbox.changed({log})
    desk.until(lambda: desk.status().status.step == 69)
    assert len(desk.of(Curves)) == count


def test_a_line_leads_to_its_step_and_back(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_steps(log, 0, 50)
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(Diagnosed))
    desk.inbox.wish(PlaceRequest(1, 0, path=str(log), line=21))
    desk.inbox.wish(PlaceRequest(2, 0, x=30.0))
    desk.until(lambda: len(desk.of(Place)) == 2)
    there, back = desk.of(Place)
    assert there.x == 20
    assert (back.path, back.line) == (str(log), 31)


def test_a_missing_log_is_waited_for(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "later.log"
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(StatusChanged))
    assert desk.status().status.files[0].note == "no such file yet"
    write_steps(log, 0, 20)
    desk.inbox.changed({log})
    desk.until(lambda: desk.status().status.step == 19)


def test_names_that_lead_nowhere_are_said(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("step 1 loss 2\n")
    desk.inbox.wish(
        Open((str(tmp_path / "no" / "such" / "dir" / "x.log"), str(tmp_path / "x.log")))
    )
    desk.until(lambda: desk.of(RunsFound))
    found = desk.of(RunsFound)[0]
    assert len(found.rows) == 1
    assert "there is no file" in found.problems[0]


def test_many_runs_are_surveyed_but_few_are_followed(desk: Desk, tmp_path: Path) -> None:
    for number in range(FOLLOWED_AT_ONCE + 4):
        (tmp_path / f"run{number}").mkdir()
        write_steps(tmp_path / f"run{number}" / "train.log", 0, 30, bad_from=20)
    desk.inbox.wish(Open((str(tmp_path),), is_survey=True))
    desk.inbox.wish(Survey(True))
    total = FOLLOWED_AT_ONCE + 4

    def judged() -> set[int]:
        rows = [row for news in desk.of(Rows) for row in news.rows]
        return {row.run for row in rows if row.health is Health.CRITICAL}

    desk.until(lambda: len(judged()) == total)
    assert not desk.of(StatusChanged)
    for number in range(total):
        desk.inbox.wish(Select(number))
    desk.until(lambda: {n.status.run for n in desk.of(StatusChanged)} == set(range(total)))
    assert len(desk.service._followed) == FOLLOWED_AT_ONCE


def test_two_runs_are_compared(desk: Desk, tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        write_steps(tmp_path / name, 0, 50)
    desk.inbox.wish(Open((str(tmp_path / "a.log"), str(tmp_path / "b.log"))))
    desk.inbox.wish(CompareRequest(3, 0, 1))
    desk.until(lambda: desk.of(Comparison))
    row = desk.of(Comparison)[0].rows[0]
    assert row.role == "train/loss"
    assert row.before == row.after


def test_the_end_of_a_big_log_is_drawn_before_the_rest_is_read(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    line = "step {} loss {:.4f} " + "padding " * 10 + "\n"
    with log.open("w") as file:
        for step in range(120_000):
            file.write(line.format(step, 3.0 + (step % 7) / 10))
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(StatusChanged))
    first = desk.of(StatusChanged)[0].status
    assert first.step == 119_999
    assert first.share_read < 1.0
    desk.until(lambda: desk.status().status.share_read == 1.0)
    assert desk.status().status.files[0].lines == 120_000


def test_a_failure_is_told_and_the_engine_goes_on(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "train.log"
    write_steps(log, 0, 20)
    desk.inbox.wish(Open((str(log),)))
    desk.until(lambda: desk.of(Diagnosed))

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("mltd.tui.engine.answering.find_place", broken)
    desk.inbox.wish(PlaceRequest(1, 0, line=3))
    desk.until(lambda: desk.of(Trouble))
    assert "a bug" in desk.of(Trouble)[0].message
    assert "Traceback" in desk.of(Trouble)[0].details
    write_steps(log, 20, 30)
    desk.inbox.changed({log})
    desk.until(lambda: desk.status().status.step == 29)


def test_runs_and_files_that_appear_later_are_found(desk: Desk, tmp_path: Path) -> None:
    desk.inbox.wish(Open((str(tmp_path),)))
    desk.until(lambda: desk.of(RunsFound))
    assert desk.of(RunsFound)[0].rows == ()
    assert desk.of(RunsFound)[0].problems == ()
    (tmp_path / "one").mkdir()
    write_steps(tmp_path / "one" / "job.out", 0, 30)
    desk.until(lambda: desk.of(RunsFound)[-1].rows)
    desk.inbox.wish(Select(0))
    desk.until(lambda: desk.of(Diagnosed))
    (tmp_path / "one" / "job.err").write_text("RuntimeError: boom\n")
    desk.until(lambda: len(desk.status().status.files) == 2)


def test_the_engine_is_heard_of_even_if_there_is_nothing_to_say(desk: Desk) -> None:
    desk.until(lambda: len(desk.of(Pulse)) > 2)


def test_a_run_that_gets_company_keeps_its_number(desk: Desk, tmp_path: Path) -> None:
    for name in ("first", "later", "third"):
        (tmp_path / name).mkdir()
    write_steps(tmp_path / "first" / "train.log", 0, 30)
    desk.inbox.wish(Open((str(tmp_path),)))
    desk.until(lambda: desk.of(RunsFound))
    assert len(desk.of(RunsFound)[0].rows) == 1
    for name in ("later", "third"):
        write_steps(tmp_path / name / "train.log", 0, 30)
    desk.until(lambda: len(desk.of(RunsFound)[-1].rows) > 1)
    assert [row.run for row in desk.of(RunsFound)[-1].rows] == [0, 1, 2]
