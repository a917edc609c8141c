"""Which runs there are: every class with seeds, families, voices and a split."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dialects import DIALECTS, EXACT_DIALECTS
from .dialects import TEST_ONLY as TEST_DIALECTS
from .families import TEST_ONLY as TEST_FAMILIES
from .faults import FAULTS
from .healthy import TRAPS
from .recipe import Recipe
from .scripts import SCRIPTS, STYLES
from .voice import NAMINGS, PROFILES, Voice, usual_signals

DEV_SEEDS, TEST_SEEDS = (0, 1, 2), (3, 4)
RUNS_PER_FAULT = {"dev": 3, "test": 4}
RUNS_PER_TRAP = {"dev": 1, "test": 2}
RUNS_PER_SCRIPT = {"dev": 1, "test": 2}
EXTRA_PLAIN = 8
PER_EPOCH = frozenset(
    {
        "overfitting",
        "lr_too_low",
        "labels_shuffled",
        "labels_noisy",
        "undercapacity",
        "frozen_all",
        "validation_differs",
        "lr_too_high_diverges",
        "nan_log_zero",
        "lr_jump",
        "weight_decay_overwhelms",
    }
)
"""Classes of which one run in each split logs once per epoch."""
COSTLY = frozenset({"chargpt", "policy", "cnn"})
"""Families whose steps take several times as long as the others'."""
CONFIG_STYLES = ("json", "yaml", "hparams", "namespace", "lines", "none")


@dataclass(frozen=True)
class Planned:
    """One run to be made."""

    kind: str
    source: str
    """fault, trap or script."""
    family: str
    seed: int
    split: str
    number: int
    """Tells runs of one kind apart, and varies their voices."""

    @property
    def run_id(self) -> str:
        """A name that tells nothing."""
        name = f"{self.kind}/{self.family}/{self.seed}/{self.split}/{self.number}"
        return "r" + hashlib.sha256(name.encode()).hexdigest()[:8]

    def rng(self, salt: int = 0) -> np.random.Generator:
        """Randomness that belongs to this run."""
        return np.random.default_rng([zlib.crc32(self.kind.encode()), self.seed, self.number, salt])


def all_runs() -> list[Planned]:
    """The full bench: development first, quick ones first, classes interleaved."""
    rounds: dict[int, list[Planned]] = {}
    for kind, fault in FAULTS.items():
        for split in ("dev", "test"):
            for place, (family, seed) in enumerate(
                _places(fault.families, split, RUNS_PER_FAULT[split], kind)
            ):
                rounds.setdefault(place, []).append(
                    Planned(kind, "fault", family, seed, split, place)
                )
    for kind, trap in TRAPS.items():
        for split in ("dev", "test"):
            count = RUNS_PER_TRAP[split] + (EXTRA_PLAIN if kind == "plain" else 0)
            for place, (family, seed) in enumerate(_places(trap.families, split, count, kind)):
                rounds.setdefault(place % 4, []).append(
                    Planned(kind, "trap", family, seed, split, place)
                )
    for kind in SCRIPTS:
        for split in ("dev", "test"):
            for place in range(RUNS_PER_SCRIPT[split]):
                seed = place if split == "dev" else 3 + place
                rounds.setdefault(place, []).append(
                    Planned(kind, "script", "script", seed, split, place)
                )
    ordered = [one for place in sorted(rounds) for one in rounds[place]]
    return sorted(ordered, key=lambda one: (one.split, one.family in COSTLY))


def small_slice() -> list[Planned]:
    """A dozen quick runs over sources, families and dialects."""
    wanted = {
        "lr_jump",
        "nan_log_zero",
        "overfitting",
        "frozen_all",
        "stall",
        "leakage",
        "plain",
        "epochs_only",
        "source_in_log",
        "resumed_well",
        "index_out_of_range",
        "script_finishes",
    }
    chosen: dict[str, Planned] = {}
    for one in all_runs():
        is_quick = one.family in ("mlp", "script", "recurrent")
        if one.kind in wanted and is_quick and (one.split == "dev" or one.kind not in chosen):
            chosen[one.kind] = one
    return list(chosen.values())


def _places(families: tuple[str, ...], split: str, count: int, kind: str) -> list[tuple[str, int]]:
    """Family and seed of each run: development never meets the families kept for the test."""
    if split == "dev":
        pairs = [
            (family, seed)
            for seed in DEV_SEEDS
            for family in families
            if family not in TEST_FAMILIES
        ]
    else:
        own = [family for family in families if family in TEST_FAMILIES]
        rest = [family for family in families if family not in TEST_FAMILIES]
        mixed = [one for pair in zip(own, rest, strict=False) for one in pair]
        mixed += [one for one in families if one not in mixed]
        pairs = [(family, seed) for seed in TEST_SEEDS for family in mixed]
        pairs += [(family, seed) for seed in DEV_SEEDS for family in own]
    if not pairs:
        return []
    shift = zlib.crc32(kind.encode()) % len(pairs) if split == "dev" else 0
    turned = pairs[shift:] + pairs[:shift]
    return turned[:count]


def voice_of(
    planned: Planned,
    recipe: Recipe,
    needs: frozenset[str],
    dialects: tuple[str, ...] = (),
    fixed: dict[str, Any] | None = None,
) -> Voice:
    """How this run logs: drawn, but always with what its fault needs to be seen."""
    rng = planned.rng(1)
    allowed = [
        one
        for one in (dialects or tuple(DIALECTS))
        if planned.split == "test" or one not in TEST_DIALECTS
    ]
    if not dialects:
        allowed.remove("epochs")
        if (
            needs & {"layers", "zero_share", "update_ratio", "compute_time"}
            or recipe.family == "gan"
        ):
            allowed = [one for one in allowed if one in EXACT_DIALECTS or one in TEST_DIALECTS]
        if "compute_time" in needs:
            allowed = ["slurm"]
    if planned.kind in PER_EPOCH and planned.number == 2:
        allowed = ["epochs"]
    dialect = str(rng.choice(allowed))
    profile = PROFILES[int(rng.integers(len(PROFILES)))]
    signals = usual_signals(recipe, profile) | needs
    interval = int(rng.choice([1, 1, 5, 10]))
    if recipe.steps <= 260 or "compute_time" in needs:
        interval = int(rng.choice([1, 5]))
    options: dict[str, Any] = {
        "interval": interval,
        "is_mean": dialect == "hf",
        "base": int(rng.integers(2)),
        "naming": int(rng.integers(len(NAMINGS))),
        "layer_prefix": str(rng.choice(["grad_norm/", "gradients/", "grad/"])),
        **(fixed or {}),
    }
    if dialect == "epochs":
        options["per_epoch"] = True
    return Voice(dialect, signals, **options)


def config_style_of(planned: Planned) -> str:
    """Where this run keeps its configuration."""
    return str(planned.rng(2).choice(CONFIG_STYLES))


def style_of(planned: Planned) -> str:
    """How a script logs."""
    return STYLES[(planned.seed + planned.number + zlib.crc32(planned.kind.encode())) % len(STYLES)]
