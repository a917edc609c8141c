"""Long journals made short: old entries are added up, the last ones stay to be undone."""

from __future__ import annotations

import re

from ..triage import Entry, Triage
from .journal import Journal
from .lines import base_line, entry_line, header_line

MOST_ENTRIES = 2000
MOST_BYTES = 4 * 2**20
"""Above either a journal is made shorter when it is opened."""
KEPT = 200
"""Entries that stay as they are."""
WORTHWHILE = 100
"""Entries that must go, or it is not worth the while."""


def is_long(journal: Journal, size: int) -> bool:
    """True if a journal should be made shorter, and can be."""
    count = len(journal.entries)
    if count <= MOST_ENTRIES and size <= MOST_BYTES:
        return False
    return _cut(journal.entries, KEPT) >= WORTHWHILE


def compacted(triage: Triage, kept: int | None = None) -> tuple[Triage, bytes]:
    """The same session with a younger base, and its journal.

    What the base has taken in can no longer be undone, and what was undone in it is gone.
    """
    cut = _cut(triage.entries, KEPT if kept is None else kept)
    if not cut:
        return triage, whole_journal(triage)
    folded = Triage(triage.base, triage.entries[:cut], spent=triage.spent)
    spent = _highest([*triage.spent, *(e.action.makes for e in folded.entries if e.action)])
    short = Triage(folded.session, triage.entries[cut:], spent=spent, last=triage.last)
    return short, whole_journal(short)


def whole_journal(triage: Triage) -> bytes:
    """Everything about a session as a fresh journal."""
    first = triage.entries[0].n - 1 if triage.entries else triage.last
    base = triage.base
    is_new = not first and not triage.spent and base.model_fields_set <= {"id", "title", "created"}
    head = header_line(base) if is_new else base_line(base, first, triage.spent)
    return head + b"".join(entry_line(entry) for entry in triage.entries)


def _cut(entries: tuple[Entry, ...] | list[Entry], kept: int) -> int:
    """How many entries to add up: none that a later undo or redo is about."""
    places = {entry.n: place for place, entry in enumerate(entries) if entry.kind == "do"}
    cut = seen = max(0, len(entries) - kept)
    targets = [places.get(e.of, len(entries)) if e.kind != "do" else len(entries) for e in entries]
    cut = min([cut, *targets[cut:]])
    while cut < seen:
        seen, cut = cut, min([cut, *targets[cut:seen]])
    return cut


def _highest(ids: list[str]) -> tuple[str, ...]:
    """The last id of each kind: all that it takes not to give one away twice."""
    last: dict[str, int] = {}
    for one in ids:
        if found := re.fullmatch(r"([A-Z]+)(\d{1,9})", one):
            last[found[1]] = max(last.get(found[1], 0), int(found[2]))
    return tuple(f"{letter}{number}" for letter, number in sorted(last.items()))
