"""Models that cannot learn: vanishing, saturated, dead, frozen, too small, or with a wrong head."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor, nn

from ..hooks import Hook
from ..recipe import Recipe
from ..training import Training, make_optimizer
from ..workload import Batch, Workload
from .fault import CLASSIFIERS, SUPERVISED, Fault, Injection, hardly_learns, stays_high

STUCK = ("not_learning", "plateau", "slow_convergence", "underfitting")


class Biases(Hook):
    """Starts every hidden bias far below zero, so that no rectifier ever opens."""

    def begin(self, training: Training) -> None:
        """All hidden layers, not the head."""
        layers = [one for one in training.model.modules() if isinstance(one, nn.Linear | nn.Conv2d)]
        with torch.no_grad():
            for layer in layers[:-1]:
                if layer.bias is not None:
                    layer.bias.fill_(-12.0)


class Zeros(Hook):
    """Starts every weight at zero."""

    def begin(self, training: Training) -> None:
        """Norms keep their ones: only matrices and vectors of layers are cleared."""
        with torch.no_grad():
            for one in training.model.parameters():
                if one.dim() > 1:
                    one.zero_()


class WrongParameters(Hook):
    """The optimizer holds the parameters of another copy of the model."""

    def begin(self, training: Training) -> None:
        """Built before the model was wrapped, as it happens."""
        copies = [nn.Parameter(one.detach().clone()) for one in training.model.parameters()]
        training.optimizer = make_optimizer(training.recipe, [{"params": copies}])


class FrozenBody(Hook):
    """Everything but the head is left out of training."""

    def begin(self, training: Training) -> None:
        """requires_grad is off; gradients of the body are not even computed."""
        parameters = list(training.model.named_parameters())
        head = parameters[-1][0].rpartition(".")[0]
        for name, one in parameters:
            one.requires_grad_(name.startswith(head))


class SoftmaxTwice(Hook):
    """The model already ends in a softmax, the loss applies another."""

    def begin(self, training: Training) -> None:
        """Only the loss changes; the arg max stays."""
        training.model.register_forward_hook(lambda _m, _i, out: torch.softmax(out, -1))


class ScaleInput(Hook):
    """Inputs come as raw counts instead of standardised values."""

    def __init__(self, factor: float, shift: float) -> None:
        self.factor, self.shift = factor, shift

    def begin(self, training: Training) -> None:
        """Training and validation alike."""
        work: Workload = training.workload
        for name in ("train_x", "val_x"):
            setattr(work, name, getattr(work, name) * self.factor + self.shift)
        if work.train_y.is_floating_point():
            for name in ("train_y", "val_y"):
                setattr(work, name, getattr(work, name) * self.factor + self.shift)


class Broadcast(Hook):
    """Targets keep an extra axis, so that each forecast is compared with every target."""

    def begin(self, training: Training) -> None:
        """What torch says about such sizes goes to the log, once."""
        work = training.workload
        right = work.loss
        warned = False

        def all_pairs(batch: Batch) -> tuple[Tensor, dict[str, float]]:
            nonlocal warned
            guess = training.model(batch.x)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                loss = nn.functional.mse_loss(guess[:, None], batch.y[None])
            if caught and not warned:
                warned = True
                said = f"train.py:88: UserWarning: {caught[0].message}"
                training.say(f"{said}\n  loss = F.mse_loss(pred, target)", "stderr")
            return loss, right(batch)[1]

        work.loss = all_pairs  # type: ignore[method-assign]


def deep_sigmoid(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Many sigmoid layers in a row."""
    recipe.model.update(activation="sigmoid", layers=9 if recipe.family == "mlp" else 7)
    if recipe.family == "mlp":
        recipe.model["hidden"] = 48
    return Injection()


