"""Statistics of values: the same numbers that torch would give."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mltd.runs.checkpoints import TensorStats
from mltd.runs.checkpoints.inside.dtypes import Array, decoded
from mltd.runs.checkpoints.inside.leaf import Leaf
from mltd.runs.checkpoints.inside.statistics import BLOCK, statistics

from .looking import look, write_safetensors

torch = pytest.importorskip("torch")


class Memory:
    def __init__(self, values: Array) -> None:
        self.flat = values.reshape(-1)

    def blocks(self, count: int) -> object:
        return (self.flat[i : i + count] for i in range(0, len(self.flat), count))


def stats_of(values: Array, dtype: str = "float32") -> TensorStats:
    leaf = Leaf(values.shape, dtype, values.nbytes, source=Memory(values))  # type: ignore[arg-type]
    found = statistics(leaf, lambda size: None, has_rows=True)
    assert found is not None
    return found


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(max_dims=3, max_side=6),
        elements=st.floats(width=32) | st.just(0.0),
    )
)
def test_statistics_agree_with_the_plain_formulas(values: Array) -> None:
    found = stats_of(values)
    wide = values.astype(np.float64)
    good = wide[np.isfinite(wide)]
    assert found.nans == np.isnan(wide).sum()
    assert found.infs == np.isinf(wide).sum()
    assert found.zeros == (wide == 0).sum()
    if good.size:
        assert found.least == good.min()
        assert found.most == good.max()
        assert found.norm is not None
        assert math.isclose(found.norm, math.sqrt((good**2).sum()), rel_tol=1e-9, abs_tol=1e-300)
        assert found.is_constant == (good.size == wide.size and good.min() == good.max())
    else:
        assert found.mean is None
    if values.ndim > 1:
        rows = values.reshape(values.shape[0], -1)
        dead = [i for i, row in enumerate(rows) if not row.any()]
        assert found.dead_rows == len(dead)
        assert list(found.first_dead) == dead[:8]
    else:
        assert found.dead_rows is None


@pytest.mark.parametrize("width", [1, 7, BLOCK // 2 + 1, BLOCK, 2 * BLOCK + 5])
def test_dead_rows_are_found_across_blocks(width: int) -> None:
    rows = max(4, 3 * BLOCK // width) if width < BLOCK else 4
    values = np.ones((rows, width), np.float32)
    values[[0, rows - 1]] = 0
    values[1, : width // 2] = 0
    found = stats_of(values)
    assert found.dead_rows == 2
    assert found.first_dead == (0, rows - 1)


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)
def test_every_number_of_a_small_type_is_read_as_torch_reads_it(name: str) -> None:
    size = 65536 if name == "bfloat16" else 256
    raw = np.arange(size, dtype="u2" if name == "bfloat16" else "u1")
    wanted = torch.from_numpy(raw.copy()).view(getattr(torch, name)).float().numpy()
    np.testing.assert_array_equal(decoded(raw, name), wanted)


def test_safetensors_of_all_types_are_read_without_torch(tmp_path: Path) -> None:
    values = torch.tensor([[1.0, -2.0], [0.5, 0.0]])
    kinds = {
        "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
        "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    }  # fmt: skip
    tensors = {
        code: (code, [2, 2], values.to(kind).view(torch.uint8).numpy().tobytes())
        for code, kind in kinds.items()
    }
    tensors["I64"] = ("I64", [2], np.array([3, -4]).tobytes())
    tensors["BOOL"] = ("BOOL", [2], b"\x01\x00")
    tensors["none"] = ("F32", [0, 3], b"")
    tensors["strange"] = ("F4", [4], b"ab")
    summary = look(write_safetensors(tmp_path / "m.safetensors", tensors, {"format": "pt"}))
    found = {tensor.name: tensor for tensor in summary.tensors}
    for code, kind in kinds.items():
        stats = found[code].stats
        assert stats is not None
        assert (stats.least, stats.most, stats.zeros) == (-2.0, 1.0, 1)
        assert found[code].dtype == str(kind).removeprefix("torch.")
    assert found["I64"].role == "buffer"
    assert found["none"].elements == 0
    assert found["strange"].stats is None
    assert summary.framework == "huggingface"
    assert ("__metadata__.format", "pt") in summary.extras


def test_nan_infinity_zero_and_constant_tensors_are_named(tmp_path: Path) -> None:
    broken = torch.ones(3, 3)
    broken[1, 1] = math.nan
    broken[2, 2] = math.inf
    saved = {
        "bad": broken,
        "zero": torch.zeros(4, 4),
        "same": torch.full((5,), 0.1),
        "ok": torch.rand(3),
    }
    torch.save(saved, tmp_path / "m.pt")
    summary = look(tmp_path / "m.pt")
    found = {tensor.name: tensor.stats for tensor in summary.tensors}
    assert [tensor.name for tensor in summary.bad] == ["bad"]
    bad, zero, same, fine = (found[name] for name in saved)
    assert bad is not None
    assert zero is not None
    assert same is not None
    assert fine is not None
    assert (bad.nans, bad.infs, bad.most, bad.norm) == (1, 1, 1.0, math.sqrt(7))
    assert (zero.zeros, zero.dead_rows, zero.is_constant) == (16, 4, True)
    assert same.is_constant
    assert same.std == 0
    assert not fine.is_constant


def test_npz_archives_are_read_and_their_objects_stay_closed(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    np.savez_compressed(path, w=np.eye(3, dtype=np.float32), o=np.array([{}], dtype=object))
    summary = look(path)
    assert summary.layout == "numpy"
    (tensor,) = summary.tensors
    assert tensor.stats is not None
    assert (tensor.name, tensor.stats.zeros) == ("w", 6)


def test_a_complex_number_is_zero_or_nan_as_a_whole(tmp_path: Path) -> None:
    values = np.array([[1, 2j], [0, complex(np.nan, np.inf)], [0, 0]], np.complex64)
    path = write_safetensors(tmp_path / "m", {"w": ("C64", [3, 2], values.tobytes())})
    stats = look(path).tensors[0].stats
    assert stats is not None
    assert (stats.zeros, stats.nans, stats.infs) == (3, 1, 0)
    assert (stats.dead_rows, stats.first_dead) == (1, (2,))
    assert (stats.least, stats.most) == (0, 2)
