"""Messages that were overcome: a retry that succeeded, a warning that quotes an error."""

from __future__ import annotations

from mltd.runs.event import EventKind

from ..core.facts import Facts
from ..core.view import RunView

ROOM = 3
"""Records of metrics after a message that show that the run went on."""
_GRAVE = frozenset(
    {
        EventKind.EXCEPTION,
        EventKind.ERROR,
        EventKind.OOM,
        EventKind.NCCL,
        EventKind.SIGNAL,
        EventKind.SCHEDULER,
    }
)


def recovered(view: RunView, facts: Facts) -> None:
    """Guards 3 and 18: what the same file's training went on after did not end it."""
    progress: dict[int, list[int]] = {}
    for series in view.series:
        if series.role is None or series.role.startswith("axis/") or len(series) < ROOM:
            continue
        if series.name.startswith("wandb "):
            continue
        later = series.line_of(-ROOM)
        progress.setdefault(series.file, []).append(later)
    number_of = {id(source): number for number, source in enumerate(view.run.files)}
    for placed in view.events:
        if placed.event.kind not in _GRAVE:
            continue
        last = max(progress.get(number_of.get(id(placed.source), -1), [0]))
        if last > placed.event.last_line:
            facts.recovered.add(id(placed.event))
    if facts.recovered:
        first = next(p for p in view.events if id(p.event) in facts.recovered)
        facts.notes["recovered"] = first.evidence()
