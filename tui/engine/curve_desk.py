"""Curves that the screen wants to see, drawn again whenever they grew."""

from __future__ import annotations

from collections.abc import Callable

from .curve_protocol import CurveRequest, Curves
from .curves import CurveBook
from .followed_run import FollowedRun

TELL_EVERY = 0.5
"""Seconds between two updates of a curve that keeps growing."""


class CurveDesk:
    """Knows what was asked for, and what was last answered."""

    def __init__(
        self,
        send: Callable[[Curves], None],
        now: Callable[[], float],
        followed: Callable[[int], FollowedRun | None],
        growth: Callable[[int], int],
    ) -> None:
        self.book = CurveBook()
        self._send = send
        self._now = now
        self._followed = followed
        """Has a run followed; None if there is no such run."""
        self._growth = growth
        """Counts what was read of a run."""
        self._wanted: dict[int, CurveRequest] = {}
        self._drawn: dict[int, tuple[float, tuple[int, ...], Curves]] = {}

    def subscribe(self, request: CurveRequest) -> None:
        """Answer now, and again when there is more; a request without metrics ends that."""
        self._drawn.pop(request.ticket, None)
        if request.series:
            self._wanted[request.ticket] = request
            self._draw(request)
        else:
            self._wanted.pop(request.ticket, None)

    def due(self, now: float) -> float | None:
        """When the next curve has to be drawn; None if all are up to date."""
        return min((self._due(ticket, now) for ticket in self._outdated()), default=None)

    def redraw(self) -> None:
        """Draw what grew, each curve not too often."""
        now = self._now()
        for ticket in self._outdated():
            if now >= self._due(ticket, now):
                self._draw(self._wanted[ticket])

    def _due(self, ticket: int, now: float) -> float:
        return self._drawn[ticket][0] if ticket in self._drawn else now

    def _outdated(self) -> list[int]:
        return [
            ticket
            for ticket, request in self._wanted.items()
            if ticket not in self._drawn or self._drawn[ticket][1] != self._growth_of(request)
        ]

    def _growth_of(self, request: CurveRequest) -> tuple[int, ...]:
        return tuple(self._growth(number) for number in dict.fromkeys(n for n, _ in request.series))

    def _draw(self, request: CurveRequest) -> None:
        growth = self._growth_of(request)
        found = {number: self._followed(number) for number in {n for n, _ in request.series}}
        known = {number: one for number, one in found.items() if one is not None}
        verdicts = {n: one.diagnosis for n, one in known.items() if one.diagnosis is not None}
        curves = self.book.answer(request, {n: one.run for n, one in known.items()}, verdicts)
        before = self._drawn.get(request.ticket)
        self._drawn[request.ticket] = (self._now() + TELL_EVERY, growth, curves)
        if before is None or before[2] != curves:
            self._send(curves)
