"""What tests of the second opinion share: the scripted service, a failing run, an engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from tests.diagnosis.messages_server import MessagesServer

    from .consult_scene import Scene

T = TypeVar("T")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    from mltd.diagnosis.artifacts import searching
    from mltd.diagnosis.artifacts.timely import timely
    from tests.diagnosis.messages_server import MessagesServer

    def unhurried(work: Callable[[], T], what: str, seconds: float | None = None) -> T:
        return timely(work, what) if seconds is None else timely(work, what, seconds + 60)

    # A citation is wrong, and not unreadable, also where it takes long to start a process.
    monkeypatch.setattr(searching, "_GRACE_SECONDS", 60.0)
    monkeypatch.setattr("mltd.diagnosis.artifacts.book.timely", unhurried)
    with MessagesServer() as running:
        running.point(monkeypatch)
        yield running


@pytest.fixture
def log(tmp_path: Path) -> Path:
    from tests.diagnosis.second_opinions import write_log

    path = write_log(tmp_path / "train.log")
    with path.open("a") as file:
        file.write(f"saved below {tmp_path}\n")
    return path


@pytest.fixture
def scene(log: Path) -> Iterator[Scene]:
    from .consult_scene import Scene

    scene = Scene()
    scene.open(log)
    yield scene
    scene.close()


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """What hangs hangs until this is set, and at most until the test is over."""
    event = threading.Event()
    yield event
    event.set()
