"""Optimizers in all their ways: several of them, in any order, and steps inside of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from mltd.runs import probe
from tests.runs.probe.training import (
    backward,
    by_layer,
    header,
    length,
    mlp,
    net,
    records,
    steps,
    train,
)


@pytest.mark.parametrize("order", ["01", "10"])
def test_a_record_has_the_gradients_of_one_step_of_each_optimizer(
    tmp_path: Path, order: str
) -> None:
    model, path = mlp(4, 8, 3), tmp_path / "p"
    layers = [model[0], model[2]]
    optimizers = [torch.optim.SGD(layer.parameters(), 0.1) for layer in layers]
    by_hand: list[dict[str, float]] = []
    with probe.watch(model, optimizers, path, every=3):
        for number in range(7):
            norms = {}
            for which in map(int, order):
                x = torch.randn(8, 4, generator=torch.Generator().manual_seed(number))
                model.zero_grad()
                backward(functional.cross_entropy(model(x), torch.zeros(8).long()))
                gradients = (p.grad for p in layers[which].parameters())
                norms["02"[which]] = length(g for g in gradients if g is not None)
                optimizers[which].step()
            by_hand.append(norms)
    assert "unoptimized" not in header(path)
    assert [record["step"] for record in steps(path)] == [1, 3, 6]
    for record in steps(path):
        expected = by_hand[record["step"] - 1]
        assert by_layer(path, record, "grad_norm") == pytest.approx(expected, rel=1e-5)
        assert set(by_layer(path, record, "update_ratio")) == {"0", "2"}


def test_an_optimizer_that_seldom_steps_holds_no_record_up(tmp_path: Path) -> None:
    model, path = mlp(4, 8, 3), tmp_path / "p"
    often = torch.optim.SGD(model[0].parameters(), 0.1)
    seldom = torch.optim.SGD(model[2].parameters(), 0.1)
    with probe.watch(model, [often, seldom], path, every=1):
        for number in range(6):
            backward(functional.cross_entropy(model(torch.ones(8, 4)), torch.zeros(8).long()))
            often.step()
            assert len(steps(path)) == number  # the one before is written at the latest now
            if number == 3:
                seldom.step()
                assert len(steps(path)) == number + 1
    assert [record["step"] for record in steps(path)] == [1, 2, 3, 4, 5, 6]
    assert ["2" in by_layer(path, r, "update_ratio") for r in steps(path)] == [
        n == 4 for n in range(1, 7)
    ]


class Careful(torch.optim.SGD):
    """Leaves out every second step, and makes the others through its base class."""

    calls = 0

    def step(self, closure: Any = None) -> Any:
        self.calls += 1
        if self.calls == 5:
            raise KeyError("mine")
        return super().step(closure) if self.calls % 2 == 0 else None


def test_a_step_inside_of_a_step_is_not_counted(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    torch.optim.SGD(model.parameters(), 0.1)  # from now on torch calls hooks for its step, too
    optimizer = Careful(model.parameters(), 0.1)
    with probe.watch(model, optimizer, path, every=1):
        train(model, optimizer, 4)
        with pytest.raises(KeyError, match="mine"):
            train(model, optimizer, 1)
        train(model, optimizer, 2)
    assert [record["step"] for record in steps(path)] == [1, 2, 3, 4, 5, 6]
    moved = [record["total"]["update_ratio"] > 0 for record in steps(path)]
    assert moved == [False, True, False, True, True, False]


def test_per_sample_gradients_are_no_outputs_to_look_at(tmp_path: Path) -> None:
    model, path = mlp(4, 8, 3), tmp_path / "p"
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    parameters = dict(model.named_parameters())

    def loss(some: dict[str, Any], x: Any) -> Any:
        return torch.func.functional_call(model, some, (x,)).sum()

    with probe.watch(model, optimizer, path) as handle:
        each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))
        for name, gradient in each(parameters, torch.ones(6, 4)).items():
            parameters[name].grad = gradient.sum(0)
        optimizer.step()
        assert handle.is_active
    assert len(steps(path)) == 1


@pytest.mark.parametrize(
    "wrong", [{"path": None}, {"every": "ten"}, {"max_bytes": "big"}, {"layers": 3}, {"step": "x"}]
)
def test_options_that_make_no_sense_end_no_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, Any]
) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    handle = probe.watch(model, optimizer, **{"path": tmp_path / "p", **wrong})
    backward(model(torch.ones(1, 2)).sum())
    optimizer.step()
    assert not handle.is_active
    assert capsys.readouterr().err.count("mltd probe: stopped recording") == 1


def test_a_large_model_has_a_small_file(tmp_path: Path) -> None:
    model, path = nn.Sequential(*(nn.Linear(1, 1) for _ in range(600))), tmp_path / "p"
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with probe.watch(model, optimizer, path, every=1, max_bytes=80_000):
        for _ in range(7):
            backward(model(torch.ones(8, 1)).sum())
            optimizer.step()
    assert path.stat().st_size <= 80_000
    assert len(header(path)["layers"]) == 600
    assert len(header(path)["modules"]) <= 512
    assert any(record["kind"] == "note" for record in records(path))
