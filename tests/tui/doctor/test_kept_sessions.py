"""Sessions on disk: counted if they can be read, named if not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.sessions.storage.places import JOURNAL
from mltd.sessions.storage.store import SessionStore
from mltd.tui.doctor.areas import kept_sessions
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import only, states


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


def look(store: SessionStore) -> list[Line]:
    return list(kept_sessions.readable(Surroundings(state=store.folder.parent)))


def make(store: SessionStore, title: str, *, is_broken: bool = False) -> str:
    with store.create(title) as session:
        name = session.session.id
    if is_broken:
        for path in (store.folder / name).iterdir():
            path.unlink()
        (store.folder / name / JOURNAL).mkdir()
    return name


def test_no_sessions_and_good_ones_are_fine(store: SessionStore) -> None:
    assert only(look(store)).fact == "none yet"
    make(store, "loss rose")
    assert only(look(store)) == Line("sessions", State.OK, "1 session, all readable")


def test_a_broken_one_is_named(store: SessionStore) -> None:
    make(store, "loss rose")
    name = make(store, "broken", is_broken=True)
    broken, good = look(store)
    assert broken.state is State.PROBLEM
    assert broken.fact.startswith(f"{name} cannot be read: ")
    assert f"mltd-tui sessions path {name}" in broken.advice
    assert good == Line("sessions", State.OK, "1 other session: readable")


def test_many_broken_ones_are_counted(store: SessionStore) -> None:
    for number in range(kept_sessions.MOST + 2):
        make(store, f"broken {number}", is_broken=True)
    lines = look(store)
    assert states(lines) == [State.PROBLEM] * (kept_sessions.MOST + 1)
    assert lines[-1].fact == "2 more cannot be read"


def test_a_folder_that_cannot_be_listed_is_a_problem(store: SessionStore) -> None:
    store.folder.parent.mkdir(exist_ok=True)
    store.folder.touch()
    assert only(look(store)).state is State.PROBLEM
