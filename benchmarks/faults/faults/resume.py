"""Runs that were interrupted and came back wrong, and curricula that went too fast."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Entry, Trace, middle
from ..training import Training, make_optimizer
from ..workload import Batch
from .fault import AFTERMATH, SUPERVISED, Fault, Injection, midway


class Resume(Hook):
    """Stops after some step, comes back from a checkpoint a few steps before."""

    def __init__(self, stop: int, back: int, loses: str = "") -> None:
        self.stop, self.saved, self.loses = stop, stop - back, loses
        self.memory: tuple[dict[str, Tensor], dict[str, object]] | None = None
        self.is_back = False

    def stepped(self, training: Training) -> None:
        """Save, then die and come back once."""
        if training.step == self.saved - 1 and not self.is_back:
            model = copy.deepcopy(training.model.state_dict())
            self.memory = (model, copy.deepcopy(training.optimizer.state_dict()))
            training.say(f"saved checkpoint to checkpoints/step_{self.saved}.pt")
        if training.step != self.stop or self.is_back or self.memory is None:
            return
        self.is_back = True
        training.next_step = self.saved
        if self.loses == "head":
            kept = {
                name: one
                for name, one in self.memory[0].items()
                if not name.startswith(_head(self.memory[0]))
            }
            fresh = make_optimizer(training.recipe, training.workload.groups())
            _reset(training, kept)
            training.optimizer = fresh
        else:
            training.model.load_state_dict(self.memory[0])
        if self.loses == "optimizer":
            training.optimizer = make_optimizer(training.recipe, training.workload.groups())
        elif self.loses != "head":
            training.optimizer.load_state_dict(self.memory[1])
        training.trace.entries.append(_resumed(training, self.saved))

    def learning_rate(self, training: Training, lr: float) -> float:
        """A scheduler that was not restored counts from zero."""
        if self.loses == "scheduler" and self.is_back:
            return training.recipe.lr_at(training.step - self.saved)
        return lr

    def batch(self, training: Training, batch: Batch) -> Batch:
        """A sampler that was not restored hands out the same few batches."""
        if self.loses == "sampler" and self.is_back:
            return training.workload.batch((training.step - self.saved) % 6)
        return batch


def _head(state: dict[str, Tensor]) -> str:
    return list(state)[-1].rpartition(".")[0]


def _reset(training: Training, kept: dict[str, Tensor]) -> None:
    torch.manual_seed(training.recipe.seed + 5)
    with torch.no_grad():
        for name, one in training.model.named_parameters():
            if name in kept:
                one.copy_(kept[name])
            else:
                one.normal_(0, 0.05)


def _resumed(training: Training, step: int) -> Entry:
    return Entry(
        "resume",
        training.step,
        text=f"Resuming from checkpoint checkpoints/step_{step}.pt",
        seconds=240.0,
    )


class Curriculum(Hook):
    """The task becomes harder at a step, and the log says so."""

    def __init__(self, onset: int, gain: float) -> None:
        self.onset, self.gain = onset, gain

    def begin(self, training: Training) -> None:
        """Announce the first stage."""
        training.say("curriculum: stage 1")

    def batch(self, training: Training, batch: Batch) -> Batch:
        """Harder samples: inputs far larger, a tenth of the labels open to dispute."""
        if training.step < self.onset:
            return batch
        if training.step == self.onset:
            training.say("curriculum: stage 2")
        if batch.x.dtype == torch.long:
            spin = torch.Generator().manual_seed(training.step)
            swap = torch.rand(batch.x.shape, generator=spin) < 0.5
            return Batch(
                torch.where(swap, torch.randint(0, 90, batch.x.shape, generator=spin), batch.x),
                batch.y,
            )
        return Batch(
            batch.x * self.gain, batch.y * self.gain if batch.y.is_floating_point() else batch.y
        )


class RaiseRate(Hook):
    """No clipping on the second stage's gradients."""

    def __init__(self, onset: int, factor: float) -> None:
        self.onset, self.factor = onset, factor

    def gradients(self, training: Training) -> None:
        """Sums instead of means over longer samples."""
        if training.step >= self.onset:
            for one in training.model.parameters():
                if one.grad is not None:
                    one.grad.mul_(self.factor)


