"""Labels, order, balance and evaluation of the data."""

from __future__ import annotations

import numpy as np

from ..recipe import Recipe
from ..trace import Trace
from .data_hooks import (
    Blank,
    Imbalance,
    Leak,
    OtherValidation,
    RandomLabels,
    Shift,
    Sorted,
    StillTraining,
    TwoTasks,
)
from .fault import AFTERMATH, CLASSIFIERS, SUPERVISED, Fault, Injection, midway, stays_high

STUCK = ("not_learning", "plateau", "underfitting", "slow_convergence")


def shuffled(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Labels have nothing to do with inputs."""
    return Injection([RandomLabels(1.0)])


def noisy(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Most labels are wrong."""
    return Injection([RandomLabels(float(rng.uniform(0.6, 0.75)))])


def noisy_later(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Labels go wrong in the middle of the run."""
    onset = midway(recipe, rng)
    return Injection([RandomLabels(0.8, onset)], onset)


def imbalanced(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A majority class that is all the model needs to know."""
    recipe.lr *= 0.3
    recipe.steps, recipe.eval_every = 300, 25
    return Injection([Imbalance()])


def overfits(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Few samples, many passes, a wide model."""
    recipe.data["train_size"] = {"mlp": 320, "cnn": 160, "chargpt": 48}[recipe.family]
    recipe.eval_every = 20
    if recipe.family == "mlp":
        recipe.model["hidden"], recipe.optimizer, recipe.lr = 256, "adam", 0.002
    if recipe.family == "chargpt":
        recipe.schedule = "constant"
    if recipe.family == "cnn":
        recipe.model["channels"], recipe.lr = 24, 0.004
    return Injection()


def leaks(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Nothing in a curve tells."""
    return Injection([Leak()])


def other_validation(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Wrong from the first evaluation on."""
    return Injection([OtherValidation()])


def still_training(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Heavy dropout also in validation."""
    recipe.model["dropout"] = 0.5
    return Injection([StillTraining()])


def in_order(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Class by class, several times over."""
    recipe.data["train_size"] = recipe.batch * (80 if recipe.family == "mlp" else 64)
    return Injection([Sorted()])


def shifts(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Another source takes over."""
    onset = midway(recipe, rng)
    return Injection([Shift(onset)], onset)


def blank(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The model sees nothing."""
    return Injection([Blank()])


def sequential(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """One task after the other."""
    onset = midway(recipe, rng, 0.45, 0.6)
    return Injection([TwoTasks(onset)], onset)


def gap_from_start(faulty: Trace, clean: Trace) -> bool:
    """Validation is far above training at every evaluation."""
    return faulty.tail("val_loss", kind="eval") > 2 * max(faulty.tail("loss"), 0.05)


def turns_up(faulty: Trace, clean: Trace) -> bool:
    """Validation rises by a fifth over its best while training goes on falling."""
    val = faulty.series("val_loss", "eval")
    return val[-1] > 1.2 * min(val) and faulty.tail("loss") < 0.8 * min(val)


VAL = frozenset({"val_loss"})
ACC = frozenset({"acc", "val_loss", "val_acc"})
UP = ("loss_spike", "loss_divergence", "forgetting", "exploding_gradients")
CHANGED = ("data_pipeline_change", "distribution_shift", "curriculum_transition")
FAULTS = (
    Fault(
        "labels_shuffled",
        shuffled,
        (*CLASSIFIERS, "chargpt", "recurrent"),
        (*STUCK, "overfitting", "mode_collapse"),
        ("corrupt_labels", "data_pipeline_change", "wrong_loss", "code_bug"),
        ACC,
        shows=stays_high,
    ),
    Fault(
        "labels_noisy",
        noisy,
        CLASSIFIERS,
        (*STUCK, "overfitting", "suspicious_metric"),
        ("corrupt_labels", "undercapacity", "data_pipeline_change"),
        ACC,
        shows=stays_high,
    ),
    Fault(
        "labels_go_wrong",
        noisy_later,
        SUPERVISED,
        UP,
        ("corrupt_labels", *CHANGED, "bad_batch"),
        VAL,
        also=AFTERMATH,
        done=("corrupt_labels", "data_pipeline_change"),
    ),
    Fault(
        "class_imbalance",
        imbalanced,
        CLASSIFIERS,
        ("class_imbalance", "mode_collapse", "suspicious_metric"),
        ("class_imbalance", "objective_collapse"),
        ACC | {"val_balanced_acc", "val_majority_share"},
    ),
    Fault(
        "overfitting",
        overfits,
        (*CLASSIFIERS, "chargpt"),
        ("overfitting",),
        ("overcapacity", "replayed_data"),
        ACC,
        in_config=True,
        shows=turns_up,
    ),
    Fault("leakage", leaks, CLASSIFIERS, (), ("data_leakage",), ACC, observable=False),
    Fault(
        "validation_differs",
        other_validation,
        CLASSIFIERS,
        ("overfitting", "suspicious_metric", "config_mismatch"),
        ("data_pipeline_change", "distribution_shift", "code_bug"),
        ACC,
        shows=gap_from_start,
        done=("data_pipeline_change", "distribution_shift"),
    ),
    Fault(
        "eval_mode_missing",
        still_training,
        CLASSIFIERS,
        ("overfitting", "suspicious_metric"),
        ("code_bug", "data_pipeline_change", "distribution_shift"),
        ACC,
        observable=False,
    ),
    Fault(
        "not_shuffled",
        in_order,
        CLASSIFIERS,
        (
            "oscillating_loss",
            "loss_spike",
            "forgetting",
            "not_learning",
            "loss_divergence",
            "overfitting",
            "suspicious_metric",
        ),
        (*CHANGED, "sequential_training", "unshuffled_data", "lr_too_high"),
        VAL,
        also=AFTERMATH,
        done=("data_pipeline_change", "sequential_training", "unshuffled_data"),
    ),
    Fault(
        "distribution_shift",
        shifts,
        (*SUPERVISED, "vae"),
        UP,
        (*CHANGED, "corrupt_labels", "bad_batch"),
        VAL,
        done=("data_pipeline_change", "distribution_shift"),
    ),
    Fault(
        "blank_inputs",
        blank,
        (*CLASSIFIERS, "chargpt"),
        (*STUCK, "mode_collapse", "suspicious_metric", "frozen_layers", "vanishing_gradients"),
        (
            "data_pipeline_change",
            "objective_collapse",
            "corrupt_labels",
            "code_bug",
            "wrong_loss",
            "empty_input",
        ),
        ACC | {"distinct"},
        shows=stays_high,
        done=("data_pipeline_change", "empty_input"),
    ),
    Fault(
        "forgetting",
        sequential,
        CLASSIFIERS,
        ("forgetting", "loss_spike", "loss_divergence"),
        ("sequential_training", *CHANGED),
        frozenset({"acc", "val_acc_task1", "val_acc_task2"}),
        done=("sequential_training", "data_pipeline_change", "distribution_shift"),
    ),
)
