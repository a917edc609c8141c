"""stall: the log has fallen silent though the run has not ended, or it was silent for long.

What it sees: a log that has not grown for ten times its usual interval (and a quarter of an
    hour), thrice that where output is buffered, and what the run was doing when it fell silent;
    surely so if the scheduler says that the job still runs; of a copied log with old time stamps
    only that it ended before its plan; in logs with time stamps, a single
    gap far above all others, and hours without a word before a job was ended from outside.
Why it matters: a hung job holds its devices until its time limit, and no error will come.
Fires on:
    log: 2024-01-01 10:00:00 step 1 loss 2.0 | 2024-01-01 10:00:10 step 2 loss 1.9
      | 2024-01-01 10:00:20 step 3 loss 1.8 | 2024-01-01 10:00:30 step 4 loss 1.8
      | 2024-01-01 10:00:40 step 5 loss 1.7 | 2024-01-01 10:00:50 step 6 loss 1.7
      | 2024-01-01 10:01:00 step 7 loss 1.6 | 2024-01-01 10:01:10 step 8 loss 1.6
      | 2024-01-01 10:01:20 step 9 loss 1.6 | 2024-01-01 10:01:30 step 10 loss 1.5
      | 2024-01-01 10:01:40 step 11 loss 1.5 | 2024-01-01 10:01:50 step 12 loss 1.5
      | 2024-01-01 13:30:00 step 13 loss 1.4 | 2024-01-01 13:30:10 step 14 loss 1.4
    log: 2024-01-01 10:00:00 step 1/99 loss 2.00 | 2024-01-01 10:05:00 step 2/99 loss 1.96
      | 2024-01-01 10:10:00 step 3/99 loss 1.92 | 2024-01-01 10:15:00 step 4/99 loss 1.88
      | 2024-01-01 10:20:00 step 5/99 loss 1.84 | 2024-01-01 10:25:00 step 6/99 loss 1.80
      | 2024-01-01 10:30:00 step 7/99 loss 1.76 | 2024-01-01 10:35:00 step 8/99 loss 1.72
      | 2024-01-01 10:40:00 step 9/99 loss 1.68 | 2024-01-01 10:45:00 step 10/99 loss 1.64
      | 2024-01-01 10:50:00 step 11/99 loss 1.60 | 2024-01-01 10:55:00 step 12/99 loss 1.56
      | slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T17:12:40 DUE TO TIME LIMIT ***
Stays quiet:
    log: 2024-01-01 10:00:00 step 1 loss 2.0 | 2024-01-01 10:00:10 step 2 loss 1.9
Try next: `py-spy dump` on every rank: the one that stands elsewhere than the others names the
    cause; look at the use of devices and processors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats
from mltd.runs.run import SourceFile
from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.job_event import job_evidence
from ..core.registry import analyzer
from ..core.view import RunView
from ..distributed.progress import spoken
from .last_silence import LEAST_MOMENTS, ROWS, LastSilence, silence_before_end, usual_gap

BEFORE_END = "before_end"
"""Detail of a silence that lasted until the job was ended: the end is its effect."""
_SILENT = re.compile(r"silent for ([\d.e+]+) (d|h|min|s)\b")
_USUALLY = re.compile(r"grows every (?:less than )?([\d.e+]+) (d|h|min|s)\b")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "min": 60.0, "s": 1.0}
_A_DAY = 86_400.0
_PHASES = {
    EventKind.EVALUATION: "evaluation",
    EventKind.CHECKPOINT: "checkpoint",
    EventKind.RESTART: "start",
}


@analyzer
@dataclass(frozen=True, slots=True)
class Stall:
    """Report silence at the end of the log, else the one gap that stands out."""

    id: ClassVar[str] = "stall"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("evaluation", "checkpoint", "restart")
    buffered_factor: float = 3.0
    least_silence: float = 900.0
    least_gap: float = 600.0
    """Seconds; evaluations and checkpoints may take as long."""
    least_times_usual: float = 30.0
    least_share: float = 0.2
    """Of the log's whole duration, from which a gap is worth a warning."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Silence now is worse than silence that is over."""
        if view.state is RunState.STALLED:
            yield from self._silence(view)
            return
        if (silence := silence_before_end(view)) is not None and self._is_long(view, silence):
            yield self._report_end(view, silence)
            return
        gaps = [gap for gap in map(self._gap, view.run.files) if gap is not None]
        for gap in sorted(gaps, key=lambda gap: -gap.seconds)[:1]:
            if not self._is_explained(view, gap):
                yield self._report_gap(gap)

    # -- silence at the end -----------------------------------------------------------------

    def _silence(self, view: RunView) -> Iterator[Finding]:
        silent, usual = _seconds(_SILENT, view.state_reason), _seconds(_USUALLY, view.state_reason)
        if view.facts.is_buffered and silent is not None:
            limit = max(self.least_silence, 10.0 * (usual or 180.0))
            if silent < self.buffered_factor * limit:
                return
        source = max(view.run.files, key=lambda file: len(file.coordinates))
        phase = self._phase(view, source)
        step = _last_step(source)
        is_long = silent is not None and silent > 30.0 * max(usual or 60.0, 60.0)
        severity = Severity.CRITICAL if is_long and usual is not None else Severity.WARNING
        claim = "the run seems to hang"
        is_known_to_run = view.job is not None and view.job.is_running
        raw = 0.75 - (0.15 if view.facts.is_buffered or usual is None else 0.0)
        # Nobody ends with the words that an evaluation begins.
        is_unfinished = phase == "evaluation" or self._should_go_on(view, source)
        if not is_known_to_run and not is_unfinished:
            # A log that is simply over looks the same.
            severity, claim = Severity.INFO, "if the job still runs, it hangs"
        elif not is_known_to_run and _is_copy(source, silent or 0.0):
            # When it fell silent is not known, but it did before its plan was done.
            severity, claim = Severity.WARNING, "the run hung, or ended without a word"
            raw -= 0.15
        raw += 0.1 if is_known_to_run else 0.0
        where = f" during {phase}" if phase else ""
        name = source.path.rpartition("/")[2]
        evidence = [Evidence(EvidenceKind.LOG, f"{name}:{source.lines}", view.state_reason[:200])]
        if view.job is not None and is_known_to_run:
            evidence.append(job_evidence(view.job))
        if "buffered" in view.facts.notes:
            evidence.append(view.facts.notes["buffered"])
        yield Finding(
            id=self.id,
            title=f"{claim}{where}: {view.state_reason}",
            severity=severity,
            confidence=finding_confidence(Basis.RESEARCH, raw),
            basis=Basis.RESEARCH,
            evidence=tuple(evidence),
            first_step=step,
            details={"phase": phase, "seconds": silent or 0.0},
        )

    def _should_go_on(self, view: RunView, source: SourceFile) -> bool:
        """True if the log ends well before its plan, within a bar, or within an epoch."""
        if source.ends_open and source.coordinates.open_share < 0.95:
            return True
        if source.coordinates.is_inside_loop and not self._is_through(view, source):
            return True
        for axis, planned in (
            ("step", view.planned_steps),
            ("epoch", view.run.totals.get("epoch") or view.settings.number("epochs")),
        ):
            column = source.coordinates.axes.get(axis)
            if not planned or column is None or not len(column):
                continue
            reached = float(np.nanmax(column.view()[-256:], initial=0.0))
            return reached < 0.95 * planned - 1
        return False

    def _is_through(self, view: RunView, source: SourceFile) -> bool:
        """True if as many steps as planned were made: that may be in the middle of an epoch."""
        column = source.coordinates.axes.get("step")
        if not view.planned_steps or column is None or not len(column):
            return False
        reached = float(np.nanmax(column.view()[-256:], initial=0.0))
        return reached >= 0.95 * view.planned_steps - 1

    def _phase(self, view: RunView, source: SourceFile) -> str:
        """What the last thing was that the log announced, if no metrics came after it."""
        if not len(source.coordinates):
            return "start"
        last = int(source.coordinates.line.view()[-1])
        later = [
            placed.event.kind
            for placed in view.events_of(*_PHASES)
            if placed.source is source and placed.event.last_line >= last
        ]
        return _PHASES[later[-1]] if later else ""

    # -- silence before somebody ended the job --------------------------------------------------

    def _is_long(self, view: RunView, silence: LastSilence) -> bool:
        """True if the run had more to do and would have said something by then."""
        least = max(self.least_gap, self.least_times_usual * silence.usual)
        is_through = view.planned_steps and not self._should_go_on(view, silence.source)
        return silence.seconds >= least and not is_through

    def _report_end(self, view: RunView, silence: LastSilence) -> Finding:
        phase, step = self._phase(view, silence.source), _last_step(silence.source)
        where = f" after step {step:.10g}" if step is not None else ""
        during = f", during {phase}," if phase else ""
        name = silence.source.path.rpartition("/")[2]
        line = int(silence.source.coordinates.line.view()[-1])
        claim = (
            f"nothing was logged for {spoken(silence.seconds)}{where}{during} before the job was "
            f"ended; the usual longest gap is {spoken(silence.usual)}"
        )
        doubt = ", or its last lines were lost in a buffer" if silence.may_be_buffered else ""
        return Finding(
            id=self.id,
            title=f"the run seems to have hung: {claim}{doubt}",
            severity=Severity.INFO if silence.may_be_buffered else Severity.CRITICAL,
            confidence=finding_confidence(Basis.RESEARCH, 0.75),
            basis=Basis.RESEARCH,
            evidence=(Evidence(EvidenceKind.LOG, f"{name}:{line}", claim[:200]), silence.ended),
            first_step=step,
            details={"phase": phase, "seconds": silence.seconds, BEFORE_END: 1.0},
        )

    # -- a gap in the time stamps -------------------------------------------------------------

    def _gap(self, source: SourceFile) -> _Gap | None:
        column = source.coordinates.axes.get("time")
        if column is None:
            return None
        first = max(0, len(column) - ROWS)
        times = column.view()[first:]
        known = np.flatnonzero(np.isfinite(times) & (np.abs(times) < 1e13))
        if len(known) < LEAST_MOMENTS:
            return None
        gaps = np.diff(times[known])
        if (gaps < 0).any():
            return None
        at = int(np.argmax(gaps))
        if _is_unstamped(times[known], gaps, at):
            return None
        others = np.delete(gaps, at)
        widest = float(gaps[at])
        usual = usual_gap(others)
        if widest < max(self.least_gap, self.least_times_usual * usual):
            return None
        share = widest / float(times[known[-1]] - times[known[0]])
        return _Gap(
            source, first + int(known[at]), first + int(known[at + 1]), widest, usual, share
        )

    def _is_explained(self, view: RunView, gap: _Gap) -> bool:
        """A restart in between, or an announced evaluation or checkpoint, is no hang."""
        coordinates = gap.source.coordinates
        generation = coordinates.generation.view()
        if generation[gap.before] != generation[gap.after]:
            return True
        steps = coordinates.axes.get("step")
        if steps is not None and _goes_back(steps.view()[gap.before :]):
            return True
        if self._rate_begins_anew(view, gap):
            return True
        first, last = coordinates.line.view()[[gap.before, gap.after]]
        return any(
            placed.source is gap.source and first <= placed.event.last_line <= last
            for placed in view.events
        )

    def _rate_begins_anew(self, view: RunView, gap: _Gap) -> bool:
        """True if the learning rate leaps over a gap as nowhere near it: the run was resumed."""
        rates = view.curve("lr")
        step = _last_step(gap.source, gap.before)
        if rates is None or step is None or view.run.files[rates.series.file] is not gap.source:
            return False
        at = int(np.searchsorted(rates.x, step, side="right"))
        near = rates.y[max(0, at - 8) : at + 1]
        if len(near) < 5 or at >= len(rates) or not np.all(near > 0):
            return False
        moves = np.abs(np.diff(np.log(near)))
        return bool(moves[-1] > max(0.25, 3.0 * float(moves[:-1].max())))

    def _report_gap(self, gap: _Gap) -> Finding:
        step = _last_step(gap.source, gap.before)
        name = gap.source.path.rpartition("/")[2]
        line = int(gap.source.coordinates.line.view()[gap.before])
        where = f" after step {step:.10g}" if step is not None else ""
        is_warning = gap.share >= self.least_share
        title = (
            f"nothing was logged for {gap.seconds / 60:.3g} min{where}, "
            f"{gap.seconds / gap.usual:.3g} times the usual longest gap"
        )
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.WARNING if is_warning else Severity.INFO,
            confidence=finding_confidence(Basis.RESEARCH, 0.7),
            basis=Basis.RESEARCH,
            evidence=(Evidence(EvidenceKind.LOG, f"{name}:{line}", title[:200]),),
            first_step=step,
            last_step=_last_step(gap.source, gap.after),
            details={"phase": "", "seconds": gap.seconds},
        )


