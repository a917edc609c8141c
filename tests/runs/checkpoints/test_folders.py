"""Checkpoints that are folders: Hugging Face, shards with an index, DeepSpeed, FSDP."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mltd.runs.checkpoints import CheckpointElsewhere, UnsafeCheckpoint
from mltd.runs.errors import FormatError, InputError

from .looking import look, write_safetensors

torch = pytest.importorskip("torch")
ONES = ("F32", [2, 2], np.ones(4, np.float32).tobytes())


def sharded(folder: Path, *present: int) -> Path:
    table = {}
    for number in (1, 2, 3):
        name = f"model-0000{number}-of-00003.safetensors"
        table[f"layer.{number}.weight"] = name
        if number in present:
            write_safetensors(folder / name, {f"layer.{number}.weight": ONES})
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 48}, "weight_map": table}))
    return index


def test_shards_are_read_as_one_model(tmp_path: Path) -> None:
    index = sharded(tmp_path, 1, 2, 3)
    for path in (tmp_path, index):
        summary = look(path)
        assert summary.layout == "sharded"
        assert [t.name for t in summary.tensors] == [f"layer.{n}.weight" for n in (1, 2, 3)]
        assert summary.notes == ()
        assert len(summary.files) == 4


def test_missing_shards_are_told(tmp_path: Path) -> None:
    summary = look(sharded(tmp_path, 1, 3))
    assert len(summary.tensors) == 2
    assert "1 of 3 shards" in summary.notes[0]
    assert "model-00002-of-00003.safetensors (1 tensors)" in summary.notes[0]
    (tmp_path / "empty").mkdir()
    index = sharded(tmp_path / "empty")
    with pytest.raises(InputError, match="none of the shards"):
        look(index)


def test_an_index_leads_nowhere_but_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_safetensors(tmp_path / "out.safetensors", {"a": ONES})
    write_safetensors(tmp_path / "in" / "b.safetensors", {"b": ONES})
    index = tmp_path / "in" / "m.index.json"
    table = {"a": "../out.safetensors", "b": "b.safetensors", "c": "b.safetensors"}
    index.write_text(json.dumps({"weight_map": table}))
    summary = look(index)
    assert [tensor.name for tensor in summary.tensors] == ["b"]
    assert "not beside it" in summary.notes[0]
    assert "lacks 1 tensors" in summary.notes[1]
    index.write_text("{")
    with pytest.raises(FormatError, match="no table of shards"):
        look(index)


def test_a_hugging_face_folder_is_one_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-500"
    folder.mkdir()
    model = torch.nn.Linear(2, 2, bias=False)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    write_safetensors(folder / "model.safetensors", {"weight": ONES}, {"format": "pt"})
    torch.save(optimizer.state_dict(), folder / "optimizer.pt")
    torch.save({"last_epoch": 500}, folder / "scheduler.pt")
    (folder / "training_args.bin").write_bytes(b"a pickle that nobody opens")
    (folder / "trainer_state.json").write_text('{"global_step": 500, "epoch": 1.5}')
    (folder / "config.json").write_text('{"architectures": ["Net"], "model_type": "net"}')
    summary = look(folder)
    assert summary.framework == "huggingface"
    assert (summary.position.step, summary.position.epoch) == (500, 1.5)
    assert summary.optimizers[0].states[0].name == "weight"
    assert summary.parameters[0].is_trainable
    assert ("config.json: model_type", "net") in summary.extras
    kinds = {Path(file.path).name: file.kind for file in summary.files}
    assert kinds["training_args.bin"] == "other"
    assert kinds["optimizer.pt"] == "optimizer"


def test_an_optimizer_that_is_refused_does_not_hide_the_weights(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "model.safetensors", {"w": ONES})
    torch.save({"x": torch.nn.Linear(1, 1)}, tmp_path / "optimizer.pt")
    summary = look(tmp_path)
    assert summary.total == 4
    assert "torch.nn.modules.linear.Linear" in summary.notes[0]


def test_a_folder_of_many_checkpoints_asks_for_one(tmp_path: Path) -> None:
    for name in ("a.pt", "b.pt"):
        torch.save({"w": torch.ones(1)}, tmp_path / name)
    with pytest.raises(InputError, match="holds 2 checkpoints") as info:
        look(tmp_path)
    assert "a.pt, b.pt" in info.value.hint
    (tmp_path / "b.pt").unlink()
    assert look(tmp_path).total == 1
    (tmp_path / "a.pt").unlink()
    with pytest.raises(InputError, match="no checkpoint"):
        look(tmp_path)


def deepspeed(folder: Path, module: dict[str, Any], ranks: int = 2) -> Path:
    step = folder / "global_step40"
    step.mkdir()
    (folder / "latest").write_text("global_step40")
    shapes = [{"a.weight": torch.Size([3, 4]), "a.bias": torch.Size([3])}]
    saved = {
        "module": module,
        "param_shapes": shapes,
        "frozen_param_shapes": {"a.bias": torch.Size([3])},
        "global_steps": 40,
        "ds_version": "0.14",
    }
    torch.save(saved, step / "mp_rank_00_model_states.pt")
    for rank in range(ranks):
        part = {"optimizer_state_dict": {"base_optimizer_state": [{"exp_avg": torch.ones(8)}]}}
        torch.save(part, step / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    return step


def test_deepspeed_shards_are_listed_and_summed(tmp_path: Path) -> None:
    step = deepspeed(tmp_path, {"a.weight": torch.ones(3, 4), "a.bias": torch.ones(3)})
    summary = look(tmp_path)
    assert (summary.layout, summary.position.step) == ("deepspeed", 40)
    assert [t.name for t in summary.model] == ["a.weight", "a.bias"]
    assert [t.is_trainable for t in summary.model] == [True, False]
    assert summary.size_on_disk == sum(file.stat().st_size for file in step.iterdir())
    assert any(t.role == "optimizer" and t.elements == 8 for t in summary.tensors)
    assert "2 ranks" in summary.notes[0]


def test_partitioned_deepspeed_weights_have_the_shapes_written_beside_them(tmp_path: Path) -> None:
    half = torch.zeros(0, dtype=torch.float16)
    deepspeed(tmp_path, {"a.weight": half, "a.bias": half}, ranks=1)
    summary = look(tmp_path)
    assert {t.name: (t.shape, t.dtype) for t in summary.model} == {
        "a.weight": ((3, 4), "float16"),
        "a.bias": ((3,), "float16"),
    }
    assert "ZeRO-3" in summary.notes[0]


def test_a_latest_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    deepspeed(tmp_path, {})
    (tmp_path / "latest").write_text("global_step99")
    with pytest.raises(InputError, match="global_step99"):
        look(tmp_path)


def test_a_distributed_checkpoint_gives_shapes_and_sizes(tmp_path: Path) -> None:
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    model = torch.nn.Linear(4, 3)
    state = {"model": model.state_dict(), "optim": {"exp_avg": torch.ones(5)}, "step": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that this is one process
        dcp.save(state, checkpoint_id=tmp_path / "c", no_dist=True)
    summary = look(tmp_path / "c")
    assert (summary.layout, summary.framework) == ("distributed", "fsdp")
    assert {t.name: (t.shape, t.dtype) for t in summary.model} == {
        "weight": ((3, 4), "float32"),
        "bias": ((3,), "float32"),
    }
    assert [t.name for t in summary.tensors if t.is_optimizer] == ["optim.exp_avg"]
    assert summary.size_on_disk == sum(f.stat().st_size for f in (tmp_path / "c").iterdir())
    (tmp_path / "c" / ".metadata").unlink()
    assert ".metadata is missing" in look(tmp_path / "c").notes[0]


def test_the_optimizer_of_a_distributed_checkpoint_is_known_by_its_shapes(tmp_path: Path) -> None:
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    model = torch.nn.ModuleDict({"embed": torch.nn.Embedding(9, 4), "fc": torch.nn.Linear(4, 3)})
    optimizer = torch.optim.AdamW(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    # A tied head is saved twice there, and nothing says that it is one tensor.
    saved = {**model.state_dict(), "head.weight": model["embed"].weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = {"model": saved, "optim": optimizer.state_dict()}
        dcp.save(state, checkpoint_id=tmp_path / "c", no_dist=True)
    summary = look(tmp_path / "c")
    (facts,) = summary.optimizers
    assert (facts.kind, facts.parameters) == ("adam", 3)
    assert facts.is_mapped
    assert facts.bytes == (36 + 12 + 3) * 8 + 3 * 4
    trained = {tensor.name: tensor.is_trainable for tensor in summary.parameters}
    assert trained == {
        "embed.weight": True,
        "fc.weight": True,
        "fc.bias": True,
        "head.weight": None,
    }


def test_hostile_metadata_of_a_distributed_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".metadata").write_bytes(b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00id\x85R.")
    with pytest.raises(UnsafeCheckpoint, match=r"posix\.system"):
        look(tmp_path)


def test_a_placeholder_of_a_remote_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mltd-ssh-1"
    monkeypatch.setenv("MLTD_MIRROR", str(mirror))
    path = mirror / "login01:" / "m.pt"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(5_000_000)
    with pytest.raises(CheckpointElsewhere, match=r"^login01:/m\.pt \(5,000,000 bytes\)"):
        look(path)
    torch.save({"w": torch.ones(3)}, path)
    assert look(path).total == 3
