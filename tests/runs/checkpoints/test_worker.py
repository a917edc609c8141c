"""The process that reads: its limits, its progress, its end, and what our own process imports."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mltd.runs.checkpoints import (
    CheckpointCancelled,
    CheckpointLimit,
    CheckpointSummary,
    DamagedCheckpoint,
    Limits,
    UnsafeCheckpoint,
    compare_checkpoints,
    read_checkpoint,
)
from mltd.runs.checkpoints.apart import _ending
from mltd.runs.errors import FormatError, InputError

from .looking import write_safetensors


def small(folder: Path) -> Path:
    weights = {"w": ("F32", [2, 2], np.arange(4, dtype=np.float32).tobytes())}
    return write_safetensors(folder / "m.safetensors", weights)


def test_a_summary_comes_from_another_process_and_survives_json(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = small(tmp_path)
    summary = read_checkpoint(path, needs_values=True, progress=lambda *now: told.append(now))
    assert summary.tensors[0].stats is not None
    assert summary.tensors[0].stats.most == 3
    assert summary.tensors[0].rms == pytest.approx(3.5**0.5)
    assert told[-1] == (16, 16)
    assert CheckpointSummary.from_json(summary.to_json()) == summary
    comparison = compare_checkpoints(path, path)
    assert comparison.unmoved
    assert type(comparison).from_json(comparison.to_json()) == comparison


def test_torch_reads_in_the_worker_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    model = torch.nn.Linear(300, 300)
    path = tmp_path / "m.pt"
    torch.save({"model": model.state_dict(), "step": 4}, path)
    path.chmod(0o400)
    summary = read_checkpoint(path, needs_values=True, limits=Limits(reader="torch"))
    assert summary.position.step == 4
    assert summary.tensors[0].stats is not None
    assert summary.tensors[0].stats.norm == pytest.approx(
        float(model.weight.detach().norm()), rel=1e-5
    )


def test_a_hostile_file_is_refused_across_the_process_border(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "trapped"),)

    path = tmp_path / "m.pt"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps({"x": Trap()}, protocol=2))
    with pytest.raises(UnsafeCheckpoint) as info:
        read_checkpoint(path, needs_values=True)
    assert info.value.names == ("posix.mkdir",)
    assert not (tmp_path / "trapped").exists()


def test_relative_names_and_odd_names_reach_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(tmp_path).rename(tmp_path / os.fsdecode(b"-x \xff.safetensors"))
    monkeypatch.chdir(tmp_path)
    # A module of ours must not be taken from where people happen to be.
    (tmp_path / "orjson.py").write_text("raise SystemExit")
    assert read_checkpoint(os.fsdecode(b"-x \xff.safetensors")).total == 4
    with pytest.raises(InputError, match="No such file"):
        read_checkpoint("missing.pt")


def test_a_hundred_thousand_tensors_are_listed(tmp_path: Path) -> None:
    tensors = {f"layers.{n}.weight": ("F16", [1], b"ab") for n in range(100_000)}
    summary = read_checkpoint(write_safetensors(tmp_path / "m.safetensors", tensors))
    assert summary.total == len(summary.tensors) == 100_000
    assert summary.tensors[-1].name == "layers.99999.weight"


def tall(path: Path) -> Path:
    """A description that takes minutes and gigabytes."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", b"\x80\x02" + b"]" * 20_000_000 + b".")
    return path


def test_memory_is_bounded(tmp_path: Path) -> None:
    path = tall(tmp_path / "m.pt")
    with pytest.raises(CheckpointLimit, match="memory"):
        read_checkpoint(path, limits=Limits(memory_bytes=200 << 20))


def test_time_is_bounded(tmp_path: Path) -> None:
    path = tall(tmp_path / "m.pt")
    with pytest.raises(CheckpointLimit, match="took longer than 0 s"):
        read_checkpoint(path, limits=Limits(seconds=0.4))


