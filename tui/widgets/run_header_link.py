"""What the header says about a host that does not answer: since when, why, and what to do."""

from __future__ import annotations

from ..engine.protocol import Link
from ..findings.spans import Line, Span, cells, clean, middle, spread
from ..wording import duration

LEAST_PATH = 12


def link_row(link: Link, unheard: float, path: str, width: int) -> Line:
    """The row in exactly so many cells: nothing shown is newer than it says."""
    host, why, hint = clean(link.host), clean(link.message), clean(link.hint)
    age = f"data {duration(unheard, units=1)} old"
    if link.state == "failed":
        advice = f"; {hint}" if hint else ""
        said = f"▲ {host} lost, {age}: {why}{advice}"
        return spread((Span(said, "severity-critical"),), (), width)
    if link.state == "connecting":
        line: Line = (Span(f"connecting to {host}", "stale"),)
    else:
        line = (Span(f"▲ reconnecting to {host}, {age}", "stale"),)
        if why:
            return spread((*line, Span(f": {why}", "quiet")), (), width)
    room = width - cells(line) - 2
    shown = (Span(middle(path, room), "quiet"),) if room > LEAST_PATH else ()
    return spread(line, shown, width)
