"""Reports of deaths as the log has them: the lines that tell, not our words for them."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.events.telling import last_error, table_rows

from ..core.failure import failure_evidence
from ..core.finding import Evidence
from ..core.job_event import JobEvent
from ..core.view import PlacedEvent

_MOST = 300
"""Characters of a quote."""


def as_said(placed: PlacedEvent) -> Iterator[Evidence]:
    """The lines of the log that tell of a death, those that name its reason included."""
    event, text = placed.event, placed.event.text
    if isinstance(placed, JobEvent) or not text:
        yield placed.evidence()
    elif rows := table_rows(text):
        for row, number in rows:
            yield placed.evidence(row, event.line + number)
    elif len(line := text.strip().partition("\n")[0]) > _MOST and not event.exception:
        # The reasons that a launcher thinks of stand at the end of its line.
        yield placed.evidence(f"{line[:140]} … {line[-150:]}", event.line)
    else:
        yield failure_evidence(placed)
        if reason := last_error(text):
            yield placed.evidence(reason, _line_of(placed, text.find(reason)))


def _line_of(placed: PlacedEvent, position: int) -> int:
    return placed.event.line + placed.event.text.count("\n", 0, max(position, 0))