@dataclass(frozen=True, slots=True)
class _Gap:
    """The widest gap between two records of a log, by rows."""

    source: SourceFile
    before: int
    after: int
    seconds: float
    usual: float
    share: float


def _is_unstamped(times: Floats, gaps: Floats, at: int) -> bool:
    """True if the records before the gap bear a stamp that is not theirs.

    A record without a stamp has that of the last line that had one. Few moments for many records,
    or far more records at the moment before the gap than at any other, were not silent.
    """
    edges = np.flatnonzero(gaps > 0) + 1
    if len(edges) < LEAST_MOMENTS - 1:
        return True
    sizes = np.diff(np.concatenate(([0], edges, [len(times)])))
    here = int(np.searchsorted(edges, at, side="right"))
    return bool(sizes[here] > 3 * np.max(np.delete(sizes, here)))


def _goes_back(steps: Floats) -> bool:
    """True if the first new step after a gap is a lower one: another run was begun."""
    new = np.flatnonzero(np.isfinite(steps) & (steps != steps[0]))
    return len(new) > 0 and bool(steps[new[0]] < steps[0])


def _seconds(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    return float(found[1]) * _SECONDS[found[2]] if found else None


def _last_step(source: SourceFile, row: int = -1) -> float | None:
    column = source.coordinates.axes.get("step")
    if column is None or not len(column):
        return None
    step = float(column.view()[row])
    return step if np.isfinite(step) else None


def _is_copy(source: SourceFile, silent: float) -> bool:
    """True if the file was written long after its last time stamp: a copy of an old log."""
    column = source.coordinates.axes.get("time")
    if column is None or not len(column):
        return False
    stamps = column.view()[-64:]
    stamps = stamps[np.isfinite(stamps)]
    try:
        written = os.stat(source.path).st_mtime
    except (OSError, ValueError):
        return False
    if len(stamps) == 0:
        return False
    if float(stamps[-1]) < 2 * _A_DAY:
        return False  # times of day say nothing about the day
    lag = abs(written - float(stamps[-1]))
    # Stamps have no time zone: whole half hours up to a day are one.
    off = min(lag % 1800.0, 1800.0 - lag % 1800.0)
    return lag > _A_DAY or off > max(600.0, 0.5 * silent)
