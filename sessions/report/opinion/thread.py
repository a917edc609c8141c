"""Records of Claude as conversations: a first question, and what was asked after it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from ...model.records import DiagnosisRecord
from .. import numbers
from ..pieces import Described, number, text
from .reading import opinion_in, part


class Conversation(NamedTuple):
    """Records about one run, in the order of time."""

    first: DiagnosisRecord
    later: tuple[DiagnosisRecord, ...] = ()

    @property
    def all(self) -> tuple[DiagnosisRecord, ...]:
        """Every one of them."""
        return (self.first, *self.later)

    @property
    def used(self) -> str:
        """Tokens, cost and time; each record tells what the conversation took until then."""
        told = (used(part(record.body, "usage")) for record in reversed(self.all))
        return next((one for one in told if one), "")


def conversations(records: Iterable[DiagnosisRecord]) -> list[Conversation]:
    """Claude's records, a follow-up with the latest conversation about the same run."""
    found: list[Conversation] = []
    own = (record for record in records if record.is_claudes)
    for record in sorted(own, key=lambda one: one.at.timestamp()):
        at = next((n for n in reversed(range(len(found))) if found[n].first.run == record.run), -1)
        if question_of(record) and at >= 0:
            found[at] = found[at]._replace(later=(*found[at].later, record))
        else:
            found.append(Conversation(record))
    return found


def latest_opinion(records: Iterable[DiagnosisRecord], run: str) -> Described | None:
    """The newest opinion about a run, or about no run in particular."""
    own = [record for record in records if record.is_claudes and record.run in (run, "")]
    found = (opinion_in(record.body) for record in reversed(own))
    return next((one for one in found if one is not None), None)


def question_of(record: DiagnosisRecord) -> str:
    """What was asked; empty for the first question, which is always the same."""
    return text(record.body, "question").strip()


def is_talk(record: DiagnosisRecord) -> bool:
    """True if it is a question that left the diagnosis as it was."""
    return record.is_claudes and bool(question_of(record)) and not record.has_opinion


def status_of(record: DiagnosisRecord) -> str:
    """How it ended."""
    return record.status or text(record.body, "status")


def used(usage: Described) -> str:
    """`12,400 tokens in (and 3,100 cached), 900 out, $0.05, 41 s`; empty if nothing is known."""
    said = []
    if (sent := _whole(usage, "input")) is not None:
        cached = _whole(usage, "cached")
        again = f" (and {cached} cached)" if cached not in (None, "0") else ""
        said.append(f"{sent} tokens in{again}")
    if (out := _whole(usage, "output")) is not None:
        said.append(f"{out} out" if said else f"{out} tokens out")
    dollars, seconds = number(usage, "dollars"), number(usage, "seconds")
    if dollars is not None and math.isfinite(dollars):
        said.append(f"${dollars:.3f}" if dollars < 1 else f"${dollars:,.2f}")
    elif said:
        said.append("cost unknown")
    if seconds is not None and math.isfinite(seconds):
        said.append(numbers.seconds(seconds))
    return ", ".join(said)


def _whole(usage: Described, name: str) -> str | None:
    found = number(usage, name)
    return None if found is None or not math.isfinite(found) else f"{found:,.0f}"
