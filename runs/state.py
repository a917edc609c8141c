"""Whether a run goes on, and if not, how it ended: a judgement from what its log shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .event import Event, EventKind
from .failure import (
    end_of,
    first_cause,
    is_terminal,
    last_words,
    named_line,
    newest_attempt,
    overcome,
)

_LEAST_SILENCE = 900.0
"""Seconds: buffered output comes in bursts, so shorter silence means nothing."""
_MANY_INTERVALS = 10.0
"""A log that was written this many times its usual interval ago has stalled."""
_UNKNOWN_SILENCE = 1800.0
"""Seconds of silence that count as a stall when the usual interval is not known."""
LONG_AGO = 86_400.0
"""Seconds after which a silent log is an old file rather than a stalled job."""
_AFTERMATH = 200
"""Lines: the final evaluation may still be logged after the end was announced."""


class RunState(StrEnum):
    """The vocabulary of `run.state` in the JSON contract."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STALLED = "stalled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run came; every field may be unknown."""

    last_row_line: int = 0
    """Line of the last record of metrics in the file the events are from; 0 if none.

    Summaries that are printed at exit (W&B, Slurm) are no progress and do not count.
    """
    last_step: float | None = None
    total_steps: float | None = None
    last_epoch: float | None = None
    total_epochs: float | None = None
    lines: int = 0
    """Lines of that file; 0 if nobody counted them."""

    def is_complete(self, *, is_silent: bool) -> bool:
        """The last planned step was logged.

        Only silence tells the last step counted from 0 from the last but one counted from 1,
        and the end of the last epoch from its beginning.
        """
        if self.total_steps and self.last_step is not None:
            return self.last_step >= self.total_steps - is_silent
        if self.total_epochs and self.last_epoch is not None:
            return is_silent and self.last_epoch >= self.total_epochs
        return False

    @property
    def shown(self) -> str:
        """How far it came, in words."""
        for name, last, total in (
            ("step", self.last_step, self.total_steps),
            ("epoch", self.last_epoch, self.total_epochs),
        ):
            if last is not None:
                return f"{name} {last:g}" + (f" of {total:g}" if total else "")
        return ""


def infer_state(
    events: Iterable[Event],
    last_line_age_seconds: float | None = None,
    *,
    progress: Progress | None = None,
    interval_seconds: float | None = None,
    is_alive: bool | None = None,
) -> tuple[RunState, str]:
    """The state of a run whose events are from one file, and the reason in one sentence.

    `last_line_age_seconds` is how long ago the log grew, None if that means nothing (a copied
    file); `interval_seconds` how often it usually grows; `is_alive` what the scheduler says.
    """
    progress = progress or Progress()
    limit = _silence_limit(interval_seconds)
    is_silent = is_alive is False or last_line_age_seconds is None or last_line_age_seconds > limit
    is_complete = progress.is_complete(is_silent=is_silent)
    ordered = sorted(events, key=lambda event: (end_of(event), event.line, event.kind, event.title))
    started = newest_attempt(ordered)
    failure = _cause_of_failure(ordered, progress, started)
    finish = _last_finish(ordered, progress.last_row_line)
    if failure is None and finish is None and is_silent and not is_complete:
        failure = next(iter(last_words(ordered, progress.lines)), None)
    if failure is not None and not _is_aftermath(failure, finish, is_complete, progress):
        return RunState.FAILED, _failure_reason(failure, progress, started)
    if finish is not None:
        return RunState.FINISHED, f"the log says so at line {end_of(finish)}: {finish.title}"
    if is_complete:
        return RunState.FINISHED, f"the last that was planned, {progress.shown}, was logged"
    return _judge_silence(last_line_age_seconds, limit, interval_seconds, is_alive, progress)


def _silence_limit(interval: float | None) -> float:
    return max(_LEAST_SILENCE, _MANY_INTERVALS * interval) if interval else _UNKNOWN_SILENCE


def combine_states(states: Sequence[tuple[RunState, str]]) -> tuple[RunState, str]:
    """One state for a run in several files: a failure in any of them is the run's."""
    order = list(_PRECEDENCE)
    known = [one for one in states if one[0] is not RunState.UNKNOWN] or list(states)
    if not known:
        return RunState.UNKNOWN, "nothing was logged"
    return min(known, key=lambda one: order.index(one[0]))


_PRECEDENCE = (
    RunState.FAILED,
    RunState.RUNNING,
    RunState.FINISHED,
    RunState.STALLED,
    RunState.UNKNOWN,
)


def _cause_of_failure(ordered: Sequence[Event], progress: Progress, started: int) -> Event | None:
    """The terminal event that explains those around it, if nothing went on afterwards."""
    survived = overcome(ordered, progress.lines)
    return first_cause(
        event
        for event in ordered
        if end_of(event) > started
        and id(event) not in survived
        and _is_last_word(event, progress)
        and is_terminal(event)
    )


def _is_last_word(event: Event, progress: Progress) -> bool:
    """No progress came after an event, though numbers may have.

    A progress bar may stand on the very line that the scheduler's last word is on, and the
    summary of a tracker repeats the step at which the run died.
    """
    if end_of(event) >= progress.last_row_line:
        return True
    return event.step is not None and event.step == progress.last_step


def _last_finish(ordered: Sequence[Event], last_row_line: int) -> Event | None:
    for event in reversed(ordered):
        if event.kind is EventKind.RESTART:
            return None
        if event.kind is EventKind.FINISHED:
            return event if last_row_line <= end_of(event) + _AFTERMATH else None
    return None


def _is_aftermath(
    failure: Event, finish: Event | None, is_complete: bool, progress: Progress
) -> bool:
    """A run that was through and was then killed or interrupted did finish."""
    if failure.exception.endswith("KeyboardInterrupt"):
        return is_complete and finish is not None
    if failure.kind not in (EventKind.SIGNAL, EventKind.SCHEDULER):
        return False
    is_announced = finish is not None and finish.line < failure.line
    return is_complete or (is_announced and not progress.total_steps)


def _failure_reason(failure: Event, progress: Progress, started: int) -> str:
    is_of_this_attempt = progress.last_row_line > started or started == 0
    where = f" after {progress.shown}" if progress.shown and is_of_this_attempt else ""
    said = f"{failure.title} (line {named_line(failure)}){where}"
    later = progress.lines - end_of(failure)
    if progress.lines == 0:
        return said
    if later <= 0:
        return f"{said}, and nothing was logged after it"
    counted = "1 line" if later == 1 else f"{later:,} lines"
    return f"{said}, followed by {counted} without a training step"


def _judge_silence(
    age: float | None,
    limit: float,
    interval: float | None,
    is_alive: bool | None,
    progress: Progress,
) -> tuple[RunState, str]:
    shown = f" at {progress.shown}" if progress.shown else ""
    if is_alive is False:
        return RunState.UNKNOWN, f"the job is gone and its log{shown} does not say why"
    if age is None:
        state = RunState.RUNNING if is_alive else RunState.UNKNOWN
        return state, f"the log ends{shown} without a last word"
    if age <= limit:
        return RunState.RUNNING, f"the log grew {_duration(age)} ago{shown}"
    if age > max(LONG_AGO, limit) and not is_alive:
        return RunState.UNKNOWN, f"the log ended {_duration(age)} ago{shown} without a last word"
    usual = f", and usually grows every {_duration(interval)}" if interval else ""
    return RunState.STALLED, f"the log has been silent for {_duration(age)}{shown}{usual}"


def _duration(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 1 else "less than 1 s"
