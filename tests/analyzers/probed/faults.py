"""One training for each fault that can be seen inside a model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .trained import (
    CLASSES,
    WIDTH,
    WORDS,
    Training,
    adam,
    deep,
    points,
    sentences,
    sgd,
)


class Halting(nn.Module):
    """A classifier with a head that says when to stop, and that at some time always says yes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.body = nn.Linear(WIDTH, WIDTH)
        self.act = nn.ReLU()
        self.head = nn.Linear(WIDTH, CLASSES)
        self.halting = nn.Linear(WIDTH, 1)
        self.gate = nn.Sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        x = self.act(self.body(x))
        logits: Tensor = self.head(x)
        halt = self.gate(self.halting(x.detach()))
        return torch.cat([logits, halt], dim=1)


def halting_loss(out: Tensor, y: Tensor) -> Tensor:
    return functional.cross_entropy(out[:, :CLASSES], y) + 0.01 * (1 - out[:, CLASSES]).mean()


class Broken(nn.Module):
    """From a step on, one of its layers takes the logarithm of what may be negative."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = Logarithm()
        self.third = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.third(self.second(torch.relu(self.first(x))))
        return logits


class Logarithm(nn.Linear):
    """A layer that goes wrong when it is told to."""

    def __init__(self) -> None:
        super().__init__(WIDTH, WIDTH)
        self.is_wrong = False

    def forward(self, x: Tensor) -> Tensor:
        x = super().forward(x)
        return torch.log(x) if self.is_wrong else torch.relu(x)


def vanishing() -> Training:
    model = deep(8, nn.Sigmoid)
    return Training(model, sgd(model, 0.05))


def exploding_start() -> Training:
    model = deep(6, nn.ReLU)
    with torch.no_grad():
        for layer in model:
            if isinstance(layer, nn.Linear):
                layer.weight.mul_(12)
    return Training(model, sgd(model, 1e-4))


def exploding_and_stuck() -> Training:
    """Steps too small to undo what the first weights do."""
    training = exploding_start()
    training.optimizer = adam(training.model, 1e-6)
    return training


def exploding_rate() -> Training:
    model = deep(3, nn.Tanh)
    model[4] = nn.Linear(WIDTH, WIDTH)
    model[5] = nn.Identity()
    optimizer = sgd(model, 0.02)

    def raise_rate(step: int) -> float:
        return 1.0 if step < 60 else 400.0

    return Training(model, optimizer, every=1, steps=100, schedule=raise_rate)


def dead() -> Training:
    model = deep(3, nn.ReLU)
    with torch.no_grad():
        model[2].bias.fill_(-10.0)  # type: ignore[operator]
    return Training(model, sgd(model))


def dies_later() -> Training:
    model = deep(3, nn.ReLU)

    def push(step: int) -> None:
        if step == 60:
            with torch.no_grad():
                model[4].bias.fill_(-50.0)  # type: ignore[operator]

    return Training(model, sgd(model), before=push)


def saturated() -> Training:
    model = deep(3, nn.Tanh)
    with torch.no_grad():
        model[2].weight.mul_(200.0)  # type: ignore[operator]
    return Training(model, sgd(model, 0.01))


def half_saturated() -> Training:
    model = deep(3, nn.Tanh)
    with torch.no_grad():
        model[2].weight.mul_(20.0)  # type: ignore[operator]
    return Training(model, sgd(model, 0.02))


def half_saturated_and_stuck() -> Training:
    model = deep(3, nn.Sigmoid)
    with torch.no_grad():
        model[2].weight.mul_(60.0)  # type: ignore[operator]
    return Training(model, sgd(model, 0.1))


def left_out() -> Training:
    model = deep(3, nn.ReLU)
    kept = [p for name, p in model.named_parameters() if not name.startswith("2.")]
    return Training(model, torch.optim.Adam(kept, 3e-3))


class Severed(nn.Module):
    """Its first half is cut off from the loss by a detach() that somebody forgot."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.stem = nn.Linear(WIDTH, 32)
        self.trunk = nn.Linear(32, 32)
        self.branch = nn.Linear(32, 32)
        self.neck = nn.Linear(32, 32)
        self.head = nn.Linear(32, CLASSES)
        self.spare = nn.Linear(32, CLASSES)
        self.cut_at = "trunk"

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.trunk(torch.relu(self.stem(x))))
        x = x.detach() if self.cut_at == "trunk" else x
        side = torch.relu(self.branch(x))
        x = torch.relu(self.neck(x)) + (side.detach() if self.cut_at == "branch" else side)
        logits: Tensor = self.head(x)
        return logits


def severed() -> Training:
    model = Severed()
    return Training(model, adam(model))


def severed_branch() -> Training:
    model = Severed()
    model.cut_at = "branch"
    return Training(model, adam(model))


def severed_later() -> Training:
    model = Severed()

    def cut(step: int) -> None:
        model.cut_at = "branch" if step > 60 else ""

    return Training(model, sgd(model), before=cut)


def too_slow() -> Training:
    model = deep(2, nn.ReLU)
    return Training(model, adam(model, 1e-8))


def hardly_any_rate() -> Training:
    model = deep(2, nn.ReLU)
    return Training(model, adam(model, 1e-10))


def saturated_by_the_rate() -> Training:
    model = deep(3, nn.Tanh)

    def raise_rate(step: int) -> float:
        return 1.0 if step < 60 else 3000.0

    return Training(model, sgd(model, 0.05), every=1, steps=100, schedule=raise_rate)


def leaps_into_nan() -> Training:
    model = deep(4, nn.ReLU, 32)
    return Training(model, adam(model, 1e10), every=1, steps=40)