def test_a_reader_that_nobody_wants_any_more_ends(tmp_path: Path) -> None:
    asked: list[bool] = []

    def enough() -> bool:
        asked.append(True)
        return len(asked) > 2

    path = tall(tmp_path / "m.pt")
    with pytest.raises(CheckpointCancelled):
        read_checkpoint(path, cancelled=enough)
    assert len(asked) == 3


def test_the_worker_ends_with_whoever_asked(tmp_path: Path) -> None:
    path = tall(tmp_path / "m.pt")
    command = [sys.executable, "-P", "-m", "mltd.runs.checkpoints.worker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    limits = asdict(Limits(memory_bytes=8 << 30, reader="own"))
    job = json.dumps({"paths": [str(path)], "needs_values": False, "limits": limits})
    with process.stdin, process.stdout:
        process.stdin.write(job.encode() + b"\n")
        process.stdin.close()
        assert process.wait(60) == 1
        assert process.stdout.read() == b""


def test_a_file_that_became_shorter_is_told_by_the_signal() -> None:
    with subprocess.Popen([sys.executable, "-c", "import os; os.kill(os.getpid(), 7)"]) as process:
        assert isinstance(_ending(process, "m.pt", Limits()), DamagedCheckpoint)


def test_our_own_process_imports_neither_torch_nor_numpy() -> None:
    code = (
        "import sys, mltd.runs.checkpoints as c; c.read_checkpoint, c.CheckpointSummary;"
        "print(sorted({'torch', 'numpy', 'pandas', 'pydantic'} & set(sys.modules)))"
    )
    command = [sys.executable, "-P", "-c", code]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"[]\n"


def test_without_torch_all_but_exotic_values_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from .looking import look

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8)
    torch.save({"w": torch.ones(2), "q": whole}, tmp_path / "m.pt")
    summary = look(tmp_path / "m.pt", reader="auto")
    found = {tensor.name: tensor for tensor in summary.tensors}
    assert found["w"].stats is not None
    assert found["q"].shape == (4,)
    assert found["q"].stats is None
    assert "pip install 'mltd-tui[torch]'" in summary.notes[0]


@pytest.mark.parametrize("version", ["2.6.0", "2.9.1+cu128", "2.10.0a0+gitb558c98", "1.13", ""])
def test_a_torch_whose_loader_can_corrupt_memory_is_not_used(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from mltd.runs.checkpoints.inside import opening, with_torch

    from .looking import look

    def load(*args: object, **options: object) -> None:
        pytest.fail("torch.load was called")

    monkeypatch.setattr(with_torch, "_version", lambda: version)
    torch.save({"w": torch.ones(2), "s": torch.eye(2).to_sparse()}, tmp_path / "m.pt")
    monkeypatch.setattr(torch, "load", load)
    monkeypatch.setattr(opening, "torch_node", load)
    (note,) = look(tmp_path / "m.pt", reader="auto").notes
    assert f"torch {version or 'of an unknown version'} is too old" in note
    assert "CVE-2026-24747" in note
    assert "pip install -U 'torch>=2.10'" in note
    with pytest.raises(FormatError, match="is too old") as caught:
        look(tmp_path / "m.pt", reader="torch")
    assert caught.value.hint == with_torch.UPGRADE


@pytest.mark.parametrize("version", ["2.10.0", "2.10.1+cpu", "2.11.0a0", "2.13.0", "3.0"])
def test_a_torch_with_the_repair_is_used(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from mltd.runs.checkpoints.inside import with_torch

    monkeypatch.setattr(with_torch, "_version", lambda: version)
    with_torch.check_torch()


def test_a_torch_that_hides_the_installed_one_is_judged_by_its_own_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from .looking import look

    torch.save({"s": torch.eye(2).to_sparse()}, tmp_path / "m.pt")
    monkeypatch.setattr(torch, "__version__", "2.7.1")
    monkeypatch.setattr(torch, "load", lambda *args, **options: pytest.fail("it was called"))
    assert "torch 2.7.1 is too old" in look(tmp_path / "m.pt", reader="auto").notes[0]
