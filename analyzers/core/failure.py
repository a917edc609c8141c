"""What ended a run: the events that it did not survive, and which of them came first.

Timeouts, exit codes and launchers' reports are effects. The first cause is the earliest event
that is none: a process's own exception, a failed assertion on the device, a reason that the
scheduler states.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from mltd.runs.event import Event, EventKind, Frame
from mltd.runs.failure import (
    GRAVE,
    REPORT,
    end_of,
    is_terminal,
    last_words,
    named_line,
    newest_attempt,
    overcome,
    remoteness,
    tiers,
)
from mltd.runs.state import RunState

from .finding import Evidence
from .view import PlacedEvent, RunView

_LIBRARY = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|lib[/\\]python[\d.]+|"
    r"torch|transformers|accelerate|deepspeed|pytorch_lightning|lightning|lightning_fabric|keras|"
    r"tensorflow|jax|flax|numpy|pandas|scipy|sklearn|datasets|torch_geometric|dgl|mmengine|mmcv|"
    r"stable_baselines3|wandb|huggingface_hub|safetensors|multiprocessing|concurrent|asyncio|"
    r"importlib|hydra|omegaconf|fsspec|PIL|json|peft|trl|ray)[/\\]|^<|[/\\]<"
)
_STANDARD = re.compile(r"^(?:[\w.]*[/\\])?(?:os|subprocess|pickle|shutil|runpy|threading)\.py$")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)")


def newest_attempts(view: RunView) -> dict[int, int]:
    """Per file (by `id`), the line after which its newest attempt begins; 0 if it has one only."""
    return {key: newest_attempt(said) for key, (_, said) in _by_file(view).items()}


def _by_file(view: RunView) -> dict[int, tuple[int, list[Event]]]:
    """Per file (by `id`), its number of lines and its events."""
    by_file: dict[int, tuple[int, list[Event]]] = {}
    for placed in view.events:
        _, said = by_file.setdefault(id(placed.source), (placed.source.lines, []))
        said.append(placed.event)
    return by_file


def history(view: RunView) -> list[PlacedEvent]:
    """What ended earlier attempts in files that hold several."""
    started = newest_attempts(view)
    return [
        placed
        for placed in view.events
        if placed.event.kind in GRAVE
        and end_of(placed.event) <= started.get(id(placed.source), 0)
        and is_terminal(placed.event)
    ]


def unresolved(view: RunView) -> list[PlacedEvent]:
    """Grave events after which the newest attempt in their file did not go on."""
    started = newest_attempts(view)
    survived = set(view.facts.recovered)
    for lines, said in _by_file(view).values():
        survived |= overcome(said, lines)
    return [
        placed
        for placed in view.events
        if placed.event.kind in GRAVE
        and id(placed.event) not in survived
        and end_of(placed.event) > started.get(id(placed.source), 0)
    ]


def uncaught(view: RunView) -> list[PlacedEvent]:
    """Events that ended the run or one of its processes, file by file."""
    return fatal_among(view, unresolved(view))


def fatal_among(view: RunView, events: Iterable[PlacedEvent]) -> list[PlacedEvent]:
    """Those after which a run cannot go on, and errors with which a log that failed ends."""
    found = list(events)
    words = {id(event) for event in _last_words(view)}
    return [placed for placed in found if is_terminal(placed.event) or id(placed.event) in words]


def _last_words(view: RunView) -> list[Event]:
    if view.state is not RunState.FAILED:
        return []
    return [event for lines, said in _by_file(view).values() for event in last_words(said, lines)]


def first_failure(view: RunView) -> PlacedEvent | None:
    """The event from which the others followed, None if nothing ended the run."""
    return first_of(view, uncaught(view))


def first_of(view: RunView, events: Iterable[PlacedEvent]) -> PlacedEvent | None:
    """The first cause among some events."""
    found = list(events)
    tier_of = {
        id(placed): tier
        for placed, tier in zip(found, tiers([placed.event for placed in found]), strict=True)
    }
    numbers = {id(source): number for number, source in enumerate(view.run.files)}

    def order(placed: PlacedEvent) -> tuple[int, bool, str, float, int, int]:
        event, tier = placed.event, tier_of[id(placed)]
        moment = _moment(placed)
        step = event.step if event.step is not None and np.isfinite(event.step) else np.inf
        # A job is no file of the run; it tells after all of them.
        number = numbers.get(id(placed.source), len(numbers))
        return tier, not moment, moment, step, number, event.line

    by_file: dict[int, list[PlacedEvent]] = {}
    for placed in found:
        by_file.setdefault(id(placed.source), []).append(placed)
    # Within a file lines tell the order; between files only times and steps do.
    leaders = [
        min(group, key=lambda placed: (order(placed)[0], placed.event.line))
        for group in by_file.values()
    ]
    return min(leaders, key=order, default=None)


def is_aftermath(event: Event) -> bool:
    """True if an event only tells of the death of another process."""
    return remoteness(event) >= 2


def raised(event: Event) -> list[tuple[str, str]]:
    """Type and message of all exceptions in an event's chain, the root first."""
    chain = []
    for title in event.chain:
        kind, _, message = title.partition(": ")
        chain.append((kind.strip().rstrip(":"), message.strip()))
    return [*chain, (event.exception, event.message or event.title)]


def own_frame(event: Event) -> Frame | None:
    """The innermost frame in the user's own code, not in a library."""
    own = [frame for frame in event.frames if not is_library(frame.file)]
    return own[-1] if own else None


def is_library(path: str) -> bool:
    """True if a source file belongs to an installed package or to Python."""
    return bool(_LIBRARY.search(path) or _STANDARD.match(path))


def message_line(event: Event, quote: str = "") -> int:
    """The line of the log on which the message stands: in a traceback below the frames."""
    lines = event.text.splitlines()
    begun = named_line(event)
    if len(lines) < 2:
        return begun
    wanted = (quote or event.message or event.title).strip().splitlines()
    head = " ".join(wanted[0].split())[:60] if wanted else ""
    last_type = event.exception.rpartition(".")[2]
    for index in range(len(lines) - 1, -1, -1):
        text = " ".join(lines[index].split())
        if (head and head in text) or (not head and last_type and text.startswith(last_type)):
            return begun + index
    return event.last_line if event.count == 1 and event.last_line else begun


def failure_evidence(placed: PlacedEvent, quote: str = "") -> Evidence:
    """An event as evidence that points to the line of its message."""
    event = placed.event
    if quote:
        return placed.evidence(quote, message_line(event, quote))
    first = (event.message.strip().splitlines() or [""])[0]
    if event.exception and event.kind is not EventKind.WARNING and not REPORT.match(event.title):
        said = f"{event.exception}: {first}" if first else event.exception
        return placed.evidence(said, message_line(event))
    # Titles of other events are in our words; the evidence is what the log says.
    stands = next((line for line in event.text.splitlines() if line.strip()), event.title)
    return placed.evidence(stands, event.line)


def _moment(placed: PlacedEvent) -> str:
    """When it happened, as sortable text; empty if nothing tells."""
    found = _TIME.search(placed.event.text[:400])
    return found[1].replace("T", " ") if found else ""