def bounded_head() -> Training:
    """Huge values before a tanh that is the answer: its outputs vary as far as they can."""
    model = nn.Sequential(*deep(2, nn.Identity), nn.Tanh())
    with torch.no_grad():
        model[2].weight.mul_(1e6)  # type: ignore[operator]
    return Training(model, sgd(model, 1e-3))


def too_fast() -> Training:
    model = deep(2, nn.ReLU)
    others = [p for name, p in model.named_parameters() if not name.startswith("2.")]
    groups: list[dict[str, Any]] = [
        {"params": model[2].parameters(), "lr": 10.0},
        {"params": others},
    ]
    return Training(model, torch.optim.Adam(groups, 1e-3), every=1, steps=40)


def nan_in_layer() -> Training:
    model = Broken()

    def spoil(step: int) -> None:
        model.second.is_wrong = step >= 60

    return Training(model, sgd(model), before=spoil)


def nan_between_records() -> Training:
    training = nan_in_layer()
    model = training.model
    assert isinstance(model, Broken)

    def spoil(step: int) -> None:
        model.second.is_wrong = step >= 58

    training.before = spoil
    return training


class Between(nn.Module):
    """From a step on, a logarithm of what may be negative, between two of its layers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.norm = nn.BatchNorm1d(WIDTH)
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, CLASSES)
        self.is_wrong = False

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(self.norm(x))
        logits: Tensor = self.second(torch.log(x) if self.is_wrong else torch.relu(x))
        return logits


def nan_between_layers() -> Training:
    model = Between()

    def spoil(step: int) -> None:
        model.is_wrong = step >= 60

    return Training(model, sgd(model), before=spoil)


class Root(nn.Module):
    """From a step on, a square root at 0: its value is finite, its slope is not."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.third = nn.Linear(WIDTH, CLASSES)
        self.is_wrong = False

    def forward(self, x: Tensor) -> Tensor:
        x = self.second(torch.relu(self.first(x)))
        if self.is_wrong:
            x = torch.sqrt((x * 0.0).abs() + 0.0 * x) + x
        logits: Tensor = self.third(torch.relu(x))
        return logits


def nan_in_backward() -> Training:
    model = Root()

    def spoil(step: int) -> None:
        model.is_wrong = step >= 60

    return Training(model, sgd(model), before=spoil)


class Slopeless(torch.autograd.Function):
    """Passes everything on; its gradient is NaN if it is told so."""

    @staticmethod
    def forward(context: Any, x: Tensor, is_wrong: bool) -> Tensor:
        context.is_wrong = is_wrong
        return x.clone()

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return (gradient * torch.nan if context.is_wrong else gradient), None


class Reader(nn.Module):
    """A recurrent classifier, whose gradients grow once it begins to learn."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.words = nn.Embedding(WORDS, WIDTH)
        self.memory = nn.LSTM(WIDTH, 24, batch_first=True)
        self.summary = nn.Linear(24, 24)
        self.answer = nn.Linear(24, CLASSES)
        self.is_wrong = False

    def forward(self, x: Tensor) -> Tensor:
        x = self.summary(self.memory(self.words(x))[0][:, -1])
        x = Slopeless.apply(x, self.is_wrong)  # type: ignore[no-untyped-call]
        logits: Tensor = self.answer(torch.tanh(x))
        return logits


def nan_in_backward_of_a_reader() -> Training:
    model = Reader()

    def spoil(step: int) -> None:
        model.is_wrong = step >= 60

    return Training(
        model, adam(model), steps=80, every=10, batches=sentences, before=spoil, logs_norm=True
    )


def nan_spread_by_clipping() -> Training:
    training = nan_in_backward_of_a_reader()
    training.clip = 1.0
    return training


def nan_spread_between_records() -> Training:
    training = nan_spread_by_clipping()
    model = training.model
    assert isinstance(model, Reader)

    def spoil(step: int) -> None:
        model.is_wrong = step >= 57

    training.before = spoil
    return training


def never_cleared() -> Training:
    model = deep(3, nn.Tanh)
    return Training(model, sgd(model, 0.05), clears=False, logs_norm=True)


def nan_in_data() -> Training:
    model = deep(2, nn.ReLU)

    def spoiled(number: int) -> tuple[Tensor, Tensor]:
        x, y = points(number)
        if number == 60:
            x[3, 2] = torch.nan
        return x, y

    return Training(model, sgd(model), batches=spoiled)


class Uncertain(nn.Module):
    """Says what it expects and how sure it is."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.body = nn.Linear(WIDTH, 32)
        self.mean = nn.Linear(32, CLASSES)
        self.log_variance = nn.Linear(32, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.gelu(self.body(x))
        return torch.stack([self.mean(x), self.log_variance(x)])


def likelihood(out: Tensor, y: Tensor) -> Tensor:
    wrong = (functional.one_hot(y, CLASSES) - out[0]) ** 2
    return (wrong * torch.exp(-out[1]) + out[1]).mean()


def collapsed_variance() -> Training:
    """A head that is lost after the loss had fallen, and whose loss costs something."""
    model = Uncertain()

    def spoil(step: int) -> None:
        if step == 60:
            with torch.no_grad():
                model.log_variance.weight.zero_()
            model.log_variance.weight.requires_grad_(False)

    return Training(model, adam(model, 2e-3), loss=likelihood, before=spoil)


def collapsed_head() -> Training:
    model = Halting()

    def push(step: int) -> None:
        if step == 60:
            with torch.no_grad():
                model.halting.bias.fill_(100.0)

    return Training(model, sgd(model, 1e-4), loss=halting_loss, before=push)
