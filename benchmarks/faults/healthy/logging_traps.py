"""Traps that lie in how a healthy run is written down."""

from __future__ import annotations

import math

import numpy as np

from ..faults.fault import Injection
from ..recipe import Recipe
from ..trace import Entry, Trace
from ..voice import Log
from .trap import EVERY, SUPERVISED, Trap


def _rewrite(trace: Trace, name: str, values: list[float]) -> Trace:
    rest = iter(values)
    for entry in trace.of("train"):
        if name in entry.values:
            entry.values[name] = next(rest)
    return trace


def ema(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The loss is an exponential mean."""

    def finish(trace: Trace) -> Trace:
        smooth, values = math.nan, []
        for value in trace.series("loss"):
            smooth = value if math.isnan(smooth) else 0.98 * smooth + 0.02 * value
            values.append(smooth)
        return _rewrite(trace, "loss", values)

    return Injection(finish=finish)


def running_mean(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The loss is the mean since the epoch began, and starts afresh with each."""

    def finish(trace: Trace) -> Trace:
        values: list[float] = []
        total = 0.0
        for place, value in enumerate(trace.series("loss")):
            seen = place % trace.steps_per_epoch
            total = value if seen == 0 else total + value
            values.append(total / (seen + 1))
        return _rewrite(trace, "loss", values)

    return Injection(finish=finish)


def quantised(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The loss comes out of bfloat16: eight bits of it."""

    def finish(trace: Trace) -> Trace:
        grid = [_round_bits(value) for value in trace.series("loss")]
        return _rewrite(trace, "loss", grid)

    return Injection(finish=finish)


def _round_bits(value: float) -> float:
    fraction, exponent = math.frexp(value)
    return math.ldexp(round(fraction * 256) / 256, exponent)


def scaled_norm(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The gradient norm is logged before it is divided by the loss scale."""
    recipe.precision = "fp16"

    def finish(trace: Trace) -> Trace:
        for entry in trace.of("train"):
            entry.values["grad_norm"] *= entry.values["loss_scale"]
        return trace

    return Injection(finish=finish)


def tiny_norm(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Norms too small for three decimals."""

    def finish(trace: Trace) -> Trace:
        return _rewrite(trace, "grad_norm", [value * 1e-5 for value in trace.series("grad_norm")])

    return Injection(finish=finish)


def stale(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Skipped steps repeat the last norm and loss to all digits."""

    def finish(trace: Trace) -> Trace:
        before: dict[str, float] = {}
        for entry in trace.of("train"):
            if before and rng.random() < 0.04:
                entry.values.update(loss=before["loss"], grad_norm=before["grad_norm"])
            before = entry.values
        return trace

    return Injection(finish=finish)


def percent(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Accuracies run to a hundred."""

    def finish(trace: Trace) -> Trace:
        for entry in trace.entries:
            for name in ("acc", "val_acc"):
                if name in entry.values:
                    entry.values[name] *= 100
        return trace

    return Injection(finish=finish)


def other_unit(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The loss is in bits, or summed over a thousand."""
    factor = float(rng.choice([1 / math.log(2), 1000.0, 0.001]))

    def finish(trace: Trace) -> Trace:
        for entry in trace.entries:
            for name in ("loss", "val_loss"):
                if name in entry.values:
                    entry.values[name] *= factor
        return trace

    return Injection(finish=finish)


def undefined_metric(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """Accuracy is undefined when an epoch begins, a score at the first evaluation."""

    def finish(trace: Trace) -> Trace:
        trace.steps_per_epoch = 100
        for entry in trace.of("train"):
            if entry.step % 100 == 0:
                entry.values["acc"] = math.nan
        for place, entry in enumerate(trace.of("eval")):
            entry.values["val_auc"] = (
                math.nan if place == 0 else min(0.99, 0.5 + entry.values["val_acc"] / 2)
            )
        return trace

    return Injection(finish=finish)


SOURCE = """import torch
def train_step(model, batch, scaler):
    loss = model(**batch)
    if not torch.isfinite(loss):
        raise ValueError(f"loss is nan at step {step}: {loss.item()}")
    assert grad_norm < 1e4, "grad_norm: inf"
    # RuntimeError: CUDA out of memory is handled by the caller
    print(f"step:{step} loss:nan grad_norm:inf")  # debug only
    except torch.cuda.OutOfMemoryError: logger.error("CUDA error, skipping batch")
===================================================================="""


def echo_source(log: Log) -> None:
    """The script prints itself at the head of its log."""
    log.preamble += ["=" * 68, *SOURCE.splitlines()]


def nan_in_words(log: Log) -> None:
    """The letters stand in names and in a timer without a value."""
    log.preamble += [
        "loading dataset finance_nanotech_banana (shards: 12)",
        "tokenizer: nanoT5, unk=nan_token",
        "step_avg:nanms peak nan0 device warm",
        "compile: inference graph, inf cache: /tmp/infer",
    ]


def warnings_survived(log: Log) -> None:
    """Things went wrong for a moment and then did not."""
    log.stderr += [
        "train.py:12: FutureWarning: `torch.cuda.amp.GradScaler(args...)` is deprecated. "
        "Please use `torch.amp.GradScaler('cuda', args...)` instead.",
        "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`.",
    ]
    middle = len(log.entries) // 2
    step = log.entries[middle].step
    for text in (
        "WARNING: upload of metrics failed: ConnectionResetError(104, 'Connection reset by peer'); "
        "retrying (1/5)",
        "upload of metrics succeeded after 2 attempts",
    ):
        log.entries.insert(middle, Entry("stderr", step, text=text))
        middle += 1


def checkpoints(log: Log) -> None:
    """Saves a checkpoint now and then, and says so."""
    places = list(range(10, len(log.entries), 12))
    for place in reversed(places):
        step = log.entries[place].step
        log.entries.insert(
            place, Entry("text", step, text=f"Saving model checkpoint to ckpts/step_{step}.pt")
        )


DETAIL = frozenset({"lr", "grad_norm"})
ACC = frozenset({"acc", "val_acc", "val_loss"})
TRAPS = (
    Trap("loss_is_ema", 1, ema, needs=frozenset({"lr"})),
    Trap("loss_is_running_mean", 1, running_mean),
    Trap("loss_quantised", 2, quantised),
    Trap(
        "loss_two_digits",
        2,
        voice={"decimals": 2},
        dialects=("pipes", "logging", "slurm", "brackets"),
    ),
    Trap("log_every_fifty", 7, voice={"interval": 50}),
    Trap("mean_over_interval", 7, voice={"interval": 20, "is_mean": True}, families=EVERY),
    Trap(
        "norm_times_scale",
        11,
        scaled_norm,
        ("mlp", "cnn", "chargpt"),
        frozenset({"grad_norm", "loss_scale"}),
    ),
    Trap(
        "norm_prints_zero",
        12,
        tiny_norm,
        SUPERVISED,
        DETAIL,
        {"decimals": 3},
        ("pipes", "slurm", "megatron", "logging"),
    ),
    Trap("stale_values", 13, stale, SUPERVISED, DETAIL, {"interval": 1}),
    Trap(
        "source_in_log",
        14,
        needs=DETAIL,
        dialects=("pipes", "logging", "slurm", "hf"),
        polish=echo_source,
    ),
    Trap(
        "nan_in_words", 15, dialects=("pipes", "logging", "slurm", "brackets"), polish=nan_in_words
    ),
    Trap("bars_with_returns", 16, families=EVERY, dialects=("lightning", "hf")),
    Trap(
        "warnings_survived",
        18,
        families=EVERY,
        dialects=("pipes", "slurm", "logging", "jsonl"),
        polish=warnings_survived,
    ),
    Trap("metric_undefined_at_edges", 22, undefined_metric, ("mlp", "cnn"), ACC | {"val_auc"}),
    Trap("percent_accuracy", 0, percent, ("mlp", "cnn"), ACC),
    Trap("other_loss_unit", 0, other_unit, SUPERVISED, frozenset({"val_loss"})),
    Trap(
        "epochs_only",
        0,
        families=("mlp", "cnn", "chargpt", "recurrent", "vae"),
        needs=frozenset({"val_loss"}),
        dialects=("epochs",),
        voice={"per_epoch": True},
    ),
    Trap(
        "saves_checkpoints",
        0,
        dialects=("pipes", "slurm", "logging", "brackets"),
        polish=checkpoints,
    ),
)
