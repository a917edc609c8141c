"""The kinds of small trainings: each module has `recipe(seed)` and `build(recipe)`."""

from __future__ import annotations

from collections.abc import Callable

from ..recipe import Recipe
from ..workload import Workload
from . import chargpt, cnn, gan, mlp, policy, recurrent, vae

FAMILIES: dict[str, tuple[Callable[[int], Recipe], Callable[[Recipe], Workload]]] = {
    "mlp": (mlp.recipe, mlp.build),
    "cnn": (cnn.recipe, cnn.build),
    "chargpt": (chargpt.recipe, chargpt.build),
    "recurrent": (recurrent.recipe, recurrent.build),
    "vae": (vae.recipe, vae.build),
    "gan": (gan.recipe, gan.build),
    "policy": (policy.recipe, policy.build),
}
TEST_ONLY = frozenset({"cnn", "recurrent"})
"""Families that no threshold is ever tuned on."""


def recipe_of(family: str, seed: int) -> Recipe:
    """The healthy settings of a family."""
    return FAMILIES[family][0](seed)


def build(recipe: Recipe) -> Workload:
    """Model and data of a recipe."""
    return FAMILIES[recipe.family][1](recipe)
