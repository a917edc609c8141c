"""The two rows of the run header: which run, how far, how fresh, how healthy."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

from ..engine.protocol import Health, RunStatus
from ..findings.names import GLYPHS
from ..findings.spans import Line, Span, cells, clean, clip, fit, middle, spread
from ..wording import count, percent
from .run_freshness import Freshness
from .run_header_job import state_of
from .run_header_source import REASON_ABOVE, source_row
from .run_progress import progress

LEAST_NAME = 10
NAMES = ((100, 40), (78, 26), (0, 14))
"""Columns from which on progress leaves so many cells to the name."""
LEAST_REASON = 16
"""Cells below which the reason of a state is not worth saying."""
STATES = {
    "running": ("▶", "severity-fine"),
    "finished": ("✔", "severity-fine"),
    "failed": ("✖", "severity-critical"),
    "stalled": ("‖", "stale"),
    "unknown": ("?", "severity-unknown"),
}
_HEALTH = {
    Health.CRITICAL: ("critical", "critical"),
    Health.WARNING: ("warning", "warning"),
    Health.INFO: ("info", "info"),
    Health.FINE: ("fine", "healthy"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """All that the header shows, at one moment."""

    status: RunStatus | None
    position: tuple[int, int] = (1, 1)
    """Place of the run among how many."""
    freshness: Freshness = field(default_factory=Freshness)
    waiting_for: str = ""
    home: str = ""
    trouble: str = ""
    """Why nothing here can be trusted to be up to date."""
    now: float = 0.0
    weights: tuple[str, int] = ("", 0)
    """The worst alarm in the weights that are looked at, and how many there are."""


def header_rows(look: Look, width: int) -> tuple[Line, Line]:
    """Both rows, each of exactly so many cells."""
    inner = max(0, width - 2)
    if look.status is None:
        first = spread((Span("no run yet", "quiet"),), (), inner)
    else:
        first = _run_row(look, look.status, inner)
    if look.trouble:
        second: Line = fit((Span(f"▲ {clean(look.trouble)}", "stale"),), inner)
    else:
        second = source_row(
            look.status, look.freshness, inner,
            waiting_for=look.waiting_for, home=look.home, now=look.now,
        )  # fmt: skip
    return _with_margins(first, width), _with_margins(second, width)


def _with_margins(row: Line, width: int) -> Line:
    """A cell left and right; the left one in the first span's style, which saves bytes."""
    head, *rest = row or (Span(""),)
    return fit((Span(f" {head.text}", head.meaning), *rest, Span(" ")), width)


def _run_row(look: Look, status: RunStatus, width: int) -> Line:
    """The run's name, place, state and progress at the left, its health at the right."""
    badge = _of_weights(status, *look.weights) or _badge(status)
    name = clean(status.name) or "(unnamed)"
    room = width - cells(badge) - 2
    least = min(cells((Span(name),)), next(most for columns, most in NAMES if width >= columns))
    parts = _parts(look, status, room - least)
    left: Line = (Span(middle(name, max(LEAST_NAME, room - cells(parts))), "heading"), *parts)
    spare = room - cells(left)
    reason = clean(status.reason)
    is_said_below = status.state == "stalled" or (status.state == "failed" and width < REASON_ABOVE)
    is_said_below |= state_of(status) is not None
    if reason and status.state != "running" and not is_said_below and spare >= LEAST_REASON:
        left = (*left, Span(clip(f"  {reason}", spare), "quiet"))
    return spread(left, badge, width)


def _parts(look: Look, status: RunStatus, room: int) -> Line:
    """Place, state and as much progress as there is room for."""
    number, runs = look.position
    place: Line = (Span(f"  {number}/{runs}", "quiet"),) if runs > 1 else ()
    glyph, meaning = STATES.get(status.state, STATES["unknown"])
    word = clean(status.state) or "unknown"
    if (of_job := state_of(status)) is not None:
        glyph, word, meaning = of_job
    if look.freshness.is_stale or look.trouble:
        meaning = "stale"
        word = word if status.state == "stalled" else f"{word} STALE"
    known: Line = (*place, Span(f"  {glyph} {word}", meaning))
    return (*known, *progress(status, room - cells(known), is_stale=look.freshness.is_stale))


def _badge(status: RunStatus) -> Line:
    """The worst finding in a word."""
    if status.health not in _HEALTH:
        if status.share_read < 1:
            return (Span(f"? reading {percent(status.share_read)}", "severity-unknown"),)
        return (Span("? not judged yet", "severity-unknown"),)
    if status.state == "failed" and status.health in (Health.FINE, Health.INFO):
        return (Span("? unexplained", "severity-unknown"),)
    severity, word = _HEALTH[status.health]
    least = {"critical": 1, "warning": 2}.get(severity, math.inf)
    number = f" {count(status.alarms)}" if status.alarms >= least else ""
    return (Span(f"{GLYPHS[severity]} {word}{number}", f"severity-{severity}"),)


def _of_weights(status: RunStatus, worst: str, alarms: int) -> Line:
    """The badge if the weights are worse than the log: both in one word would contradict them."""
    log = _HEALTH.get(status.health, ("", ""))[0]
    ranks = ("", "fine", "info", "warning", "critical")
    if not worst or ranks.index(worst) <= ranks.index(log):
        return ()
    number = f" {count(alarms)}" if alarms > 1 else ""
    return (Span(f"{GLYPHS[worst]} weights: {worst}{number}", f"severity-{worst}"),)


def home_directory() -> str:
    """What is written as ~."""
    return os.path.expanduser("~")
