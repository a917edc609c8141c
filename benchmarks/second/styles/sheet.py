"""What every style is given, and how numbers are put."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..job import Job, Row

OPTIONAL = {
    "lr": "lr",
    "grad_norm": "grad_norm",
    "step_time": "step_time",
    "tps": "tps",
    "mem": "mem",
    "num_zeros": "zeros",
    "train_acc": "acc",
}
"""Columns that are logged only if the run has the signal."""
USUAL = frozenset({"loss", "loss_scale", "skipped", *OPTIONAL})


def signal_of(column: str) -> str | None:
    """The signal without which a column is not logged; None if it always is."""
    return "layers" if column.startswith("grad/") else OPTIONAL.get(column)


@dataclass
class Sheet:
    """A training on its way to paper."""

    job: Job
    rows: list[Row]
    start: datetime
    signals: frozenset[str]
    """Which optional columns are logged."""
    config: dict[str, Any]
    has_config: bool
    is_finished: bool = True
    name: str = "run"

    @property
    def batch_size(self) -> int:
        """Samples in a batch."""
        return int(self.config["batch_size"])

    def at(self, seconds: float) -> datetime:
        """The moment so many seconds after the start."""
        return self.start + timedelta(seconds=seconds)

    def columns(self, row: Row) -> dict[str, float]:
        """The values of a row that this run logs."""
        return {
            name: value
            for name, value in row.values.items()
            if (signal := signal_of(name)) is None or signal in self.signals
        }

    def extras(self, row: Row) -> dict[str, float]:
        """Of the logged values, those that are the family's own."""
        columns = self.columns(row)
        return {name: value for name, value in columns.items() if name not in USUAL}

    def rank_seconds(self, row: Row) -> list[float]:
        """What the step took on each rank, if that is logged."""
        return row.rank_seconds if "ranks" in self.signals else []


def fixed(value: float, digits: int = 4) -> str:
    """A number with so many digits, or its name if it has none."""
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)


def clock(moment: datetime, separator: str = ",") -> str:
    """A time stamp with milliseconds."""
    return f"{moment:%Y-%m-%d %H:%M:%S}{separator}{moment.microsecond // 1000:03d}"


def as_yaml(config: dict[str, Any]) -> str:
    """A flat configuration as YAML."""
    lines = []
    for name, value in config.items():
        shown = "null" if value is None else value
        lines.append(f"{name}: {str(shown).lower() if isinstance(shown, bool) else shown}\n")
    return "".join(lines)


def as_file(lines: list[str]) -> str:
    """Lines as the text of a file."""
    return "\n".join(lines) + "\n"
