"""What is known about a run, kept where no analyzer looks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

VERDICTS = ("fault", "healthy", "inert", "ambiguous", "unobservable")


@dataclass
class Truth:
    """The label of one run."""

    run_id: str
    kind: str
    """The fault class or trap."""
    verdict: str
    """fault, healthy, inert (injected without effect), ambiguous (not scored) or unobservable."""
    split: str
    family: str
    seed: int
    dialect: str
    findings: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    """Acceptable causes: what an expert may conclude from this log."""
    done: list[str] = field(default_factory=list)
    """Those of them that name what was really done; confidence is held against these."""
    also: list[str] = field(default_factory=list)
    """Findings that are true beside the acceptable ones, but not enough."""
    onset: int | None = None
    """First logged step at or after the true onset; None from the start or without a place."""
    interval: int = 1
    silent_seconds: float = 60.0
    signals: list[str] = field(default_factory=list)
    trap: int = 0
    effect: list[float] = field(default_factory=list)
    """Distance to the clean twin and the bar of the effect gate."""

    @property
    def expects_silence(self) -> bool:
        """Any warning about this run is a false alarm."""
        return self.verdict in ("healthy", "inert")

    def write(self, folder: Path) -> None:
        """Put the label in place in one move."""
        partial = folder / f".{self.run_id}.part"
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")
        partial.replace(folder / f"{self.run_id}.json")


def read_truths(data: Path, split: str | None = None) -> list[Truth]:
    """All labels of a data set, sorted by run."""
    truths = []
    for path in sorted((data / "truth").glob("*.json")):
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        truth = Truth(**content)
        if split in (None, "all", truth.split):
            truths.append(truth)
    return truths
