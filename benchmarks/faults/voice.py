"""Which signals a run logs, how often and under which names."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .recipe import Recipe
from .trace import Entry, Trace

NAMINGS: tuple[dict[str, str], ...] = (
    {
        "loss": "train_loss",
        "lr": "lr",
        "acc": "train_acc",
        "val_loss": "val_loss",
        "val_acc": "val_acc",
    },
    {
        "loss": "loss",
        "lr": "learning_rate",
        "acc": "accuracy",
        "val_loss": "eval_loss",
        "val_acc": "eval_accuracy",
        "grad_norm": "gnorm",
    },
    {
        "loss": "train/loss",
        "lr": "train/lr",
        "acc": "train/acc",
        "grad_norm": "train/grad_norm",
        "val_loss": "val/loss",
        "val_acc": "val/acc",
        "memory": "system/rss_mb",
    },
    {
        "loss": "tr_loss",
        "lr": "lr",
        "acc": "tr_acc",
        "val_loss": "dev_loss",
        "val_acc": "dev_acc",
        "memory": "mem",
    },
    {
        "loss": "loss",
        "lr": "lr",
        "acc": "acc",
        "val_loss": "valid_loss",
        "val_acc": "valid_acc",
        "grad_norm": "grad_norm",
    },
)
DEFAULTS = {
    "memory": "rss_mb",
    "zero_share": "zero_grad_frac",
    "throughput": "samples_per_sec",
    "loss_scale": "loss_scale",
    "modes": "modes_covered",
    "val_reward": "eval_reward",
}
OBJECTIVES = {"gan": ("d_loss", "g_loss"), "policy": ("loss", "reward")}
EXTRAS = {
    "gan": ("sample_std", "modes", "d_acc"),
    "policy": ("entropy", "val_reward"),
    "vae": ("kl", "recon"),
}
PROFILES: tuple[tuple[str, ...], ...] = (
    (),
    ("lr",),
    ("lr", "grad_norm"),
    ("lr", "val_loss"),
    ("acc", "val_loss", "val_acc"),
    ("lr", "grad_norm", "acc", "val_loss", "val_acc"),
    ("lr", "grad_norm", "step_time", "throughput", "val_loss"),
    ("lr", "grad_norm", "layers", "update_ratio", "zero_share", "val_loss", "val_acc", "step_time"),
)
"""From a bare loss to an instrumented run."""


@dataclass
class Voice:
    """One run's way to log."""

    dialect: str
    signals: frozenset[str]
    interval: int = 10
    is_mean: bool = False
    """Logs the mean over the interval instead of the last value."""
    base: int = 0
    """The number of the first step."""
    naming: int = 0
    layer_prefix: str = "grad_norm/"
    per_epoch: bool = False
    decimals: int = 4

    def name(self, signal: str) -> str:
        """The name under which a signal is logged."""
        if signal.startswith("layer:"):
            layer = signal.removeprefix("layer:")
            return self.layer_prefix + (f"layers.{layer}" if layer.isdigit() else layer)
        return NAMINGS[self.naming].get(signal) or DEFAULTS.get(signal, signal)

    def hears(self, signal: str) -> bool:
        """Whether a signal is logged."""
        return signal in self.signals or (signal.startswith("layer:") and "layers" in self.signals)


@dataclass
class Log:
    """What a dialect writes down: chosen values in printed coordinates."""

    run_id: str
    voice: Voice
    recipe: Recipe
    config: dict[str, object]
    entries: list[Entry]
    steps_per_epoch: int
    total: int
    """The last step (or epoch) that is planned, as printed."""
    is_finished: bool = True
    config_style: str = "json"
    preamble: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)

    def first_logged(self, onset: int | None) -> int | None:
        """The first printed step at or after a true onset."""
        if onset is None:
            return None
        size = self.steps_per_epoch if self.voice.per_epoch else 1
        wanted = onset // size + self.voice.base
        return min(
            (one.step for one in self.entries if one.values and one.step >= wanted), default=None
        )


def usual_signals(recipe: Recipe, profile: tuple[str, ...]) -> frozenset[str]:
    """A profile with the family's own objectives in it."""
    own = OBJECTIVES.get(recipe.family, ("loss",))
    extra = EXTRAS.get(recipe.family, ()) if len(profile) > 1 else EXTRAS.get(recipe.family, ())[:1]
    return frozenset({*profile, *own, *extra})


def write_down(trace: Trace, voice: Voice) -> list[Entry]:
    """Choose, average and number the entries as this voice logs them."""
    size = trace.steps_per_epoch
    written: list[Entry] = []
    pending: list[Entry] = []
    for entry in trace.entries:
        if entry.kind == "train":
            pending.append(entry)
            due = (
                (entry.step + 1) % size == 0
                if voice.per_epoch
                else (
                    entry.step % voice.interval == 0
                    if voice.base == 0
                    else (entry.step + 1) % voice.interval == 0
                )
            )
            if due:
                written.append(_merge(pending, voice, size))
                pending = []
            continue
        values = {name: one for name, one in entry.values.items() if voice.hears(name)}
        if entry.kind == "eval" and not values:
            continue
        step = (entry.step // size if voice.per_epoch else entry.step) + voice.base
        written.append(Entry(entry.kind, step, values, entry.text, entry.seconds, entry.rank))
    return written


def _merge(pending: list[Entry], voice: Voice, size: int) -> Entry:
    last = pending[-1]
    step = (last.step // size if voice.per_epoch else last.step) + voice.base
    values = {name: value for name, value in last.values.items() if voice.hears(name)}
    if voice.is_mean or voice.per_epoch:
        for name in values:
            if name in ("loss", "acc", "d_loss", "g_loss", "kl", "recon", "step_time", "mae"):
                heard = [one.values[name] for one in pending if name in one.values]
                values[name] = (
                    math.fsum(heard) / len(heard) if all(map(math.isfinite, heard)) else _sum(heard)
                )
    return Entry("train", step, values, seconds=sum(one.seconds for one in pending), rank=last.rank)


def _sum(values: list[float]) -> float:
    return float(np.sum(np.asarray(values)))
