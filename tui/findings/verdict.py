"""The verdict: the answer in a line or two, before any detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .names import GLYPHS, spoken
from .spans import Line, Span, cells, clean, fit, hang

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis

LIKELY = 0.5
"""Below this, a cause is only a guess."""
MOST_NAMES = 6
_UNEXPLAINED = {
    "failed": "it failed, and nothing was found that explains it",
    "stalled": "it went silent, and nothing was found that explains it",
}
"""States that no run without an alarm should be called healthy in."""
_CUT_SHORT = "nothing wrong was logged; why it ended early is open"

UNWRITTEN = {"waiting": " yet: its job waits", "silent": ": no log of its job is known"}
"""States of runs of which there is nothing to read."""


def verdict(
    diagnosis: Diagnosis | None, width: int, *, is_reading: bool = False, state: str = ""
) -> list[Line]:
    """One line if it fits, two if not; `state` is what the run is seen to do."""
    if diagnosis is None and state in UNWRITTEN:
        said = f"nothing to judge{UNWRITTEN[state]}"
        return hang((Span(f"{GLYPHS['unknown']} ", "severity-unknown"),), said, width, most=2)
    if diagnosis is None:
        return [fit((Span(f"{GLYPHS['unknown']} reading…", "severity-unknown"),), width)]
    if not diagnosis.has_alarm:
        return _calm(diagnosis, width, is_reading=is_reading, state=state)
    still = (Span(", still reading", "quiet"),) if is_reading else ()
    counted = (*_counted(diagnosis), *still)
    for cause in (_cause(diagnosis, is_long=True), _cause(diagnosis, is_long=False)):
        joined = (*counted, Span(" · ", "quiet"), *cause)
        if cells(joined) <= width:
            return [joined]
    return [fit(counted, width), fit(_cause(diagnosis, is_long=False), width)]


def unexplained(diagnosis: Diagnosis, state: str) -> str:
    """What is said of a run that no analyzer alarms about and that is not well; "" if it is."""
    if state == "unknown" and diagnosis.requests:
        # Of a run without an alarm nothing is asked for but the reason of an early end.
        return _CUT_SHORT
    return _UNEXPLAINED.get(state, "")


def looked_at(names: Sequence[str], width: int) -> list[Line]:
    """Which metrics the verdict rests on."""
    if not names:
        return []
    shown = ", ".join(clean(name) for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return hang((Span("looked at ", "quiet"),), shown + more, width, most=3)


def _calm(diagnosis: Diagnosis, width: int, *, is_reading: bool, state: str) -> list[Line]:
    severity = "unknown"
    if diagnosis.status == "no_metrics":
        text = "nothing to judge: no metrics were found"
        text = "still reading: no metrics so far" if is_reading else text
    elif is_reading:
        text = "still reading: nothing found so far that calls for action"
    elif open_end := unexplained(diagnosis, state):
        text = open_end
    else:
        severity, text = "fine", "healthy: nothing found that calls for action"
    meaning = f"severity-{severity}"
    return hang((Span(f"{GLYPHS[severity]} ", meaning),), text, width, meaning, most=2)


def _counted(diagnosis: Diagnosis) -> Line:
    spans: list[Span] = []
    for severity in ("critical", "warning"):
        number = sum(finding.severity.value == severity for finding in diagnosis.findings)
        if number:
            if spans:
                spans.append(Span(" "))
            spans.append(Span(f"{GLYPHS[severity]} {number} {severity}", f"severity-{severity}"))
    return tuple(spans)


def _cause(diagnosis: Diagnosis, *, is_long: bool) -> Line:
    if not diagnosis.root_causes:
        return (Span("cause not known", "quiet"),)
    best = diagnosis.root_causes[0]
    label = "cause: "
    if diagnosis.status != "diagnosis_complete":
        label = "cause likely: " if best.confidence >= LIKELY else "cause perhaps: "
    rivals = [rival for first, rival in diagnosis.ties if first == best.id][:1]
    name = " or ".join(spoken(identity) for identity in (best.id, *rivals))
    if is_long and not rivals:
        name = clean(best.issue)
    return Span(label, "quiet"), Span(name), Span(f" {best.confidence:.2f}", "confidence")