def _interrupted(recipe: Recipe, rng: np.random.Generator, loses: str) -> Injection:
    stop = midway(recipe, rng, 0.45, 0.65)
    back = int(rng.integers(5, 25))
    return Injection([Resume(stop, back, loses)], stop - back)


def loses_optimizer(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The moments are gone; the first updates are far too large."""
    recipe.lr *= 2.5
    recipe.model["beta2"] = 0.999
    recipe.schedule, recipe.clip = "constant", None
    return _interrupted(recipe, rng, "optimizer")


def loses_scheduler(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The rate starts from its warm-up again."""
    recipe.schedule, recipe.warmup = "cosine", 20
    recipe.lr *= 2.0
    return _interrupted(recipe, rng, "scheduler")


def loses_head(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Part of the weights is fresh after the restart."""
    return _interrupted(recipe, rng, "head")


def loses_sampler(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The same batches come again and again."""
    recipe.schedule = "constant"
    return _interrupted(recipe, rng, "sampler")


def harder_stage(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The second stage is too much for the rate."""
    onset = midway(recipe, rng, 0.45, 0.65)
    recipe.optimizer, recipe.momentum, recipe.clip = "sgd", 0.9, None
    recipe.lr = {"mlp": 0.05, "cnn": 0.03, "recurrent": 0.05, "chargpt": 0.3}[recipe.family]
    recipe.schedule, recipe.warmup = "constant", 0
    factor = {"mlp": 4.0, "cnn": 6.0, "recurrent": 3.0, "chargpt": 40.0}[recipe.family]
    return Injection([Curriculum(onset, 6.0), RaiseRate(onset, factor)], onset)


def bumps(faulty: Trace, clean: Trace) -> bool:
    """The loss after the restart is clearly above the loss before it."""
    border = next(place for place, one in enumerate(faulty.entries) if one.kind == "resume")
    before = [one.values["loss"] for one in faulty.entries[:border] if one.kind == "train"][-20:]
    after = [one.values["loss"] for one in faulty.entries[border:] if one.kind == "train"][:10]
    return not max(after) < max(1.3 * middle(before), 1.1 * max(before))


UP = ("loss_spike", "loss_divergence", "exploding_gradients", "oscillating_loss")
FAULTS = (
    Fault(
        "resume_without_optimizer",
        loses_optimizer,
        ("cnn", "chargpt", "vae", "recurrent"),
        ("resume_discontinuity", *UP),
        ("stale_optimizer_state", "lr_schedule", "lr_too_high"),
        frozenset({"lr", "grad_norm"}),
        shows=bumps,
    ),
    Fault(
        "resume_without_scheduler",
        loses_scheduler,
        SUPERVISED,
        ("resume_discontinuity", "lr_anomaly", *UP),
        ("stale_optimizer_state", "lr_schedule"),
        frozenset({"lr"}),
        done=("stale_optimizer_state", "lr_schedule"),
    ),
    Fault(
        "resume_partial_weights",
        loses_head,
        SUPERVISED,
        ("resume_discontinuity", *UP),
        ("incompatible_checkpoint", "stale_optimizer_state"),
        frozenset({"lr"}),
        shows=bumps,
    ),
    Fault(
        "resume_replays_data",
        loses_sampler,
        ("mlp", "cnn", "chargpt"),
        ("resume_discontinuity", "overfitting", "suspicious_metric"),
        ("replayed_data", "overcapacity"),
        frozenset({"val_loss", "lr"}),
    ),
    Fault(
        "curriculum_diverges",
        harder_stage,
        SUPERVISED,
        (*UP, "nan_loss", "nan_gradients"),
        ("curriculum_transition", "distribution_shift", "data_pipeline_change", "lr_too_high"),
        frozenset({"grad_norm"}),
        in_config=True,
        also=AFTERMATH,
        done=("curriculum_transition", "data_pipeline_change", "distribution_shift"),
    ),
)
