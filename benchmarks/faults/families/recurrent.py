"""Recurrent regression: the next value of a noisy sum of waves."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ..recipe import Recipe
from ..workload import Batch, Workload, scale_weights


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="recurrent",
        seed=seed,
        steps=400,
        batch=32,
        lr=0.01,
        optimizer="adam",
        clip=1.0,
        eval_every=40,
        model={"cell": "lstm", "hidden": 24, "layers": 1},
        data={"train_size": 6400, "val_size": 256, "seq_len": 20},
        step_seconds=0.08,
    )


class Forecaster(nn.Module):
    """A recurrent net and a linear head."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        hidden, layers = recipe.model["hidden"], recipe.model["layers"]
        self.rnn: nn.RNNBase
        if recipe.model["cell"] == "lstm":
            self.rnn = nn.LSTM(1, hidden, layers, batch_first=True)
        elif recipe.model["cell"] == "gru":
            self.rnn = nn.GRU(1, hidden, layers, batch_first=True)
        else:
            kind = recipe.model.get("activation", "tanh")
            self.rnn = nn.RNN(1, hidden, layers, nonlinearity=kind, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        """One forecast per place."""
        seen, _ = self.rnn(x)
        forecast: Tensor = self.head(seen)
        return forecast.squeeze(-1)


class Forecast(Workload):
    """Mean squared error of the next value."""

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Squared error, and the absolute one beside it."""
        guess = self.model(batch.x).float()
        off = guess - batch.y
        return (off * off).mean(), {"mae": float(off.detach().abs().mean())}


def build(recipe: Recipe) -> Forecast:
    """The model and its waves."""
    torch.manual_seed(recipe.seed)
    model = Forecaster(recipe)
    scale_weights(model, recipe.model.get("init_gain", 1.0))
    workload = Forecast(recipe, model)
    workload.chance = 1.0
    rng = np.random.default_rng([recipe.seed, 4])
    held = recipe.data["val_size"]
    size, long = recipe.data["train_size"] + held, recipe.data["seq_len"]
    places = np.arange(long + 1)
    waves = sum(
        np.sin(rng.uniform(low, high, (size, 1)) * places + rng.uniform(0, 6.3, (size, 1)))
        for low, high in ((0.2, 0.5), (0.6, 1.2))
    )
    series = torch.tensor(
        np.asarray(waves) + rng.normal(0, 0.1, (size, long + 1)), dtype=torch.float32
    )
    x, y = series[:, :-1, None], series[:, 1:]
    workload.val_x, workload.val_y = x[:held], y[:held]
    workload.train_x, workload.train_y = x[held:], y[held:]
    return workload
