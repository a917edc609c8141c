"""What may be wrong with the machine."""

from __future__ import annotations

from dataclasses import dataclass

from ..hook import Hook


@dataclass
class Slower(Hook):
    """Every step takes a bit longer than the one before."""

    growth: float = 0.0
    """Share of the usual time by which a step outlasts its predecessor."""

    def seconds(self, step: int, seconds: float) -> float:
        """Longer with every step."""
        return seconds * (1 + self.growth * max(0, step - self.at))


@dataclass
class Slow(Hook):
    """Steps take longer from one moment on."""

    factor: float = 1.0

    def seconds(self, step: int, seconds: float) -> float:
        """Longer for good."""
        return seconds if step < self.at else seconds * self.factor


@dataclass
class Leak(Hook):
    """Memory grows with each step."""

    gigabytes: float = 0.0
    """For every step."""

    def memory(self, step: int, gigabytes: float) -> float:
        """More with every step."""
        return gigabytes + self.gigabytes * max(0, step - self.at)


@dataclass
class Straggler(Slow):
    """One rank is slower than the others, and all wait for it."""

    rank: int = 0

    def rank_seconds(self, step: int, seconds: list[float]) -> list[float]:
        """The others are as fast as ever."""
        if step < self.at:
            return seconds
        return [one if rank == self.rank else one / self.factor for rank, one in enumerate(seconds)]
