"""What launchers and libraries report about a process that died: which one, how, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mltd.runs.event import Event, EventKind

from ..core.view import PlacedEvent, RunView
from .memo import once_per_update, open_events

HARDWARE, GPU, COMMUNICATION, LAUNCHER = "hardware", "gpu", "communication", "launcher"

BAD_XIDS = frozenset({48, 63, 64, 74, 79, 92, 94, 95, 119, 120, 140})
"""Codes that the driver gives for broken memory, links or boards."""
SOFTWARE_XIDS = frozenset({13, 31, 43, 45, 68, 69})
"""Codes that a program's own error usually causes."""

_XID = re.compile(r"Xid \([^)]{1,60}\): (\d{1,4})")
_HARDWARE = re.compile(
    r"Xid \(|ECCUncorrectable|"
    r"[Uu]ncorrectable (?:ECC|NVLink)|\bECC error|fallen off the bus|GPU (?:is )?lost|"
    r"NVLink error|SRAM [Uu]ncorrectable|HW Exception by GPU|[Rr]mInitAdapter failed|"
    r"rm_init_adapter failed|device handle for GPU|GPU (?:reset required|requires reset)|"
    r"[Rr]ow [Rr]emapping [Ff]ail|over nvlink or a hardware error"
)
_GPU = re.compile(
    r"(?i)illegal memory access|unspecified launch failure|misaligned address|"
    r"illegal instruction was encountered|invalid program counter|CUDA error: unknown error|"
    r"an illegal instruction|launch timed out and was terminated|memory access fault by GPU|"
    r"HIP error: unspecified"
)
_COMMUNICATION = re.compile(
    r"NCCL error|nccl(?:System|Internal|UnhandledCuda|Remote)Error|ncclInvalid(?:Usage|Argument)|"
    r"unhandled (?:system|cuda) error|remote process exited or there was a network error|"
    r"gloo.{0,200}(?:[Cc]onnection (?:closed|reset)|[Rr]ead error|[Ww]rite error|[Cc]onnect|"
    r"[Uu]nable to find address)|"
    r"[Cc]onnection closed by (?:remote )?peer|socketProgress|NCCL communicator was aborted|"
    r"H(?:CCL|ccl)\w*.{0,40}(?:error|fail)|HorovodInternalError|"
    r"Rendezvous(?:Connection|Closed|State)Error|"
    r"(?:server socket|TCPStore|MASTER_PORT|c10d).{0,200}(?:refused|bind)|"
    r"Detected mismatch between collectives|"
    r"DistNetworkError|MPI_ERR_\w+|Failed to meet rendezvous|"
    r"(?i:unavailable): (?:Socket closed|Connection (?:reset|refused|closed)|failed to connect)|"
    r"UnavailableError: |ncclUniqueId.{0,200}got error"
)
_LAUNCHED_WRONG = re.compile(
    r"(?i:address already in use|only one usage of each socket address)|EADDRINUSE|"
    r"Duplicate GPU detected"
)
"""Messages of the same libraries about how the run was started, not about its connections."""
_SRUN = re.compile(r"srun: error: (?P<node>\S+): tasks? (?P<task>[\d,\-]+): (?P<how>.+)")
_EXIT = re.compile(r"(?i)exit(?:ed with)?[ _]?(?:code|status)?[ :=]{1,3}(-?\d{1,4})\b")
_SIGNAL = re.compile(r"\b(SIG[A-Z]{3,5})\b|on signal (\d{1,2})|KILLED BY SIGNAL: (\d{1,2})")
_RANK = re.compile(
    r"(?i)\b(?:local )?rank (\d{1,6})\b|--local_rank=(\d{1,6})|\bprocess (\d{1,6})\b"
)
_HOST = re.compile(r"^\s*host\s*: (\S{1,80})", re.MULTILINE)
_NODE = re.compile(r"\bon node (\S{1,80}?)[ .,]|RUNNING AT (\S{1,80})|\bip=([\d.]{7,15})")
_LAUNCHERS = (
    (re.compile(r"ChildFailedError$"), "torchrun"),
    (re.compile(r"Process(?:Raised|Exited)Exception$"), "torch.multiprocessing"),
    (
        re.compile(r"(?:RayActorError|ActorDiedError|WorkerCrashedError|ActorUnavailableError)$"),
        "Ray",
    ),
    (re.compile(r"(?:UnexpectedStatusException|ExecuteUserScriptError)$"), "SageMaker"),
    (re.compile(r"CalledProcessError$"), "the launcher"),
)
_SAID = re.compile(
    r"^torchrun: local rank|exits with return code = (?!0\b)-?\d|noticed that process rank|"
    r"due to process rank|"
    r"\bORTE\b|MPI_ABORT was invoked|BAD TERMINATION|Horovod has been shut down|Horovod detected|"
    r"processes exited with non-zero status|PID \d+ RUNNING AT|KILLED BY SIGNAL|"
    r"A worker died or was killed|[Aa]ctor (?:has )?died|[Ww]orker \S+ (?:died|crashed)|"
    r"^srun: error: \S+: tasks? |process returned"
)
_CRASH_LINE = re.compile(
    r"(?i)^(?:Fatal Python error: )?(?:segmentation fault|bus error|illegal instruction)|SIGSEGV"
)
SIGNALS = {1: "SIGHUP", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
           11: "SIGSEGV", 15: "SIGTERM"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """One report of a death."""

    placed: PlacedEvent
    kind: str
    who: str = ""
    """`rank 3`, `task 5`, empty if it is not said."""
    how: str = ""
    signal: str = ""
    code: int | None = None
    node: str = ""
    is_over: bool = False
    """The run went on after it."""
    by: str = ""
    """Which launcher says so."""

    @property
    def is_term(self) -> bool:
        """Ended by a signal that others send, not by an error."""
        return self.signal in ("SIGTERM", "SIGHUP", "SIGINT")

    @property
    def xid(self) -> int | None:
        """The driver's code, if it is a driver's message."""
        found = _XID.search(self.placed.text[:400])
        return int(found[1]) if found else None


@once_per_update
def reports(view: RunView) -> list[Report]:
    """All reports of deaths, file by file in the order of the lines."""
    alive = {id(placed.event) for placed in open_events(view)}
    has_assertion = any(
        "Assertion failed" in placed.event.title or "device-side assert" in placed.event.title
        for placed in view.events_of(EventKind.ERROR, EventKind.EXCEPTION)
    )
    found = []
    for placed in view.events_of(
        EventKind.EXCEPTION, EventKind.ERROR, EventKind.NCCL, EventKind.SIGNAL, EventKind.SCHEDULER
    ):
        kind = _kind(placed.event, has_assertion)
        if kind:
            found.append(_describe(placed, kind, is_over=id(placed.event) not in alive))
    return found


def _kind(event: Event, has_assertion: bool) -> str:
    said = _said(event)
    if _HARDWARE.search(said):
        return HARDWARE
    if any(pattern.search(event.exception) for pattern, _ in _LAUNCHERS):
        is_other = event.exception.endswith("CalledProcessError")
        return LAUNCHER if not is_other or "python" in said else ""
    if event.kind is EventKind.SIGNAL:
        return LAUNCHER if _CRASH_LINE.search(event.title) else ""
    if _SAID.search(event.title):
        return LAUNCHER
    if event.kind is EventKind.SCHEDULER:
        return ""
    if not has_assertion and _GPU.search(said):
        return GPU
    if _LAUNCHED_WRONG.search(said):
        return ""
    if event.kind in (EventKind.NCCL, EventKind.EXCEPTION) and _COMMUNICATION.search(said):
        return COMMUNICATION
    return ""


def _said(event: Event) -> str:
    return f"{event.exception}: {event.title} {event.message[:1000]}"


def _describe(placed: PlacedEvent, kind: str, *, is_over: bool) -> Report:
    event = placed.event
    text = f"{event.title}\n{event.text[:20_000]}" if event.text else event.title
    head = event.title
    srun = _SRUN.search(head)
    code = _code(head)
    signal = _signal(head, code)
    who = f"task {srun['task']}" if srun else _who(event, head, kind)
    host = _HOST.search(text) or _NODE.search(head)
    node = srun["node"] if srun else next((n for n in host.groups() if n), "") if host else ""
    by = next((name for pattern, name in _LAUNCHERS if pattern.search(event.exception)), "")
    return Report(placed, kind, who, _how(event, code, signal, srun), signal, code, node, is_over,
                  by or ("srun" if srun else ""))  # fmt: skip


def _who(event: Event, head: str, kind: str) -> str:
    found = _RANK.search(head)
    if found and kind == LAUNCHER:
        is_local = head.lower().startswith("torchrun: local")
        number = next(n for n in found.groups() if n)
        return f"local rank {number}" if is_local or found[2] else f"rank {number}"
    if event.ranks:
        return f"rank {event.ranks[0]}"
    return ""


def _code(head: str) -> int | None:
    found = _EXIT.search(head) or re.search(r"return code = (-?\d{1,4})", head)
    return int(found[1]) if found else None


def _signal(head: str, code: int | None) -> str:
    if found := _SIGNAL.search(head):
        return found[1] or SIGNALS.get(int(found[2] or found[3]), f"signal {found[2] or found[3]}")
    for words, name in (
        ("segmentation fault", "SIGSEGV"), ("bus error", "SIGBUS"), (": killed", "SIGKILL"),
        (": terminated", "SIGTERM"), (": aborted", "SIGABRT"),
    ):  # fmt: skip
        if words in head.lower():
            return name
    if code is not None:
        number = -code if code < 0 else code - 128 if 128 < code < 160 else 0
        return SIGNALS.get(number, "")
    return ""


def _how(event: Event, code: int | None, signal: str, srun: re.Match[str] | None) -> str:
    if code is not None:
        return f"exit code {code}" + (f" ({signal})" if signal else "")
    if signal:
        return signal
    if srun:
        return srun["how"].strip()
    return ""
