"""What the first request of a consultation would hold; light enough for the screen's process."""

from __future__ import annotations

from typing import NamedTuple


class Preview(NamedTuple):
    """What the first request would hold, for the person who has to agree to it."""

    host: str
    model: str
    characters: int
    """Of the evidence alone: what differs from one run to the next."""
    tokens: int
    """Estimate for the whole first request, the instructions and the tools included."""
    dollars: float | None
    """For sending it, without the answer; None where the price is not known."""
    masked: dict[str, int]
    """What was taken out, by kind."""
    sections: tuple[tuple[str, int], ...]
    """Title and estimated tokens of each."""
    left_out: tuple[str, ...]
    pack_tokens: int
    """The size that was asked for."""
    max_dollars: float = 0.0
    """What one question may cost in all, where prices are known."""
    budget_tokens: int = 0
    """The same in tokens."""
    is_redacted: bool = False
    """Users, hosts and paths are masked too."""
