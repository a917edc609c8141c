"""A classifier whose ReLU units are all dead from the start, because of their biases.

Dict lines as the Hugging Face trainer prints them.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 5
ARGUMENTS = {
    "seed": SEED,
    "init_bias": -6.0,
    "learning_rate": 0.0005,
    "lr_scheduler_type": "linear",
    "warmup_steps": 0,
    "num_train_epochs": 20,
    "per_device_train_batch_size": 64,
    "max_grad_norm": 0.0,
    "logging_steps": 5,
    "optim": "adamw_torch",
}
CLASSES = 10
EXAMPLES = 4096


def make_data(count: int, centres: Tensor) -> tuple[Tensor, Tensor]:
    """Ten overlapping clouds of points."""
    labels = torch.randint(CLASSES, (count,))
    return centres[labels] + torch.randn(count, centres.shape[1]), labels


@torch.no_grad()
def dead_fraction(model: nn.Sequential, inputs: Tensor) -> float:
    """Share of the ReLU units that are zero for every example."""
    hidden, dead, units = inputs, 0, 0
    for layer in model:
        hidden = layer(hidden)
        if isinstance(layer, nn.ReLU):
            dead += int((hidden == 0).all(0).sum())
            units += hidden.shape[1]
    return dead / units


@torch.no_grad()
def evaluate(model: nn.Sequential, inputs: Tensor, labels: Tensor) -> dict[str, float]:
    """The metrics that the trainer prints after each epoch."""
    started = time.perf_counter()
    logits = model(inputs)
    loss = functional.cross_entropy(logits, labels).item()
    accuracy = (logits.argmax(1) == labels).float().mean().item()
    seconds = time.perf_counter() - started
    return {
        "eval_loss": loss,
        "eval_accuracy": accuracy,
        "eval_dead_relu_fraction": round(dead_fraction(model, inputs), 4),
        "eval_runtime": round(seconds, 4),
        "eval_samples_per_second": round(len(labels) / seconds, 3),
    }


def main() -> None:
    """Train; only the last bias can learn."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("training_args.json").write_text(json.dumps(ARGUMENTS, indent=2) + "\n")
    centres = torch.randn(CLASSES, 32)
    inputs, labels = make_data(EXAMPLES, centres)
    eval_inputs, eval_labels = make_data(1024, centres)
    model = nn.Sequential(
        nn.Linear(32, 256), nn.ReLU(),
        nn.Linear(256, 256), nn.ReLU(),
        nn.Linear(256, 256), nn.ReLU(),
        nn.Linear(256, CLASSES),
    )  # fmt: skip
    # The prior was meant for the last layer alone; every hidden unit got it, too.
    for layer in model:
        if isinstance(layer, nn.Linear):
            nn.init.constant_(layer.bias, ARGUMENTS["init_bias"])
    base_lr = ARGUMENTS["learning_rate"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=base_lr)
    batch = ARGUMENTS["per_device_train_batch_size"]
    epochs = ARGUMENTS["num_train_epochs"]
    total = epochs * (EXAMPLES // batch)

    started = time.perf_counter()
    step, recent, losses = 0, [], []
    for epoch in range(1, epochs + 1):
        for rows in torch.randperm(EXAMPLES).split(batch):
            lr = base_lr * (1 - step / total)
            optimizer.param_groups[0]["lr"] = lr
            loss = functional.cross_entropy(model(inputs[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.get_total_norm(
                [p.grad for p in model.parameters() if p.grad is not None]
            ).item()
            optimizer.step()
            step += 1
            recent.append(loss.item())
            losses.append(loss.item())
            if step % ARGUMENTS["logging_steps"] == 0:
                mean = sum(recent) / len(recent)
                recent.clear()
                record = {
                    "loss": round(mean, 4),
                    "grad_norm": norm,
                    "learning_rate": lr,
                    "epoch": round(step * batch / EXAMPLES, 2),
                }
                print(record)
        print({**evaluate(model, eval_inputs, eval_labels), "epoch": float(epoch)})
    seconds = time.perf_counter() - started
    summary = {
        "train_runtime": round(seconds, 4),
        "train_samples_per_second": round(epochs * EXAMPLES / seconds, 3),
        "train_loss": sum(losses) / len(losses),
        "epoch": float(epochs),
    }
    print(summary)


if __name__ == "__main__":
    main()
