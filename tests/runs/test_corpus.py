"""Every real log of the corpus against its truth: names, counts, values, NaN, coordinates.

The truth names metrics as a person would; `NAMES` says what they are called here where that
differs. Names in tables have the section of the table in front of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from mltd.runs.series import Series
from tests.runs.formats.corpus import corpus_directory, corpus_entries

NAMES: dict[str, dict[str, str | list[str]]] = {
    "fairseq/mlperf-transformer-pipe.txt": {
        f"{name} (inner)": name
        for name in ("loss", "nll_loss", "ppl", "wps", "ups", "lr", "gnorm", "loss_scale", "wall")
    },
    "megatron/slurm-cancelled-n8.out": {
        "validation lm loss value": "lm loss value",
        "validation lm loss PPL": "lm loss PPL",
    },
    "deepspeed/megatron-deepspeed-zero-spike.out": {"max allocated (MB)": "max allocated"},
    "caffe/regression-glog.log": {"Iteration loss": "loss"},
    "stylegan/log.txt": {"fid50k_full": "results/fid50k_full"},
    # The log was cut inside a table, so one row stands without the heading of its section.
    "rl/sb3-ppo-table.log": {"time_elapsed": ["time/time_elapsed", "time_elapsed"]},
    # The metric was renamed between restarts; the truth counts both names as one.
    "mxnet/gluon-octconv-imagenet.log": {
        "Speed (samples/sec)": "Speed",
        "training (epoch)": ["training rmse", "training accuracy"],
    },
    "flair/ace2005-slurm.out": {
        "loss (iter)": "loss",
        "final MICRO_AVG f1-score": "MICRO_AVG f1-score",
        "final MICRO_AVG acc": "MICRO_AVG acc",
    },
    "plain/ner-xlm-logger-restarts.log": {
        "loss (epoch)": "loss",
        "Dev F1": "Evaluate on Dev Set F1",
        "Test F1": "Evaluate on Test Set F1",
    },
    "yolo/darknet-yolov3.log": {"Region Obj": "Obj"},
    "ddp/4ranks-interleaved.out": {
        "Rank 0 | Epoch Loss": "Epoch Loss",
        **{f"Rank {rank} | Epoch Loss": f"Epoch Loss [rank {rank}]" for rank in (1, 2, 3)},
    },
    "torchtitan/ok-ansi.log": {"memory (GiB)": "memory"},
    "torchtitan/illegal-access-childfailed.log": {"memory (GiB)": "memory"},
    "rl/mahjong-ppo-emoji-zh.log": {
        **{f"{n} (Iter)": n for n in ("Policy Loss", "Value Loss", "Entropy", "Avg Reward")},
        "Policy Loss (Epoch Metrics)": "[Epoch Metrics] Policy Loss",
    },
    # One heading says that they are of an evaluation, the other that they are of a checkpoint.
    "paddle/paddleocr-workerlog-gbk.0": {
        name: [name, f"val/{name}"] for name in ("acc", "norm_edit_dis", "fps")
    },
    "keras/lstm-verbose2-truncated.txt": {"seconds per epoch": "elapsed"},
}
OTHER_AXES = {
    # Counters that are no x-axis of any series here.
    ("openmmlab/mmdet2-nohup.out", "iter in epoch"): "a global step is derived from it",
    ("mxnet/gluon-octconv-imagenet.log", "Batch"): "a global step is derived from it",
    ("rl/sb3-ppo-table.log", "iterations"): "total_timesteps is the better axis",
    ("slurm/tqdm-only-cancelled.out", "it"): "a bar without metrics",
    ("hf/sft-disk-quota.err", "tqdm n of 500"): "a bar without metrics",
    ("hf/llamafactory-sft-stalled.log", "tqdm"): "a bar without metrics",
}


def read_entry(entry: dict[str, Any]) -> Run:
    place = corpus_directory()
    assert place is not None
    run = Run(entry["file"])
    read_file(run, str(place / entry["file"]))
    return run


def find(run: Run, file: str, metric: str) -> list[Series]:
    wanted = NAMES.get(file, {}).get(metric, metric)
    names = wanted if isinstance(wanted, list) else [wanted]
    by_name = {series.name: series for series in run.series}
    if len(names) == 1 and names[0] not in by_name:
        names = [name for name in by_name if name.endswith(f"/{names[0]}")]
    assert names, f"{metric} not found among {sorted(by_name)}"
    return [by_name[name] for name in names]


def joined(found: list[Series]) -> np.ndarray[Any, np.dtype[np.float64]]:
    lines = np.concatenate([series.lines for series in found])
    values = np.concatenate([series.values for series in found])
    return values[np.argsort(lines, kind="stable")]


def is_same(value: float, truth: float | str) -> bool:
    expected = float(truth)
    return value == expected or (math.isnan(value) and math.isnan(expected))


@pytest.mark.parametrize("entry", corpus_entries())
def test_every_metric_has_its_points(entry: dict[str, Any]) -> None:
    run, truth = read_entry(entry), entry["truth"]
    for metric in truth["metrics"]:
        values = joined(find(run, entry["file"], metric))
        assert len(values) == truth["n_points"][metric], metric
        assert is_same(values[0], truth["first"][metric]), metric
        assert is_same(values[-1], truth["last"][metric]), metric
        non_finite = int((~np.isfinite(values)).sum())
        assert non_finite == truth.get("n_nan_by_metric", {}).get(metric, 0), metric


@pytest.mark.parametrize("entry", corpus_entries())
def test_coordinates_span_what_the_truth_says(entry: dict[str, Any]) -> None:
    run = read_entry(entry)
    for name, truth in entry["truth"]["steps"].items():
        if (entry["file"], name) in OTHER_AXES:
            continue
        spans = set()
        for series in run.series:
            for axis in ("step", "epoch", "samples"):
                x = series.axis(axis)
                x = x[np.isfinite(x)]
                if len(x):
                    spans.add((x.min(), x.max()))
        assert (truth["min"], truth["max"]) in spans, (name, sorted(spans))


@pytest.mark.parametrize("entry", corpus_entries())
def test_a_log_without_metrics_shows_next_to_none(entry: dict[str, Any]) -> None:
    run, truth = read_entry(entry), entry["truth"]
    if not truth["metrics"]:
        # A W&B summary at the end or a data statistic may be shown; a dump must not.
        assert len(run.series) <= 3, [series.name for series in run.series]


@pytest.mark.parametrize("entry", corpus_entries())
def test_every_line_is_counted(entry: dict[str, Any]) -> None:
    if entry["format"] in ("tensorboard_events", "wandb_binary"):
        pytest.skip("records, not lines")
    place = corpus_directory()
    assert place is not None
    data = (place / entry["file"]).read_bytes()
    if data.startswith(b"\xff\xfe"):
        data = data.decode("utf-16").encode()
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    assert read_entry(entry).files[0].lines == lines
