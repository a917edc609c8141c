"""Objectives that are met without learning: collapsed generators, policies and latents."""

from __future__ import annotations

import numpy as np

from ..recipe import Recipe
from ..trace import Trace
from .fault import Fault, Injection

COLLAPSE = ("mode_collapse", "suspicious_metric")


def collapses(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The discriminator is too slow to push the generator apart."""
    recipe.model["d_lr_factor"] = 0.15
    recipe.lr *= 2.0
    return Injection()


def discriminator_wins(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The generator hardly learns; the discriminator tells everything apart."""
    recipe.lr *= 0.03
    recipe.model["d_lr_factor"] = 400.0
    return Injection()


def policy_freezes(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """So high a rate that the policy is certain before it knows anything."""
    recipe.lr = float(rng.uniform(8.0, 20.0))
    recipe.clip = None
    recipe.model["entropy_coef"] = 0.0
    return Injection()


def latent_collapses(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The divergence weighs so much that the code says nothing."""
    recipe.model["beta"] = 300.0
    return Injection()


def entropy_rules(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The entropy bonus drowns the reward: the policy stays at chance."""
    recipe.model["entropy_coef"] = 8.0
    return Injection()


def narrow(faulty: Trace, clean: Trace) -> bool:
    """Few modes at the end."""
    return faulty.tail("modes", 0.4, "eval") <= 3


def certain(faulty: Trace, clean: Trace) -> bool:
    """No entropy left and a reward far from the clean run's."""
    short = faulty.tail("reward") < 0.6 * clean.tail("reward")
    return faulty.tail("entropy") < 0.1 * faulty.head("entropy") and short


def empty_code(faulty: Trace, clean: Trace) -> bool:
    """No information in the latent code."""
    return faulty.tail("kl") < 0.05


def stays_random(faulty: Trace, clean: Trace) -> bool:
    """The reward does not move."""
    return faulty.tail("reward") < 0.6 * clean.tail("reward")


FAULTS = (
    Fault(
        "gan_mode_collapse",
        collapses,
        ("gan",),
        (*COLLAPSE, "loss_divergence", "plateau"),
        ("objective_collapse", "lr_too_high"),
        frozenset({"sample_std", "modes", "d_acc"}),
        in_config=True,
        shows=narrow,
    ),
    Fault(
        "gan_discriminator_wins",
        discriminator_wins,
        ("gan",),
        (*COLLAPSE, "loss_divergence", "vanishing_gradients", "not_learning"),
        ("objective_collapse", "lr_too_high", "lr_too_low"),
        frozenset({"sample_std", "modes", "d_acc"}),
        in_config=True,
        shows=narrow,
    ),
    Fault(
        "policy_collapse",
        policy_freezes,
        ("policy",),
        (*COLLAPSE, "plateau", "not_learning", "vanishing_gradients"),
        ("objective_collapse", "lr_too_high"),
        frozenset({"entropy", "val_reward"}),
        in_config=True,
        shows=certain,
        done=("objective_collapse", "lr_too_high"),
    ),
    Fault(
        "policy_never_commits",
        entropy_rules,
        ("policy",),
        ("not_learning", "plateau", "slow_convergence", "underfitting"),
        ("bad_config", "objective_collapse", "wrong_loss", "lr_too_low"),
        frozenset({"entropy", "val_reward"}),
        in_config=True,
        shows=stays_random,
    ),
    Fault(
        "posterior_collapse",
        latent_collapses,
        ("vae",),
        (*COLLAPSE, "plateau", "underfitting", "not_learning"),
        ("objective_collapse", "bad_config"),
        frozenset({"kl", "recon", "val_loss"}),
        in_config=True,
        shows=empty_code,
        done=("objective_collapse", "bad_config"),
    ),
)
