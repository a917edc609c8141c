"""How data faults reach into a training: labels, order, balance and evaluation."""

from __future__ import annotations

import numpy as np
import torch

from ..hooks import Hook
from ..training import Training
from ..workload import Batch


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
        return {
            **values,
            "val_balanced_acc": sum(rates) / len(rates),
            "val_majority_share": float((guess == 0).float().mean()),
        }


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
            return Batch(
                batch.x[:, torch.arange(batch.x.shape[1]) // 3 * 3 % batch.x.shape[1]] * 2,
                batch.y * -2,
            )
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
        training.model.eval = lambda: training.model  # type: ignore[method-assign]


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
        return {
            "val_acc_task1": float(right[old].mean()),
            "val_acc_task2": float(right[~old].mean()),
        }
