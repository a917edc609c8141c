"""Charts: nothing that happened is lost between a series and its picture."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from mltd.sessions.report.chart import Chart, Mark, Trace
from mltd.sessions.report.curves import charts_of, slug
from mltd.sessions.report.pieces import Piece
from mltd.sessions.report.svg import svg
from mltd.sessions.report.text_plot import HEIGHT, WIDTH, text_plot

from .hostile import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"
values = st.floats(allow_nan=False, allow_infinity=False)


def a_run(*lines: str) -> Run:
    run = Run("run")
    read_stream(run, "train.log", iter(["\n".join([*lines, ""]).encode()]))
    return run


def a_chart(*points: tuple[float, float, float], role: str = "", **more: object) -> Chart:
    trace = Trace("loss", (points,) if points else (), first=1.0, last=2.0)
    return Chart("loss", "loss", "step", (trace,), role=role, **more)  # type: ignore[arg-type]


def test_a_spike_of_one_step_among_thousands_survives() -> None:
    lines = [f"step {n} loss {90.0 if n == 4321 else 1.0 + n % 7 / 10}" for n in range(1, 9001)]
    (chart, *_) = charts_of(a_run(*lines), (), None)
    assert chart.y_range == (1.0, 90.0)
    assert sum(1 for _ in chart.traces[0].points) <= 400
    assert any("│" in row or "╭" in row for row in (line[8:] for line in text_plot(chart)[:2]))


def test_values_that_are_not_finite_are_gaps_with_strokes() -> None:
    lines = [f"step {n} loss {'nan' if 40 < n <= 60 else 2.0 - n / 100}" for n in range(1, 101)]
    (chart, *_) = charts_of(a_run(*lines), (), None)
    trace = chart.traces[0]
    assert len(trace.stretches) == 2
    assert trace.bad == tuple(float(n) for n in range(41, 61))
    assert "20 values not finite" in chart.description
    plot = "\n".join(text_plot(chart))
    assert "!!!!!" in plot
    assert "! 20 values not finite (NaN or infinite)" in plot
    root = ET.fromstring(svg(chart))
    assert [p for p in root.iter(f"{SVG}path") if p.get("class") == "bad"]


def test_a_metric_without_a_finite_value_is_drawn_as_such() -> None:
    lines = [f"step {n} loss nan" for n in range(1, 9)]
    (chart, *_) = charts_of(a_run(*lines), (), None)
    assert chart.y_range is None
    assert "no finite value" in svg(chart)
    assert "8 values not finite" in "\n".join(text_plot(chart))


def test_a_wide_range_is_drawn_on_a_logarithmic_scale_but_a_learning_rate_is_not() -> None:
    points = ((0.0, 0.001, 0.001), (1.0, 1000.0, 1000.0))
    assert "logarithmic scale" in svg(a_chart(*points, role="train/loss"))
    assert "logarithmic scale" in text_plot(a_chart(*points, role="train/loss"))
    assert "logarithmic scale" not in svg(a_chart(*points, role="lr"))


def test_findings_and_restarts_are_marked_with_letters() -> None:
    lines = [f"step {n} loss {2.0 - n / 100}" for n in (*range(1, 60), *range(40, 101))]
    diagnosis = {
        "findings": [
            {"id": "loss_spike", "severity": "critical", "first_step": 20,
             "evidence": [{"kind": "series", "ref": "loss@20", "quote": ""}]},
            {"id": "note", "severity": "info", "first_step": 30},
        ]
    }  # fmt: skip
    (chart, *_) = charts_of(a_run(*lines), (), diagnosis)
    assert [(letter, mark.label, mark.x) for letter, mark in chart.lettered] == [
        ("A", "loss_spike", 20.0),
        ("B", "restart", 40.0),
    ]
    assert "A loss_spike at step 20" in text_plot(chart)
    assert "B  restart at step 40" in svg(chart)


def test_where_the_counter_is_no_axis_points_are_drawn_in_their_order() -> None:
    lines = [f"step {n % 5} loss {2.0 - n / 100}" for n in range(100)]
    (chart, *_) = charts_of(a_run(*lines), (), None)
    assert (chart.axis, chart.x_range) == ("record", (0.0, 99.0))
    assert chart.marks == ()


def test_what_the_evidence_names_is_drawn_and_never_more_than_six() -> None:
    names = ("loss", "val_loss", "grad_norm", "lr", "alpha", "beta", "gamma", "delta")
    lines = [
        f"step {n} " + " ".join(f"{name} {n * (k + 1) / 100}" for k, name in enumerate(names))
        for n in range(1, 30)
    ]
    pieces = [Piece("series", "gamma@3..9", "", "H1")]
    drawn = [chart.name for chart in charts_of(a_run(*lines), pieces, None)]
    assert drawn[:5] == ["train-loss", "val-loss", "grad-norm", "lr", "gamma"]
    assert len(drawn) <= 6


@given(
    st.lists(st.tuples(values, values, values), max_size=30),
    st.sampled_from(["", "lr", "train/loss"]),
    st.sampled_from(HOSTILE) | st.text(max_size=30),
)
def test_any_numbers_and_any_names_make_a_well_formed_picture(
    raw: list[tuple[float, float, float]], role: str, name: str
) -> None:
    points = tuple((x, min(a, b), max(a, b)) for x, a, b in sorted(raw))
    trace = Trace(name, (points,) if points else (), (0.0,), 1, math.nan, math.inf)
    chart = Chart("x", name, "step", (trace, trace), (Mark(0.0, name, name),), role)
    root = ET.fromstring(svg(chart))
    assert not list(root.iter(f"{SVG}script"))
    assert all("nan" not in (p.get("d") or "") for p in root.iter(f"{SVG}path"))
    rows = text_plot(chart)
    assert all(len(row) <= WIDTH + 24 for row in rows[: HEIGHT + 1])


def test_a_name_becomes_a_part_of_a_file_name() -> None:
    assert slug("../../etc/Passwd loss") == "etc-passwd-loss"
    assert slug("损失") == "metric"


def test_pictures_of_the_corpus_are_well_formed(corpus: Path) -> None:
    from mltd.runs.discovery import explore
    from mltd.runs.ingest import load

    for name in ("nanogpt/modded-nan-run.txt", "keras/22-optimizers-multirun.log"):
        run = load(explore(str(corpus / name)).runs[0]).run
        charts = charts_of(run, (), None)
        assert charts
        for chart in charts:
            ET.fromstring(svg(chart))


@pytest.mark.parametrize("points", [1, 2])
def test_few_points_are_drawn_too(points: int) -> None:
    chart = a_chart(*((float(n), 1.0, 1.0) for n in range(points)))
    assert [p for p in ET.fromstring(svg(chart)).iter(f"{SVG}path") if "c0" in p.get("class", "")]
    assert any("─" in row for row in text_plot(chart)[:HEIGHT])
