"""Values that stop being numbers, half precision, bad batches and damaged weights."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Trace
from ..training import Training
from ..workload import Batch
from .fault import AFTERMATH, SUPERVISED, Fault, Injection, midway, stays_high

NAN = ("nan_loss", "nan_gradients")


class SingularTerm(Hook):
    """Adds a term whose value or slope is not finite at one step."""

    def __init__(self, onset: int, kind: str) -> None:
        self.onset, self.kind = onset, kind

    def loss(self, training: Training, loss: Tensor) -> Tensor:
        """log(0) makes the loss infinite; sqrt at 0 leaves it finite and its slope infinite."""
        if training.step != self.onset:
            return loss
        weight = next(iter(training.model.parameters()))
        nothing = (weight * 0.0).sum()
        if self.kind == "log":
            return loss - 1e-3 * (torch.log(nothing) * nothing)
        return loss + 1e-3 * torch.sqrt(nothing)


class PoisonInput(Hook):
    """One batch holds values that are no numbers."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def batch(self, training: Training, batch: Batch) -> Batch:
        """A single cell is enough."""
        if training.step == self.onset:
            x = batch.x.clone()
            x.view(-1)[3] = math.nan if training.recipe.seed % 2 else math.inf
            return Batch(x, batch.y)
        return batch


class Garbage(Hook):
    """A pocket of broken samples: inputs far out of range and labels at random."""

    def __init__(self, onset: int, length: int, scale: float) -> None:
        self.onset, self.length, self.scale = onset, length, scale

    def batch(self, training: Training, batch: Batch) -> Batch:
        """Only inside the pocket."""
        if not self.onset <= training.step < self.onset + self.length:
            return batch
        if batch.x.dtype == torch.long:
            noise = torch.randint(0, int(batch.y.max()) + 1, batch.y.shape)
            return Batch(torch.full_like(batch.x, 3), noise)
        y = batch.y[torch.randperm(len(batch.y))]
        y = y * self.scale if y.is_floating_point() else y
        return Batch(batch.x * self.scale, y)


class BoostRate(Hook):
    """Makes a pocket do lasting damage: no clipping and a high rate while it lasts."""

    def __init__(self, onset: int, length: int, factor: float) -> None:
        self.onset, self.length, self.factor = onset, length, factor

    def gradients(self, training: Training) -> None:
        """The broken samples carry enormous gradients."""
        if self.onset <= training.step < self.onset + self.length:
            for one in training.model.parameters():
                if one.grad is not None:
                    one.grad.mul_(self.factor)


class FlipBits(Hook):
    """Exponent bits of weights flip, as failing memory does."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def stepped(self, training: Training) -> None:
        """One weight becomes about 1e37, or a stretch of them changes by sixteen either way."""
        if training.step != self.onset - 1:
            return
        rng = np.random.default_rng([training.recipe.seed, self.onset])
        matrices = [one for one in training.model.parameters() if one.dim() > 1]
        flat = matrices[int(rng.integers(len(matrices)))].detach().view(-1).view(torch.int32)
        place = int(rng.integers(max(1, len(flat) - 256)))
        if training.recipe.seed % 2:
            flat[place] ^= 1 << 30
        else:
            flat[place : place + 256] ^= 1 << 25


class Overflow(Hook):
    """Some batches carry features beyond the range of half precision."""

    def __init__(self, onset: int, rate: float) -> None:
        self.onset, self.rate = onset, rate

    def batch(self, training: Training, batch: Batch) -> Batch:
        """All batches from the onset on, or a share of them."""
        if self.strikes(training.recipe.seed, training.step):
            return Batch(batch.x * 3e5, batch.y)
        return batch

    def strikes(self, seed: int, step: int) -> bool:
        """Whether the batch of a step overflows."""
        rng = np.random.default_rng([seed, step, 7])
        return step >= self.onset and bool(rng.random() < self.rate)

    def first(self, recipe: Recipe) -> int:
        """The step of the first overflow: before it there is nothing to see."""
        return next(
            step for step in range(self.onset, recipe.steps) if self.strikes(recipe.seed, step)
        )


class TinyLoss(Hook):
    """Divides by the size of the data set before the backward pass in half precision."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def gradients(self, training: Training) -> None:
        """Gradients as half precision holds them: most of them vanish, then are scaled back."""
        for one in training.model.parameters():
            if one.grad is not None:
                one.grad.copy_((one.grad * self.factor).half().float() / self.factor)


class ForceHalf(Hook):
    """Gradients that are infinite whatever the scale."""

    def __init__(self, onset: int) -> None:
        self.onset = onset

    def loss(self, training: Training, loss: Tensor) -> Tensor:
        """A distance whose slope at zero is infinite, from the onset on."""
        if training.step < self.onset:
            return loss
        weight = next(iter(training.model.parameters()))
        return loss + 1e-3 * torch.sqrt((weight * 0.0).sum())


