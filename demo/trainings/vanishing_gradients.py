"""A deep sigmoid network that does not learn, because its first layers get no gradient.

metrics.csv and hparams.yaml as Lightning's CSV logger writes them.
With --relu the same network learns: the activation is the cause.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 9
EPOCHS = 25
BATCH = 50
EXAMPLES = 2000
DEPTH = 8
WIDTH = 128
CLASSES = 6
LEARNING_RATE = 0.02
ACTIVATION: type[nn.Module] = nn.ReLU if "--relu" in sys.argv else nn.Sigmoid

HPARAMS = f"""\
activation: {ACTIVATION.__name__.lower()}
batch_size: {BATCH}
depth: {DEPTH}
hidden_dim: {WIDTH}
lr: {LEARNING_RATE}
max_epochs: {EPOCHS}
momentum: 0.9
optimizer: sgd
seed: {SEED}
"""


def make_data(count: int, centres: Tensor) -> tuple[Tensor, Tensor]:
    """Clouds of points, easy to tell apart."""
    labels = torch.randint(CLASSES, (count,))
    return centres[labels] + torch.randn(count, centres.shape[1]), labels


def make_model(features: int) -> nn.Sequential:
    """Equal layers, one after the other."""
    layers: list[nn.Module] = [nn.Linear(features, WIDTH), ACTIVATION()]
    for _ in range(DEPTH - 1):
        layers += [nn.Linear(WIDTH, WIDTH), ACTIVATION()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES))


def layer_norms(model: nn.Sequential) -> dict[str, float]:
    """Gradient norm of every weight matrix."""
    return {
        f"grad_norm/{name}": float(layer.weight.grad.norm())
        for name, layer in model.named_children()
        if isinstance(layer, nn.Linear) and layer.weight.grad is not None
    }


def main() -> None:
    """Train and write a row every fifth step, and one after each epoch."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("hparams.yaml").write_text(HPARAMS)
    centres = 1.5 * torch.randn(CLASSES, 20)
    inputs, labels = make_data(EXAMPLES, centres)
    val_inputs, val_labels = make_data(500, centres)
    model = make_model(20)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)

    linear = [name for name, layer in model.named_children() if isinstance(layer, nn.Linear)]
    norms = [f"grad_norm/{name}" for name in linear]
    columns = ["epoch", *norms, "step", "train_loss", "val_acc", "val_loss"]
    step = 0
    with Path("metrics.csv").open("w", newline="", buffering=1) as file:
        rows = csv.DictWriter(file, columns)
        rows.writeheader()
        for epoch in range(EPOCHS):
            for picked in torch.randperm(EXAMPLES).split(BATCH):
                loss = functional.cross_entropy(model(inputs[picked]), labels[picked])
                optimizer.zero_grad()
                loss.backward()
                if step % 5 == 4:
                    row = {"epoch": epoch, "step": step, "train_loss": loss.item()}
                    rows.writerow(row | layer_norms(model))
                optimizer.step()
                step += 1
            with torch.no_grad():
                logits = model(val_inputs)
            rows.writerow(
                {
                    "epoch": epoch,
                    "step": step - 1,
                    "val_acc": (logits.argmax(1) == val_labels).float().mean().item(),
                    "val_loss": functional.cross_entropy(logits, val_labels).item(),
                }
            )


if __name__ == "__main__":
    main()
