"""Marks: what happened, at its place on whichever axis is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.diagnosis import Diagnosis
from mltd.runs.envelope import Envelopes
from mltd.runs.event import Event, EventKind
from mltd.runs.run import Run, SourceFile
from mltd.runs.thinning import thin
from mltd.tui.engine.axis_places import AxisPlaces
from mltd.tui.engine.curve_protocol import Mark, MarkKind
from mltd.tui.engine.marks import MOST, find_marks, most_important
from mltd.tui.engine.rate_jumps import RateJumps

from .made_runs import extend, make_run, series_of

PATH = "logs/made.log"
NAN = float("nan")


def marks_of(
    run: Run,
    axis: str = "step",
    findings: Sequence[Finding] = (),
    part: tuple[float | None, float | None] = (None, None),
    reference: str = "loss",
) -> list[Mark]:
    envelopes = Envelopes()
    series = run.find(0, "lr")
    rates = None if series is None else RateJumps(series)
    if rates is not None:
        rates.update()
    drawn = envelopes.of(0, series_of(run, reference))
    places = AxisPlaces(0, run, axis, drawn, envelopes)
    return find_marks(places, Diagnosis("", tuple(findings)), rates, *part)


def places_of(marks: list[Mark], kind: MarkKind) -> list[float]:
    return [mark.x for mark in marks if mark.kind is kind]


def finding(
    step: float | None, ref: str = "loss@20", kind: EvidenceKind = EvidenceKind.SERIES
) -> Finding:
    evidence = (Evidence(kind, ref, "quoted"),)
    return Finding(
        "loss_spike", "loss jumped", Severity.WARNING, 0.5, Basis.OBSERVATION, evidence, step
    )


def run_of(count: int = 40, events: Sequence[Event] = ()) -> Run:
    """Steps count in tens, epochs in hundredths, seconds in twos."""
    run = make_run({"loss": []})
    rows = np.arange(count)
    axes = {"step": rows * 10.0, "epoch": rows / 100, "time": 1000.0 + rows * 2}
    extend(run, {"loss": [1.0] * count}, events, **{k: v.tolist() for k, v in axes.items()})
    return run


@pytest.mark.parametrize(
    ("axis", "x"), [("step", 195.0), ("epoch", 0.2), ("time", 1040.0), ("index", 20.0)]
)
def test_a_finding_is_marked_where_it_began(axis: str, x: float) -> None:
    (mark,) = marks_of(run_of(), axis, [finding(195.0)])
    assert mark == Mark(x, MarkKind.FINDING, "loss_spike: loss jumped", "warning", PATH, 21)


def test_a_finding_that_a_line_shows_is_marked_at_that_line() -> None:
    shown = finding(None, "made.log:6", EvidenceKind.LOG)
    (mark,) = marks_of(run_of(), "epoch", [shown])
    assert (mark.x, mark.path, mark.line) == (0.05, PATH, 6)
    stepped = finding(100.0, "made.log:6", EvidenceKind.LOG)
    assert places_of(marks_of(run_of(), "time", [stepped]), MarkKind.FINDING) == [1020.0]


def test_findings_without_a_place_and_mere_remarks_are_not_marked() -> None:
    nowhere = finding(None, "config:lr", EvidenceKind.CONFIG)
    remark = Finding("plateau", "flat", Severity.INFO, 0.5, Basis.OBSERVATION, nowhere.evidence, 10)
    assert marks_of(run_of(), findings=[nowhere, remark]) == []


def test_events_are_marked_at_the_step_they_belong_to() -> None:
    events = [
        Event(EventKind.CHECKPOINT, "saved", 11),
        Event(EventKind.OOM, "CUDA out of memory", 40),
        Event(EventKind.WARNING, "deprecated", 3),
    ]
    error, checkpoint = marks_of(run_of(events=events))
    assert checkpoint == Mark(100.0, MarkKind.CHECKPOINT, "saved", "info", PATH, 11)
    assert error == Mark(390.0, MarkKind.ERROR, "CUDA out of memory", "critical", PATH, 40)
    error, checkpoint = marks_of(run_of(events=events), "time")
    assert (error.x, checkpoint.x) == (1078.0, 1020.0)


def test_an_error_before_the_first_step_is_marked_at_it() -> None:
    run = make_run({"loss": [1.0, 2.0]}, step=[NAN, 4.0])
    run.add_file(SourceFile("err.log"))
    extend(run, {"loss": [5.0]}, [Event(EventKind.EXCEPTION, "KeyError", 1)], 1, step=[3.0])
    (mark,) = marks_of(run)
    assert (mark.x, mark.path) == (3.0, "err.log")


def test_very_many_checkpoints_are_thinned_evenly() -> None:
    events = [Event(EventKind.CHECKPOINT, f"saved {line}", line) for line in range(1, 2000, 10)]
    found = places_of(marks_of(run_of(2000, events)), MarkKind.CHECKPOINT)
    assert len(found) == 40
    assert (found[0], found[-1]) == (0.0, 19_900.0)
    assert max(np.diff(found)) <= 2 * min(np.diff(found))


def test_a_restart_is_marked_once_however_often_it_is_told() -> None:
    run = run_of(40)
    told = Event(EventKind.RESTART, "resuming from checkpoint 200", 1)
    extend(run, {"loss": [1.0] * 5}, [told], step=[200.0, 210.0, 220.0, 230.0, 240.0])
    (mark,) = [mark for mark in marks_of(run) if mark.kind is MarkKind.RESTART]
    assert mark == Mark(200.0, MarkKind.RESTART, told.title, "info", PATH, 41)


def test_a_counter_that_goes_back_is_a_restart_on_every_axis() -> None:
    steps = [*range(10), *range(4, 9)]
    run = make_run({"loss": [1.0] * 15}, step=steps, time=[100.0 + row for row in range(15)])
    (mark,) = marks_of(run)
    assert (mark.x, mark.label, mark.line) == (4.0, "restart: step went back to 4", 11)
    assert places_of(marks_of(run, "time"), MarkKind.RESTART) == [110.0]
    assert places_of(marks_of(run, "index"), MarkKind.RESTART) == [10.0]


def test_a_file_that_began_anew_is_a_restart() -> None:
    run = make_run({"loss": [1.0] * 3}, step=[1, 2, 3])
    run.start_generation(0)
    extend(run, {"loss": [1.0] * 3}, step=[NAN, 50, 51])
    (mark,) = marks_of(run)
    assert (mark.x, mark.kind, mark.line) == (50.0, MarkKind.RESTART, 2)
    assert places_of(marks_of(run, "index"), MarkKind.RESTART) == [3.0]


def test_a_counter_shared_by_writers_is_full_of_falls_and_none_is_a_restart() -> None:
    steps = [step + (3 if row % 2 else 0) for row, step in enumerate(range(400))]
    assert marks_of(make_run({"loss": [1.0] * 400}, step=steps)) == []


def test_only_marks_of_the_wished_part_are_told() -> None:
    found = [finding(100.0), finding(300.0)]
    assert places_of(marks_of(run_of(), findings=found, part=(150, None)), MarkKind.FINDING) == [
        300
    ]
    assert places_of(marks_of(run_of(), findings=found, part=(None, 150)), MarkKind.FINDING) == [
        100
    ]


def test_there_are_never_more_marks_than_can_be_told_apart() -> None:
    checkpoints = [Mark(x, MarkKind.CHECKPOINT, "saved") for x in range(90)]
    findings = [Mark(x, MarkKind.FINDING, "found") for x in range(30)]
    kept = most_important([*checkpoints, *findings])
    assert len(kept) == MOST
    assert kept[:30] == tuple(findings)


# -- learning rates ------------------------------------------------------------------------

WARM_UP = np.linspace(0, 1e-3, 100)
COSINE = 5e-4 * (1 + np.cos(np.linspace(0, np.pi, 300)))
STEPS = np.repeat([1e-3, 1e-4, 1e-5], 100)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        (WARM_UP, []),
        (COSINE, []),
        (np.concatenate([WARM_UP, COSINE]), []),
        (1e-3 * 0.7 ** np.arange(40), []),
        (1e-3 / np.sqrt(np.arange(1, 100)), []),
        (np.full(50, 3e-4), []),
        (STEPS, [100, 200]),
        (np.concatenate([COSINE, COSINE]), [300]),
        (np.concatenate([np.full(20, 1e-3), np.full(20, 1.1e-3)]), []),
        (np.concatenate([np.full(20, 1e-3), [NAN], np.full(20, 5e-4)]), [21]),
        (np.zeros(30), []),
        (np.array([1e-3, 1e-4]), []),
    ],
)
def test_only_abrupt_changes_of_the_rate_are_marked(
    rates: np.ndarray[tuple[int], np.dtype[np.float64]], expected: list[int]
) -> None:
    run = make_run({"loss": [1.0] * len(rates), "lr": rates.tolist()})
    assert places_of(marks_of(run), MarkKind.RATE) == expected


def test_changes_of_the_rate_say_from_what_to_what() -> None:
    run = make_run(
        {"loss": [1.0] * 300, "lr": STEPS.tolist()}, epoch=(np.arange(300) / 10).tolist()
    )
    first, _ = marks_of(run, "epoch")
    assert first == Mark(10.0, MarkKind.RATE, "lr 0.001 → 0.0001", "info", PATH, 101)


@pytest.mark.parametrize("bite", [1, 2, 3, 7, 300])
def test_changes_are_found_however_the_points_came(bite: int) -> None:
    run = make_run({"lr": []})
    extend(run, {"lr": STEPS[:1].tolist()})
    jumps = RateJumps(series_of(run, "lr"))
    for start in range(1, 300, bite):
        extend(run, {"lr": STEPS[start : start + bite].tolist()})
        jumps.update()
    assert [jump.point for jump in jumps.found] == [100, 200]
    assert jumps.found[0].size == pytest.approx(math.log(10))


def test_of_very_many_changes_the_largest_are_kept() -> None:
    rates = np.repeat(np.where(np.arange(700) % 2, 1e-3, 5e-4), 5)
    rates[2000:2010] = 1e-6
    run = make_run({"loss": [1.0] * len(rates), "lr": rates.tolist()})
    found = places_of(marks_of(run), MarkKind.RATE)
    assert len(found) == 20
    assert {2000.0, 2010.0} <= set(found)
    assert found == sorted(found)


def test_a_thinned_schedule_has_the_same_changes() -> None:
    rates = np.concatenate([np.linspace(0, 1e-3, 4000), np.repeat([1e-3, 1e-4], 10_000)])
    noise = np.random.default_rng(0).normal(size=len(rates))
    run = make_run({"loss": noise.tolist(), "lr": rates.tolist()})
    jumps = RateJumps(series_of(run, "lr"))
    jumps.update()
    thin(run)
    thin(run)
    jumps.update()
    (jump,) = jumps.found
    assert series_of(run, "lr").axis("step")[jump.point] == pytest.approx(14_000, abs=4)