def saturated(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Weights so large that every tanh sits at its end."""
    recipe.model.update(
        activation="tanh", layers=5 if recipe.family == "mlp" else 3, init_gain=25.0
    )
    return Injection()


def dead_rectifiers(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """No rectifier opens."""
    return Injection([Biases()])


def huge_start(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Initial weights many times too large."""
    recipe.model["init_gain"] = {
        "mlp": 20.0,
        "cnn": 8.0,
        "chargpt": 40.0,
        "recurrent": 30.0,
        "vae": 3.0,
    }[recipe.family]
    return Injection()


def all_zero(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """All weights start equal."""
    return Injection([Zeros()])


def raw_inputs(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Values in the hundreds."""
    return Injection([ScaleInput(float(rng.uniform(80, 150)), 100.0)])


def double_softmax(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Softmax before a loss that applies it."""
    return Injection([SoftmaxTwice()])


def frozen_all(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Nothing that the optimizer moves is in the model."""
    return Injection([WrongParameters()])


def frozen_body(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Only the head learns."""
    return Injection([FrozenBody()])


def tiny(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A model that is too small for its task."""
    recipe.model.update({"mlp": {"hidden": 2}, "cnn": {"channels": 1}}[recipe.family])
    return Injection()


def broadcast(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The forecast falls to the mean."""
    return Injection([Broadcast()])


DETAIL = frozenset({"grad_norm", "layers", "update_ratio"})
GRAD = frozenset({"grad_norm"})
ZERO = frozenset({"grad_norm", "zero_share"})
VAL = frozenset({"val_loss"})
FAULTS = (
    Fault(
        "vanishing_gradients",
        deep_sigmoid,
        CLASSIFIERS,
        ("vanishing_gradients", *STUCK),
        ("saturating_activations", "poor_init"),
        DETAIL,
        in_config=True,
        shows=hardly_learns,
    ),
    Fault(
        "saturated_activations",
        saturated,
        CLASSIFIERS,
        (
            "vanishing_gradients",
            "dead_units",
            "exploding_gradients",
            *STUCK,
            "oscillating_loss",
            "param_imbalance",
            "suspicious_metric",
        ),
        ("saturating_activations", "poor_init", "lr_too_high"),
        DETAIL,
        in_config=True,
        shows=stays_high,
        done=("saturating_activations", "poor_init"),
    ),
    Fault(
        "dead_relu",
        dead_rectifiers,
        CLASSIFIERS,
        ("dead_units", "vanishing_gradients", "frozen_layers", *STUCK),
        ("dead_relu", "poor_init", "saturating_activations"),
        ZERO | DETAIL,
        shows=hardly_learns,
        done=("dead_relu", "poor_init"),
    ),
    Fault(
        "init_too_large",
        huge_start,
        (*SUPERVISED, "vae"),
        (
            "exploding_gradients",
            "suspicious_metric",
            "loss_divergence",
            "param_imbalance",
            "oscillating_loss",
            "dead_units",
            "nan_loss",
            "loss_spike",
            *STUCK,
        ),
        ("poor_init", "unnormalized_inputs", "lr_too_high", "dead_relu"),
        GRAD,
        in_config=True,
        shows=stays_high,
    ),
    Fault(
        "init_all_zero",
        all_zero,
        ("mlp",),
        ("vanishing_gradients", "frozen_layers", "dead_units", *STUCK, "mode_collapse"),
        ("poor_init", "dead_relu", "frozen_parameters"),
        DETAIL,
        shows=hardly_learns,
    ),
    Fault(
        "unnormalized_inputs",
        raw_inputs,
        ("mlp", "cnn", "recurrent"),
        (
            "exploding_gradients",
            "loss_divergence",
            "oscillating_loss",
            "nan_loss",
            "loss_spike",
            "suspicious_metric",
            "dead_units",
            "nan_gradients",
            *STUCK,
        ),
        ("unnormalized_inputs", "lr_too_high", "poor_init"),
        GRAD,
        shows=stays_high,
    ),
    Fault(
        "double_softmax",
        double_softmax,
        CLASSIFIERS,
        ("suspicious_metric", *STUCK),
        ("wrong_loss",),
        frozenset({"acc", "val_loss", "val_acc"}),
        shows=stays_high,
    ),
    Fault(
        "frozen_all",
        frozen_all,
        (*SUPERVISED, "vae"),
        ("frozen_layers", *STUCK),
        ("frozen_parameters",),
        VAL,
    ),
    Fault(
        "frozen_body",
        frozen_body,
        ("mlp", "cnn", "chargpt", "recurrent"),
        ("frozen_layers", *STUCK),
        ("frozen_parameters", "undercapacity"),
        DETAIL,
    ),
    Fault(
        "undercapacity",
        tiny,
        ("mlp", "cnn"),
        ("underfitting", "plateau", "slow_convergence", "not_learning"),
        ("undercapacity", "lr_too_low", "corrupt_labels", "wrong_loss"),
        frozenset({"val_loss", "lr"}),
        in_config=True,
        shows=stays_high,
    ),
    Fault(
        "broadcast_targets",
        broadcast,
        ("recurrent",),
        ("shape_mismatch", "mode_collapse", "suspicious_metric", *STUCK),
        ("wrong_loss", "code_bug", "objective_collapse"),
        VAL,
        shows=stays_high,
        done=("wrong_loss", "code_bug"),
    ),
)
