"""How a log ends: which of its events ended the newest attempt in a file, and which it survived.

The state of a run, its findings and its report all ask here, so that they name the same failure.
Timeouts, exit codes and launchers' reports are effects; the cause is the earliest event of the
newest attempt that is none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from .event import Event, EventKind
from .events.classify import classify
from .events.rule import FAILURES

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
_RAISED = frozenset({EventKind.EXCEPTION, EventKind.ERROR, EventKind.OOM})
"""Kinds that a program may catch, log and go on after."""
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
REPORT = re.compile(
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
_LAUNCH = re.compile(
    r"can't open file|: error: (?:unrecognized|the following arg|argument |ambiguous|invalid)"
)
"""What a program says before it has begun."""
_SPOKEN = "error_level"
"""The rule for what a logger says at its level ERROR or above."""
_SURVIVED = re.compile(
    r"(?i)\bretry|\btry(?:ing)? again|\bskip|\bcontinu|\bignor|\bfall(?:ing|s)? ?back|\bresum|"
    r"\brecover|\breconnect|\battempt \d|\b(?:wandb|mlflow|comet|neptune|clearml|tensorboard)\b"
)
"""What programs say about errors that they go on after, and trackers about their network."""
_GAP = 5
"""Lines between the last words of one attempt and those of the next: ranks of one attempt that
fail in different ways write closer to each other."""
_WENT_ON = 20
"""Lines of other text between an exception and a later one that ended the whole program: the
program went on after the first."""
_LONG_WENT_ON = 200
"""The same where no later failure is known: trackers and launchers have a lot to say at exit."""


def end_of(event: Event) -> int:
    """The last line of an event."""
    return max(event.line, event.last_line)


def named_line(event: Event) -> int:
    """The line to look at: of an event that was repeated much later, its last occurrence."""
    length = max(1, len(event.text.splitlines()))
    others = end_of(event) - event.line + 1 - max(1, event.count) * length
    return end_of(event) - length + 1 if event.count > 1 and others >= _WENT_ON else event.line


def is_terminal(event: Event) -> bool:
    """Whether a run cannot go on after an event, unless it is seen to go on."""
    rule = classify(event.text.partition("\n")[0]) if event.text else None
    if rule is not None and rule.kind is event.kind:
        return rule.is_terminal
    return event.kind in FAILURES


def last_words(events: Iterable[Event], lines: int) -> list[Event]:
    """Errors in a logger's words with which a file of so many lines ends, first one first.

    A program that logs what is wrong and exits leaves no traceback: that nothing at all follows
    is what tells such an error from one that was overcome.
    """
    found: list[Event] = []
    for event in sorted(events, key=end_of, reverse=True):
        if end_of(event) < lines or lines == 0 or not _is_spoken_error(event):
            break
        found.insert(0, event)
        lines = event.line - 1
    return found


def _is_spoken_error(event: Event) -> bool:
    if event.kind is not EventKind.ERROR or _SURVIVED.search(event.text[:2000]):
        return False
    rule = classify(event.text.partition("\n")[0])
    return rule is not None and rule.id == _SPOKEN


def remoteness(event: Event) -> int:
    """How far an event may be from the first cause.

    0: it may be the cause itself; 1: a process was killed; 2: peers notice; 3: launchers report.
    """
    said = f"{event.exception}: {event.title}"
    if event.kind is EventKind.SCHEDULER and _STATED.search(event.title):
        return 0
    if REPORT.search(event.title) or REPORT.search(said):
        return 3
    if event.kind is EventKind.OOM:
        return 0
    if event.kind is EventKind.NCCL or _CUT_OFF.search(said):
        return 2
    if event.kind in (EventKind.SIGNAL, EventKind.SCHEDULER) or _KILLED.search(said):
        return 1
    return 0


def tiers(events: Sequence[Event]) -> list[int]:
    """The remoteness of each of some events that ended one attempt, seen beside the others."""
    has_assertion = any("Assertion failed" in event.title for event in events)
    return [_tier(event, has_assertion=has_assertion) for event in events]


def _tier(event: Event, *, has_assertion: bool) -> int:
    tier = remoteness(event)
    if tier == 0 and has_assertion and _DEVICE_ECHO.search(event.title):
        return 1
    # A launcher's report says more than the signal that it sends.
    return tier + (tier == 3 and event.kind is EventKind.SIGNAL)


def newest_attempt(events: Iterable[Event]) -> int:
    """The line after which the newest attempt in a file begins; 0 if it holds one only.

    A log says so itself, or it has two ends that no single program can have.
    """
    started = 0
    ended: Event | None = None
    last = 0
    for event in sorted(events, key=lambda event: (event.line, end_of(event))):
        if event.kind is EventKind.RESTART:
            started = max(started, event.line)
        elif event.kind in GRAVE:
            is_far = event.line - last >= _GAP
            if is_whole_end(event):
                if ended is not None and is_far and _are_one_after_another(ended, event):
                    started = max(started, last)
                ended, last = event, max(last, end_of(event))
            elif ended is not None and not is_far:
                last = max(last, end_of(event))  # its message, or what another rank says of it
    return started


def is_whole_end(event: Event) -> bool:
    """A program ends with it as a whole: the traceback begins at its top."""
    if _LAUNCH.search(event.title):
        return True
    is_top = bool(event.frames) and event.frames[0].function == "<module>"
    return is_top and remoteness(event) == 0


def _are_one_after_another(earlier: Event, later: Event) -> bool:
    """Two ends that one process cannot have both, nor two labelled ranks of one attempt."""
    return not (earlier.ranks and later.ranks and not set(earlier.ranks) & set(later.ranks))


def overcome(events: Iterable[Event], lines: int) -> set[int]:
    """`id` of exceptions after which their program logged on, though perhaps no metrics.

    A traceback that begins at the top of the program ended it; any other may have been caught.
    `lines` is the number of lines of the file, 0 if nobody counted them.
    """
    grave = [event for event in events if event.kind in GRAVE]
    ends = sorted((event for event in grave if is_whole_end(event)), key=lambda end: -end.line)
    text = _OtherLines(grave)
    found: set[int] = set()
    for event in grave:
        if event.kind not in _RAISED or is_whole_end(event):
            continue
        after = end_of(event)
        later = next((end for end in ends if _are_one_after_another(event, end)), None)
        if later is not None and later.line > after:
            went_on = text.count(after, later.line) >= _WENT_ON
        else:
            went_on = text.count(after, lines + 1) >= _LONG_WENT_ON
        if went_on and remoteness(event) == 0:
            found.add(id(event))
    return found


class _OtherLines:
    """Counts the lines between two that are no part of any of some events."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._before: list[int] = [0]
        for event in sorted(events, key=lambda event: event.line):
            first = max(event.line, self._lasts[-1] + 1 if self._lasts else 1)
            if end_of(event) >= first:
                self._firsts.append(first)
                self._lasts.append(end_of(event))
                self._before.append(self._before[-1] + end_of(event) - first + 1)

    def count(self, after: int, before: int) -> int:
        """How many of the lines after one and before another are none of the events'."""
        covered = self._up_to(before - 1) - self._up_to(after)
        return max(0, before - after - 1 - covered)

    def _up_to(self, line: int) -> int:
        place = bisect_right(self._firsts, line)
        if place == 0:
            return 0
        return self._before[place] - max(0, self._lasts[place - 1] - line)


def first_cause(events: Iterable[Event]) -> Event | None:
    """The event from which the others of one attempt in one file followed."""
    found = list(events)
    ordered = zip(tiers(found), (event.line for event in found), range(len(found)), strict=True)
    best = min(ordered, default=None)
    return None if best is None else found[best[2]]
