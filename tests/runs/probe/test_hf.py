"""The callback in real trainings of transformers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.runs.probe.training import backward, header, images, length, net, records, steps

transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed")
accelerate: Any = pytest.importorskip("accelerate", reason="accelerate is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of transformers

from mltd.runs.probe.hf import ProbeCallback  # noqa: E402 - needs transformers


class Data(torch.utils.data.Dataset[dict[str, Any]]):
    def __len__(self) -> int:
        return 24

    def __getitem__(self, number: int) -> dict[str, Any]:
        tokens = torch.randint(32, (8,), generator=torch.Generator().manual_seed(number))
        return {"input_ids": tokens, "labels": tokens}


def gpt() -> Any:
    """A language model with random weights, dropout and tied embeddings."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 32, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **ends))


class Observer(transformers.TrainerCallback):  # type: ignore[misc]
    """Computes the gradient's norm by hand, and may break the training off."""

    def __init__(self, breaks_at: int = -1) -> None:
        self.breaks_at = breaks_at
        self.norms: dict[int, float] = {}

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        gradients = (p.grad for p in given["model"].parameters() if p.grad is not None)
        self.norms[state.global_step + 1] = length(gradients)
        if state.global_step == self.breaks_at:
            raise KeyError("mine")


def fit(folder: Path, *callbacks: Any, resumes: Any = None, **options: Any) -> Any:
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=2,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=False,
        learning_rate=0.01,
        **{"max_steps": 4, "save_strategy": "no", "logging_steps": 1, **options},
    )
    trainer = transformers.Trainer(
        model=gpt(),
        args=arguments,
        train_dataset=Data(),
        eval_dataset=Data(),
        callbacks=list(callbacks),
    )
    trainer.train(resume_from_checkpoint=resumes)
    return trainer


@pytest.mark.parametrize(
    "options",
    [
        {"eval_strategy": "steps", "eval_steps": 3},
        {"gradient_accumulation_steps": 3, "max_grad_norm": 0.1, "bf16": True},
    ],
    ids=["validated", "accumulated"],
)
def test_a_training_is_recorded_and_the_same(tmp_path: Path, options: dict[str, Any]) -> None:
    observer = Observer()
    plain = fit(tmp_path / "plain", **options)
    watched = fit(tmp_path, ProbeCallback(every=2), observer, **options)
    losses = [[line.get("loss") for line in one.state.log_history] for one in (plain, watched)]
    assert losses[0] == losses[1]
    pairs = zip(plain.model.parameters(), watched.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    path = tmp_path / "mltd-probe.jsonl"
    assert header(path)["layers"][:3] == [
        "transformer.wte",
        "transformer.wpe",
        "transformer.h.0.ln_1",
    ]
    assert [record["step"] for record in steps(path)] == [1, 2, 4]
    for record in steps(path):
        norm = observer.norms[record["step"]]
        assert record["total"]["grad_norm"] == pytest.approx(norm, rel=1e-5)
        assert all(value is not None for value in record["act_mean"])
    assert records(path)[-1]["reason"] == "closed"


def test_after_a_training_that_broke_off_the_callback_begins_anew(tmp_path: Path) -> None:
    callback = ProbeCallback(every=1)
    with pytest.raises(KeyError, match="mine"):
        fit(tmp_path, callback, Observer(breaks_at=2))
    first = callback.probe
    assert first is not None
    fit(tmp_path, callback)
    assert not first.is_active
    assert [path.name for path in tmp_path.glob("*.jsonl")] == ["mltd-probe.jsonl"]
    found = [record["step"] for record in steps(tmp_path / "mltd-probe.jsonl")]
    assert found == [1, 2, 1, 2, 3, 4]


def test_a_resumed_training_counts_on(tmp_path: Path) -> None:
    fit(tmp_path, save_strategy="steps", save_steps=3)
    fit(tmp_path, ProbeCallback(every=2), resumes=str(tmp_path / "checkpoint-3"), max_steps=6)
    found = [record["step"] for record in steps(tmp_path / "mltd-probe.jsonl")]
    assert found == [4, 6]


def test_the_scale_of_an_optimizer_of_accelerate_is_recorded(tmp_path: Path) -> None:
    accelerate.PartialState(cpu=True)
    model = net()
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    inner = torch.optim.AdamW(model.parameters(), 0.01)
    optimizer = accelerate.optimizer.AcceleratedOptimizer(inner, scaler=scaler)
    args, state = SimpleNamespace(output_dir=str(tmp_path)), SimpleNamespace(global_step=100)
    callback = ProbeCallback()
    callback.on_train_begin(args, state, None, model=model, optimizer=optimizer)
    for number in range(12):
        x, y = images(number)
        backward(scaler.scale(functional.cross_entropy(model(x), y)))
        optimizer.step()
        optimizer.zero_grad()
    callback.on_train_end(args, state, None)
    path = tmp_path / "mltd-probe.jsonl"
    assert [record["step"] for record in steps(path)] == [101, 110]
    assert steps(path)[0]["loss_scale"] == 256.0
    assert steps(path)[0]["total"]["grad_norm"] < 10


def test_an_optimizer_of_somebody_else_is_found_by_its_steps(tmp_path: Path) -> None:
    model = net()
    inner = torch.optim.AdamW(model.parameters(), 0.01)
    args, state = SimpleNamespace(output_dir=str(tmp_path)), SimpleNamespace(global_step=0)
    callback = ProbeCallback()
    callback.on_train_begin(args, state, None, model=model, optimizer=object())
    x, y = images()
    backward(functional.cross_entropy(model(x), y))
    inner.step()
    callback.on_train_end(args, state, None)
    assert len(steps(tmp_path / "mltd-probe.jsonl")) == 1
