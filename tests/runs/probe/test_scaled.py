"""Mixed precision: gradients are recorded unscaled, and skipped steps are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from mltd.runs import probe
from tests.runs.probe.training import backward, by_layer, images, length, net, records, steps


@pytest.mark.parametrize("fused", [False, True])
def test_gradients_are_divided_by_the_scale(tmp_path: Path, fused: bool) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    x, y = images()
    backward(functional.cross_entropy(model(x), y))
    expected = length(p.grad for p in model.parameters() if p.grad is not None)
    optimizer.zero_grad()
    with probe.watch(model, optimizer, path, scaler=scaler):
        backward(scaler.scale(functional.cross_entropy(model(x), y)))
        scaler.step(optimizer)
        scaler.update()
    (record,) = steps(path)
    assert record["total"]["grad_norm"] == pytest.approx(expected, rel=1e-3)
    assert record["loss_scale"] == 1024.0
    assert "skipped" not in record


def test_a_step_that_a_fused_optimizer_skips_is_no_update(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    x, y = images()
    with probe.watch(model, optimizer, path, scaler=scaler):
        backward(scaler.scale(functional.cross_entropy(model(x), y) * torch.inf))
        scaler.step(optimizer)
        scaler.update()
    (record,) = steps(path)
    assert record["skipped"] is True
    assert "update_ratio" not in record
    assert record["nonfinite"]["first"]["kind"] == "gradient"


def test_a_training_whose_every_step_is_skipped_is_not_silent(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with probe.watch(model, optimizer, path, scaler=scaler, every=4):
        for number in range(12):
            x, y = images(number)
            optimizer.zero_grad()
            factor = torch.nan if number >= 2 else 1.0
            backward(scaler.scale(functional.cross_entropy(model(x), y) * factor))
            scaler.step(optimizer)
            scaler.update()
    skipped = [record for record in steps(path) if record.get("skipped")]
    assert skipped
    assert skipped[0]["step"] == 2
    assert skipped[0]["nonfinite"]["first"] == {
        "kind": "gradient", "layer": "head", "everywhere": True
    }  # fmt: skip
    assert skipped[-1]["loss_scale"] < 1024.0
    assert by_layer(path, skipped[-1], "act_mean")  # the layers are looked at as well


def test_long_accumulation_is_not_taken_for_skipped_steps(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    x, y = images()
    with probe.watch(model, optimizer, path, scaler=scaler, every=2):
        for _ in range(20):
            backward(scaler.scale(functional.cross_entropy(model(x), y)))
    assert [record["kind"] for record in records(path)] == ["header", "end"]
