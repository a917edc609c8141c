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
from mltd.runs.state import RunState, is_terminal, last_words

from .finding import Evidence
from .view import PlacedEvent, RunView

GRAVE = frozenset(
    {
        EventKind.EXCEPTION,
        EventKind.ERROR,
        EventKind.OOM,
        EventKind.NCCL,
        EventKind.SIGNAL,
        EventKind.SCHEDULER,
    }
)
_STATED = re.compile(
    r"(?i)time limit|preempt|node fail|requeue|walltime|runlimit|evict|deadlineexceeded|"
    r"memlimit|memory limit"
)
"""Reasons that a scheduler gives."""
_KILLED = re.compile(
    r"(?i)DataLoader worker \(pid.{0,40}(?:killed by signal|exited unexpectedly)|"
    r"DataLoader \d+ workers? exit(?:ed)? unexpectedly|"
    r"pin memory thread exited|died with <Signals\.SIG|terminated abruptly|"
    r"worker \d+ (?:was )?(?:killed|died)|A worker process managed by the executor"
)
"""Exceptions that only say that some other process was killed."""
_CUT_OFF = re.compile(
    r"(?i)connection (?:was )?(?:closed|reset|aborted)|broken ?pipe|recvBytes|sendBytes|"
    r"remote process exited|peer closed|ConnectionReset|ConnectionAborted|store.{0,20}(?:closed|"
    r"shut ?down)|heartbeat monitor|Application timeout caused pair closure|"
    r"monitoredBarrier|watchdog thread terminated|process group has (?:not )?been (?:destroyed|"
    r"aborted)|communicator was aborted"
)
"""What the survivors say when a peer has gone."""
_REPORT = re.compile(
    r"^torchrun: |ChildFailedError|ProcessRaisedException|ProcessExitedException|"
    r"^srun: (?:error: \S+: tasks? |Job step aborted|Terminating|forcing)|TASK FAILURE|"
    r"(?i:exit (?:code|status)|non-zero exit|\bSIG(?:TERM|INT|HUP)\b)|^SystemExit|"
    r"KeyboardInterrupt|SignalException|^main failed|^Worker group|"
    r"Error (?:executing|in) job|subprocess\.CalledProcessError|"
    r"last frame \S*(?:[/\\]runpy\.py|torch[/\\]distributed[/\\](?:(?:launch|run)\.py|"
    r"launcher[/\\]|elastic[/\\])|accelerate[/\\]commands[/\\]|deepspeed[/\\]launcher[/\\]|"
    r"paddle[/\\]distributed[/\\]launch|horovod[/\\]runner[/\\]|bin[/\\](?:torchrun|accelerate|"
    r"deepspeed|horovodrun)):"
)
"""What launchers and signal handlers say about the death of others."""
_DEVICE_ECHO = re.compile(r"device-side assert|unspecified launch failure|illegal memory access")
_LIBRARY = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|lib[/\\]python[\d.]+|"
    r"torch|transformers|accelerate|deepspeed|pytorch_lightning|lightning|lightning_fabric|keras|"
    r"tensorflow|jax|flax|numpy|pandas|scipy|sklearn|datasets|torch_geometric|dgl|mmengine|mmcv|"
    r"stable_baselines3|wandb|huggingface_hub|safetensors|multiprocessing|concurrent|asyncio|"
    r"importlib|hydra|omegaconf|fsspec|PIL|json|peft|trl|ray)[/\\]|^<|[/\\]<"
)
_STANDARD = re.compile(r"^(?:[\w.]*[/\\])?(?:os|subprocess|pickle|shutil|runpy|threading)\.py$")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)")


_LAUNCH = re.compile(
    r"can't open file|: error: (?:unrecognized|the following arg|argument |ambiguous|invalid)"
)
"""What a program says before it has begun."""
_GAP = 5
"""Lines between the last words of one attempt and those of the next: ranks of one attempt that
fail in different ways write closer to each other."""


def newest_attempts(view: RunView) -> dict[int, int]:
    """Per file (by `id`), the line after which its newest attempt begins; 0 if it has one only."""
    started: dict[int, int] = {}
    ended: dict[int, tuple[int, Event]] = {}
    for placed in view.events:
        key, event = id(placed.source), placed.event
        if event.kind is EventKind.RESTART:
            started[key] = max(started.get(key, 0), event.line)
        elif event.kind in GRAVE and _is_whole_end(event):
            before = ended.get(key)
            end = max(event.line, event.last_line)
            if before is not None:
                is_far = event.line - before[0] >= _GAP
                if is_far and _are_one_after_another(before[1], event):
                    started[key] = max(started.get(key, 0), before[0])
                end = max(end, before[0])
            ended[key] = (end, event)
    return started


