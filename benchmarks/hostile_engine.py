"""Drive the engine of the app over one log, as the screen does, without a screen.

    python benchmarks/hostile_engine.py LOG

Reads and judges the log, has the series listed until nothing is due any more, asks for curves,
a heat map, places and facts, and counts the lines for the log pane. News are pickled as for the
pipe. The clock of the engine is set forward instead of waiting.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from mltd.runs.sources.watcher import Watcher
from mltd.tui.curves.chart_list import charts_of
from mltd.tui.engine.channel import pack, unpack
from mltd.tui.engine.curve_protocol import CurveRequest, HeatRequest, PlaceRequest
from mltd.tui.engine.followed_run import clock
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.protocol import Diagnosed, FactsRequest, News, Open, Select, Wish
from mltd.tui.engine.service import Service
from mltd.tui.findings.rows import overview
from mltd.tui.log.open_log import OpenLog
from mltd.tui.run_book import RunBook

QUIET = 40.0
"""Seconds after which the engine has judged the silence of a log."""


class SkippingInbox(Inbox):
    """Sets the clock forward where another one would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0

    def now(self) -> float:
        """Seconds since 1970, those that were skipped included."""
        return clock() + self.skipped

    def wait(self, seconds: float) -> tuple[list[Wish], set[Path]]:
        """Return at once, as if so many seconds had passed."""
        self.skipped += seconds
        return super().wait(0.0)


def drive(path: str) -> int:
    """Do what the app asks of its engine; how many bytes of news it sent."""
    inbox, book, sent = SkippingInbox(), RunBook(), 0

    def hear(news: News) -> None:
        nonlocal sent
        frame = pack(news)
        sent += len(frame)
        heard = unpack(frame[4:])
        book.learn(heard)  # type: ignore[arg-type]
        if isinstance(heard, Diagnosed):
            names = [one.name for one in book.current.series]
            overview(heard.diagnosis, 80, 40, names)

    service = Service(hear, inbox, Watcher([Path(path)]), inbox.now)
    for wish in (Open((path,), has_jobs=False), Select(0)):
        inbox.wish(wish)
    _until(service, inbox, lambda: book.current.diagnosis is not None)
    name = book.name(0)
    charts = charts_of((0, name, book.current.series))
    for ticket, chart in enumerate(charts):
        inbox.wish(CurveRequest(ticket, tuple((line.run, line.key) for line in chart.lines)))
    inbox.wish(HeatRequest(100, 0, 120))
    inbox.wish(PlaceRequest(101, 0, path, line=5))
    inbox.wish(PlaceRequest(102, 0, path, x=5.0))
    inbox.wish(FactsRequest(0))
    _until(service, inbox, lambda: False)
    _count_lines(path)
    return sent


def _until(service: Service, inbox: SkippingInbox, is_done: Callable[[], bool]) -> None:
    end = inbox.now() + QUIET
    while not is_done() and inbox.now() < end:
        service.step()


def _count_lines(path: str) -> None:
    log = OpenLog(path)
    log.at_end(100)
    while log.work():
        pass
    log.around_line(1, 50, 50)
    log.around(log.at_end(1).size // 2, 50, 50)
    log.close()


if __name__ == "__main__":
    print(drive(sys.argv[1]))
