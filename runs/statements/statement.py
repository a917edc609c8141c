"""A fact that a log states in one line: what it is about, its value, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StatementKind(StrEnum):
    """What statements can be about."""

    PARAMETERS = "parameters"
    """How many the model has; `subject` is total, trainable, frozen or rank, or embedding: those of
    its tables, `text` being the largest."""
    DEVICE = "device"
    """An accelerator: `subject` is its name, `value` its bytes; either may be missing."""
    PEAK = "peak"
    """The most memory that was in use; `subject` is allocated or reserved."""
    LAYER = "layer"
    """A layer of the model, `subject` its name, `value` its parameters, in the order in which data
    flows through them; `text` is one of `LAYER_STATES`."""


TRAINED, FROZEN, LEFT_OUT = "trained", "frozen", "not in the optimizer"
UNREACHED = "not in the optimizer, and without a gradient"
LAYER_STATES = (TRAINED, FROZEN, LEFT_OUT, UNREACHED)
"""What becomes of a layer: left out is what could learn, gets a gradient and is in no optimizer."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact as the log states it; `line` is 1-based in the file with number `file`."""

    kind: StatementKind
    subject: str
    value: float | None
    text: str
    """The part of the line that says it."""
    line: int = 0
    file: int = 0
