"""Messages about resources among the events of a run, and where in the training they came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mltd.runs.event import EventKind

from ..core.failure import failure_evidence, unresolved
from ..core.finding import Evidence
from ..core.view import PlacedEvent, RunView
from .shortage import Shortage, read_shortage

_KINDS = (
    EventKind.OOM,
    EventKind.EXCEPTION,
    EventKind.ERROR,
    EventKind.SIGNAL,
    EventKind.SCHEDULER,
    EventKind.NCCL,
)
_EVALUATES = re.compile(
    r"_?(?:\w+_)?(?:eval|evaluate|evaluation|validate|validation|valid|predict|inference|test)"
    r"(?:_\w+)?"
)
_PHASES = (
    ("backward pass", re.compile(r"backward")),
    ("optimizer step", re.compile(r"\b\w*optim\w*\.step\(|_adam|adamw|sgd|_foreach|exp_avg")),
    ("loading of the model", re.compile(r"load_state_dict|from_pretrained|\.cuda\(|model\.to\(")),
    ("data loading", re.compile(r"collate|__getitem__|dataloader|in dataset")),
)
FEW_WORKERS = re.compile(
    r"does not have many workers which may be a bottleneck|suggested max number of worker"
)
"""Warnings of frameworks about the number of data-loader workers."""
FIRST_STEPS = 2
"""Steps within which a run has not shown that it fits."""


@dataclass(frozen=True, slots=True)
class Lack:
    """A message that memory is missing, and the event that says it."""

    placed: PlacedEvent
    shortage: Shortage
    is_overcome: bool
    """The training went on after it."""
    is_earlier: bool
    """It ended an attempt after which the same log began another."""

    @property
    def evidence(self) -> Evidence:
        """The message and its line."""
        return failure_evidence(self.placed)


def said(placed: PlacedEvent) -> str:
    """What an event says, without the source code that a traceback quotes."""
    event = placed.event
    if event.exception:
        return f"{event.exception}: {event.message}"
    return f"{event.title}\n{event.text}" if not event.frames else event.title


def lacks(view: RunView, place: str) -> list[Lack]:
    """All messages that say that memory of a kind (device, host) is missing, in order."""
    found = []
    open_ends = {id(placed.event) for placed in unresolved(view)}
    for placed in view.events_of(*_KINDS):
        for text in (said(placed), *placed.event.chain):
            shortage = read_shortage(text)
            if shortage is not None:
                if shortage.place == place:
                    is_overcome = id(placed.event) in view.facts.recovered
                    is_earlier = not is_overcome and id(placed.event) not in open_ends
                    found.append(Lack(placed, shortage, is_overcome, is_earlier))
                break
    return found


def phase_of(view: RunView, placed: PlacedEvent) -> str:
    """What the training was doing when an event came, as far as the log tells; else empty."""
    event = placed.event
    if any(_EVALUATES.fullmatch(frame.function) for frame in event.frames):
        return "evaluation"
    for frame in reversed(event.frames):
        words = f"{frame.function} {frame.code}".casefold()
        for phase, pattern in _PHASES:
            if pattern.search(words):
                return phase
    near = _last_announced(view, placed)
    if near is not None and near.event.kind is EventKind.EVALUATION:
        return "evaluation"
    if near is not None and near.event.title.startswith("Checkpoint saved"):
        return "saving of a checkpoint"
    if event.step is not None and event.step <= FIRST_STEPS:
        return "first steps"
    return ""


def _last_announced(view: RunView, placed: PlacedEvent) -> PlacedEvent | None:
    """The evaluation or checkpoint that came last before an event, if nothing was logged since."""
    before = [
        other
        for other in view.events_of(EventKind.EVALUATION, EventKind.CHECKPOINT)
        if other.source is placed.source and other.event.line < placed.event.line
    ]
    if not before:
        return None
    last = max(before, key=lambda other: other.event.line)
    return last if last_progress_line(view, placed, placed.event.line) < last.event.line else None


def last_progress_line(view: RunView, placed: PlacedEvent, before: int) -> int:
    """Line of the last training metric in the event's file before a line; 0 if there is none."""
    lines = [0]
    for series in view.series:
        if view.run.files[series.file] is not placed.source or series.split in ("val", "test"):
            continue
        tail = series.coordinates.line.view()[series.rows[-4096:]]
        earlier = tail[tail < before]
        lines.extend(earlier[-1:].tolist())
    return max(lines)


def matching(view: RunView, pattern: re.Pattern[str], *kinds: EventKind) -> Iterator[PlacedEvent]:
    """Events of some kinds whose own words match."""
    for placed in view.events_of(*kinds):
        if pattern.search(said(placed)):
            yield placed
