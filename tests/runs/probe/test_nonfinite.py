"""Where the first NaN came from, and when it is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mltd.runs import probe
from tests.runs.probe.training import backward, images, mlp, net, steps


class Root(nn.Module):
    """A square root between two layers: infinite slope at 0, NaN below it."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.three = nn.Linear(2, 4), nn.Linear(4, 4), nn.Linear(4, 3)
        self.factor, self.shift = 1.0, 0.0
        self.is_rooted = False

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.two(self.one(x))
        if self.is_rooted:
            hidden = torch.sqrt(hidden * self.factor + self.shift)
        output: Tensor = self.three(hidden)
        return output


def run(model: nn.Module, path: Path, faults: dict[int, Any], count: int = 8) -> list[Any]:
    """Train with something done to the model before some steps; the bad records."""
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    with probe.watch(model, optimizer, path, every=4):
        for step in range(1, count + 1):
            x = torch.randn(8, 2)
            x = faults[step](x) if step in faults else x
            optimizer.zero_grad()
            backward(functional.cross_entropy(model(x), torch.zeros(8).long()))
            optimizer.step()
    return [record for record in steps(path) if "nonfinite" in record]


def test_a_gradient_that_clipping_spread_is_followed_to_its_place(tmp_path: Path) -> None:
    model, path = Root(), tmp_path / "p"
    model.factor = 0.0
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    with probe.watch(model, optimizer, path, every=1):
        for step in (1, 2):
            model.is_rooted = step == 2
            optimizer.zero_grad()
            backward(functional.cross_entropy(model(torch.ones(8, 2)), torch.zeros(8).long()))
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    (bad,) = [record for record in steps(path) if "nonfinite" in record]
    assert bad["nonfinite"]["gradients"]["count"] == 3
    assert bad["nonfinite"]["first"] == {"kind": "gradient", "layer": "three", "behind": "two"}


def test_a_nan_is_recorded_at_its_step_whatever_the_schedule(tmp_path: Path) -> None:
    bad = run(mlp(2, 4, 3), tmp_path / "p", {6: lambda x: x * torch.nan}, 12)
    assert bad[0]["step"] == 6
    # Three more in a row, then the schedule again.
    assert [record["step"] for record in bad] == [6, 7, 8, 9, 12]


def test_bad_data_are_told_from_a_bad_layer(tmp_path: Path) -> None:
    (first, *_) = run(mlp(2, 4, 3), tmp_path / "p", {4: lambda x: x * torch.nan})
    assert first["nonfinite"]["first"] == {"kind": "input", "layer": "0"}


def test_the_first_layer_whose_output_is_nan_is_named(tmp_path: Path) -> None:
    model = Root()

    def fault(x: Tensor) -> Tensor:
        model.is_rooted, model.shift = True, -1e9
        return x

    (first, *_) = run(model, tmp_path / "p", {4: fault}, 4)
    origin = first["nonfinite"]["first"]
    assert (origin["kind"], origin["layer"]) == ("activation", "three")
    assert origin["nan"] == 24
    assert first["nonfinite"]["weights"]["after_step"] is True


def test_a_nan_of_the_backward_pass_is_placed_before_finite_gradients(tmp_path: Path) -> None:
    model = Root()

    def fault(x: Tensor) -> Tensor:
        model.is_rooted, model.factor = True, 0.0  # the root's slope is infinite at 0
        return x

    (first, *_) = run(model, tmp_path / "p", {4: fault}, 4)
    assert first["nonfinite"]["first"] == {
        "kind": "gradient", "layer": "two", "everywhere": False
    }  # fmt: skip
    assert first["nonfinite"]["gradients"]["layers"] == ["one", "two"]


def test_bad_weights_are_named_before_the_outputs_that_they_spoil(tmp_path: Path) -> None:
    model = mlp(2, 4, 4, 3)

    def fault(x: Tensor) -> Tensor:
        with torch.no_grad():
            next(model[2].parameters())[0, 0] = torch.inf
        return x

    (first, *_) = run(model, tmp_path / "p", {4: fault}, 4)
    assert first["nonfinite"]["first"] == {"kind": "weight", "layer": "2"}
    assert first["nonfinite"]["weights"]["layers"] == ["2"]


def test_running_statistics_tell_where_it_was_on_a_step_that_nobody_watched(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    with probe.watch(model, optimizer, tmp_path / "p"):
        for number in range(5):
            x, y = images(number)
            if number == 3:
                x[0] = torch.nan
            optimizer.zero_grad()
            backward(functional.cross_entropy(model(x), y))
            optimizer.step()
    bad = [record for record in steps(tmp_path / "p") if "nonfinite" in record]
    assert bad[0]["step"] == 4
    assert bad[0]["nonfinite"]["first"] == {"kind": "buffer", "layer": "norm"}


def test_a_mask_of_minus_infinity_is_no_trouble(tmp_path: Path) -> None:
    class Masking(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.masked_fill(torch.tensor([False, False, True]), -torch.inf)

    model = nn.Sequential(nn.Linear(2, 3), Masking())
    assert run(model, tmp_path / "p", {}) == []
    assert len(steps(tmp_path / "p")) == 3
