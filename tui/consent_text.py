"""What a person has to know before anything is sent to Claude, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from mltd.diagnosis.client.pricing import cost_text

if TYPE_CHECKING:
    from mltd.diagnosis.preview import Preview

LABEL_WIDTH = 10
"""Cells of the longest label, and one between it and its fact."""
_NAMES = ("user", "host")
"""What is masked only on demand."""


class Fact(NamedTuple):
    """One thing that the decision needs."""

    label: str
    text: str


def headline(preview: Preview) -> str:
    """Where it goes, and who looks at it."""
    return f"This would be sent to {preview.host}, for {preview.model} to look at:"


def facts(preview: Preview, most_left_out: int = 0) -> Iterator[Fact]:
    """Size, cost, masks, parts and what comes later; all that is left out, unless cut short."""
    sections = ", ".join(f"{title} {tokens:,}" for title, tokens in preview.sections)
    yield Fact("size", f"{preview.characters:,} characters of evidence")
    yield Fact("tokens", f"about {preview.tokens:,}, the instructions and tools included")
    yield Fact("cost", _cost(preview))
    yield Fact("secrets", _secrets(preview))
    yield Fact("names", _names(preview))
    yield Fact("sections", f"{sections} (tokens)" if sections else "none")
    yield Fact("left out", _left_out(preview.left_out, most_left_out))
    yield Fact(
        "later",
        "what it asks to read of this run's own files, and of folders of code that you named;"
        " masked likewise",
    )


def _cost(preview: Preview) -> str:
    cost = cost_text(preview.dollars)
    if preview.dollars is None:
        return f"{cost} to send; in all at most about {preview.budget_tokens:,} tokens"
    most = f"with all that it looks at and says, up to about ${preview.max_dollars:g}"
    return f"about {cost} to send; {most}"


def _secrets(preview: Preview) -> str:
    masked = {kind: count for kind, count in preview.masked.items() if not _is_name(preview, kind)}
    kinds = ", ".join(f"{count} {kind}" for kind, count in masked.items())
    return f"{sum(masked.values())} masked: {kinds}" if masked else "none was found to be masked"


def _names(preview: Preview) -> str:
    if not preview.is_redacted:
        return "users, hosts and paths stand in it as they are in the files"
    counts = [f"{n} {kind}" for kind, n in preview.masked.items() if _is_name(preview, kind)]
    return "users, hosts and paths are masked" + (f": {', '.join(counts)}" if counts else "")


def _is_name(preview: Preview, kind: str) -> bool:
    return preview.is_redacted and kind in _NAMES


def _left_out(parts: tuple[str, ...], most: int) -> str:
    if not parts:
        return "nothing: all of the evidence fits"
    more = len(parts) - most if most else 0
    told = parts[:most] if most else parts
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")
