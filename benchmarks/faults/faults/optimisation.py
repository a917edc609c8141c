"""Learning rates, schedules, clipping, decay and gradients that are not cleared."""

from __future__ import annotations

import math

import numpy as np

from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Trace
from ..training import Training
from .fault import (
    AFTERMATH,
    SUPERVISED,
    Fault,
    Injection,
    hardly_learns,
    midway,
    shows_alone,
    stays_high,
)

DIVERGING = ("loss_divergence", "nan_loss", "exploding_gradients", "loss_spike", "nan_gradients")
STUCK = ("not_learning", "plateau", "underfitting", "slow_convergence")


class ChangeRate(Hook):
    """Multiplies the learning rate from one step on."""

    def __init__(self, onset: int, factor: float) -> None:
        self.onset, self.factor = onset, factor

    def learning_rate(self, training: Training, lr: float) -> float:
        """As configured until the onset."""
        return lr * self.factor if training.step >= self.onset else lr


class FastDecay(Hook):
    """A schedule that was made for a run a tenth as long."""

    def __init__(self, gone: int) -> None:
        self.gone = gone

    def learning_rate(self, training: Training, lr: float) -> float:
        """Cosine down to almost nothing, long before the end."""
        share = min(1.0, training.step / self.gone)
        return training.recipe.lr * (1e-4 + 0.5 * (1 + math.cos(math.pi * share)))


class RestartRate(Hook):
    """A scheduler that is built again in the middle of the run."""

    def __init__(self, onset: int, factor: float) -> None:
        self.onset, self.factor = onset, factor

    def learning_rate(self, training: Training, lr: float) -> float:
        """Counts from the restart."""
        if training.step < self.onset:
            return lr
        return self.factor * training.recipe.lr_at(
            training.step - self.onset + training.recipe.warmup
        )


class KeepGradients(Hook):
    """Nobody calls zero_grad."""

    def begin(self, training: Training) -> None:
        """From the first step on."""
        training.keeps_gradients = True


class WrongSign(Hook):
    """The loss is maximised from a step on."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def gradients(self, training: Training) -> None:
        """Turn every gradient round."""
        if training.step >= self.onset:
            for one in training.model.parameters():
                if one.grad is not None:
                    one.grad.neg_()


OSCILLATING = {"mlp": 16.0, "cnn": 25.0, "chargpt": 200.0, "recurrent": 120.0, "vae": 40.0}
"""By how much a good rate is multiplied."""


def diverges(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Plain gradient descent with a rate far beyond stability."""
    if recipe.family != "mlp":
        recipe.optimizer, recipe.momentum, recipe.clip = "sgd", 0.9, None
        recipe.lr = {"cnn": 2.0, "chargpt": 30.0, "recurrent": 8.0, "vae": 0.5}[recipe.family]
    else:
        recipe.lr *= float(rng.uniform(60, 120))
    recipe.warmup = 0
    return Injection()


