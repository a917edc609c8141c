"""What the events of a run mean, found out once per look at the run."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mltd.runs.event import Event, EventKind
from mltd.runs.events.telling import announces, first_line, last_error
from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.failure import (
    failure_evidence,
    fatal_among,
    first_of,
    history,
    message_line,
    own_frame,
    raised,
    unresolved,
)
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.view import PlacedEvent, RunView
from .book import Match, fill, match
from .quoting import excerpt

_SPEAKING = frozenset(
    {
        EventKind.EXCEPTION,
        EventKind.ERROR,
        EventKind.WARNING,
        EventKind.OOM,
        EventKind.NCCL,
        EventKind.SIGNAL,
        EventKind.SCHEDULER,
    }
)
_LAST_WORDS = 40
"""Lines: an error this close to the end of a log may be why it ended."""


_FINALLY = 3


@dataclass(frozen=True, slots=True)
class Told:
    """An event, what it means, and whether the run survived it."""

    placed: PlacedEvent
    match: Match
    is_fatal: bool
    """It ended the run or one of its processes."""
    is_last_word: bool
    """Nothing shows that the run went on."""
    is_cut_short: bool
    """The round in which it was said has an evaluation and nothing of training after it."""
    is_first: bool
    """It is the first cause among all that ended the run."""
    is_history: bool = False
    """It ended an earlier attempt, which a later one followed in the same file."""


_known: WeakKeyDictionary[RunView, tuple[list[PlacedEvent], list[Told]]] = WeakKeyDictionary()


def told(view: RunView) -> list[Told]:
    """All events that the book knows."""
    known = _known.get(view)
    if known is None or known[0] is not view.events:
        known = _known[view] = (view.events, list(_read(view)))
    return known[1]


def _read(view: RunView) -> Iterator[Told]:
    open_ends = unresolved(view)
    fatal = fatal_among(view, open_ends)
    first = first_of(view, fatal)
    fatal_ids = {id(placed.event) for placed in fatal}
    open_ids = {id(placed.event) for placed in open_ends}
    past_ids = {id(placed.event) for placed in history(view)}
    progress = _progress(view)
    for placed in view.events:
        if placed.event.kind not in _SPEAKING:
            continue
        found = match(placed.event)
        if found is None:
            continue
        key = id(placed.event)
        near_end = placed.source.lines - placed.event.last_line <= _LAST_WORDS
        went_on = progress.get(id(placed.source), 0) > placed.event.last_line
        if placed.event.kind is EventKind.WARNING and id(placed.source) not in progress:
            # Warnings go to a file of their own, and the run goes on in the other.
            went_on = bool(progress)
        is_open = key in open_ids or placed.event.kind is EventKind.WARNING
        yield Told(
            placed,
            found,
            is_fatal=key in fatal_ids,
            is_last_word=is_open and near_end and not went_on,
            is_cut_short=went_on and _is_cut_short(view, placed),
            is_first=first is not None and first.event is placed.event,
            is_history=key in past_ids,
        )


def _progress(view: RunView) -> dict[int, int]:
    """Per file, the line of the last record of metrics."""
    last: dict[int, int] = {}
    for series in view.series:
        if series.role is None or series.role.startswith("axis/") or not len(series):
            continue
        if not series.name.startswith("wandb "):
            key = id(view.run.files[series.file])
            last[key] = max(last.get(key, 0), series.line_of(-1))
    return last


def _is_cut_short(view: RunView, placed: PlacedEvent) -> bool:
    """The next evaluation comes before any record of training."""
    train, val = view.curve("train/loss"), view.curve("val/loss")
    if train is None or val is None:
        return False
    files = view.run.files
    if not placed.source is files[train.series.file] is files[val.series.file]:
        return False
    line = placed.event.last_line
    evaluated, trained = (
        bisect_right(range(len(curve)), line, key=curve.line) for curve in (val, train)
    )
    if evaluated == len(val):
        return False
    return trained == len(train) or train.line(trained) > val.line(evaluated)


def report(view: RunView, identity: str) -> Iterator[Finding]:
    """The findings with one id: the first fatal one, and each kind of warning once."""
    ours = [one for one in told(view) if one.match.entry.finding == identity]
    fatal = [one for one in ours if one.is_fatal]
    seen: set[str] = set()
    if fatal:
        first = first_of(view, [one.placed for one in fatal])
        chosen = next(one for one in fatal if first is not None and one.placed is first)
        seen.update(one.match.entry.rule for one in fatal)
        before = [one for one in ours if _comes_before(one, chosen)]
        yield _finding(view, chosen, [one for one in fatal if one is not chosen], before[:1])
    for one in ours:
        rule = one.match.entry
        if one.is_fatal or rule.rule in seen or not _is_heard(one):
            continue
        if one.is_history and (fatal or seen):
            continue
        seen.add(rule.rule)
        yield _finding(view, one, [], [other for other in ours if _comes_before(other, one)][:1])


def said_before(view: RunView, placed: PlacedEvent, rule: str) -> Evidence | None:
    """The first error that said the same as an exception that followed it."""
    ours = [one for one in told(view) if one.match.entry.rule == rule]
    chosen = next((one for one in ours if one.placed.event is placed.event), None)
    before = [one for one in ours if chosen is not None and _comes_before(one, chosen)]
    return _evidence(before[0]) if before else None


def is_announced(view: RunView, placed: PlacedEvent) -> bool:
    """Something that the book knows was told above, and nothing shows that it was overcome."""
    return any(
        one.is_last_word and one.placed.source is placed.source
        for one in told(view)
        if one.placed.event.line < placed.event.line and one.match.entry.scope != "any"
    )


def _comes_before(one: Told, chosen: Told) -> bool:
    """An error that said the same before it became fatal is the first to say it."""
    return (
        one.is_last_word
        and not one.is_fatal
        and _says_the_same(one, chosen)
        and one.placed.source is chosen.placed.source
        and one.placed.event.line < chosen.placed.event.line
    )


def _says_the_same(one: Told, chosen: Told) -> bool:
    """The same message, or the retries that went before a failure for good."""
    is_retry = bool(one.match.entry.at_end) and one.match.entry.finding == (
        chosen.match.entry.finding
    )
    return is_retry or one.match.entry.rule == chosen.match.entry.rule


def _is_heard(one: Told) -> bool:
    if one.is_history:
        return True
    match one.match.entry.scope:
        case "any":
            return True
        case "unresolved":
            return one.is_last_word
        case "cut_short":
            return one.is_last_word or one.is_cut_short
        case _:
            return one.is_last_word and one.placed.event.kind is not EventKind.WARNING


def _finding(view: RunView, one: Told, others: list[Told], before: list[Told]) -> Finding:
    entry, event = one.match.entry, one.placed.event
    values = values_of(one)
    title = fill(entry.title, values) if entry.title else one.match.quote
    ranks = f" (rank {', '.join(map(str, event.ranks[:4]))})" if event.ranks else ""
    place = f" at {values['where']}" if values["where"] and event.frames else ""
    details: dict[str, float | str] = {f"said_{name}": text for name, text in values.items()}
    if one.is_history:
        ranks += " (in an earlier attempt)"
    details |= {"rule": "" if one.is_history else entry.rule}
    details |= {"is_first": float(one.is_first), "fatal": float(one.is_fatal)}
    return Finding(
        id=entry.finding,
        title=f"{title}{place}{ranks}"[:400],
        severity=severity_of(view, one),
        confidence=finding_confidence(Basis.OBSERVATION, 0.95 if one.is_fatal else 0.9),
        basis=Basis.OBSERVATION,
        evidence=tuple(
            dict.fromkeys(
                [*(_evidence(said) for said in before), *_quotes(one)]
                + [_evidence(said) for said in others[:2]]
            )
        ),
        first_step=event.step,
        details=details,
    )


def _evidence(one: Told) -> Evidence:
    event, quote = one.placed.event, one.match.quote
    if event.exception and event.kind is not EventKind.WARNING:
        kind, _, message = quote.partition(": ")
        is_joined = bool(message) and kind not in event.text
        if message and not is_joined and announces(event.message):
            # The type stands far above the line that tells something.
            is_joined = message[:60] not in event.text.partition("\n")[0]
        return one.placed.evidence(
            message if is_joined else quote, message_line(event, message or quote)
        )
    if quote and len(event.text.splitlines()) > 1:
        return failure_evidence(one.placed, quote)
    return one.placed.evidence(excerpt(failure_line(event)), event.line)


def _quotes(one: Told) -> Iterator[Evidence]:
    """The line that says it; the first of the same message; the exception that led to it."""
    yield _evidence(one)
    event = one.placed.event
    if not event.exception or event.kind is EventKind.WARNING:
        return
    said = raised(event)
    for kind, message in dict.fromkeys((said[0], said[-1])):
        line = first_line(message)
        if line and line[:100] not in one.match.quote and not line.startswith("Caught "):
            yield one.placed.evidence(excerpt(f"{kind}: {line}"), message_line(event, line))
    if reason := last_error(event.text):
        yield one.placed.evidence(excerpt(reason), message_line(event, reason))


def failure_line(event: Event) -> str:
    """The line of the log that an event without an exception stands for."""
    return next((line.strip() for line in event.text.splitlines() if line.strip()), event.title)


def severity_of(view: RunView, one: Told) -> Severity:
    """Critical if it ended the training, less if that was through or goes on."""
    if one.is_history:
        return Severity.INFO
    stated = one.match.entry.severity
    if one.is_fatal:
        return Severity.WARNING if is_through(view, one.placed) else Severity.CRITICAL
    if one.is_last_word and one.match.entry.at_end and view.state is not RunState.RUNNING:
        return Severity(one.match.entry.at_end)
    if stated:
        return Severity(stated)
    return Severity.WARNING if one.is_last_word else Severity.INFO


def is_through(view: RunView, placed: PlacedEvent) -> bool:
    """The training was complete before this happened."""
    started = ended = 0
    for other in view.events:
        if other.source is not placed.source or other.event.line >= placed.event.line:
            continue
        if other.event.kind is EventKind.RESTART:
            started = other.event.line
        elif other.event.kind is EventKind.FINISHED:
            ended = other.event.line
    # Programs that announce the end whatever happened do so right above the traceback.
    return ended > started and placed.event.line - ended > _FINALLY


def values_of(one: Told) -> dict[str, str]:
    """What templates may use: the message's parts, the place in the code."""
    event = one.placed.event
    frame = own_frame(event)
    where = ""
    if frame is not None:
        parts = frame.file.replace("\\", "/").split("/")
        where = f"{'/'.join(parts[-2:])}:{frame.line}"
    return {
        **one.match.groups,
        "where": where,
        "place": where or "the line that raised it",
        "code": frame.code if frame is not None else "",
        "quote": one.match.quote,
        "file": named_path(one.match.quote) or "the file",
    }


_QUOTED = re.compile(r"""["'`](?P<path>[^"'`\n]*[/\\.][^"'`\n]*)["'`]""")
_BARE = re.compile(
    r"(?<![\w:/.])(?P<path>[~$./\w+-]*/[\w./~$@+=-]+|[\w-]+\.[a-z]\w{1,11})(?![\w/])"
)


def named_path(text: str) -> str:
    """The path that a message is about: the first in quotes, else the first that looks like one."""
    after = text.partition(": ")[2] or text
    found = _QUOTED.search(after) or _BARE.search(after)
    return found["path"].strip().rstrip(".:,") if found else ""
