"""One of several repetitions of the same small training; only the seed differs.

Usage: seed_sweep.py SEED

A narrow ReLU network learns a ring inside a ring. From most starts it does; from a few most of
its units are dead and it stays near chance.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

EPOCHS = 30
STEPS = 20
BATCH = 64
WIDTH = 3
LEARNING_RATE = 0.02


def make_data(count: int) -> tuple[Tensor, Tensor]:
    """Points on two rings."""
    labels = torch.randint(2, (count,))
    angle = 2 * torch.pi * torch.rand(count)
    radius = 1.0 + labels + 0.15 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), labels


def main() -> None:
    """Train and print one line per epoch."""
    seed = int(sys.argv[1])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    val_inputs, val_labels = make_data(400)
    torch.manual_seed(seed)
    settings = {
        "model": "mlp", "hidden": WIDTH, "optimizer": "adam", "lr": LEARNING_RATE,
        "batch_size": BATCH, "epochs": EPOCHS, "seed": seed, "output_dir": f"runs/seed{seed}",
    }  # fmt: skip
    Path("config.json").write_text(json.dumps(settings, indent=2) + "\n")
    model = nn.Sequential(nn.Linear(2, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for epoch in range(EPOCHS):
        total = 0.0
        for _ in range(STEPS):
            inputs, labels = make_data(BATCH)
            loss = functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            logits = model(val_inputs)
        accuracy = (logits.argmax(1) == val_labels).float().mean().item()
        val_loss = functional.cross_entropy(logits, val_labels).item()
        print(
            f"epoch {epoch} train_loss {total / STEPS:.4f} val_loss {val_loss:.4f} "
            f"val_acc {accuracy:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
