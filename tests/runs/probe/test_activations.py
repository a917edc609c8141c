"""What is seen of the outputs of modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from mltd.runs import probe
from tests.runs.probe.training import backward, by_layer, header, images, mlp, net, steps, train


def record_of(model: nn.Module, path: Path, x: Tensor) -> dict[str, Any]:
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path):
        backward(model(x).square().mean())
        optimizer.step()
    return steps(path)[0]


def test_statistics_are_those_of_the_output(tmp_path: Path) -> None:
    model, path = mlp(4, 8, 3), tmp_path / "p.jsonl"
    x = torch.randn(32, 4)
    output = model[0](x).detach()
    record = record_of(model, path, x)
    found = {kind: by_layer(path, record, f"act_{kind}")["0"] for kind in ("mean", "std")}
    assert found["mean"] == pytest.approx(float(output.mean()), rel=1e-3)
    assert found["std"] == pytest.approx(float(output.std(correction=0)), rel=1e-3)
    spread = float(output.var(dim=0, correction=0).mean().sqrt())
    assert by_layer(path, record, "act_unit_std")["0"] == pytest.approx(spread, rel=1e-3)


class Functional(nn.Module):
    """Activation functions that are no modules."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = nn.Linear(4, 10), nn.Linear(10, 10), nn.Linear(10, 2)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.third(torch.tanh(self.second(functional.relu(self.first(x)))))
        return output


def kill(layer: nn.Linear, units: int) -> None:
    with torch.no_grad():
        layer.weight[:units] = 0.0
        layer.bias[:units] = -1.0


def test_dead_units_are_counted_behind_a_rectifier(tmp_path: Path) -> None:
    model, path = mlp(4, 10, 3), tmp_path / "p.jsonl"
    kill(model[0], 6)  # type: ignore[arg-type]
    record = record_of(model, path, torch.randn(64, 4))
    assert by_layer(path, record, "act_dead") == {"1": pytest.approx(0.6)}
    assert by_layer(path, record, "act_zero")["1"] > 0.6


def test_dead_channels_are_counted_over_all_places(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    with torch.no_grad():
        model.norm.weight[0], model.norm.bias[0] = 0.0, -1.0
    record = record_of(model, path, images()[0])
    assert by_layer(path, record, "act_dead")["relu"] == pytest.approx(0.25)


def test_functions_that_are_no_modules_are_seen_from_behind(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, path = Functional(), tmp_path / "p.jsonl"
    kill(model.first, 7)
    with torch.no_grad():
        model.second.weight *= 500
    record = record_of(model, path, torch.randn(64, 4))
    assert by_layer(path, record, "act_dead") == {"first": pytest.approx(0.7)}
    assert by_layer(path, record, "act_saturated")["second"] > 0.6


@pytest.mark.parametrize("function", [nn.Tanh, nn.Sigmoid])
def test_saturation_is_measured(tmp_path: Path, function: type[nn.Module]) -> None:
    for name, factor in (("calm", 1.0), ("loud", 300.0)):
        model, path = mlp(4, 10, 3, function=function), tmp_path / name
        record = record_of(model, path, factor * torch.randn(64, 4))
        (share,) = by_layer(path, record, "act_saturated").values()
        assert share > 0.8 if name == "loud" else share < 0.05


def test_a_head_that_says_the_same_for_any_input_has_no_spread(tmp_path: Path) -> None:
    model, path = mlp(4, 10, 5), tmp_path / "p.jsonl"
    with torch.no_grad():
        model[2].weight.zero_()  # type: ignore[operator]
    record = record_of(model, path, torch.randn(64, 4))
    assert by_layer(path, record, "act_unit_std")["2"] == 0.0
    assert by_layer(path, record, "act_std")["2"] > 0.0


def test_one_example_says_nothing_about_units(tmp_path: Path) -> None:
    model, path = mlp(4, 10, 5), tmp_path / "p.jsonl"
    record = record_of(model, path, torch.randn(1, 4))
    assert "act_mean" in record
    assert "act_dead" not in record
    assert "act_unit_std" not in record


def test_a_validation_before_the_step_is_not_what_is_recorded(tmp_path: Path) -> None:
    model, path = mlp(4, 10, 5), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    means = []
    for validates in (False, True):
        path = tmp_path / str(validates)
        with probe.watch(model, optimizer, path):
            if validates:
                model.eval()
                with torch.no_grad():
                    model(torch.full((8, 4), 100.0))
                model.train()
            backward(model(torch.ones(8, 4)).sum())
            optimizer.step()
        means.append(by_layer(path, steps(path)[0], "act_mean"))
    assert means[0] == means[1]


def test_a_model_that_is_entered_by_its_parts_is_seen(tmp_path: Path) -> None:
    class Parts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.ModuleDict({"inner": mlp(4, 8, 4)})
            self.head = nn.Linear(4, 2)

    model, path = Parts(), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with probe.watch(model, optimizer, path, every=1):
        for _ in range(3):
            backward(model.head(model.body["inner"](torch.ones(8, 4))).sum())
            optimizer.step()
    assert header(path)["modules"] == ["body.inner.0", "body.inner.1", "body.inner.2", "head"]
    assert len(by_layer(path, steps(path)[-1], "act_mean")) == 4


def test_a_forward_pass_that_raises_leaves_no_hook_behind(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with probe.watch(model, optimizer, path):
        with pytest.raises(RuntimeError, match="shapes"):
            model(torch.ones(2, 1, 9, 9))
        train(model, optimizer, 3)
        assert all(len(module._forward_hooks) == 0 for module in model.children())
    assert len(model._forward_hooks) == len(model._forward_pre_hooks) == 0


def test_checkpointed_blocks_are_recorded_once(tmp_path: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = mlp(4, 8, 4), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            output: Tensor = self.head(checkpoint(self.body, x, use_reentrant=False))
            return output

    model, path = Checkpointed(), tmp_path / "p.jsonl"
    record = record_of(model, path, torch.randn(8, 4))
    assert list(by_layer(path, record, "act_mean")) == ["body.0", "body.1", "body.2", "head"]
