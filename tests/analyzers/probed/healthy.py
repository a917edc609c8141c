"""Trainings without any fault, of the kinds that look odd to simple rules."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .trained import CLASSES, WIDTH, WORDS, Training, adam, deep, sentences, sgd


class Blocks(nn.Module):
    """A small transformer over the features of a point."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.time_embed = nn.Linear(1, 16)
        self.place = nn.Embedding(WIDTH, 16)
        self.kind = nn.Embedding(2, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        place = self.place(torch.arange(WIDTH)) + self.kind(torch.zeros(WIDTH, dtype=torch.long))
        x = self.body(self.time_embed(x[:, :, None]) + place)
        logits: Tensor = self.head(self.norm(x.mean(1)))
        return logits


class Recurrent(nn.Module):
    """A GRU that reads a point feature by feature."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.gru = nn.GRU(1, 16, batch_first=True)
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.gru(x[:, :, None])[0][:, -1])
        return logits


class Convolutions(nn.Module):
    """Activation functions that are no modules, and a head that begins at nothing."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first = nn.Conv1d(1, 8, 3)
        self.second = nn.Conv1d(8, 8, 3)
        self.scale = nn.Linear(8 * (WIDTH - 4), 16)
        self.head = nn.Linear(16, CLASSES)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.second(torch.relu(self.first(x[:, None]))))
        logits: Tensor = self.head(torch.relu(self.scale(x.flatten(1))))
        return logits


class LoRa(nn.Module):
    """A frozen layer with a low-rank addition that begins at nothing."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_a = nn.Linear(base.in_features, 2, bias=False)
        self.lora_b = nn.Linear(2, base.out_features, bias=False)
        nn.init.zeros_(self.lora_b.weight)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.base(x) + self.lora_b(self.lora_a(x))
        return out


def relu() -> Training:
    model = deep(4, nn.ReLU)
    return Training(model, sgd(model))


def fresh() -> Training:
    model = deep(4, nn.ReLU)
    return Training(model, adam(model), steps=6, every=1)


def gelu_warm_up_and_cosine() -> Training:
    model = deep(3, nn.GELU, 32)
    steps = 200

    def schedule(step: int) -> float:
        return min(step / 40, 0.5 + 0.5 * math.cos(math.pi * step / steps))

    return Training(model, adam(model, 1e-2), steps=steps, schedule=schedule)


def normalised() -> Training:
    torch.manual_seed(3)
    model = nn.Sequential(
        nn.Linear(WIDTH, 32), nn.BatchNorm1d(32), nn.ReLU(),
        nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, CLASSES),
    )  # fmt: skip
    return Training(model, sgd(model))


def clipped_tanh() -> Training:
    model = deep(3, nn.Tanh)
    return Training(model, sgd(model, 0.3), clip=0.1)


def transformer() -> Training:
    model = Blocks()
    return Training(model, adam(model), steps=60)


def recurrent() -> Training:
    model = Recurrent()
    return Training(model, adam(model, 1e-2), steps=60)


def frozen_base() -> Training:
    model = deep(3, nn.ReLU)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith(("0.", "2.")))
    kept = [p for p in model.parameters() if p.requires_grad]
    return Training(model, torch.optim.Adam(kept, 3e-3))


def low_rank() -> Training:
    model = deep(3, nn.ReLU)
    for place in (0, 2, 4):
        layer = model[place]
        assert isinstance(layer, nn.Linear)
        model[place] = LoRa(layer)
    kept = [p for p in model.parameters() if p.requires_grad]
    return Training(model, torch.optim.Adam(kept, 1e-2))


def convolutions() -> Training:
    model = Convolutions()
    return Training(model, adam(model))


class Features(nn.Module):
    """A part that is never differentiated, and a head on what it puts out."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = deep(2, nn.ReLU, 64)
        self.head = nn.Linear(CLASSES, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            x = self.backbone(x)
        logits: Tensor = self.head(x)
        return logits


def fixed_features() -> Training:
    model = Features()
    return Training(model, torch.optim.Adam(model.head.parameters(), 3e-2))


class Turns(nn.Module):
    """Two heads that are trained in turns: records see only one of them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.body = nn.Linear(WIDTH, 32)
        self.even = nn.Linear(32, CLASSES)
        self.odd = nn.Linear(32, CLASSES)
        self.step = 0

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.body(x))
        logits: Tensor = self.odd(x) if self.step % 2 else self.even(x)
        return logits


def in_turns() -> Training:
    model = Turns()

    def count(step: int) -> None:
        model.step = step

    return Training(model, adam(model), every=6, before=count)


class Table(nn.Module):
    """Nearly all of it is a table of vectors, whatever that is called."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.rows = nn.EmbeddingBag(WORDS, 400)
        self.head = nn.Linear(400, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.rows(x))
        return logits


def mostly_a_table() -> Training:
    model = Table()
    return Training(model, adam(model, 1e-2), batches=sentences)


def unfrozen_later() -> Training:
    model = deep(3, nn.ReLU)
    first = list(model[0].parameters())

    def thaw(step: int) -> None:
        for parameter in first:
            parameter.requires_grad_(step > 30)

    return Training(model, sgd(model), before=thaw)


class Pair(torch.optim.SGD):
    """An optimizer that steps another one, which nobody told the probe about."""

    def __init__(self, parameters: list[Tensor], other: torch.optim.Optimizer) -> None:
        super().__init__(parameters, 0.1)
        self.other = other

    def step(self, closure: object = None) -> None:  # type: ignore[override]
        super().step()
        self.other.step()


def two_optimizers() -> Training:
    model = deep(3, nn.ReLU)
    parts = list(model.named_parameters())
    late = [p for name, p in parts if name.startswith("2.")]
    other = torch.optim.SGD(late, 0.1)
    return Training(model, Pair([p for n, p in parts if not n.startswith("2.")], other))
