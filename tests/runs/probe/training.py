"""Small models that are really trained, and what the probe wrote about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

torch.set_num_threads(1)


class Net(nn.Module):
    """Convolution, normalisation, a rectifier that is a module and one that is a function."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(8, 3)  # registered first, called last
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(4 * 16, 8)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.norm(self.conv(x)))
        x = functional.relu(self.fc(x.flatten(1)))
        logits: Tensor = self.head(x)
        return logits


def net(seed: int = 0) -> Net:
    torch.manual_seed(seed)
    return Net()


def mlp(*widths: int, function: Callable[[], nn.Module] = nn.ReLU) -> nn.Sequential:
    torch.manual_seed(0)
    parts: list[nn.Module] = []
    for old, new in pairwise(widths):
        parts += [nn.Linear(old, new), function()]
    return nn.Sequential(*parts[:-1])


def images(number: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(number)
    labels = torch.randint(3, (16,), generator=generator)
    return torch.randn(16, 1, 6, 6, generator=generator), labels


def backward(loss: Tensor) -> None:
    torch.autograd.backward(loss)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    steps: int,
    batches: Callable[[int], tuple[Tensor, Tensor]] = images,
) -> list[float]:
    losses = []
    for number in range(steps):
        x, y = batches(number)
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses


def records(path: Path | str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def header(path: Path | str) -> dict[str, Any]:
    return records(path)[0]


def steps(path: Path | str) -> list[dict[str, Any]]:
    return [record for record in records(path) if record["kind"] == "step"]


def by_layer(path: Path | str, record: dict[str, Any], kind: str) -> dict[str, Any]:
    names = header(path)["modules" if kind.startswith("act_") else "layers"]
    pairs = zip(names, record.get(kind, []), strict=False)
    return {name: value for name, value in pairs if value is not None}


def length(tensors: Iterable[Tensor]) -> float:
    return float(torch.cat([tensor.detach().flatten().double() for tensor in tensors]).norm())
