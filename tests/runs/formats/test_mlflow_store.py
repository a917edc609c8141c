"""MLflow file stores: metric files and the run's parameters and tags."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mltd.runs.event import EventKind
from mltd.runs.formats.mlflow_store import (
    MlflowMetricFormat,
    MlflowMetricReader,
    MlflowRunFormat,
    metric_name,
)
from tests.runs.formats.reading import axis, feed_whole, values
from tests.runs.formats.samples import META, METRIC


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/mlruns/0/ab/metrics/train loss", "train loss"),
        ("/mlruns/0/ab/metrics/val/acc", "val/acc"),
        ("/data/metrics/mlruns/0/ab/metrics/loss", "loss"),
        ("loss", "loss"),
    ],
)
def test_the_file_is_named_after_the_metric(path: str, name: str) -> None:
    assert metric_name(path) == name


def test_lines_of_time_value_step() -> None:
    harvest = feed_whole(MlflowMetricReader("/m/metrics/loss"), METRIC)
    assert values(harvest, "loss")[0] == 2.8
    assert math.isnan(values(harvest, "loss")[1])
    assert axis(harvest, "step") == [0, 1, 2]
    assert axis(harvest, "time")[0] == 1643816703.036


def test_lines_that_are_something_else_keep_the_count() -> None:
    data = b"1643816703036 2.8 0\noops\n\n1643816703037 2.7 -1\n1643816703038 2.6\n"
    harvest = feed_whole(MlflowMetricReader("loss"), data)
    assert harvest.line.tolist() == [1, 4, 5]
    assert [math.isnan(step) for step in axis(harvest, "step")] == [False, True, True]


def test_sniffing() -> None:
    form = MlflowMetricFormat()
    assert form.sniff(METRIC, "/mlruns/0/a/metrics/loss") > form.sniff(METRIC, "x") >= 0.5
    assert form.sniff(b"1 2 3\n", "/metrics/loss") == 0.0
    assert form.sniff(b"", "/metrics/loss") == 0.0


def test_the_run_brings_its_parameters_and_tags(tmp_path: Path) -> None:
    for name, text in {
        "params/lr": "0.1",
        "params/model/depth": "12",
        "tags/mlflow.runName": "fine-tune",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    meta = tmp_path / "meta.yaml"
    form = MlflowRunFormat()
    assert form.sniff(META, str(meta)) >= 0.9
    assert form.sniff(b"run_id: 5\nlr: 3\n", "meta.yaml") == 0.0
    harvest = feed_whole(form.open(str(meta)), META)
    assert harvest.config["lr"] == "0.1"
    assert harvest.config["model/depth"] == "12"
    assert harvest.config["tags/mlflow.runName"] == "fine-tune"
    assert harvest.config["mlflow/run_name"] == "fine-tune"
    assert [(e.kind, e.line) for e in harvest.events] == [(EventKind.SCHEDULER, 7)]
