"""A large classifier on sixty noisy examples: it learns them by heart.

Progress as Keras prints it with verbose=2, and a CSV of the history beside it.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 11
EPOCHS = 200
BATCH = 15
TRAIN_EXAMPLES = 60
VAL_EXAMPLES = 600
FEATURES = 40
LABEL_NOISE = 0.15


def make_data(count: int, teacher: Tensor) -> tuple[Tensor, Tensor]:
    """Three classes by a linear teacher; some labels are wrong, as in life."""
    inputs = torch.randn(count, FEATURES)
    labels = (inputs @ teacher).argmax(1)
    is_wrong = torch.rand(count) < LABEL_NOISE
    return inputs, torch.where(is_wrong, torch.randint(3, (count,)), labels)


@torch.no_grad()
def evaluate(model: nn.Module, inputs: Tensor, labels: Tensor) -> tuple[float, float]:
    """Loss and accuracy."""
    logits = model(inputs)
    accuracy = (logits.argmax(1) == labels).float().mean().item()
    return functional.cross_entropy(logits, labels).item(), accuracy


def main() -> None:
    """Train for many epochs without looking at the validation loss."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    teacher = torch.randn(FEATURES, 3)
    inputs, labels = make_data(TRAIN_EXAMPLES, teacher)
    val_inputs, val_labels = make_data(VAL_EXAMPLES, teacher)
    model = nn.Sequential(
        nn.Linear(FEATURES, 768), nn.ReLU(),
        nn.Linear(768, 768), nn.ReLU(),
        nn.Linear(768, 3),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-5)
    print(f"Total params: {sum(p.numel() for p in model.parameters()):,}")
    print(f"Train on {TRAIN_EXAMPLES} samples, validate on {VAL_EXAMPLES} samples")

    with Path("history.csv").open("w", newline="") as file:
        history = csv.writer(file)
        history.writerow(["epoch", "accuracy", "loss", "val_accuracy", "val_loss"])
        for epoch in range(EPOCHS):
            started = time.perf_counter()
            batches = torch.randperm(TRAIN_EXAMPLES).split(BATCH)
            for rows in batches:
                optimizer.zero_grad()
                functional.cross_entropy(model(inputs[rows]), labels[rows]).backward()
                optimizer.step()
            loss, accuracy = evaluate(model, inputs, labels)
            val_loss, val_accuracy = evaluate(model, val_inputs, val_labels)
            seconds = time.perf_counter() - started
            print(f"Epoch {epoch + 1}/{EPOCHS}")
            print(
                f"{len(batches)}/{len(batches)} - {seconds:.0f}s - "
                f"{1000 * seconds / len(batches):.0f}ms/step - accuracy: {accuracy:.4f} - "
                f"loss: {loss:.4f} - val_accuracy: {val_accuracy:.4f} - val_loss: {val_loss:.4f}"
            )
            history.writerow([epoch, accuracy, loss, val_accuracy, val_loss])
            file.flush()


if __name__ == "__main__":
    main()
