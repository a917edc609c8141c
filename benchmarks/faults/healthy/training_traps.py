"""Traps that lie in how a healthy run really behaves."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from ..faults.fault import Injection
from ..faults.resources import spread_over_ranks
from ..faults.resume import Resume
from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Trace
from ..training import Training
from ..workload import Batch
from .trap import EVERY, SUPERVISED, Trap


class BatchRamp(Hook):
    """Batches grow in four stages; the log says how large they are."""

    def batch(self, training: Training, batch: Batch) -> Batch:
        """A quarter of the full size at first."""
        stage = min(3, 8 * training.step // training.recipe.steps)
        size = max(2, len(batch) * (stage + 1) // 4)
        return Batch(batch.x[:size], batch.y[:size])


class LongerSequences(Hook):
    """Sequences grow from eight characters to the full length."""

    def batch(self, training: Training, batch: Batch) -> Batch:
        """Three stages over the first half of the run."""
        long = sequence_length(training.step, training.recipe.steps)
        return Batch(batch.x[:, :long], batch.y[:, :long])


def sequence_length(step: int, steps: int) -> int:
    """Characters per sequence at a step."""
    return (8, 16, 32)[min(2, 6 * step // steps)]


class SlowStart(Hook):
    """The first steps include compilation and cold caches."""

    def times(self, training: Training, step: float, data: float) -> tuple[float, float]:
        """Half a minute for the very first."""
        if training.step < 6:
            return step * (120 if training.step == 0 else 8), data * 5
        return step, data


class SavePauses(Hook):
    """Every fiftieth step waits for a checkpoint."""

    def times(self, training: Training, step: float, data: float) -> tuple[float, float]:
        """Four times as long."""
        return (step * 4, data) if training.step % 50 == 49 else (step, data)


class HardBatch(Hook):
    """Single batches that are much harder than their neighbours."""

    def __init__(self, places: frozenset[int]) -> None:
        self.places = places

    def loss(self, training: Training, loss: Tensor) -> Tensor:
        """The batch has several times the usual loss and one step later nothing is left of it."""
        return loss + 1.6 * loss.detach() if training.step in self.places else loss


class Pretrained(Hook):
    """Starts from weights that already know the task."""

    def begin(self, training: Training) -> None:
        """Train in silence first, at the full rate."""
        training.say("loaded pretrained weights from checkpoints/base.pt")
        recipe = training.recipe.clone()
        recipe.lr *= 10
        recipe.steps *= 3
        recipe.schedule = "cosine"
        first = Training(recipe)
        first.run()
        training.model.load_state_dict(first.model.state_dict())


class EarlyStop(Hook):
    """Stops when the validation loss has not improved three times in a row."""

    best, since = math.inf, 0

    def evaluation(self, training: Training, values: dict[str, float]) -> dict[str, float]:
        """Count the evaluations without progress."""
        if values["val_loss"] < self.best - 1e-4:
            self.best, self.since = values["val_loss"], 0
        else:
            self.since += 1
        if self.since >= 3 and training.stops_at is None:
            training.stops_at = training.step + 1
            training.say(
                "Early stopping: validation loss did not improve in the last 3 evaluations"
            )
        return values


class Smoothing(Hook):
    """Labels are smoothed, so that the loss has a floor far above zero."""

    def begin(self, training: Training) -> None:
        """A tenth of the mass goes to the other classes."""
        work = training.workload

        def smooth(batch: Batch) -> tuple[Tensor, dict[str, float]]:
            logits = training.model(batch.x)
            loss = nn.functional.cross_entropy(logits, batch.y, label_smoothing=0.1)
            return loss, {"acc": float((logits.argmax(-1) == batch.y).float().mean())}

        work.loss = smooth  # type: ignore[method-assign]


class CacheFills(Hook):
    """Memory grows while a cache fills in the first tenth, then stays."""

    def stepped(self, training: Training) -> None:
        """Really held."""
        if training.step < training.recipe.steps // 10:
            training.hoard.append(torch.ones(500_000))


class Easy(Hook):
    """Clusters far apart: the loss falls to almost nothing."""

    def begin(self, training: Training) -> None:
        """Move every sample towards the mean of its class."""
        work = training.workload
        flat = work.train_x.flatten(1)
        means = torch.stack([flat[work.train_y == kind].mean(0) for kind in range(10)])
        for name in ("train", "val"):
            x, y = getattr(work, f"{name}_x"), getattr(work, f"{name}_y")
            setattr(work, f"{name}_x", 0.35 * x + 2.5 * means[y].view_as(x))


def resumed(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Interrupted and resumed with everything in place; some steps are logged twice."""
    stop = int(recipe.steps * rng.uniform(0.4, 0.7))
    return Injection([Resume(stop, int(rng.integers(10, 40)))])


