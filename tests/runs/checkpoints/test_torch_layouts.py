"""Files of torch.save in the layouts that trainers write, read with and without torch."""

from __future__ import annotations

import argparse
import pathlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mltd.runs.checkpoints import CheckpointSummary, UnsafeCheckpoint
from mltd.runs.checkpoints.inside import opening
from mltd.runs.checkpoints.inside.with_torch import torch_node

from .looking import look, with_records

torch = pytest.importorskip("torch")


def net() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 2)
    )


def trained() -> tuple[Any, Any]:
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(3):
        model(torch.randn(8, 4)).square().sum().backward()
        optimizer.step()
    return model, optimizer


def without_paths(summary: CheckpointSummary) -> CheckpointSummary:
    return replace(summary, path="", files=())


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
def test_our_reader_and_torch_see_the_same(tmp_path: Path, is_zip: bool) -> None:
    model, optimizer = trained()
    shared = torch.randn(6, 5)
    saved = {
        "model": model.state_dict(),
        "extra": {"turned": shared.t(), "part": shared[2:4], "wide": torch.zeros(1).expand(9)},
        "kinds": [torch.tensor([1, 2], dtype=kind) for kind in (torch.bfloat16, torch.int8)],
        "parameter": torch.nn.Parameter(torch.ones(3)),
        "optimizer": optimizer.state_dict(),
        "step": 12,
        "epoch": 2,
        "best": float("nan"),
    }
    path = tmp_path / "m.pt"
    torch.save(saved, path, _use_new_zipfile_serialization=is_zip)
    own, by_torch = look(path, reader="own"), look(path, reader="torch")
    assert without_paths(own) == without_paths(by_torch)
    assert own.layout == ("torch" if is_zip else "torch legacy")
    assert own.position.step == 12
    assert own.position.epoch == 2
    assert own.has_values
    names = [tensor.name for tensor in own.tensors]
    assert "model.0.weight" in names
    assert "optimizer.state.0.exp_avg" in names


def test_without_values_shapes_steps_and_groups_are_known(tmp_path: Path) -> None:
    model, optimizer = trained()
    path = tmp_path / "m.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    summary = look(path, values=False)
    assert not summary.has_values
    assert all(tensor.stats is None for tensor in summary.tensors)
    assert summary.optimizers[0].steps == (3, 3)
    assert summary.optimizers[0].groups[0].lr == 0.01
    assert [t.name for t in summary.parameters][:2] == ["0.weight", "0.bias"]
    assert summary.total == 24 + 6 + 12 + 12 + 2
    assert {t.name for t in summary.model if t.role == "buffer"} == {
        "1.running_mean", "1.running_var", "1.num_batches_tracked",
    }  # fmt: skip


def test_a_plain_state_dict_has_its_own_names(tmp_path: Path) -> None:
    path = tmp_path / "pytorch_model.bin"
    torch.save(net().half().state_dict(), path)
    summary = look(path)
    assert summary.framework == "torch"
    assert summary.tensors[0].name == "0.weight"
    assert summary.tensors[0].section == ""
    assert [(d.dtype, d.tensors) for d in summary.dtypes] == [("float16", 8), ("int64", 1)]
    assert summary.size_on_disk == path.stat().st_size


def test_a_lightning_checkpoint_gives_position_optimizer_and_settings(tmp_path: Path) -> None:
    model, optimizer = trained()
    path = tmp_path / "epoch=3.ckpt"
    saved = {
        "epoch": 3,
        "global_step": 1200,
        "pytorch-lightning_version": "2.2.0",
        "state_dict": {f"model.{k}": v for k, v in model.state_dict().items()},
        "loops": {"fit_loop": {"state_dict": {}}},
        "callbacks": {"ModelCheckpoint{'monitor': None}": {"best_model_score": torch.tensor(0.5)}},
        "optimizer_states": [optimizer.state_dict()],
        "lr_schedulers": [{"last_epoch": 3}],
        "hyper_parameters": {"lr": 0.01, "width": 6},
    }
    torch.save(saved, path)
    summary = look(path)
    assert summary.framework == "lightning"
    assert (summary.position.step, summary.position.epoch) == (1200, 3)
    assert summary.parameters[0].name == "model.0.weight"
    assert summary.optimizers[0].section == "optimizer_states.0"
    assert summary.optimizers[0].states[0].name == "model.0.weight"
    assert ("hyper_parameters.width", "6") in summary.extras


