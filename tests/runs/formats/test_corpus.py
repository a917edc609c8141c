"""Real files of every structured format: each metric, count, first and last value."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.runs.formats.registry import load
from mltd.runs.harvest import Harvest
from tests.runs.formats.corpus import corpus_directory, corpus_entries
from tests.runs.formats.reading import (
    column,
    count_non_finite,
    describe,
    feed_in_pieces,
    feed_whole,
)

FORMAT_NAMES = {
    "lightning_metrics_csv": "csv",
    "ultralytics_results_csv": "csv",
    "sentence_transformers_eval_csv": "csv",
    "catboost_tsv": "csv",
    "tensorboard_events": "tensorboard",
    "wandb_binary": "wandb",
    "mlflow_metric_file": "mlflow",
    "hf_trainer_state": "json",
    "chainer_log_json": "json",
}
STEP_NAMES = {"step", "iteration", "iter", "_step"}


def read_bytes(entry: dict[str, Any]) -> tuple[str, bytes]:
    place = corpus_directory()
    assert place is not None
    path = place / entry["file"]
    return str(path), path.read_bytes()


def read_entry(entry: dict[str, Any]) -> Harvest:
    path, data = read_bytes(entry)
    opened = load([]).open(data[:65536], path)
    assert opened is not None
    form, reader = opened
    assert form.name == FORMAT_NAMES[entry["format"]]
    return feed_whole(reader, data)


@pytest.mark.parametrize("entry", corpus_entries(*FORMAT_NAMES))
def test_every_metric_is_read_exactly(entry: dict[str, Any]) -> None:
    harvest, truth = read_entry(entry), entry["truth"]
    for name in truth["metrics"]:
        found = column(harvest, name).values.tolist()
        assert len(found) == truth["n_points"][name], name
        assert found[0] == float(truth["first"][name]), name
        assert found[-1] == float(truth["last"][name]), name
        assert count_non_finite(found) == truth.get("n_nan_by_metric", {}).get(name, 0), name


@pytest.mark.parametrize("entry", corpus_entries(*FORMAT_NAMES))
def test_coordinates_are_those_of_the_file(entry: dict[str, Any]) -> None:
    harvest, truth = read_entry(entry), entry["truth"]
    for name, known in truth["steps"].items():
        axis = "step" if name in STEP_NAMES else name
        coordinates = harvest.axes[axis][~(harvest.axes[axis] != harvest.axes[axis])]
        assert coordinates.min() == known["min"]
        assert coordinates.max() == known["max"]
        assert coordinates[0] == known["first"]
        assert len(set(coordinates.tolist())) == known["n_distinct"]
    if "total_steps" in truth:
        assert harvest.totals["step"] == truth["total_steps"]


@pytest.mark.parametrize("entry", corpus_entries(*FORMAT_NAMES))
def test_arriving_slowly_changes_nothing(entry: dict[str, Any]) -> None:
    path, data = read_bytes(entry)
    form = load([]).recognise(data[:65536], path)
    assert form is not None
    cuts = range(0, len(data), max(1, len(data) // 60))
    whole = describe([feed_whole(form.open(path), data)])
    assert describe(feed_in_pieces(form.open(path), data, cuts)) == whole


@pytest.mark.parametrize("entry", corpus_entries())
def test_files_of_other_formats_are_not_claimed(entry: dict[str, Any]) -> None:
    path, data = read_bytes(entry)
    claims = {form.name: form.sniff(data[:65536], path) for form in load([]).formats}
    expected = FORMAT_NAMES.get(entry["format"])
    for name in set(FORMAT_NAMES.values()) - {expected}:
        assert claims[name] == 0.0
