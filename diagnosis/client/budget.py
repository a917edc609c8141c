"""What a question may use: time, tokens, money and looks."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..settings import ConsultSettings
from .pricing import NOTHING, Tokens, dollars_for


@dataclass(slots=True)
class Budget:
    """Counts what one question uses; says when it is time to answer."""

    settings: ConsultSettings
    model: str
    used: Tokens = NOTHING
    dollars: float | None = 0.0
    rounds: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, tokens: Tokens) -> None:
        """One request more."""
        self.used = Tokens(*(a + b for a, b in zip(self.used, tokens, strict=True)))
        cost = dollars_for(self.model, tokens)
        self.dollars = None if cost is None or self.dollars is None else self.dollars + cost

    @property
    def seconds(self) -> float:
        """Since the question was asked."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """Until everything stops, an answer under way included."""
        return self.settings.seconds + self.settings.grace_seconds - self.seconds

    def used_up(self) -> str:
        """Which part of the budget is used up, in words; empty if none is."""
        limits = self.settings
        spent = self.used.input + self.used.cache_write + self.used.output
        if self.rounds >= limits.rounds:
            return f"all {limits.rounds} rounds of looking further are used"
        if self.seconds >= limits.seconds:
            return f"{limits.seconds:g} seconds are over"
        if spent >= limits.budget_tokens:
            return f"{limits.budget_tokens:,} tokens are used"
        if self.dollars is not None and self.dollars >= limits.max_dollars:
            return f"${limits.max_dollars:g} are spent"
        return ""
