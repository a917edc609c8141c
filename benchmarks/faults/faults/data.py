"""Labels, order, balance and evaluation of the data."""

from __future__ import annotations

import numpy as np
import torch

from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Trace
from ..training import Training
from ..workload import Batch
from .fault import CLASSIFIERS, SUPERVISED, Fault, Injection, midway, stays_high

STUCK = ("not_learning", "plateau", "underfitting", "slow_convergence")


class RandomLabels(Hook):
    """Replaces a share of the labels, from a step on, afresh in every batch or once and for all."""

    def __init__(self, share: float, onset: int = 0) -> None:
        self.share, self.onset = share, onset

    def batch(self, training: Training, batch: Batch) -> Batch:
        """Fixed per sample where the order repeats; the generator follows the step."""
        if training.step < self.onset:
            return batch
        spin = torch.Generator().manual_seed(training.recipe.seed * 7919 + training.step)
        y = batch.y[torch.randperm(len(batch.y), generator=spin)]
        keep = torch.rand(batch.y.shape, generator=spin) >= self.share
        return Batch(batch.x, torch.where(keep, batch.y, y))


class Imbalance(Hook):
    """One class makes up nearly all of the data."""

    def begin(self, training: Training) -> None:
        """Thin the others out in both sets."""
        work = training.workload
        rng = np.random.default_rng([training.recipe.seed, 17])
        for name in ("train", "val"):
            x, y = getattr(work, f"{name}_x"), getattr(work, f"{name}_y")
            keep = torch.tensor((y.numpy() == 0) | (rng.random(len(y)) < 0.006))
            setattr(work, f"{name}_x", x[keep])
            setattr(work, f"{name}_y", y[keep])

    def evaluation(self, training: Training, values: dict[str, float]) -> dict[str, float]:
        """The report also holds the mean recall over classes."""
        work = training.workload
        with torch.no_grad():
            guess = training.model(work.val_x).argmax(-1)
        rates = [
            float((guess[work.val_y == kind] == kind).float().mean())
            for kind in torch.unique(work.val_y)
        ]
        return {**values, "val_balanced_acc": sum(rates) / len(rates), "val_majority_share": float((guess == 0).float().mean())}


class Sorted(Hook):
    """Samples come class by class."""

    def begin(self, training: Training) -> None:
        """Sort once and keep the order in every epoch."""
        work = training.workload
        order = torch.argsort(work.train_y, stable=True)
        work.train_x, work.train_y = work.train_x[order], work.train_y[order]
        size, batch = work.steps_per_epoch, training.recipe.batch

        def in_order(step: int) -> Batch:
            start = (step % size) * batch
            return Batch(work.train_x[start : start + batch], work.train_y[start : start + batch])

        work.batch = in_order  # type: ignore[method-assign]


