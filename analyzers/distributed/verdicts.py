"""How a run was ended from outside: what schedulers, messages and exit codes say, in that order.

A scheduler's state outranks a message, a message outranks an exit code or a signal. What only
follows from another process's death (`srun: Job step aborted`, `TASK FAILURE`) says nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from mltd.runs.event import EventKind
from mltd.runs.failure import remoteness
from mltd.runs.state import RunState

from ..core.job_event import JobEvent
from ..core.view import PlacedEvent, RunView
from .memo import first_of, once_per_update, open_events


class Ended(StrEnum):
    """What ended a job from outside."""

    TIMEOUT = "timeout"
    PREEMPTED = "preempted"
    NODE_FAIL = "node_fail"
    CANCELLED = "cancelled"


STATE, MESSAGE, SIGNAL = 3, 2, 1
"""Authority of a statement."""

_EFFECT = re.compile(
    r"(?i)task failure|job step aborted|srun: (?:terminating|forcing|force)|closing signal|"
    r"^srun: error: \S+: tasks? |handling slurm signal: (?!10|12)|noticed that process rank|"
    r"mpi_abort|horovod|bad termination|running at|exit status|killed by signal|primary job|"
    r"processes exited|slurm_load_jobs|^qsub|\bsubmi(?:t\b|tted|ssion)|"
    r"unable to run job|neversatisfied|badconstraints|partitiontimelimit|requeued.held|job rejected"
)
_TASKS_TERMINATED = re.compile(r"^srun: error: \S+: tasks? \S+: Terminated")
_REASONS = (
    (
        Ended.TIMEOUT,
        re.compile(
            r"(?i)time ?limit|wall[ -]?(?:clock|time)|runlimit|cpulimit|term_(?:deadline|window)|"
            r"deadline ?exceeded|specified deadline|state is (?:timeout|deadline)|timed-?out|"
            r"max(?:runtime|waittime)exceeded|enforced h_rt|allocation expired|maximum runtime"
        ),
    ),
    (
        Ended.NODE_FAIL,
        re.compile(
            r"(?i)node[ _]fail|boot_fail|marked dead|not responding|not ready|nodelost|"
            r"nodenotready|nodeshutdown|nodes? failed|sister_eof|job terminate, 'eof'|lost contact|"
            r"node (?:has )?died|unreachable|\bnodes? \S+ .{0,12}\b(?:down|lost|failed|died)\b"
        ),
    ),
    (
        Ended.PREEMPTED,
        re.compile(r"(?i)preempt|re-?queu|\bevict|spot (?:vm|node|instance|machine)|reclaim"),
    ),
    (
        Ended.CANCELLED,
        re.compile(
            r"(?i)no reason given|signal terminated|term_(?:force_)?(?:owner|admin)|"
            r"term_(?:external_signal|unknown|bucket_kill|chkpnt)|state is cancell?ed|cancell?ed|"
            r"deleted|condor_rm|scancel|killed by|removed|terminated by|aborted by|stopped by"
        ),
    ),
)
_LOW_ON_MEMORY = re.compile(r"(?i)low on resource|memory")
_BY_USER = re.compile(r"(?i)state is cancelled by (\w+)")
_TERM = re.compile(
    r"\bSIGTERM(?:Exception)?\b|\bsignal TERM\b|\bsignal:? (?:\()?15\b|\b15 death signal|"
    r"^Terminated\b|got signal: 15\b|"
    r"\bexit (?:code|status):? (?:143|-15)\b"
)
_HANGUP = re.compile(r"\bSIGHUP\b|\b1 death signal|got signal: 1\b|\bsignal:? 1\b|exit code 129\b")
_STATE_IN_TEXT = re.compile(
    r"(?i)\bstate[:= '\"]{1,4}(?:State\.)?(TIMEOUT|PREEMPTED|NODE_FAIL|CANCELLED)\b"
)
_REQUEUES = re.compile(r"(?i)\bre-?queu")
_JOB = re.compile(r"(?i)\b(?:job|step|jobid|stepid|job id)[ =:]{1,2}(\d{1,12})\b|^(\d{3,12})[ .|_]")
_NODE = re.compile(
    r"\bON (\S{1,80}) CANCELLED|[Nn]ode failure on (\S{1,80})|\b[Nn]odes? ([\w.\[\],-]{1,80}) "
    r"(?:is |are |was )?(?:not |down|DOWN|unreachable|lost|failed|died)|nodes? failed: (\S{1,80})|"
    r"node \d+ \(([\w.-]{1,80})\) requested|Exited on host[^<]{0,40}<(\S{1,80})>"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What one event says about the end of the run."""

    placed: PlacedEvent
    ended: Ended
    authority: int
    is_over: bool
    """The run went on after it."""
    is_hangup: bool = False
    user: str = ""
    """Who cancelled, where the scheduler says so."""

    @property
    def job(self) -> str:
        """Number of the job, empty if the text does not have it."""
        if isinstance(self.placed, JobEvent):
            return self.placed.job.id
        found = _JOB.search(self.placed.text[:400])
        return (found[1] or found[2] or "") if found else ""

    @property
    def node(self) -> str:
        """Name of the node, empty if the text does not have it."""
        if isinstance(self.placed, JobEvent):
            # Of several nodes it does not say which one.
            return self.placed.job.nodes or "" if len(self.placed.job.node_names) < 2 else ""
        found = _NODE.search(self.placed.text[:600])
        return next((name for name in found.groups() if name), "") if found else ""


