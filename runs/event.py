"""Events: things a log says happened, each with the place where it says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class EventKind(StrEnum):
    """The vocabulary of the `events` list in the JSON contract."""

    EXCEPTION = "exception"
    ERROR = "error"
    WARNING = "warning"
    OOM = "oom"
    NAN = "nan"
    OVERFLOW = "overflow"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    RESTART = "restart"
    STAGE = "stage"
    """A change of what is trained on or with, as the log announces it."""
    SCHEDULER = "scheduler"
    NCCL = "nccl"
    SIGNAL = "signal"
    FINISHED = "finished"
    SAMPLE = "sample"
    """Text that the model generated, as the log shows it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback, outermost first."""

    file: str
    line: int
    function: str
    code: str = ""


@dataclass(slots=True)
class Event:
    """Something the log reports; `line` is 1-based in its file, `offset` in bytes."""

    kind: EventKind
    title: str
    line: int
    offset: int = -1
    step: float | None = None
    text: str = ""
    """The whole message (for a traceback: all of it, ranks' copies removed)."""
    last_line: int = 0
    count: int = 1
    """How often the same thing was said (other ranks, repeated warnings)."""
    ranks: tuple[int, ...] = ()
    exception: str = ""
    """Qualified exception type, for example `torch.OutOfMemoryError`."""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    chain: tuple[str, ...] = ()
    """Titles of the exceptions that led to this one, first one first."""
    source: dict[str, str] = field(default_factory=dict)
    """`file:line` of a frame to the source lines around it, where readable."""
