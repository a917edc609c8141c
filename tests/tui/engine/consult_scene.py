"""An engine in a thread of its own that really asks the scripted service, and what it says."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from mltd.diagnosis.events import Event
from mltd.runs.sources.watcher import Watcher
from mltd.sessions.model.run_ref import RunRef
from mltd.tui.engine.consult_protocol import (
    Consult,
    Consulted,
    Consulting,
    Packed,
    PackRequest,
)
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.protocol import Diagnosed, News, Open, StatusChanged, Wish
from mltd.tui.engine.service import Service
from tests.diagnosis.second_opinions import submission
from tests.sessions.made_sessions import AT, a_session
from tests.waiting import PATIENCE

Kind = TypeVar("Kind")
MODEL = "claude-sonnet-5-5"


class Scene:
    """Wishes go in; whoever waits for news is woken by them."""

    def __init__(self) -> None:
        self.news: list[News] = []
        self.inbox = Inbox()
        # Nobody waits for it here: what changed is said by hand.
        self._watcher = Watcher(poll_seconds=1.0)
        self._heard = threading.Condition()
        self.service = Service(self._hear, self.inbox, self._watcher)
        self.thread_name = "main loop"
        self._thread = threading.Thread(target=self.service.run, name=self.thread_name, daemon=True)

    def _hear(self, news: News) -> None:
        with self._heard:
            self.news.append(news)
            self._heard.notify_all()

    def open(self, *logs: Path) -> None:
        """Begin, and wait until the analyzers have had their say."""
        self.inbox.wish(Open(tuple(map(str, logs)), has_jobs=False))
        self._thread.start()
        self.until(lambda: len({one.run for one in self.of(Diagnosed)}) == len(logs))

    def wish(self, *wishes: Wish) -> None:
        for wish in wishes:
            self.inbox.wish(wish)

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [item for item in list(self.news) if isinstance(item, kind)]

    def until(self, is_reached: Callable[[], object]) -> None:
        with self._heard:
            is_there = self._heard.wait_for(is_reached, PATIENCE)
        said = [type(n).__name__ for n in self.news]
        assert is_there, f"it never came to that; news: {said}, {self.of(Packed)}"

    def pack(self, ticket: int = 1, **more: Any) -> Packed:
        """Have the evidence packed, and wait for it."""
        count = len(self.of(Packed))
        self.wish(PackRequest(ticket, more.pop("run", 0), **{"model": MODEL, **more}))
        self.until(lambda: len(self.of(Packed)) > count)
        return self.of(Packed)[-1]

    def consult(self, wish: Wish) -> Consulted:
        """Ask, and wait for the end."""
        count = len(self.of(Consulted))
        self.wish(wish)
        self.until(lambda: len(self.of(Consulted)) > count)
        return self.of(Consulted)[-1]

    def ask(self, ticket: int = 1, **more: Any) -> Consulted:
        """Pack and ask."""
        packed = self.pack(ticket, **more)
        assert not packed.problem, packed
        return self.consult(Consult(ticket))

    def events(self, ticket: int = 1) -> list[Event]:
        """All that was told of a conversation, in order."""
        return [e for one in self.of(Consulting) if one.ticket == ticket for e in one.events]

    def has_event(self, kind: type[Event]) -> bool:
        return any(isinstance(event, kind) for event in self.events())

    def step_of(self, run: int = 0) -> float | None:
        """How far a run has come, as far as the screen knows."""
        told = [one.status.step for one in self.of(StatusChanged) if one.status.run == run]
        return told[-1] if told else None

    def grow(self, log: Path, *lines: str) -> None:
        """Write more into a log, and say so."""
        with log.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
        self.inbox.changed({log})

    def close(self) -> None:
        self.inbox.close()
        self._thread.join(PATIENCE)
        self._watcher.close()
        assert not self._thread.is_alive()


def session_of(*logs: Path) -> str:
    """JSON of a session about some runs: R1, R2, ..."""
    refs = tuple(
        RunRef(id=f"R{number}", location=str(log), added=AT)
        for number, log in enumerate(logs, start=1)
    )
    return a_session(runs=refs).model_dump_json()


def cause(*evidence: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """One root cause, as a model could submit it."""
    (known,) = submission()["input"]["root_causes"]
    return {**known, "evidence": list(evidence), **changes}


def lines(name: str, line: int, quote: str, kind: str = "log") -> dict[str, Any]:
    """A citation of one line."""
    where = {"artifact": name} if kind == "log" else {"path": name}
    return {"kind": kind, **where, "first_line": line, "last_line": line, "quote": quote}


def point(name: str, step: float, value: str, run: str = "") -> dict[str, Any]:
    """A citation of one value."""
    return {"kind": "series", "run": run, "name": name, "step": step, "value": value}
