"""Multilayer perceptron that sorts points of a Gaussian mixture into ten classes."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from ..recipe import Recipe
from ..workload import Classifier, activation, cut, scale_weights

CLASSES, FEATURES = 10, 32


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="mlp",
        seed=seed,
        steps=800,
        batch=64,
        lr=0.05,
        optimizer="sgd",
        eval_every=50,
        model={"hidden": 96, "layers": 2, "activation": "relu", "num_classes": CLASSES},
        data={"train_size": 19200, "val_size": 1024},
        step_seconds=0.045,
    )


def build(recipe: Recipe) -> Classifier:
    """The model and its mixture of three clusters per class."""
    torch.manual_seed(recipe.seed)
    layers: list[nn.Module] = []
    width = FEATURES
    for _ in range(recipe.model["layers"]):
        layers += [nn.Linear(width, recipe.model["hidden"]), activation(recipe.model["activation"])]
        if recipe.model.get("dropout"):
            layers.append(nn.Dropout(recipe.model["dropout"]))
        width = recipe.model["hidden"]
    model = nn.Sequential(*layers, nn.Linear(width, CLASSES))
    scale_weights(model, recipe.model.get("init_gain", 1.0))
    workload = Classifier(recipe, model)
    workload.chance = math.log(CLASSES)
    rng = np.random.default_rng([recipe.seed, 1])
    centres = rng.normal(0, 0.8, (CLASSES, 3, FEATURES))
    size = recipe.data["train_size"] + recipe.data["val_size"]
    y = rng.integers(0, CLASSES, size)
    x = centres[y, rng.integers(0, 3, size)] + rng.normal(0, 1.0, (size, FEATURES))
    inputs, labels = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    held = recipe.data["val_size"]
    workload.val_x, workload.val_y = inputs[:held], labels[:held]
    workload.train_x, workload.train_y = cut(recipe.data, inputs[held:], labels[held:])
    return workload