class Shift(Hook):
    """From a step on the data come from somewhere else."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def batch(self, training: Training, batch: Batch) -> Batch:
        """Features in another order; text backwards."""
        if training.step < self.onset:
            return batch
        if batch.x.dtype == torch.long:
            return Batch((batch.x * 37 + 11) % 90, (batch.y * 37 + 11) % 90)
        if batch.x.dim() == 4:
            return Batch(batch.x.flip(-1).transpose(-1, -2) * -1.0, batch.y)
        if training.recipe.family == "recurrent":
            return Batch(batch.x[:, torch.arange(batch.x.shape[1]) // 3 * 3 % batch.x.shape[1]] * 2, batch.y * -2)
        return Batch(batch.x.roll(5, -1), batch.y if batch.y.dim() == 1 else batch.y.roll(5, -1))


class OtherValidation(Hook):
    """Validation inputs miss a step of the preprocessing."""

    def begin(self, training: Training) -> None:
        """Not standardised there."""
        work = training.workload
        work.val_x = work.val_x * 4.0 + 3.0


class StillTraining(Hook):
    """Nobody calls eval()."""

    def begin(self, training: Training) -> None:
        """Dropout goes on during validation, sample by sample."""
        training.model.eval = lambda: training.model  # type: ignore[method-assign,assignment]


class Leak(Hook):
    """Validation samples are copies of training samples."""

    def begin(self, training: Training) -> None:
        """The first of them."""
        work, held = training.workload, len(training.workload.val_x)
        work.val_x, work.val_y = work.train_x[:held], work.train_y[:held]


class Blank(Hook):
    """The loader hands out empty inputs."""

    def begin(self, training: Training) -> None:
        """Both sets."""
        work = training.workload
        work.train_x, work.val_x = torch.zeros_like(work.train_x), torch.zeros_like(work.val_x)


class TwoTasks(Hook):
    """First the lower classes, then only the upper ones; both are measured."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def batch(self, training: Training, batch: Batch) -> Batch:
        """Samples of the task at hand."""
        work = training.workload
        half = int(work.train_y.max()) // 2
        is_new = training.step >= self.onset
        wanted = torch.nonzero((work.train_y > half) == is_new).squeeze(1)
        spin = torch.Generator().manual_seed(training.recipe.seed * 31 + training.step)
        chosen = wanted[torch.randint(len(wanted), (training.recipe.batch,), generator=spin)]
        return Batch(work.train_x[chosen], work.train_y[chosen])

    def evaluation(self, training: Training, values: dict[str, float]) -> dict[str, float]:
        """Accuracy on each task."""
        work = training.workload
        half = int(work.train_y.max()) // 2
        training.model.eval()
        with torch.no_grad():
            right = (training.model(work.val_x).argmax(-1) == work.val_y).float()
        training.model.train()
        old = work.val_y <= half
        return {"val_acc_task1": float(right[old].mean()), "val_acc_task2": float(right[~old].mean())}


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
    Fault("labels_shuffled", shuffled, (*CLASSIFIERS, "chargpt", "recurrent"), (*STUCK, "overfitting", "mode_collapse"),
          ("corrupt_labels", "data_pipeline_change", "wrong_loss", "code_bug"), ACC, shows=stays_high),
    Fault("labels_noisy", noisy, CLASSIFIERS, (*STUCK, "overfitting", "suspicious_metric"), ("corrupt_labels", "undercapacity", "data_pipeline_change"), ACC, shows=stays_high),
    Fault("labels_go_wrong", noisy_later, SUPERVISED, UP, ("corrupt_labels", *CHANGED, "bad_batch"), VAL),
    Fault("class_imbalance", imbalanced, CLASSIFIERS, ("class_imbalance", "mode_collapse", "suspicious_metric"),
          ("class_imbalance", "objective_collapse"), ACC | {"val_balanced_acc", "val_majority_share"}),
    Fault("overfitting", overfits, (*CLASSIFIERS, "chargpt"), ("overfitting",), ("overcapacity", "replayed_data"), ACC, in_config=True, shows=turns_up),
    Fault("leakage", leaks, CLASSIFIERS, (), ("data_leakage",), ACC, observable=False),
    Fault("validation_differs", other_validation, CLASSIFIERS, ("overfitting", "suspicious_metric", "config_mismatch"),
          ("data_pipeline_change", "distribution_shift", "code_bug"), ACC, shows=gap_from_start),
    Fault("eval_mode_missing", still_training, CLASSIFIERS, ("overfitting", "suspicious_metric"),
          ("code_bug", "data_pipeline_change", "distribution_shift"), ACC, observable=False),
    Fault("not_shuffled", in_order, CLASSIFIERS, ("oscillating_loss", "loss_spike", "forgetting", "not_learning", "loss_divergence", "overfitting", "suspicious_metric"),
          (*CHANGED, "sequential_training", "unshuffled_data", "lr_too_high"), VAL),
    Fault("distribution_shift", shifts, (*SUPERVISED, "vae"), UP, (*CHANGED, "corrupt_labels", "bad_batch"), VAL),
    Fault("blank_inputs", blank, (*CLASSIFIERS, "chargpt"), (*STUCK, "mode_collapse", "suspicious_metric", "frozen_layers", "vanishing_gradients"),
          ("data_pipeline_change", "objective_collapse", "corrupt_labels", "code_bug", "wrong_loss", "empty_input"), ACC | {"distinct"}, shows=stays_high),
    Fault("forgetting", sequential, CLASSIFIERS, ("forgetting", "loss_spike", "loss_divergence"), ("sequential_training", *CHANGED),
          frozenset({"acc", "val_acc_task1", "val_acc_task2"})),
)
