"""exception: an exception or a crash ended the run, or one of its processes.

What it sees: uncaught exceptions, failed checks in native code, crashes by a signal, and errors
    in a logger's words with which a log ends for good. Named is the first cause: of several
    ranks the earliest, of a chain its root, and of the frames the innermost one in the user's
    own code. What a later attempt got past is history.
Why it matters: nothing after it can be trusted to be there; the more special finding beside it
    says what it means.
Fires on:
    log: Traceback (most recent call last): |   File "train.py", line 3 | KeyError: 'lr'
    log: step 1 loss 2.5 | RuntimeError: CUDA error: device-side assert triggered
    log: step 1 loss 2.5 | step 2 loss 2.4 | ERROR - train - shard 17 has no labels, giving up
Stays quiet:
    log: step 1 loss 2.5 | Exception ignored in: <function f at 0x7f> | step 2 loss 2.4
    log: step 1 loss 2.5 | ERROR - train - shard 17 has no labels | step 2 loss 2.4
    log: KeyError: 'x' | step 1 loss 2.5 | step 2 loss 2.4 | step 3 loss 2.3 | step 4 loss 2.2
Try next: open the file at the line that is named, and rerun two steps on little data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import Event, EventKind
from mltd.runs.events.telling import announces, first_line, is_table, last_error, table_rows
from mltd.runs.failure import is_terminal, remoteness

from ..core.calibration import finding_confidence
from ..core.failure import (
    failure_evidence,
    first_of,
    message_line,
    own_frame,
    raised,
    uncaught,
)
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .book import match
from .quoting import excerpt
from .told import is_announced, is_through, said_before

_CRASH = re.compile(
    r"(?i)segmentation fault|segfault|sigsegv|sigabrt|sigfpe|sigill|\baborted\b|illegal "
    r"instruction|floating point exception|fatal python error|received signal|core dumped"
)
_ON_PURPOSE = re.compile(r"(?:^|\.)(?:KeyboardInterrupt|SystemExit|GeneratorExit)$")
_RESOURCE = re.compile(
    r"(?i)out of memory|OOM when|can't allocate|cannot allocate|unable to allocate|"
    r"ResourceExhausted|no space left|quota exceeded|input/output error|stale file handle|"
    r"loss scale|loss became infinite|\bnan\b|\binf(?:inite|inity)?\b|non-?finite|"
    r"file write failed|PytorchStreamWriter failed|degrees of freedom|constraint Real|\bECC\b|Xid|"
    r"more than 1 (?:value per channel|spatial element)"
)
"""Exceptions that tell of memory, disks or numbers rather than of the code."""


@analyzer
@dataclass(frozen=True, slots=True)
class UncaughtException:
    """Report the first cause among what ended the run."""

    id: ClassVar[str] = "exception"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "oom", "nccl", "signal")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look for exceptions and crashes that nothing came after."""
        ended = uncaught(view)
        first = first_of(view, ended)
        thrown = [placed for placed in ended if _is_thrown(placed.event)]
        # A launcher's report of a failure is one only if nothing else is there to report.
        chosen = first_of(view, thrown)
        if chosen is None:
            return
        yield self._report(view, chosen, thrown, is_first=chosen is first)

    def _report(
        self, view: RunView, chosen: PlacedEvent, thrown: list[PlacedEvent], *, is_first: bool
    ) -> Finding:
        event = chosen.event
        known = match(event)
        special = known.entry.finding if known is not None else ""
        rule = known.entry.rule if known is not None and special == self.id else ""
        groups = known.groups if known is not None and rule else {}
        before = said_before(view, chosen, rule) if rule else None
        own = own_frame(event)
        place = f"{'/'.join(_parts(own.file)[-2:])}:{own.line}" if own is not None else ""
        said = f"{event.exception}: {event.message}"
        return Finding(
            id=self.id,
            title=_title(event, place),
            severity=self._severity(view, chosen, is_first=is_first),
            confidence=finding_confidence(Basis.OBSERVATION, _certainty(event)),
            basis=Basis.OBSERVATION,
            evidence=tuple(
                dict.fromkeys(
                    ([before] if before is not None else []) + list(_evidence(chosen, thrown))
                )
            ),
            first_step=event.step,
            details={
                **{f"said_{name}": text for name, text in groups.items()},
                "rule": rule,
                "special": special if special != self.id else "",
                "resource": float(bool(_RESOURCE.search(said[:1000]))),
                "is_first": float(is_first),
                "fatal": 1.0,
                "remoteness": float(remoteness(event)),
                "on_purpose": float(bool(_ON_PURPOSE.search(event.exception))),
                "crash": float(not event.exception and event.kind is EventKind.SIGNAL),
                "type": event.exception,
                "said_where": place,
                "said_place": place or "the line that raised it",
                "said_code": own.code if own is not None else "",
                "is_own": float(own is not None),
                "said_quote": _title(event, "") if event.exception else event.title,
            },
        )

    def _severity(self, view: RunView, placed: PlacedEvent, *, is_first: bool) -> Severity:
        if _ON_PURPOSE.search(placed.event.exception):
            return Severity.INFO
        if not is_first and remoteness(placed.event) >= 2:
            return Severity.INFO
        if remoteness(placed.event) >= 3 and is_announced(view, placed):
            return Severity.WARNING
        return Severity.WARNING if is_through(view, placed) else Severity.CRITICAL


