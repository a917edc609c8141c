"""A model that is really trained beside its log is one run, with layers in the heat map."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from mltd.analyzers.diagnosis import Diagnostician
from mltd.runs import probe
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.runs.run import Run
from mltd.tui.engine.curve_protocol import HeatRequest
from mltd.tui.engine.heat import has_layers, make_heat
from tests.runs.probe.training import backward, mlp


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight sigmoid layers: hardly any gradient reaches the first."""
    where = tmp_path_factory.mktemp("run")
    model = mlp(8, 8, 8, 8, 8, 8, 8, 8, 4, function=nn.Sigmoid)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with (
        probe.watch(model, optimizer, where / "mltd-probe.jsonl", every=2),
        (where / "slurm-4711.out").open("w") as log,
    ):
        for step in range(1, 81):
            x = torch.randn(32, 8)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), torch.randint(4, (32,)))
            backward(loss)
            optimizer.step()
            log.write(f"step {step} loss {loss.item():.4f}\n")
    return where


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    (files,) = discover(str(folder))
    loaded = load(files)
    assert loaded.problems == []
    return loaded.run


def test_the_log_and_the_recording_are_one_run(run: Run) -> None:
    assert sorted(source.format for source in run.files) == ["probe", "text"]
    names = {series.name for series in run.series}
    layers = [str(2 * n) for n in range(8)]
    for kind in ("grad_norm", "weight_norm", "update_ratio", "act_mean", "act_std"):
        assert {f"{kind}/{layer}" for layer in layers} <= names
    assert "act_saturated/1" in names
    assert {series.role for series in run.series if series.name == "grad_norm"} == {"grad_norm"}
    (first,) = [series for series in run.series if series.name == "grad_norm/0"]
    assert list(first.axis("step"))[:3] == [1, 2, 4]


def test_the_heat_map_has_the_layers_in_order(run: Run) -> None:
    assert has_layers(run)
    heat = make_heat(HeatRequest(1, 0, 10), run)
    assert heat.layers == tuple(f"layer {2 * n}" for n in range(8))
    means = [sum(cells) / len(cells) for cells in heat.cells]
    assert means[0] < 1e-3 * means[-1]


def test_analyzers_that_know_layers_find_the_fault(run: Run) -> None:
    run.is_over = True
    found = {finding.id: finding for finding in Diagnostician(run).diagnose().findings}
    assert found["vanishing_gradients"].title.startswith("grad_norm/0 is ")


def test_each_log_of_a_folder_takes_the_recording_that_bears_its_name(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.log").write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
        recording = (folder / "mltd-probe.jsonl").read_bytes()
        (tmp_path / f"{name}.probe.jsonl").write_bytes(recording)
    runs = discover(str(tmp_path))
    assert [sorted(Path(f.path).name for f in files.files) for files in runs] == [
        ["one.log", "one.probe.jsonl"], ["two.log", "two.probe.jsonl"],
    ]  # fmt: skip
