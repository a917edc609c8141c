"""The kinds of small trainings: each module has `recipe(seed)` and `build(recipe)`."""

from __future__ import annotations

from ..recipe import Recipe
from ..workload import Workload
from . import chargpt, cnn, gan, mlp, policy, recurrent, vae

MODULES = {
    "mlp": mlp,
    "cnn": cnn,
    "chargpt": chargpt,
    "recurrent": recurrent,
    "vae": vae,
    "gan": gan,
    "policy": policy,
}
TEST_ONLY = frozenset({"cnn", "recurrent"})
"""Families that no threshold is ever tuned on."""


def recipe_of(family: str, seed: int) -> Recipe:
    """The healthy settings of a family."""
    return MODULES[family].recipe(seed)


def build(recipe: Recipe) -> Workload:
    """Model and data of a recipe."""
    return MODULES[recipe.family].build(recipe)
