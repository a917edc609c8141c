"""One small classifier, trained as it should be or with one ordinary mistake.

Usage: step_by_step.py converged|slow|stuck|guessing|broken

converged   learns the task and stays at its floor while the rate decays
slow        a learning rate a hundred times too small
stuck       a softmax before a loss that takes one itself
guessing    inputs are shuffled and labels are not
broken      cross-entropy written by hand: a probability of exactly 1 makes it NaN
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 5
STEPS = 600
BATCH = 64
CLASSES = 10
FEATURES = 16
WIDTH = 48
EVALUATE_EVERY = 40
RATES = {"slow": 2e-5, "broken": 5e-3}
LEARNING_RATE = 2e-3


def sample(count: int, centres: Tensor) -> tuple[Tensor, Tensor]:
    """Points around the centre of their class."""
    labels = torch.randint(CLASSES, (count,))
    return centres[labels] + 0.9 * torch.randn(count, FEATURES), labels


def loss_of(kind: str, logits: Tensor, labels: Tensor) -> Tensor:
    """The loss as it should be, or as it is often written."""
    if kind == "stuck":
        return functional.cross_entropy(logits.softmax(1), labels)
    if kind == "broken":
        share, target = logits.softmax(1), functional.one_hot(labels, CLASSES)
        # 0 times the logarithm of 0, as soon as a probability is 1
        return -(target * share.log() + (1 - target) * (1 - share).log()).sum(1).mean()
    return functional.cross_entropy(logits, labels)


def main() -> None:
    """Train and print losses; nothing else is known about the run but its config."""
    kind = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    rate = RATES.get(kind, LEARNING_RATE)
    Path("config.yaml").write_text(
        f"model: mlp\nhidden: {WIDTH}\nnum_classes: {CLASSES}\noptimizer: adam\nlr: {rate}\n"
        f"batch_size: {BATCH}\nmax_steps: {STEPS}\nseed: {SEED}\n"
    )
    centres = torch.randn(CLASSES, FEATURES)
    val_inputs, val_labels = sample(500, centres)
    model = nn.Sequential(
        nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(STEPS):
        if kind == "converged":
            optimizer.param_groups[0]["lr"] = rate * 0.5 * (1 + math.cos(math.pi * step / STEPS))
        inputs, labels = sample(BATCH, centres)
        if kind == "guessing":
            inputs = inputs[torch.randperm(BATCH)]
        loss = loss_of(kind, model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        line = f"step {step} loss {loss.item():.4f}"
        if kind == "converged":
            line += f" lr {optimizer.param_groups[0]['lr']:.3e}"
        print(line, flush=True)
        if step % EVALUATE_EVERY == EVALUATE_EVERY - 1:
            with torch.no_grad():
                val_loss = loss_of(kind, model(val_inputs), val_labels).item()
            print(f"step {step} val_loss {val_loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