def oscillates(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Too high, but not enough to blow up."""
    recipe.lr *= OSCILLATING[recipe.family] * float(rng.uniform(0.8, 1.3))
    return Injection()


def too_low(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Three orders of magnitude below a good rate."""
    recipe.lr *= 10 ** float(rng.uniform(-3.6, -2.8))
    return Injection()


def jumps(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The rate is suddenly many times as high, and stays so."""
    onset = midway(recipe, rng)
    factor = {"mlp": 60, "vae": 60, "recurrent": 60}.get(recipe.family, 40) * float(
        rng.uniform(0.8, 1.5)
    )
    return Injection([ChangeRate(onset, factor)], onset)


def decays_early(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The rate is gone after a tenth of the run."""
    recipe.schedule, recipe.warmup = "cosine", 0
    gone = max(10, int(recipe.steps * rng.uniform(0.05, 0.09)))
    return Injection([FastDecay(gone)], gone)


def restarts(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """After most of a cosine decay the rate is back at its peak."""
    recipe.schedule = "cosine"
    recipe.lr *= 2 if recipe.family == "mlp" else 1.5
    onset = midway(recipe, rng, 0.7, 0.85)
    return Injection([RestartRate(onset, 4.0)], onset)


def no_warmup(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A rate that only works after a warm-up, without one and without clipping."""
    recipe.warmup, recipe.clip = 0, None
    recipe.lr *= {"chargpt": 150, "cnn": 20}[recipe.family] * float(rng.uniform(0.9, 1.2))
    recipe.schedule = "cosine"
    return Injection()


def no_clipping(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A recurrent or deep net under plain momentum without a bound on its gradients."""
    recipe.clip = None
    recipe.optimizer, recipe.momentum = "sgd", 0.9
    if recipe.family == "recurrent":
        recipe.model.update(cell="rnn", activation="relu", hidden=48, init_gain=1.9)
        recipe.data["seq_len"] = 40
        recipe.lr = 0.6
    else:
        recipe.model["init_gain"] = 1.6
        recipe.lr = 1.2
    return Injection()


def overwhelming_decay(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Weights shrink faster than they learn."""
    recipe.weight_decay = {"sgd": 0.3, "adam": 0.5, "adamw": 60.0}[recipe.optimizer]
    return Injection()


def gradients_pile_up(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """zero_grad is missing."""
    recipe.clip = None
    return Injection([KeepGradients()])


def heavy_momentum(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Momentum so near to one that the run swings."""
    recipe.optimizer, recipe.momentum = "sgd", 0.999
    recipe.lr = {"mlp": 0.1, "cnn": 0.03, "recurrent": 1.0}[recipe.family]
    return Injection()


def wrong_sign(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """From a step on the loss is climbed."""
    onset = midway(recipe, rng)
    # The loss of that step was computed before its update; the next one is the first to suffer.
    return Injection([WrongSign(onset)], onset + 1)


def ends_badly(faulty: Trace, clean: Trace) -> bool:
    """Not finite, or clearly worse than the clean run."""
    now = faulty.tail("loss")
    return not math.isfinite(now) or stays_high(faulty, clean)


LR, GRAD = frozenset({"lr"}), frozenset({"grad_norm"})
FAULTS = (
    Fault(
        "lr_too_high_diverges",
        diverges,
        (*SUPERVISED, "vae"),
        DIVERGING + STUCK[:2] + ("oscillating_loss",),
        ("lr_too_high", "missing_grad_clipping"),
        LR,
        in_config=True,
        shows=shows_alone,
        also=AFTERMATH,
    ),
    Fault(
        "lr_too_high_oscillates",
        oscillates,
        (*SUPERVISED, "vae"),
        ("oscillating_loss", *DIVERGING, *STUCK, "dead_units"),
        ("lr_too_high", "missing_grad_clipping"),
        LR,
        in_config=True,
        shows=shows_alone,
        also=AFTERMATH,
    ),
    Fault(
        "lr_too_low",
        too_low,
        SUPERVISED,
        (*STUCK, "lr_anomaly"),
        ("lr_too_low", "lr_schedule"),
        LR,
        in_config=True,
        shows=hardly_learns,
    ),
    Fault(
        "lr_jump",
        jumps,
        (*SUPERVISED, "vae"),
        ("lr_anomaly", *DIVERGING, "oscillating_loss"),
        ("lr_schedule", "lr_too_high"),
        LR,
        also=AFTERMATH,
        done=("lr_schedule", "lr_too_high"),
    ),
    Fault(
        "schedule_decays_early",
        decays_early,
        SUPERVISED,
        ("lr_anomaly", *STUCK),
        ("lr_schedule", "lr_too_low"),
        LR,
        shows=stays_high,
        done=("lr_schedule", "lr_too_low"),
    ),
    Fault(
        "schedule_restarts",
        restarts,
        SUPERVISED,
        ("lr_anomaly", *DIVERGING, "oscillating_loss"),
        ("lr_schedule", "lr_too_high", "stale_optimizer_state"),
        LR,
        also=AFTERMATH,
    ),
    Fault(
        "missing_warmup",
        no_warmup,
        ("chargpt", "cnn"),
        (*DIVERGING, *STUCK, "oscillating_loss"),
        ("lr_too_high", "lr_schedule", "missing_grad_clipping"),
        LR,
        in_config=True,
        shows=shows_alone,
        also=AFTERMATH,
        done=("lr_schedule", "lr_too_high"),
    ),
    Fault(
        "no_clipping",
        no_clipping,
        ("recurrent", "chargpt"),
        (*DIVERGING, *STUCK[:2], "oscillating_loss"),
        ("missing_grad_clipping", "lr_too_high", "poor_init", "numerical_instability"),
        GRAD,
        in_config=True,
        shows=shows_alone,
        also=AFTERMATH,
        done=("missing_grad_clipping", "lr_too_high", "poor_init"),
    ),
    Fault(
        "weight_decay_overwhelms",
        overwhelming_decay,
        SUPERVISED,
        (*STUCK, "mode_collapse", "vanishing_gradients"),
        ("bad_config", "undercapacity", "weight_decay_too_high", "excessive_weight_decay"),
        in_config=True,
        shows=stays_high,
    ),
    Fault(
        "missing_zero_grad",
        gradients_pile_up,
        SUPERVISED,
        (*DIVERGING, *STUCK, "oscillating_loss"),
        ("missing_zero_grad", "lr_too_high"),
        GRAD,
        shows=ends_badly,
        also=AFTERMATH,
    ),
    Fault(
        "momentum_too_high",
        heavy_momentum,
        ("mlp", "cnn", "recurrent"),
        (*DIVERGING, *STUCK, "oscillating_loss"),
        ("lr_too_high", "bad_config"),
        LR,
        in_config=True,
        shows=shows_alone,
        also=AFTERMATH,
        done=("lr_too_high", "bad_config"),
    ),
    Fault(
        "wrong_sign",
        wrong_sign,
        (*SUPERVISED, "vae"),
        (*DIVERGING, "suspicious_metric"),
        ("wrong_loss", "code_bug", "lr_too_high", "numerical_instability"),
        also=AFTERMATH,
        done=("wrong_loss", "code_bug"),
    ),
)
