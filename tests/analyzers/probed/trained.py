"""Small models that are really trained under the probe, each with one fault or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from mltd.runs import probe

torch.set_num_threads(1)
CLASSES = 4
WIDTH = 16
WORDS = 48
Batch = tuple[Tensor, Tensor]


@dataclass
class Training:
    """How a model is trained; the defaults make a healthy run."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    steps: int = 120
    every: int = 5
    batches: Callable[[int], Batch] = field(default=lambda number: points(number))
    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy
    schedule: Callable[[int], float] | None = None
    clip: float = 0.0
    before: Callable[[int], None] = lambda step: None
    """Called with the number of each step, before its forward pass."""
    clears: bool = True
    """Whether gradients of the step before are cleared."""
    logs_norm: bool = False


def points(number: int) -> Batch:
    """Clusters that overlap a little."""
    generator = torch.Generator().manual_seed(number)
    labels = torch.randint(CLASSES, (64,), generator=generator)
    centres = 2.0 * torch.randn(CLASSES, WIDTH, generator=torch.Generator().manual_seed(99))
    return centres[labels] + 3.0 * torch.randn(64, WIDTH, generator=generator), labels


def sentences(number: int) -> Batch:
    """Words, some of which tell the class."""
    generator = torch.Generator().manual_seed(number)
    labels = torch.randint(CLASSES, (32,), generator=generator)
    words = torch.randint(WORDS, (32, 12), generator=generator)
    telling = torch.rand(32, 12, generator=generator) < 0.5
    return torch.where(telling, words // CLASSES * CLASSES + labels[:, None], words), labels


def deep(count: int, function: Callable[[], nn.Module], width: int = WIDTH) -> nn.Sequential:
    """A plain network with so many hidden layers."""
    torch.manual_seed(3)
    parts: list[nn.Module] = []
    for old, new in pairwise([WIDTH, *[width] * count]):
        parts += [nn.Linear(old, new), function()]
    return nn.Sequential(*parts, nn.Linear(width, CLASSES))


def sgd(model: nn.Module, rate: float = 0.1) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), rate)


def adam(model: nn.Module, rate: float = 3e-3) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), rate)


def _norm(model: nn.Module) -> float:
    norms = [p.grad.norm() for p in model.parameters() if p.grad is not None]
    return float(torch.stack(norms).norm())


def train(training: Training, folder: Path, *, logs: bool = True) -> Path:
    """Train beside a log; the folder then holds `train.log` and `mltd-probe.jsonl`."""
    model, optimizer = training.model, training.optimizer
    rates = [group["lr"] for group in optimizer.param_groups]
    said = []
    with probe.watch(model, optimizer, folder / "mltd-probe.jsonl", every=training.every):
        for step in range(1, training.steps + 1):
            training.before(step)
            if training.schedule is not None:
                for group, rate in zip(optimizer.param_groups, rates, strict=True):
                    group["lr"] = rate * training.schedule(step)
            x, y = training.batches(step)
            if training.clears:
                optimizer.zero_grad()
            loss = training.loss(model(x), y)
            torch.autograd.backward(loss)
            norm = f" grad_norm {_norm(model):.4f}" if training.logs_norm else ""
            if training.clip:
                nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimizer.step()
            said.append(f"step {step} loss {loss.item():.4f}{norm}\n")
    if logs:
        (folder / "train.log").write_text("".join(said))
    return folder