@once_per_update
def statements(view: RunView) -> list[Statement]:
    """All that is said about an end from outside, in the order of the events."""
    open_ones = {id(placed.event) for placed in open_events(view)}
    is_finished = view.state is RunState.FINISHED
    said = []
    for placed in view.events_of(EventKind.SCHEDULER, EventKind.SIGNAL, EventKind.EXCEPTION):
        found = _judge(placed)
        if found is not None:
            ended, authority = found
            is_over = is_finished or id(placed.event) not in open_ones
            is_hangup = authority == SIGNAL and bool(_HANGUP.search(placed.event.title))
            user = _canceller(placed)
            said.append(Statement(placed, ended, authority, is_over, is_hangup, user))
    return said


def _canceller(placed: PlacedEvent) -> str:
    if isinstance(placed, JobEvent):
        return placed.job.cancelled_by or ""
    by = _BY_USER.search(placed.event.title)
    return by[1] if by else ""


def _judge(placed: PlacedEvent) -> tuple[Ended, int] | None:
    event = placed.event
    title = event.title
    if event.kind is EventKind.EXCEPTION:
        if state := _STATE_IN_TEXT.search(event.message[:2000]):
            return Ended(state[1].lower()), STATE
        if event.exception.endswith("NodeDiedError"):
            return Ended.NODE_FAIL, MESSAGE
        is_signal = event.exception.endswith(("SignalException", "ChildFailedError"))
        is_sent = _TERM.search(title) or _HANGUP.search(title)
        return (Ended.CANCELLED, SIGNAL) if is_signal and is_sent else None
    if _TASKS_TERMINATED.search(title):
        return Ended.CANCELLED, SIGNAL
    if "no reason given" in title:
        title = "no reason given: " + placed.text[:4000].rpartition("CANCELLED")[2]
    elif _EFFECT.search(title):
        return None
    if event.kind is EventKind.SIGNAL:
        if _REQUEUES.search(title):
            return Ended.PREEMPTED, SIGNAL
        is_sent = _TERM.search(title) or _HANGUP.search(title)
        return (Ended.CANCELLED, SIGNAL) if is_sent else None
    for ended, pattern in _REASONS:
        if pattern.search(title):
            if ended is Ended.PREEMPTED and _LOW_ON_MEMORY.search(title):
                return None
            if "state is" in title:
                return ended, STATE
            is_notice = "signal" in title and ended is Ended.PREEMPTED
            return ended, SIGNAL if is_notice else MESSAGE
    return (Ended.CANCELLED, SIGNAL) if _TERM.search(title) or _HANGUP.search(title) else None


@once_per_update
def verdict(view: RunView) -> Statement | None:
    """The statement about the run's end that outranks the others; None if it ended otherwise."""
    said = [statement for statement in statements(view) if not statement.is_over]
    best = max(said, key=_rank, default=None)
    if best is not None and best.ended is Ended.CANCELLED and is_aftermath(view, best):
        return None
    return best


def _rank(statement: Statement) -> tuple[bool, int, bool, int]:
    is_specific = statement.authority >= MESSAGE and statement.ended is not Ended.CANCELLED
    is_stated = is_specific or (statement.authority == STATE and bool(statement.user))
    is_record = isinstance(statement.placed, JobEvent)
    return is_stated, statement.authority, is_record, -statement.placed.event.line


def is_aftermath(view: RunView, statement: Statement) -> bool:
    """True if a process of the run had failed by itself before it was cancelled."""
    if any(placed.event.kind is EventKind.OOM for placed in open_events(view)):
        return True
    first = first_of(view)
    if first is None or first.event is statement.placed.event or remoteness(first.event) > 0:
        return False
    if first.event.kind in (EventKind.SCHEDULER, EventKind.SIGNAL):
        return False
    if first.source is statement.placed.source:
        return first.event.line < statement.placed.event.line
    return True


def supporting(view: RunView, chosen: Statement, most: int = 3) -> list[PlacedEvent]:
    """The chosen statement and others that say the same, for the evidence."""
    same = [
        statement.placed
        for statement in sorted(statements(view), key=lambda s: -s.authority)
        if statement.ended is chosen.ended and statement.is_over is chosen.is_over
    ]
    others = [placed for placed in same if placed.event is not chosen.placed.event]
    return [chosen.placed, *others[: most - 1]]