def test_several_models_and_an_average_keep_their_keys(tmp_path: Path) -> None:
    path = tmp_path / "gan.pt"
    state = net().state_dict()
    torch.save({"G": state, "D": net().state_dict(), "ema": net().state_dict()}, path)
    names = {tensor.name: tensor.role for tensor in look(path).tensors}
    assert names["G.0.weight"] == names["D.0.weight"] == "parameter"
    assert names["ema.0.weight"] == "average"
    assert look(path).total == 2 * 56


def test_numbers_and_random_states_beside_a_model_are_not_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    saved = {
        "net": net().state_dict(),
        "iteration": torch.tensor(41),
        "best_loss": torch.tensor(0.5),
        "rng_state": torch.get_rng_state(),
    }
    torch.save(saved, path)
    summary = look(path)
    assert summary.parameters[0].name == "0.weight"
    assert summary.total == 56
    assert summary.position.step == 41
    assert {t.name for t in summary.tensors if t.role == "other"} == set(saved) - {"net"}


def test_tied_weights_are_counted_once(tmp_path: Path) -> None:
    weight = torch.randn(10, 4)
    torch.save(
        {"emb.weight": weight, "head.weight": weight, "copy": weight.clone()}, tmp_path / "t.pt"
    )
    summary = look(tmp_path / "t.pt")
    assert list(summary.ties()) == [("emb.weight", "head.weight")]
    assert summary.total == 80
    assert summary.duplicates == (("emb.weight", "copy"),)


def test_settings_in_known_classes_are_data(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    saved = {
        "args": argparse.Namespace(lr=0.5, out=pathlib.PurePosixPath("/a/b")),
        "best": np.float64(0.25),
        "device": torch.device("cuda", 1),
        "w": torch.ones(2),
    }
    torch.save(saved, path)
    summary = look(path, reader="auto")
    assert (
        dict(summary.extras).items()
        >= {"args.lr": "0.5", "best": "0.25", "device": "cuda:1"}.items()
    )
    assert summary.tensors[0].stats is not None


def test_a_whole_pickled_model_is_refused_with_the_names_of_its_classes(tmp_path: Path) -> None:
    torch.save(net(), tmp_path / "m.pt")
    with pytest.raises(
        UnsafeCheckpoint, match=r"torch\.nn\.modules\.container\.Sequential"
    ) as info:
        look(tmp_path / "m.pt")
    assert "torch.nn.modules.linear.Linear" in info.value.names
    assert "state_dict" in info.value.hint


def test_an_optimizer_alone_is_described(tmp_path: Path) -> None:
    torch.save(trained()[1].state_dict(), tmp_path / "optimizer.pt")
    summary = look(tmp_path / "optimizer.pt")
    assert summary.total == 0
    assert summary.optimizers[0].kind == "adam"
    assert summary.optimizers[0].states[0].label == "#0"
    assert {tensor.role for tensor in summary.tensors} == {"optimizer"}


@pytest.mark.parametrize("reader", ["own", "torch"])
def test_a_file_of_the_other_byte_order_has_the_same_numbers(tmp_path: Path, reader: Any) -> None:
    swapped = np.array([[1.5, -2.0], [0.0, 3.0]], np.float32).byteswap()
    path = tmp_path / "big.pt"
    torch.save({"w": torch.from_numpy(swapped)}, path)
    with_records(path, {"byteorder": lambda _: b"big"})
    stats = look(path, reader=reader).tensors[0].stats
    assert stats is not None
    assert (stats.least, stats.most) == (-2.0, 3.0)


def test_torch_is_asked_only_for_what_it_alone_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(handle: Any, *, is_legacy: bool) -> Any:
        asked.append(handle.name)
        return torch_node(handle, is_legacy=is_legacy)

    monkeypatch.setattr(opening, "torch_node", counted)
    model, optimizer = trained()
    path = tmp_path / "plain.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    plain = look(path, reader="auto")
    assert asked == []
    assert plain == look(path, reader="torch")
    torch.save({"a": torch.ones(3), "s": torch.eye(4).to_sparse()}, tmp_path / "sparse.pt")
    asked.clear()
    sparse = look(tmp_path / "sparse.pt", reader="auto")
    assert asked == ["sparse.pt"]
    assert [(t.name, t.shape) for t in sparse.tensors] == [("a", (3,)), ("s", (4, 4))]


def test_weights_that_are_packed_into_whole_numbers_are_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    names = ("q_proj.qweight", "q_proj.qzeros", "q_proj.g_idx")
    torch.save({name: torch.ones(2, 3, dtype=torch.int32) for name in names}, path)
    assert [tensor.role for tensor in look(path).tensors] == ["parameter", "buffer", "buffer"]
