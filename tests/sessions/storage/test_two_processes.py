"""Two apps on one session: one works, the other looks on, until the first one is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.errors import StorageError
from mltd.sessions.storage.store import SessionStore

ROOT = Path(__file__).resolve().parents[3]


class App:
    """Another process that has, or wants, the session."""

    def __init__(self, folder: Path, name: str) -> None:
        command = [sys.executable, "-m", "tests.sessions.storage.rival", str(folder), name]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, wish: str) -> Any:
        """Its answer to a wish."""
        assert self.process.stdin is not None
        self.process.stdin.write(wish + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


@pytest.fixture
def name(store: SessionStore) -> str:
    with store.create("shared") as session:
        return session.path.name


@pytest.fixture
def apps(store: SessionStore, name: str) -> Iterator[tuple[App, App]]:
    both = App(store.folder, name), App(store.folder, name)
    for app in both:
        assert app.answer() == "ready"
    yield both
    for app in both:
        app.end()


def test_the_second_one_looks_on_until_the_first_one_is_killed(
    apps: tuple[App, App], store: SessionStore, name: str
) -> None:
    first, second = apps
    assert first("open")["why"] == ""
    first("do 1")
    assert first("flush")["result"] is True

    seen = second("open")
    assert f"pid {first.process.pid} on {os.uname().nodename} (since 20" in seen["why"]
    assert (seen["notes"], seen["state"]) == (["N1"], "read_only")
    assert "read-only" in second("do 5")["result"]
    first("do 2")
    first("flush")
    assert second("refresh")["notes"] == ["N1", "N2"]
    with pytest.raises(StorageError, match=f"pid {first.process.pid} "):
        store.delete(name)

    # Not waited for: a process that only its parent still knows about is dead all the same.
    first.process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, first.process.pid, os.WEXITED | os.WNOWAIT)
    taken = second("open")
    assert (taken["why"], taken["notes"]) == ("", ["N1", "N2"])
    second("do 3")
    assert second("flush")["result"] is True
    assert second("close")["result"] == 0
    assert [one.id for one in store.load(name).session.notes] == ["N1", "N2", "N3"]


def test_taken_over_on_wish_the_first_one_stops(
    apps: tuple[App, App], store: SessionStore, name: str
) -> None:
    first, second = apps
    first("open")
    first("do 1")
    first("flush")
    assert second("take")["why"] == ""
    second("do 2")
    assert second("flush")["result"] is True
    first("do 3")
    lost = first("flush")
    assert lost["result"] is False
    assert f"taken over by pid {second.process.pid} on " in lost["why"]
    assert "read-only" in first("do 4")["result"]
    assert first("close")["result"] == 1
    second("do 5")
    assert second("flush")["result"] is True
    assert [one.id for one in store.load(name).session.notes] == ["N1", "N2", "N5"]


def test_closed_by_the_first_one_the_second_one_has_it(apps: tuple[App, App]) -> None:
    first, second = apps
    first("open")
    assert second("open")["state"] == "read_only"
    first("close")
    assert "free by now" in second("refresh")["why"]
    assert second("open")["why"] == ""
