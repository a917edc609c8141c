"""The callback in real trainings of Lightning."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from tests.runs.probe.training import by_layer, header, images, net, records, steps

pytest.importorskip("pytorch_lightning", reason="Lightning is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Lightning's own: loaders, folders, versions

if TYPE_CHECKING:
    Module: Any = nn.Module
    Trainer: Any = None
else:
    from pytorch_lightning import LightningModule as Module
    from pytorch_lightning import Trainer

from mltd.runs.probe.lightning import ProbeCallback  # noqa: E402 - needs Lightning

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)


class Lit(Module):  # type: ignore[misc]
    """One optimizer; forward and backward happen inside of its step."""

    breaks_at = -1

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.body, self.drop = net(), nn.Dropout(0.2)
        self.losses: list[float] = []

    def loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        return functional.cross_entropy(self.body(self.drop(batch[0])), batch[1])

    def training_step(self, batch: tuple[Tensor, Tensor], number: int) -> Tensor:
        if number == self.breaks_at:
            raise KeyError("mine")
        loss = self.loss(batch)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor], number: int) -> None:
        self.loss((batch[0] * 100, batch[1]))

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters(), 0.01)


class ByHand(Lit):
    """Two optimizers, and a loop of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch: tuple[Tensor, Tensor], number: int) -> None:  # type: ignore[override]
        self.manual_backward(self.loss(batch))
        for optimizer in self.optimizers():
            optimizer.step()
            optimizer.zero_grad()

    def configure_optimizers(self) -> Any:
        body = self.body
        rest = [*body.norm.parameters(), *body.fc.parameters(), *body.head.parameters()]
        return [torch.optim.Adam(body.conv.parameters(), 0.01), torch.optim.SGD(rest, 0.1)]


def loader() -> Any:
    pairs = [images(number) for number in range(4)]
    data = TensorDataset(*(torch.cat(part) for part in zip(*pairs, strict=True)))
    return DataLoader(data, batch_size=4)


def fit(folder: Path, module: Lit, *callbacks: Any, resumes: Any = None, **options: Any) -> Any:
    torch.manual_seed(1)
    trainer = Trainer(
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(folder),
        callbacks=list(callbacks),
        **{"max_steps": 8, **options},
    )
    trainer.fit(module, loader(), loader(), ckpt_path=resumes)
    return trainer


@pytest.mark.parametrize(
    "options",
    [
        {"val_check_interval": 3},
        {"accumulate_grad_batches": 2, "gradient_clip_val": 0.1, "precision": "bf16-mixed"},
    ],
    ids=["validated", "accumulated"],
)
def test_a_training_is_recorded_and_the_same(tmp_path: Path, options: dict[str, Any]) -> None:
    plain, watched = Lit(), Lit()
    fit(tmp_path, plain, **options)
    fit(tmp_path, watched, ProbeCallback(every=2), **options)
    assert plain.losses == watched.losses
    for one, other in zip(plain.parameters(), watched.parameters(), strict=True):
        assert torch.equal(one, other)
    path = tmp_path / "mltd-probe.jsonl"
    assert header(path)["layers"] == ["body.conv", "body.norm", "body.fc", "body.head"]
    assert [record["step"] for record in steps(path)] == [1, 2, 4, 6, 8]
    for record in steps(path):
        assert len(by_layer(path, record, "grad_norm")) == 4
        assert len(by_layer(path, record, "act_mean")) == 5
        assert max(by_layer(path, record, "act_std").values()) < 10  # no validation among them
        if "gradient_clip_val" in options:
            assert record["total"]["grad_norm"] <= 0.1001
    assert records(path)[-1]["reason"] == "closed"


def test_two_optimizers_of_a_manual_loop_make_one_record(tmp_path: Path) -> None:
    fit(tmp_path, ByHand(), ProbeCallback(every=2), max_steps=8)
    path = tmp_path / "mltd-probe.jsonl"
    assert header(path)["optimizers"] == ["Adam", "SGD"]
    assert "unoptimized" not in header(path)
    assert [record["step"] for record in steps(path)] == [1, 2, 4]
    assert all(len(by_layer(path, record, "update_ratio")) == 4 for record in steps(path))


def test_a_training_that_breaks_off_leaves_nothing_on_the_model(tmp_path: Path) -> None:
    module = Lit()
    module.breaks_at = 3
    with pytest.raises(KeyError, match="mine"):
        fit(tmp_path, module, ProbeCallback(tmp_path / "p", every=1))
    assert [record["step"] for record in steps(tmp_path / "p")] == [1, 2, 3]
    assert records(tmp_path / "p")[-1]["kind"] == "end"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in module.modules())


def test_a_resumed_training_counts_on(tmp_path: Path) -> None:
    callback = ProbeCallback(every=2)
    fit(tmp_path, Lit(), callback, max_steps=3).save_checkpoint(tmp_path / "it.ckpt")
    fit(tmp_path, Lit(), callback, resumes=str(tmp_path / "it.ckpt"), max_steps=6)
    found = [record["step"] for record in steps(tmp_path / "mltd-probe.jsonl")]
    assert found == [1, 2, 4, 6]
