"""Curves for the screen: the right part of the right metrics, with marks."""

from __future__ import annotations

import pickle

import numpy as np

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.thinning import thin
from mltd.tui.engine.curve_protocol import CurveRequest, MarkKind
from mltd.tui.engine.curves import CurveBook

from .made_runs import extend, make_run

NAN = float("nan")


def test_curves_come_in_the_order_asked_and_unknown_ones_are_left_out() -> None:
    run = make_run({"loss": [3.0, 2.0, NAN], "lr": [0.1, 0.1, 0.1]})
    request = CurveRequest(7, ((0, "0:lr"), (0, "0:nope"), (4, "0:loss"), (0, "0:loss")))
    answer = CurveBook().answer(request, {0: run}, {})
    assert (answer.ticket, answer.axis, answer.extent) == (7, "step", (0.0, 2.0))
    assert [curve.key for curve in answer.curves] == ["0:lr", "0:loss"]
    loss = answer.curves[1]
    assert (loss.name, loss.role, loss.points, loss.run) == ("loss", "train/loss", 3, 0)
    (one,) = loss.passes
    assert one.x.tolist() == [0.0, 1.0, 2.0]
    assert one.high.tolist()[:2] == [3.0, 2.0]
    assert one.count.tolist() == [1, 1, 1]
    assert one.bad.tolist() == [0, 0, 1]


def test_buckets_of_several_runs_lie_under_each_other() -> None:
    long, short = make_run({"loss": [1.0] * 1000}), make_run({"loss": [2.0] * 500})
    request = CurveRequest(1, ((0, "0:loss"), (1, "0:loss")), buckets=10)
    answer = CurveBook().answer(request, {0: long, 1: short}, {})
    assert answer.extent == (0.0, 999.0)
    first, second = (curve.passes[0] for curve in answer.curves)
    assert len(first.x) == 10
    assert second.x.tolist()[:4] == first.x.tolist()[:4]
    assert sum(second.count) == 500


def test_a_part_of_the_axis_leaves_the_extent_whole() -> None:
    run = make_run({"loss": np.arange(1000.0).tolist()}, epoch=(np.arange(1000) / 100).tolist())
    request = CurveRequest(1, ((0, "0:loss"),), axis="epoch", low=2.0, high=3.0, buckets=200)
    answer = CurveBook().answer(request, {0: run}, {})
    assert answer.extent == (0.0, 9.99)
    (curve,) = answer.curves
    assert curve.points == 101
    assert curve.passes[0].low.tolist() == list(range(200, 301))


def test_a_run_without_the_axis_has_no_extent() -> None:
    run = make_run({"loss": [1.0]})
    request = CurveRequest(1, ((0, "0:loss"),), axis="tokens")
    answer = CurveBook().answer(request, {0: run}, {})
    assert answer.extent is None
    assert answer.curves == ()


def test_a_book_follows_growth_thinning_and_another_run_in_its_place() -> None:
    book, request = CurveBook(), CurveRequest(1, ((0, "0:loss"),), buckets=50)
    run = make_run({"loss": np.sin(np.arange(20_000.0)).tolist()})

    def points(run: object) -> int:
        return book.answer(request, {0: run}, {}).curves[0].points  # type: ignore[dict-item]

    assert points(run) == 20_000
    extend(run, {"loss": [1.0] * 5})
    assert points(run) == 20_005
    thin(run)
    assert points(run) == len(run.series[0]) < 20_005
    assert points(make_run({"loss": [1.0] * 3})) == 3
    book.forget(0)
    assert len(book.envelopes) == 0


def test_strange_wishes_are_answered() -> None:
    run = make_run({"loss": [1.0, 2.0, 3.0]})
    for low, high, buckets in ((NAN, NAN, 0), (2.0, 1.0, 5), (-np.inf, np.inf, 10**9), (5, 9, 3)):
        request = CurveRequest(1, ((0, "0:loss"),), low=low, high=high, buckets=buckets)
        answer = CurveBook().answer(request, {0: run}, {})
        assert answer.extent == (0.0, 2.0)


def test_answers_carry_marks_and_cross_a_pipe() -> None:
    values = 1.0 + 3.0 * np.exp(-np.arange(400) / 80)
    values += np.random.default_rng(0).normal(0, 0.02, 400)
    values[200] = 30.0
    run = make_run({"loss": values.tolist()})
    request = CurveRequest(1, ((0, "0:loss"),))
    answer = CurveBook().answer(request, {0: run}, {0: diagnose(run)})
    spike = next(mark for mark in answer.marks if mark.kind is MarkKind.FINDING)
    assert (spike.x, spike.path, spike.line) == (200.0, "logs/made.log", 201)
    assert spike.label.startswith("loss_spike: ")
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_marks_of_several_runs_say_whose_they_are() -> None:
    steps = [*range(50), *range(20, 60)]
    runs = {n: make_run({"loss": [1.0] * 90}, name=f"run{n}", step=steps) for n in range(2)}
    request = CurveRequest(1, ((0, "0:loss"), (1, "0:loss")))
    answer = CurveBook().answer(request, runs, {})
    assert [mark.label for mark in answer.marks] == [
        "run0: restart: step went back to 20",
        "run1: restart: step went back to 20",
    ]
