"""A curriculum whose second stage is too hard for the learning rate of the first.

43 classes of noisy patterns; from epoch 7 on more and more of the examples are much louder. The
loss falls from ln 43 = 3.76 to 0.16, the gradient norm jumps at the transition, and from there
the loss climbs. Updates are orthogonalised momentum ("Muon"), so `muon_lr` is the rate that
matters.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 5
CLASSES = 43
FEATURES = 32
WIDTH = 64
EPOCHS = 16
STEPS = 30
BATCH = 64
MUON_LR = 0.01
TRANSITION = 7
NOISE = 1.1
EASY, HARD = 1.0, 60.0
"""Loudness of the examples of each stage."""

CONFIG = f"""\
model: mlp
hidden: {WIDTH}
num_classes: {CLASSES}
optimizer: muon
muon_lr: {MUON_LR}
momentum: 0.9
batch_size: {BATCH}
epochs: {EPOCHS}
curriculum:
  stages: [easy, hard]
  transition_epoch: {TRANSITION}
seed: {SEED}
"""


def orthogonal(update: Tensor) -> Tensor:
    """Newton-Schulz: nearly the closest matrix with orthonormal rows."""
    x = update / (update.norm() + 1e-7)
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x


def make_batch(patterns: Tensor, hard_share: float) -> tuple[Tensor, Tensor]:
    """Patterns with noise, some of them from the hard stage."""
    labels = torch.randint(CLASSES, (BATCH,))
    is_hard = torch.rand(BATCH, 1) < hard_share
    noisy = patterns[labels] + NOISE * torch.randn(BATCH, FEATURES)
    return torch.where(is_hard, HARD, EASY) * noisy, labels


def report(epoch: int, loss: float, norm: float, stage: int) -> None:
    """One line of the log."""
    print(
        f"epoch {epoch} | loss {loss:.4f} | grad_norm {norm:.3f} | muon_lr {MUON_LR} | "
        f"stage {stage}",
        flush=True,
    )


def main() -> None:
    """Train and print one line per epoch."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("config.yaml").write_text(CONFIG)
    patterns = torch.randn(CLASSES, FEATURES)
    model = nn.Sequential(
        nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )  # fmt: skip
    with torch.no_grad():
        model[-1].weight.mul_(0.05)
        model[-1].bias.zero_()
    buffers = [torch.zeros_like(one) for one in model.parameters()]
    for epoch in range(EPOCHS):
        stage = int(epoch >= TRANSITION)
        if epoch == TRANSITION:
            print("curriculum: switching to stage 1 (hard)", flush=True)
        losses, largest = [], 0.0
        for _ in range(STEPS):
            hard_share = 0.03 + 0.015 * (epoch - TRANSITION) if stage else 0.0
            inputs, labels = make_batch(patterns, hard_share)
            loss = functional.cross_entropy(model(inputs), labels)
            model.zero_grad()
            loss.backward()
            norm = float(nn.utils.clip_grad_norm_(model.parameters(), 1e9))
            largest = max(largest, norm)
            losses.append(loss.item())
            with torch.no_grad():
                for one, buffer in zip(model.parameters(), buffers, strict=True):
                    assert one.grad is not None
                    buffer.mul_(0.9).add_(one.grad)
                    step = orthogonal(buffer) if one.ndim == 2 else buffer / (buffer.norm() + 1e-7)
                    one.sub_(MUON_LR * step * max(1.0, step.shape[0] / step.shape[-1]) ** 0.5)
        if epoch == 0:
            report(0, losses[0], largest, stage)
        report(epoch + 1, sum(losses) / len(losses), largest, stage)


if __name__ == "__main__":
    main()
