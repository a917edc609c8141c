"""Signs in the texts that the model generated and the log shows."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.event import EventKind
from mltd.runs.state import RunState

from ..core.finding import Basis, Severity
from ..core.view import PlacedEvent, RunView
from .sample_text import Repetition, repetition
from .sign import Sign

MOST_SAMPLES = 64
"""Samples at the end that are looked at."""
ENOUGH = 3
"""Repeating samples in a row that leave no doubt."""
YOUNG = 0.1
"""Share of the plan before which an untrained model may still stammer."""
_OVER = (RunState.FINISHED, RunState.FAILED, RunState.STALLED)
_LONG = 32
"""Repeated tokens with which a lone sample is enough."""


def sampled_signs(view: RunView) -> Iterator[Sign]:
    """Samples at the end of the log that repeat one token."""
    samples = view.events_of(EventKind.SAMPLE)[-MOST_SAMPLES:]
    repeating: list[tuple[PlacedEvent, Repetition]] = []
    for placed in reversed(samples):
        found = repetition(placed.event.message or placed.text)
        if found is None:
            break
        repeating.append((placed, found))
    if not repeating:
        return
    repeating.reverse()
    count = sum(placed.event.count for placed, _ in repeating)
    first, worst = repeating[0][0], max((found for _, found in repeating), key=lambda r: r.count)
    if count < 2 and worst.count < _LONG:
        return
    is_phrase = sum(found.is_phrase for _, found in repeating) > len(repeating) / 2
    units = {found.unit for _, found in repeating if not found.is_phrase}
    had_variety = len(repeating) < len(samples)
    if is_phrase or (not had_variety and _is_young(view, repeating[-1][0])):
        severity, raw = Severity.INFO, 0.5
    elif count >= ENOUGH and len(units) == 1:
        severity, raw = Severity.CRITICAL, 0.93
    else:
        severity, raw = Severity.WARNING, 0.85 if count >= ENOUGH else 0.7
    shown = repr(worst.unit[:24])
    what = "loop over" if is_phrase else "repeat"
    who = f"the last {count} samples {what}" if count > 1 else f"the only sample {what}s"
    step = first.event.step
    since = f" since step {step:.10g}" if step is not None and had_variety else ""
    yield Sign(
        way="samples",
        title=f"{who} {shown} ({worst.share:.0%} of the text){since}",
        severity=severity,
        basis=Basis.OBSERVATION,
        raw=raw,
        evidence=tuple(placed.evidence() for placed, _ in (repeating[0], *repeating[-2:]))[
            : min(3, len(repeating))
        ],
        first_step=step,
        details={
            "share": worst.share,
            "samples": float(count),
            "had_variety": float(had_variety),
            "is_phrase": float(is_phrase),
            "unit": worst.unit,
        },
    )


def _is_young(view: RunView, last: PlacedEvent) -> bool:
    """True while a model that has only ever stammered may still be about to learn."""
    if view.run.is_over or view.state in _OVER:
        return False
    step = last.event.step
    if step is None:
        return False
    planned = view.planned_steps
    return step < (YOUNG * planned if planned else 100)
