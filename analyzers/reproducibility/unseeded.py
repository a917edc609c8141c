"""unseeded: the configuration names no seed, so the run cannot be repeated.

What it sees: a training's settings (learning rate, batch size, optimizer and the like) among which
    no seed is named, or one that is None or negative.
Why it matters: without it nobody can tell a bad change from bad luck, and no failure can be
    replayed. It is no fault of the run, so it is only worth knowing.
Fires on:
    config: lr=0.1, batch_size=32, optimizer=sgd, epochs=10
    config: lr=0.1, batch_size=32, optimizer=sgd, seed=-1
Stays quiet:
    config: lr=0.1, batch_size=32, optimizer=sgd, epochs=10, seed=3
    config: name=x
Try next: set one seed for Python, NumPy and torch, log it, and give every worker its own from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView

_TRAINING = ("lr", "batch_size", "optimizer", "epochs", "max_steps", "weight_decay", "warmup")
_NO_SEED = ("", "none", "null", "false")


@analyzer
@dataclass(frozen=True, slots=True)
class Unseeded:
    """Report a training configuration without a seed."""

    id: ClassVar[str] = "unseeded"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ()
    least_settings: int = 4

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look for a seed among the settings."""
        settings = list(view.settings)
        known = [s for meaning in _TRAINING if (s := view.settings.get(meaning)) is not None]
        if len(known) < 2 or len(settings) < self.least_settings:
            return
        seeds = [s for s in settings if "seed" in normalise(s.path.rpartition(".")[2])]
        if any(s.text not in _NO_SEED and (s.number is None or s.number >= 0) for s in seeds):
            return
        if seeds:
            title = f"{seeds[0].path} is {seeds[0].value}: the run is not seeded"
            evidence = seeds[0].evidence
        else:
            names = ", ".join(s.path.rpartition(".")[2] for s in known[:5])
            title = f"none of the {len(settings)} settings is a seed: the run cannot be repeated"
            evidence = Evidence(EvidenceKind.CONFIG, "config", f"{names}, ... but no seed")
        yield Finding(
            id=self.id,
            title=title,
            severity=Severity.INFO,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(evidence,),
        )
