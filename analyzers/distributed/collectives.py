"""Collectives that waited too long: which operation, which ranks waited, which never came."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mltd.runs.event import Event, EventKind
from mltd.runs.failure import remoteness
from mltd.runs.state import RunState

from ..core.view import PlacedEvent, RunView
from .memo import first_of, once_per_update, open_events

_WORK = re.compile(
    r"WorkNCCL\((?:SeqNum=(?P<seq>\d{1,12}), )?OpType=(?P<op>\w{1,40})"
    r"(?:.{0,200}?Timeout\(ms\)=(?P<limit>\d{1,12}))?(?:.{0,40}?ran for (?P<ran>\d{1,12}))?"
)
_COMPLETED = re.compile(r"work: (\d{1,12}), last enqueued NCCL work: (-?\d{1,12}), last completed "
                        r"NCCL work: (-?\d{1,12})")  # fmt: skip
_OTHER = re.compile(
    r"(?P<gloo>Timed out waiting (?P<wait>\d{1,12}) ?ms for (?:recv|send) operation)|"
    r"(?P<barrier>[Rr]anks? (?P<absent>[\d, ]{1,200}?) failed to pass monitoredBarrier)|"
    r"(?P<join>(?P<came>\d{1,6})/(?P<all>\d{1,6}) clients joined)|"
    r"(?P<store>client socket has timed out|RuntimeError: Socket Timeout|"
    r"connect\(\) timed out|wait timeout after \d+ ?ms|got error: [Ss]ocket "
    r"[Tt]imeout|RendezvousTimeoutError|(?:TCPStore|DistStoreError|c10d|rendezvous).{0,200}"
    r"(?:[Tt]imed out|[Tt]imeout))|"
    r"(?P<plain>\bNCCL [Tt]imeout|Timeout at NCCL collective|Timed out waiting "
    r"for (?:tasks|peers))|"
    r"(?P<heart>Heartbeat monitor timed out|watchdog got stuck)|"
    r"(?P<huawei>(?:HCCL|Hccl|EI000[26]|Notify register).{0,200}[Tt]ime[sd]? ?out|"
    r"Getting socket times out)|"
    r"(?P<jax>Barrier timed out|DEADLINE_EXCEEDED: .{0,80}[Bb]arrier|missing heartbeats)|"
    r"(?P<some>Some NCCL operations have failed or timed out|Timeout at NCCL work|"
    r"detected by watchdog at work|[Cc]ollective operation timeout)|"
    r"(?P<named>(?i:all_?reduce|all_?gather|all_?to_?all|broadcast|barrier|reduce_?scatter|"
    r"collective)\b.{0,80}\btimed? ?out)"
)
_HOROVOD = re.compile(r"waiting for remainder of ranks|^Missing ranks")
_ABSENT_LIST = re.compile(r"Missing ranks:? ?([\d, ]+)")
_NUMBERS = re.compile(r"\d{1,6}")
_SETUP = re.compile(r"(?i)client socket|clients joined|rendezvous|ncclUniqueId|init_process_group|"
                    r"connectFullMesh|wait timeout after|setting up|initializing process group|"
    r"store based barrier|tasks to start")  # fmt: skip
_WORLD = ("world size", "num gpus", "n gpus", "ngpu", "nproc", "num processes", "num devices")


@dataclass(frozen=True, slots=True)
class Wait:
    """One report of a collective that timed out (several ranks' lines may be one event)."""

    placed: PlacedEvent
    is_open: bool
    is_main: bool
    """False for what only repeats that something timed out."""
    operation: str = ""
    sequence: int | None = None
    limit: float | None = None
    """Seconds that the collective may take."""
    completed: int | None = None
    absent: tuple[int, ...] = ()
    """Ranks that the message itself calls missing."""
    is_setup: bool = False
    is_pending: bool = False
    """Ranks wait for others, and no metrics were logged since."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks that waited."""
        return self.placed.event.ranks


@once_per_update
def timeouts(view: RunView) -> list[Wait]:
    """All collectives that timed out, those that the run did not survive and those it did."""
    alive = {id(placed.event) for placed in open_events(view)}
    found = []
    for placed in view.events_of(
        EventKind.NCCL, EventKind.EXCEPTION, EventKind.ERROR, EventKind.WARNING
    ):
        wait = _read(placed, is_open=id(placed.event) in alive, view=view)
        if wait is not None:
            found.append(wait)
    return found


def _read(placed: PlacedEvent, *, is_open: bool, view: RunView) -> Wait | None:
    event = placed.event
    said = _said(event)
    if event.kind is EventKind.WARNING:
        if not _HOROVOD.search(event.title):
            return None
        absent = _absent(_ABSENT_LIST.search(event.text[:2000]))
        is_stuck = view.state in (RunState.STALLED, RunState.FAILED)
        is_pending = not _went_on(view, placed)
        operation = "a Horovod operation"
        return Wait(placed, is_stuck, True, operation, absent=absent, is_pending=is_pending)
    if "CUDA error" in said and "WorkNCCL" not in said:
        return None
    if work := _WORK.search(said):
        limit = int(work["limit"]) / 1000 if work["limit"] else None
        sequence = int(work["seq"]) if work["seq"] else None
        done = _COMPLETED.search(said)
        completed = int(done[3]) if done else None
        is_setup = sequence is not None and sequence <= 1
        return Wait(placed, is_open, True, work["op"], sequence, limit, completed, (), is_setup)
    other = _OTHER.search(said)
    if other is None:
        return None
    done = _COMPLETED.search(said)
    return Wait(
        placed,
        is_open,
        is_main=not (other["some"] or other["heart"]),
        operation=_operation(other),
        limit=int(other["wait"]) / 1000 if other["wait"] else None,
        completed=int(done[3]) if done else None,
        absent=_absent(other, "absent"),
        is_setup=bool(other["store"] or other["join"]) or bool(_SETUP.search(said)),
    )


def _went_on(view: RunView, placed: PlacedEvent) -> bool:
    """True if metrics were logged in the same file after an event."""
    return any(
        series.line_of(-1) > placed.event.last_line
        for series in view.series
        if series.role and len(series) and view.run.files[series.file] is placed.source
    )


def _said(event: Event) -> str:
    body = event.message if event.exception else event.text[:2000]
    return f"{event.exception}: {event.title} {body[:3000]}"


def _operation(found: re.Match[str]) -> str:
    for group, words in (
        ("gloo", "a gloo send or receive"),
        ("barrier", "monitoredBarrier"),
        ("join", "the rendezvous"),
        ("store", "the rendezvous"),
        ("huawei", "an HCCL operation"),
        ("jax", "a barrier"),
    ):
        if found[group]:
            return words
    return (found["named"] or "").split(" ")[0].strip("(:") if found["named"] else ""


def _absent(found: re.Match[str] | None, group: int | str = 1) -> tuple[int, ...]:
    if found is None or not found[group]:
        return ()
    return tuple(int(number) for number in _NUMBERS.findall(found[group])[:64])


def world_size(view: RunView) -> int | None:
    """How many ranks the run has, if its settings or messages say so."""
    for name in _WORLD:
        number = view.settings.number(name)
        if number is not None and 1 < number < 100_000:
            return int(number)
    return None


def missing_ranks(view: RunView, waits: list[Wait]) -> tuple[int, ...]:
    """Ranks that are said to be missing, else those that waited for nobody."""
    stated = sorted({rank for wait in waits for rank in wait.absent})
    if stated:
        return tuple(stated)
    waited = {rank for wait in waits for rank in wait.ranks}
    if not waited:
        return ()
    size = world_size(view) or max(waited) + 1
    silent = [rank for rank in range(size) if rank not in waited]
    return tuple(silent) if len(silent) <= max(1, size // 2) or len(silent) <= 4 else ()


def behind(waits: list[Wait]) -> tuple[tuple[int, ...], int, int] | None:
    """Ranks that stand at an earlier collective than the others: who, where, and the others."""
    known = [wait for wait in waits if wait.sequence is not None and wait.ranks]
    low = min((wait.sequence or 0 for wait in known), default=0)
    high = max((wait.sequence or 0 for wait in known), default=0)
    if low == high:
        return None
    ranks = {rank for wait in known if wait.sequence == low for rank in wait.ranks}
    return tuple(sorted(ranks)), low, high


def mixed_operations(waits: list[Wait]) -> tuple[Wait, Wait] | None:
    """Two ranks in the same collective by number, but in different operations."""
    first: dict[int, Wait] = {}
    for wait in waits:
        if wait.sequence is None or not wait.operation:
            continue
        known = first.setdefault(wait.sequence, wait)
        if known.operation != wait.operation:
            return known, wait
    return None


def cause_before(view: RunView, waits: list[Wait]) -> PlacedEvent | None:
    """The failure of another kind after which the others could only wait."""
    first = first_of(view)
    if first is None or remoteness(first.event) > 0 or first.event.kind is EventKind.SCHEDULER:
        return None
    if any(first.event is wait.placed.event for wait in waits):
        return None
    same = [wait for wait in waits if wait.placed.source is first.source]
    if same and min(wait.placed.event.line for wait in same) < first.event.line:
        return None
    return first


def phase(view: RunView, wait: Wait) -> tuple[str, PlacedEvent] | None:
    """What the run was doing apart from training when it stopped: saving or evaluating."""
    event = wait.placed.event
    last_row = max(
        (
            series.line_of(-1)
            for series in view.series
            if view.run.files[series.file] is wait.placed.source and series.role and len(series)
        ),
        default=0,
    )
    doing = [
        placed
        for placed in view.events_of(EventKind.CHECKPOINT, EventKind.EVALUATION)
        if placed.source is wait.placed.source and last_row <= placed.event.line < event.line
    ]
    if not doing:
        return None
    latest = max(doing, key=lambda placed: placed.event.line)
    words = "saving a checkpoint" if latest.event.kind is EventKind.CHECKPOINT else "evaluating"
    return words, latest
