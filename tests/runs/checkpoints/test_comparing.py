"""Two checkpoints: what moved, what did not, and why one cannot be loaded into the other."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from mltd.runs.checkpoints import Comparison

from .looking import compare

torch = pytest.importorskip("torch")


def both(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> Comparison:
    torch.save(first, folder / "a.pt")
    torch.save(second, folder / "b.pt")
    return compare(folder / "a.pt", folder / "b.pt")


def test_relative_updates_are_those_of_the_formula(tmp_path: Path) -> None:
    torch.manual_seed(3)
    first = {"moved": torch.randn(300, 1000), "still": torch.randn(4), "born": torch.zeros(3)}
    second = {"moved": first["moved"] + 0.01, "still": first["still"], "born": torch.ones(3)}
    found = both(tmp_path, {"model": first, "step": 5}, {"model": second, "step": 9})
    changes = {change.name: change for change in found.changes}
    wanted = (second["moved"] - first["moved"]).double().norm() / first["moved"].double().norm()
    assert changes["moved"].relative == pytest.approx(float(wanted), rel=1e-6)
    assert changes["born"].relative is None
    assert changes["born"].update == pytest.approx(math.sqrt(3))
    assert [change.name for change in found.unmoved] == ["still"]
    assert (found.position.step, found.other_position.step) == (5, 9)
    assert found.is_loadable


def test_new_nan_are_counted_and_left_out_of_distances(tmp_path: Path) -> None:
    after = torch.tensor([1.0, math.nan, 5.0, math.inf])
    found = both(tmp_path, {"w": torch.tensor([1.0, 2.0, 4.0, math.inf])}, {"w": after})
    (change,) = found.changes
    assert (change.new_bad, change.update, change.largest) == (1, 1.0, 1.0)
    assert not change.is_equal
    assert both(tmp_path, {"w": after}, {"w": after}).changes[0].is_equal


def test_other_element_types_are_compared_by_value(tmp_path: Path) -> None:
    weight = torch.tensor([1.0, 2.0, 0.5])
    (change,) = both(tmp_path, {"w": weight}, {"w": weight.bfloat16()}).changes
    assert change.is_equal
    assert change.dtypes == ("float32", "bfloat16")


@pytest.mark.parametrize(
    ("prefix", "said"),
    [("module.", "DistributedDataParallel"), ("_orig_mod.", "torch.compile"), ("model.", "model.")],
)
def test_a_wrapper_is_explained_and_looked_through(tmp_path: Path, prefix: str, said: str) -> None:
    state = torch.nn.Linear(2, 3).state_dict()
    found = both(tmp_path, state, {f"{prefix}{name}": value for name, value in state.items()})
    assert (found.prefix, found.other_prefix) == ("", prefix)
    assert said in found.notes[0]
    assert next((c.name, c.other_name) for c in found.changes) == ("weight", f"{prefix}weight")
    assert found.only_first == found.only_second == ()
    assert not found.is_loadable


def test_strange_keys_and_shapes_get_their_closest_names(tmp_path: Path) -> None:
    first = {"fc.weight": torch.ones(3, 2), "head.weight": torch.ones(5, 2), "same": torch.ones(1)}
    second = {
        "fc1.weight": torch.ones(3, 2),
        "head.weight": torch.ones(7, 2),
        "same": torch.ones(1),
    }
    found = both(tmp_path, first, second)
    assert found.only_first == ("fc.weight",)
    assert found.only_second == ("fc1.weight",)
    (mismatch,) = found.mismatches
    assert (mismatch.name, mismatch.shape, mismatch.other_shape) == ("head.weight", (5, 2), (7, 2))
    closest = found.closest[0]
    assert (closest.name, closest.closest, closest.is_same_shape) == (
        "fc.weight",
        "fc1.weight",
        True,
    )
