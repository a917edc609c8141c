"""What the list of sessions shows of each, without reading them all anew every time."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mltd.runs.state_files import replace_privately

from ..errors import StorageError
from .files import read_regular, why
from .places import JOURNAL, SUMMARY, moment_in, title_in

if TYPE_CHECKING:
    from ..model.session import Session
    from ..triage import Triage

VERSION = 1
"""Of the file; one of another version is written anew."""
_NEVER = datetime.fromtimestamp(0, UTC)


class SessionSummary(NamedTuple):
    """One row of the list."""

    id: str
    title: str
    created: datetime
    changed: datetime
    """When something was done to it last."""
    phase: str = "intake"
    is_archived: bool = False
    runs: tuple[str, ...] = ()
    """What each of them is called."""
    hypotheses: int = 0
    experiments: int = 0
    headline: str = ""
    """The best explanation so far, with its confidence; else what the analyzers say."""
    problem: str = ""
    """Why it cannot be read; empty if it can."""


class KnownFile(NamedTuple):
    """A file of a run, as it was when it was taken in."""

    path: str
    digest: str
    length: int


class Card(NamedTuple):
    """A summary, and what it takes to find the session of a run."""

    summary: SessionSummary
    locations: tuple[str, ...] = ()
    files: tuple[KnownFile, ...] = ()


def read_card(folder: Path) -> Card:
    """What is known of a session, from its summary if that is up to date."""
    name = folder.name
    try:
        found = os.stat(folder / JOURNAL, follow_symlinks=False)
        stamp = [found.st_ino, found.st_size, found.st_mtime_ns]
        known = _saved_card(folder, stamp)
        if known is not None:
            return known
        content = read_regular(folder / JOURNAL)
        # Not before it is needed: most of the time nothing has to be read anew.
        from .journal import read_journal

        card = card_of(read_journal(content.data, name).triage, name)
        with suppress(OSError):
            if content.owner == os.geteuid():
                _write(folder, card, [content.inode, content.size, content.changed])
        return card
    except OSError as problem:
        said = why(problem)
    except StorageError as problem:
        said = str(problem)
    created = moment_in(name) or _NEVER
    return Card(SessionSummary(name, title_in(name), created, created, problem=said))


def save_card(folder: Path, triage: Triage) -> None:
    """Keep the summary of a session that is on disk as it is in memory."""
    found = os.stat(folder / JOURNAL, follow_symlinks=False)
    stamp = [found.st_ino, found.st_size, found.st_mtime_ns]
    _write(folder, card_of(triage, folder.name), stamp)


def card_of(triage: Triage, id: str) -> Card:  # noqa: A002 - what it is
    """The summary of a session."""
    session = triage.session
    changed = triage.entries[-1].at if triage.entries else session.created
    summary = SessionSummary(
        id=id,
        title=session.title,
        created=_aware(session.created),
        changed=_aware(changed),
        phase=session.phase.value,
        is_archived=session.is_archived,
        runs=tuple(run.label for run in session.runs),
        hypotheses=len(session.hypotheses),
        experiments=len(session.experiments),
        headline=_headline(session),
    )
    files = tuple(
        KnownFile(file.path, file.digest, file.length) for run in session.runs for file in run.files
    )
    return Card(summary, tuple(run.location for run in session.runs), files)


def _headline(session: Session) -> str:
    """What one would say if asked how it stands."""
    from ..model.hypothesis import HypothesisStatus

    worth = {HypothesisStatus.CONFIRMED: 2, HypothesisStatus.TESTING: 1, HypothesisStatus.OPEN: 1}
    alive = [h for h in session.hypotheses if h.status in worth]
    if alive:
        best = max(alive, key=lambda h: (worth[h.status], h.confidence.value))
        sure = "confirmed, " if best.status is HypothesisStatus.CONFIRMED else ""
        return f"{best.statement}: {sure}{best.confidence}"
    over = [e.result for e in session.experiments if e.result is not None]
    if over:
        last = max(over, key=lambda result: result.at.timestamp())
        return f"{last.summary} ({last.preliminary})" if last.preliminary else last.summary
    # How a question to Claude ended says nothing about the run.
    own = [record for record in session.diagnoses if not record.is_claudes]
    return own[-1].status.replace("_", " ") if own else ""


def _saved_card(folder: Path, stamp: list[int]) -> Card | None:
    try:
        values: dict[str, Any] = json.loads(read_regular(folder / SUMMARY, most=2**20).data)
        if values["version"] != VERSION or values["journal"] != stamp:
            return None
        row = dict(values["summary"])
        row |= {name: datetime.fromisoformat(row[name]) for name in ("created", "changed")}
        row["runs"] = tuple(row["runs"])
        row["id"] = folder.name
        files = tuple(KnownFile(*file) for file in values["files"])
        return Card(SessionSummary(**row), tuple(values["locations"]), files)
    except (OSError, StorageError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _write(folder: Path, card: Card, stamp: list[int]) -> None:
    row = card.summary._asdict()
    row |= {name: row[name].isoformat() for name in ("created", "changed")}
    values = {
        "version": VERSION,
        "journal": stamp,
        "summary": row,
        "locations": card.locations,
        "files": card.files,
    }
    replace_privately(folder / SUMMARY, json.dumps(values).encode())


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