def warmed_up(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A quarter of the run is warm-up."""
    recipe.warmup, recipe.schedule = recipe.steps // 4, "cosine"
    return Injection()


def decayed(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The rate goes to zero at the end."""
    recipe.schedule = str(rng.choice(["linear", "cosine", "steps"]))
    return Injection()


def cyclic(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Four warm restarts."""
    recipe.schedule, recipe.warmup = "cycles", 0
    return Injection()


def accumulated(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Four small batches per step."""
    recipe.accumulate, recipe.batch, recipe.steps = 4, max(4, recipe.batch // 4), recipe.steps // 2
    return Injection()


def ramped(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Batches grow, and their size is logged."""

    def finish(trace: Trace) -> Trace:
        for entry in trace.of("train"):
            stage = min(3, 8 * entry.step // trace.steps)
            entry.values["batch_size"] = float(max(2, recipe.batch * (stage + 1) // 4))
        return trace

    return Injection([BatchRamp()], finish=finish)


def lengthened(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Sequences grow, and their length is logged."""

    def finish(trace: Trace) -> Trace:
        for entry in trace.of("train"):
            entry.values["seq_len"] = float(sequence_length(entry.step, trace.steps))
        return trace

    return Injection([LongerSequences()], finish=finish)


def tiny_validation(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Two dozen validation samples, looked at often."""
    recipe.data["val_size"], recipe.eval_every = 24, 20
    return Injection()


def ranks(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Four ranks write into one file."""
    return Injection(finish=lambda trace: spread_over_ranks(trace, 4, None, 1.0, recipe.seed))


def buffered(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Still running; the last lines are ten minutes old and sit in a buffer."""
    injection = Injection(is_finished=False, silent_seconds=float(rng.uniform(200, 600)))
    recipe.step_seconds = 20.0
    injection.hooks = [StopAt(int(recipe.steps * rng.uniform(0.4, 0.8)))]
    return injection


class StopAt(Hook):
    """The log ends here because the run has come no further."""

    def __init__(self, step: int) -> None:
        self.step = step

    def begin(self, training: Training) -> None:
        """No more steps after this one."""
        training.stops_at = self.step


def still_running(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Half way, and the last line is seconds old."""
    return Injection(
        [StopAt(int(recipe.steps * rng.uniform(0.3, 0.7)))], is_finished=False, silent_seconds=2.0
    )


def converged(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Loss near zero, with relative jumps that mean nothing."""
    return Injection([Easy()])


def slow_start(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Compilation first."""
    return Injection([SlowStart()])


def save_pauses(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Regular pauses."""
    return Injection([SavePauses()])


def small_batches(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Much noise, a gentle rate."""
    recipe.batch = {"mlp": 8, "cnn": 6, "chargpt": 2, "recurrent": 4}[recipe.family]
    recipe.lr *= 0.3
    recipe.steps = int(recipe.steps * 1.5)
    return Injection()


def hard_batches(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Two or three outliers."""
    places = rng.integers(recipe.steps // 4, recipe.steps, int(rng.integers(2, 4)))
    return Injection([HardBatch(frozenset(int(one) for one in places))])


def late_drop(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A long plateau near chance, then the loss falls."""
    recipe.model["init_gain"], recipe.model["layers"] = 0.3, 3
    return Injection()


def dropped_out(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Training loss with dropout lies above validation loss without."""
    recipe.model["dropout"] = 0.25
    return Injection()


def fine_tuned(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Starts near the optimum."""
    recipe.lr *= 0.1
    recipe.schedule, recipe.warmup = "linear", 0
    recipe.steps //= 2
    recipe.model["init_from"] = "checkpoints/base.pt"
    return Injection([Pretrained()])


def stopped_early(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Ends before the plan, on purpose."""
    recipe.data["train_size"] = {"mlp": 7680, "cnn": 3840}[recipe.family]
    recipe.eval_every = recipe.steps // 25
    return Injection([EarlyStop()])


def smoothed_labels(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A floor above zero."""
    return Injection([Smoothing()])


def cached(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Memory rises early and then no more."""
    return Injection([CacheFills()])


LR, ACC = frozenset({"lr"}), frozenset({"acc", "val_loss", "val_acc"})
TIME = frozenset({"step_time", "throughput"})
TRAPS = (
    Trap("plain", 0, families=EVERY),
    Trap("resumed_well", 3, resumed, (*SUPERVISED, "vae"), LR),
    Trap("long_warmup", 4, warmed_up, SUPERVISED, LR),
    Trap("decay_tail", 5, decayed, (*SUPERVISED, "vae"), LR),
    Trap("cyclic_rate", 6, cyclic, SUPERVISED, LR),
    Trap("accumulation", 7, accumulated, ("mlp", "cnn", "chargpt")),
    Trap("batch_ramp", 8, ramped, SUPERVISED, frozenset({"batch_size"})),
    Trap("sequence_ramp", 8, lengthened, ("chargpt",), frozenset({"seq_len", "lr"})),
    Trap(
        "tiny_validation", 9, tiny_validation, ("mlp", "cnn", "recurrent"), frozenset({"val_loss"})
    ),
    Trap(
        "other_objectives",
        10,
        families=("gan", "policy", "vae"),
        needs=frozenset({"grad_norm", "val_loss"}),
    ),
    Trap(
        "ranks_interleaved",
        17,
        ranks,
        ("mlp", "chargpt", "cnn"),
        frozenset({"compute_time", "step_time"}),
        dialects=("slurm",),
    ),
    Trap("buffered_output", 19, buffered, SUPERVISED, dialects=("logging", "jsonl", "slurm")),
    Trap("still_running", 19, still_running, EVERY),
    Trap("converged", 20, converged, ("mlp",), frozenset({"val_loss"}), {"interval": 1}),
    Trap("slow_first_steps", 21, slow_start, SUPERVISED, TIME, {"interval": 1}),
    Trap("pauses_to_save", 21, save_pauses, SUPERVISED, TIME),
    Trap("noisy_small_batches", 0, small_batches, SUPERVISED),
    Trap("hard_batches", 0, hard_batches, SUPERVISED, frozenset({"grad_norm"}), {"interval": 1}),
    Trap("late_drop", 0, late_drop, ("mlp",), frozenset({"val_loss", "lr"})),
    Trap("dropout_gap", 0, dropped_out, ("mlp", "cnn"), ACC),
    Trap("fine_tuning", 0, fine_tuned, ("mlp", "cnn", "chargpt", "recurrent"), LR | {"val_loss"}),
    Trap("early_stopping", 0, stopped_early, ("mlp", "cnn"), frozenset({"val_loss"})),
    Trap("label_smoothing", 0, smoothed_labels, ("mlp", "cnn"), ACC),
    Trap("memory_settles", 0, cached, ("mlp", "chargpt", "recurrent"), frozenset({"memory"})),
)
