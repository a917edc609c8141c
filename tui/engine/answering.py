"""Wishes that are granted from runs as they are, or from such as were read to their ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .comparison import compare
from .curve_protocol import CompareRequest, HeatRequest, PlaceRequest
from .heat import make_heat
from .places import find_place
from .protocol import FactsRequest, News, ReportRequest
from .session_work import facts_of, report

if TYPE_CHECKING:
    from mltd.runs.envelope import Envelopes

    from .followed_run import FollowedRun

Whole = CompareRequest | FactsRequest | ReportRequest
"""Wishes that need all there is of some runs."""


def answer_now(
    wish: HeatRequest | PlaceRequest, followed: Mapping[int, FollowedRun], envelopes: Envelopes
) -> Iterator[News]:
    """What can be told from as much as was read; nothing if there is no such run."""
    if wish.run not in followed:
        return
    run = followed[wish.run].run
    match wish:
        case HeatRequest():
            yield make_heat(wish, run)
        case PlaceRequest():
            yield find_place(wish, run, envelopes)


def runs_for(wish: Whole) -> list[int]:
    """Numbers of the runs that a wish needs as a whole."""
    match wish:
        case CompareRequest():
            return [wish.before, wish.after]
        case FactsRequest():
            return [wish.run]
        case ReportRequest():
            return [number for _, number in wish.runs]


def answer(wish: Whole, followed: Mapping[int, FollowedRun], now: float) -> Iterator[News]:
    """What is wished for; nothing if there is no such run."""
    match wish:
        case CompareRequest():
            yield compare(wish, followed[wish.before].run, followed[wish.after].run, now)
        case FactsRequest() if wish.run in followed:
            yield facts_of(followed[wish.run])
        case ReportRequest():
            yield report(wish, followed)
