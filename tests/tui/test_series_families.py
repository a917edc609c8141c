"""Metrics of hundreds of layers are folded in text, and stand last in lists."""

from __future__ import annotations

import json

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.envelope import Envelopes
from mltd.runs.run import Run
from mltd.tui.curves.chart_list import charts_of
from mltd.tui.document import document
from mltd.tui.engine.series_list import describe_series
from mltd.tui.plain_text import render_run
from mltd.tui.series_families import fold

LAYERS = 48


def big(loss: str = " ; train/loss: 2>1*30") -> Run:
    """A recording of many layers, one of which is called as a score would be."""
    names = [f"blocks.{number}.time" for number in range(LAYERS - 1)] + ["map"]
    parts = [f"probe grad_norm/{name}: 0.00{n % 9 + 1}*9 nan" for n, name in enumerate(names)]
    parts += [f"probe act_std/{name}: 1*10" for name in names]
    return example_run(" ; ".join([*parts, "probe grad_norm: 1*10"]) + loss)


def test_each_family_has_one_row_with_its_reach() -> None:
    text = list(render_run(big()))
    rows = [line for line in text if "/* (" in line]
    assert len(rows) == 2
    assert rows[0].split() == [
        "grad_norm/*", "(48", "layers)", "-", "10", "0.001", "..", "0.009", "48", "not", "finite",
    ]  # fmt: skip
    assert not any("blocks." in line for line in text)


def test_the_document_for_programs_keeps_all() -> None:
    run = big()
    said = json.loads(json.dumps(document(run, 0.0, diagnose(run))))
    names = {series["name"] for series in said["run"]["series"]}
    assert len([name for name in names if name.startswith("grad_norm/")]) == LAYERS


def test_a_few_layers_of_a_log_keep_their_rows() -> None:
    few = example_run(" ; ".join(f"grad_norm/fc{n}: 0.1*20" for n in range(8)))
    many = example_run(" ; ".join(f"grad_norm/fc{n}: 0.1*20" for n in range(9)))
    assert fold(few.series)[1] == []
    (family,) = fold(many.series)[1]
    assert (family.name, family.extremes) == ("grad_norm/* (9 layers)", (0.1, 0.1))


def test_layers_stand_last_and_are_drawn_only_on_request() -> None:
    news = describe_series(0, big(), Envelopes())
    assert news.has_layers
    kinds = [info.is_layer for info in news.series]
    assert kinds == sorted(kinds)
    assert kinds.count(True) == 2 * LAYERS
    drawn = [line.key for chart in charts_of((0, "run", news.series)) for line in chart.lines]
    assert len(drawn) == 2
    assert not any("/" in key for key in drawn if "loss" not in key)


def test_a_recording_alone_shows_its_totals() -> None:
    news = describe_series(0, big(loss=""), Envelopes())
    drawn = [line.key for chart in charts_of((0, "run", news.series)) for line in chart.lines]
    assert drawn == ["0:grad_norm"]
