"""How far a run is, in as many cells as there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..engine.protocol import RunStatus
from ..findings.spans import Line, Span, cells
from ..quantities import full_count, short_count
from ..wording import duration, percent

BAR, TRACK = "━", "─"


@dataclass(frozen=True, slots=True)
class _Wealth:
    """How much is said."""

    counts: int = 0
    """0: none, 1: in short, 2: with its name, 3: in full, 4: also the other axis."""
    percent: int = 0
    eta: int = 0
    """1: in short, 2: in words."""
    bar: int = 0


_UPGRADES: tuple[tuple[str, int], ...] = (
    ("counts", 1), ("eta", 1), ("percent", 1), ("bar", 6), ("counts", 2), ("counts", 3),
    ("bar", 10), ("counts", 4), ("eta", 2), ("bar", 20),
)  # fmt: skip
"""What is added as long as it fits, the most useful first."""


def progress(status: RunStatus, room: int, *, is_stale: bool) -> Line:
    """Steps or epochs of how many, a bar and the time left."""
    wealth = _Wealth()
    line: Line = ()
    for name, amount in _UPGRADES:
        richer = replace(wealth, **{name: amount})
        drawn = _drawn(status, richer, is_stale=is_stale)
        if cells(drawn) <= room:
            wealth, line = richer, drawn
    return line


def share_done(status: RunStatus) -> float | None:
    """The part of the run that is done, where its length is known."""
    for at, total in ((status.step, status.total_steps), (status.epoch, status.total_epochs)):
        done, whole = _number(at), _number(total)
        if done is not None and whole is not None and whole > 0:
            return min(1.0, max(0.0, done / whole))
    return None


def _drawn(status: RunStatus, wealth: _Wealth, *, is_stale: bool) -> Line:
    spans: list[Span] = []
    axes = [
        said
        for word, at, total in (
            ("step", status.step, status.total_steps),
            ("epoch", status.epoch, status.total_epochs),
        )
        if (said := _counted(word, at, total, wealth.counts))
    ]
    spans += [Span(f"  {said}") for said in axes[: 2 if wealth.counts > 3 else 1]]
    done = share_done(status)
    if done is not None and wealth.bar:
        full = round(done * wealth.bar)
        full -= full == wealth.bar and done < 1
        rest = TRACK * (wealth.bar - full)
        spans += [Span("  "), Span(BAR * full, "confidence"), Span(rest, "quiet")]
    if done is not None and wealth.percent:
        spans.append(Span(f" {percent(done)}", "quiet"))
    eta = _number(status.eta_seconds)
    # The end of a run that says nothing any more is anyone's guess.
    is_going = status.state == "running" and not is_stale
    if eta is not None and eta >= 0 and is_going and wealth.eta:
        spans.append(Span(f"  ETA {duration(eta, is_compact=wealth.eta < 2)}"))
    return tuple(spans)


def _counted(word: str, at: float | None, total: float | None, wealth: int) -> str:
    done, whole = _number(at), _number(total)
    if done is None or not wealth:
        return ""
    shown = full_count if wealth > 2 else short_count
    said = shown(done)
    if whole is not None and whole > 0:
        said += f"/{shown(whole)}"
    return f"{word} {said}" if wealth > 1 else said


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
