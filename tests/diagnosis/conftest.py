"""A scripted server in the place of the service, for every test that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from mltd.diagnosis.artifacts import searching
from mltd.diagnosis.artifacts.timely import timely

from .messages_server import MessagesServer

T = TypeVar("T")


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give processes that search and read a minute to start, for machines that are slow."""
    monkeypatch.setattr(searching, "_GRACE_SECONDS", 60.0)

    def unhurried(work: Callable[[], T], what: str, seconds: float | None = None) -> T:
        return timely(work, what) if seconds is None else timely(work, what, seconds + 60)

    monkeypatch.setattr("mltd.diagnosis.artifacts.book.timely", unhurried)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        running.point(monkeypatch)
        yield running