def _certainty(event: Event) -> float:
    """Less for what a logger said last: a log may be cut where the run went on."""
    if event.exception:
        return 0.95
    return 0.85 if is_terminal(event) else 0.75


def _is_thrown(event: Event) -> bool:
    if event.kind is EventKind.EXCEPTION or event.exception:
        return True
    if event.kind is EventKind.ERROR:
        return True
    return event.kind is EventKind.SIGNAL and bool(_CRASH.search(event.title))


def _title(event: Event, place: str) -> str:
    chain = raised(event)
    kind, message = chain[0]
    line = "" if is_table(message) else first_line(message)
    shown = f"{kind.rpartition('.')[2]}: {line}" if kind and line else kind or event.title
    if len(chain) > 1 and event.exception and not event.message.startswith("Caught "):
        shown += f" (then {event.exception.rpartition('.')[2]})"
    where = f" at {place}" if place else ""
    ranks = f", rank {', '.join(map(str, event.ranks[:4]))}" if event.ranks else ""
    return f"{shown[:300]}{where}{ranks}"


def _evidence(chosen: PlacedEvent, thrown: list[PlacedEvent]) -> Iterator[Evidence]:
    event = chosen.event
    yield _said(chosen)
    if reason := last_error(event.text):
        yield chosen.evidence(excerpt(reason), message_line(event, reason))
    if event.exception and not event.message.strip() and event.frames and event.frames[-1].code:
        # An exception without a message: the line that raised it is all that it says.
        code = event.frames[-1].code
        yield chosen.evidence(excerpt(code), message_line(event, code))
    own = own_frame(event)
    if own is not None:
        quote = f'File "{own.file}", line {own.line}'
        yield chosen.evidence(quote, message_line(event, quote))
    others = [placed for placed in thrown if placed is not chosen]
    yield from (_said(placed) for placed in others[:2])


def _said(placed: PlacedEvent) -> Evidence:
    """The root of a chain of exceptions, as the log has it."""
    event = placed.event
    if rows := table_rows(event.text):
        row, number = rows[-1]
        return placed.evidence(row, event.line + number)
    if not event.exception or event.kind is EventKind.WARNING:
        return failure_evidence(placed)
    kind, message = raised(event)[0]
    line = first_line(message)
    if not line or line.startswith(kind):
        return placed.evidence(kind, message_line(event, kind))
    quote = line if announces(message) else f"{kind}: {line}"
    return placed.evidence(excerpt(quote), message_line(event, line))


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part]