def _is_whole_end(event: Event) -> bool:
    """A program ends with it as a whole: the traceback begins at its top."""
    if _LAUNCH.search(event.title):
        return True
    is_top = bool(event.frames) and event.frames[0].function == "<module>"
    return is_top and remoteness(event) == 0


def _are_one_after_another(earlier: Event, later: Event) -> bool:
    """Two ends that one process cannot have both, nor two labelled ranks of one attempt."""
    return not (earlier.ranks and later.ranks and not set(earlier.ranks) & set(later.ranks))


def history(view: RunView) -> list[PlacedEvent]:
    """What ended earlier attempts in files that hold several."""
    started = newest_attempts(view)
    return [
        placed
        for placed in view.events
        if placed.event.kind in GRAVE
        and max(placed.event.line, placed.event.last_line) <= started.get(id(placed.source), 0)
        and is_terminal(placed.event)
    ]


def unresolved(view: RunView) -> list[PlacedEvent]:
    """Grave events after which the newest attempt in their file did not go on."""
    started = newest_attempts(view)
    return [
        placed
        for placed in view.events
        if placed.event.kind in GRAVE
        and id(placed.event) not in view.facts.recovered
        and max(placed.event.line, placed.event.last_line) > started.get(id(placed.source), 0)
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
    by_file: dict[int, tuple[int, list[Event]]] = {}
    for placed in view.events:
        _, said = by_file.setdefault(id(placed.source), (placed.source.lines, []))
        said.append(placed.event)
    return [event for lines, said in by_file.values() for event in last_words(said, lines)]


def first_failure(view: RunView) -> PlacedEvent | None:
    """The event from which the others followed, None if nothing ended the run."""
    return first_of(view, uncaught(view))


def first_of(view: RunView, events: Iterable[PlacedEvent]) -> PlacedEvent | None:
    """The first cause among some events."""
    found = list(events)
    has_assertion = any("Assertion failed" in placed.event.title for placed in found)
    numbers = {id(source): number for number, source in enumerate(view.run.files)}

    def order(placed: PlacedEvent) -> tuple[int, bool, str, float, int, int]:
        event = placed.event
        tier = remoteness(event)
        if has_assertion and tier == 0 and _DEVICE_ECHO.search(event.title):
            tier = 1
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


def remoteness(event: Event) -> int:
    """How far an event may be from the first cause.

    0: it may be the cause itself; 1: a process was killed; 2: peers notice; 3: launchers report.
    """
    said = f"{event.exception}: {event.title}"
    if event.kind is EventKind.SCHEDULER and _STATED.search(event.title):
        return 0
    if _REPORT.search(event.title) or _REPORT.search(said):
        return 3
    if event.kind is EventKind.OOM:
        return 0
    if event.kind is EventKind.NCCL or _CUT_OFF.search(said):
        return 2
    if event.kind in (EventKind.SIGNAL, EventKind.SCHEDULER) or _KILLED.search(said):
        return 1
    return 0


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
    if len(lines) < 2:
        return event.line
    wanted = (quote or event.message or event.title).strip().splitlines()
    head = " ".join(wanted[0].split())[:60] if wanted else ""
    last_type = event.exception.rpartition(".")[2]
    for index in range(len(lines) - 1, -1, -1):
        text = " ".join(lines[index].split())
        if (head and head in text) or (not head and last_type and text.startswith(last_type)):
            return event.line + index
    return event.last_line if event.count == 1 and event.last_line else event.line


def failure_evidence(placed: PlacedEvent, quote: str = "") -> Evidence:
    """An event as evidence that points to the line of its message."""
    event = placed.event
    if quote:
        return placed.evidence(quote, message_line(event, quote))
    first = (event.message.strip().splitlines() or [""])[0]
    if event.exception and event.kind is not EventKind.WARNING and not _REPORT.match(event.title):
        said = f"{event.exception}: {first}" if first else event.exception
        return placed.evidence(said, message_line(event))
    # Titles of other events are in our words; the evidence is what the log says.
    stands = next((line for line in event.text.splitlines() if line.strip()), event.title)
    return placed.evidence(stands, event.line)


def _moment(placed: PlacedEvent) -> str:
    """When it happened, as sortable text; empty if nothing tells."""
    found = _TIME.search(placed.event.text[:400])
    return found[1].replace("T", " ") if found else ""