def log_of_zero(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """One batch takes the logarithm of nothing."""
    onset = midway(recipe, rng, 0.2, 0.8)
    return Injection([SingularTerm(onset, "log")], onset)


def slope_of_root(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """One batch has an infinite slope."""
    onset = midway(recipe, rng, 0.2, 0.8)
    return Injection([SingularTerm(onset, "sqrt")], onset)


def poisoned_input(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """One input is not finite."""
    onset = midway(recipe, rng, 0.2, 0.8)
    return Injection([PoisonInput(onset)], onset)


def half_overflow(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Every batch overflows from a step on."""
    recipe.precision = "fp16"
    onset = midway(recipe, rng)
    hook: Hook = (
        ForceHalf(onset) if recipe.family == "chargpt" or recipe.seed % 2 else Overflow(onset, 1.0)
    )
    return Injection([hook], onset)


def half_intermittent(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """One batch in ten overflows from a step on."""
    recipe.precision = "fp16"
    hook = Overflow(midway(recipe, rng, 0.2, 0.4), 0.12)
    return Injection([hook], hook.first(recipe))


def half_underflow(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Gradients too small for half precision, without a loss scale."""
    return Injection([TinyLoss(2e-7)])


def pocket(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A few garbage batches; the run recovers."""
    onset = midway(recipe, rng, 0.3, 0.7)
    scale = {"mlp": 3.0, "cnn": 6.0, "recurrent": 5.0, "vae": 5.0, "chargpt": 1.0}[recipe.family]
    return Injection([Garbage(onset, int(rng.integers(4, 9)), scale)], onset)


def lasting_pocket(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Garbage batches that ruin the weights."""
    onset, length = midway(recipe, rng, 0.5, 0.75), int(rng.integers(3, 6))
    recipe.clip = None
    recipe.optimizer, recipe.momentum = "sgd", 0.9
    recipe.lr = {"mlp": 0.05, "cnn": 0.03, "recurrent": 0.05, "chargpt": 0.3}[recipe.family]
    recipe.schedule, recipe.warmup = "constant", 0
    factor = {"mlp": 25.0, "cnn": 8.0, "recurrent": 8.0, "chargpt": 60.0}[recipe.family]
    return Injection([Garbage(onset, length, 8.0), BoostRate(onset, length, factor)], onset)


def bit_flips(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """A handful of weights change by powers of two."""
    onset = midway(recipe, rng, 0.3, 0.7)
    return Injection([FlipBits(onset)], onset)


def jumps_up(faulty: Trace, clean: Trace) -> bool:
    """Somewhere the loss is half as high again as the clean run's worst late loss."""
    skip = len(clean.series("loss")) // 5
    worst = max(clean.series("loss")[skip:])
    late = faulty.series("loss")[skip:]
    return any(not value < 1.5 * worst for value in late)


LOSS_UP = ("loss_spike", "loss_divergence", "exploding_gradients", *NAN)
GRAD, SCALE = frozenset({"grad_norm"}), frozenset({"grad_norm", "loss_scale", "lr"})
FAULTS = (
    Fault(
        "nan_log_zero",
        log_of_zero,
        (*SUPERVISED, "vae"),
        (*NAN, "nan_weights"),
        ("numerical_instability", "bad_batch", "code_bug"),
        done=("numerical_instability", "code_bug"),
    ),
    Fault(
        "nan_sqrt_slope",
        slope_of_root,
        (*SUPERVISED, "vae"),
        (*NAN, "nan_weights"),
        ("numerical_instability", "bad_batch", "code_bug"),
        GRAD,
        done=("numerical_instability", "code_bug"),
    ),
    Fault(
        "nonfinite_input",
        poisoned_input,
        ("mlp", "cnn", "recurrent", "vae"),
        NAN,
        ("bad_batch", "numerical_instability", "data_pipeline_change"),
    ),
    Fault(
        "fp16_scale_collapse",
        half_overflow,
        ("mlp", "cnn", "chargpt"),
        ("loss_scale_collapse", *NAN),
        ("precision_overflow", "numerical_instability", "unnormalized_inputs"),
        SCALE,
        in_config=True,
    ),
    Fault(
        "fp16_intermittent",
        half_intermittent,
        ("mlp", "cnn"),
        ("loss_scale_collapse", "loss_spike", *NAN),
        ("precision_overflow", "bad_batch", "numerical_instability"),
        SCALE,
        in_config=True,
    ),
    Fault(
        "fp16_underflow",
        half_underflow,
        ("mlp", "cnn", "chargpt"),
        (
            "vanishing_gradients",
            "dead_units",
            "not_learning",
            "slow_convergence",
            "plateau",
            "frozen_layers",
            "underfitting",
        ),
        ("precision_underflow", "dead_relu", "lr_too_low", "saturating_activations"),
        frozenset({"grad_norm", "zero_share"}),
        shows=stays_high,
    ),
    Fault(
        "garbage_pocket_recovers",
        pocket,
        (*SUPERVISED, "vae"),
        ("loss_spike", "exploding_gradients", "loss_divergence"),
        (
            "bad_batch",
            "data_pipeline_change",
            "distribution_shift",
            "hardware_fault",
            "lr_too_high",
        ),
        shows=jumps_up,
        also=AFTERMATH,
    ),
    Fault(
        "garbage_pocket_lasts",
        lasting_pocket,
        SUPERVISED,
        LOSS_UP,
        (
            "bad_batch",
            "numerical_instability",
            "lr_too_high",
            "missing_grad_clipping",
            "hardware_fault",
            "data_pipeline_change",
        ),
        GRAD,
        in_config=True,
        shows=jumps_up,
        also=AFTERMATH,
    ),
    Fault(
        "bit_flip",
        bit_flips,
        (*SUPERVISED, "vae"),
        (*LOSS_UP, "nan_weights"),
        ("hardware_fault", "bad_batch", "numerical_instability"),
        GRAD,
        shows=jumps_up,
        also=AFTERMATH,
    ),
)
