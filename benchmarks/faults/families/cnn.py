"""Small convolutional net that tells eight hand-drawn shapes apart."""

from __future__ import annotations

import functools
import math

import numpy as np
import torch
from torch import nn

from ..recipe import Recipe
from ..workload import Classifier, activation, cut, scale_weights

CLASSES, SIDE = 8, 14


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="cnn",
        seed=seed,
        steps=420,
        batch=24,
        lr=0.002,
        optimizer="adam",
        eval_every=35,
        model={"channels": 12, "layers": 2, "activation": "relu", "num_classes": CLASSES},
        data={"train_size": 6400, "val_size": 512, "image_size": SIDE},
        step_seconds=0.12,
    )


def build(recipe: Recipe) -> Classifier:
    """The model and its drawings."""
    torch.manual_seed(recipe.seed)
    wide = recipe.model["channels"]
    layers: list[nn.Module] = []
    before = 1
    for place in range(recipe.model["layers"]):
        layers.append(nn.Conv2d(before, wide, 3, padding=1))
        if recipe.model.get("batch_norm"):
            layers.append(nn.BatchNorm2d(wide))
        layers.append(activation(recipe.model["activation"]))
        if place < 2:
            layers.append(nn.MaxPool2d(2))
        before = wide
    if recipe.model.get("dropout"):
        layers.append(nn.Dropout(recipe.model["dropout"]))
    side = SIDE // 2 ** min(2, recipe.model["layers"])
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(wide * side * side, CLASSES))
    scale_weights(model, recipe.model.get("init_gain", 1.0))
    workload = Classifier(recipe, model)
    workload.chance = math.log(CLASSES)
    held = recipe.data["val_size"]
    images, labels = draw(recipe.seed, recipe.data["train_size"] + held)
    workload.val_x, workload.val_y = images[:held], labels[:held]
    workload.train_x, workload.train_y = cut(recipe.data, images[held:], labels[held:])
    return workload


@functools.lru_cache(maxsize=8)
def draw(seed: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes with random place, size, tilt and noise, as distance fields."""
    rng = np.random.default_rng([seed, 2])
    y = rng.integers(0, CLASSES, count)
    grid = np.arange(SIDE) - (SIDE - 1) / 2
    shift = rng.normal(0, 1.0, (2, count, 1, 1))
    tilt = rng.normal(0, 0.25, (count, 1, 1))
    radius = rng.uniform(3.0, 5.0, (count, 1, 1))
    across, down = grid[None, None, :] - shift[0], grid[None, :, None] - shift[1]
    u = across * np.cos(tilt) + down * np.sin(tilt)
    v = down * np.cos(tilt) - across * np.sin(tilt)
    outside = np.maximum(abs(u), abs(v)) - radius
    fields = [
        abs(np.hypot(u, v) - radius),
        abs(outside),
        np.maximum(abs(u), abs(v) - radius),
        np.maximum(abs(v), abs(u) - radius),
        np.maximum(np.minimum(abs(u), abs(v)), outside),
        np.maximum(np.minimum(abs(u - v), abs(u + v)) / 1.4, outside),
        np.minimum(np.maximum(abs(u + radius), abs(v) - radius), abs(v - radius) + abs(u) / 9),
        abs(abs(u) + abs(v) - radius * 1.2) / 1.4,
    ]
    chosen = np.choose(y[:, None, None], fields)
    images = 1 / (1 + np.exp(4 * (chosen - 0.8))) - 0.25 + rng.normal(0, 0.35, chosen.shape)
    return torch.tensor(images[:, None] * 2, dtype=torch.float32), torch.tensor(y)
