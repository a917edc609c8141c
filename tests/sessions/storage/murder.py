"""Processes that die while they write; a program of its own, so that it can fork safely.

`python -m tests.sessions.storage.murder SCENARIO FOLDER` ends with 0 if nothing was lost.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mltd.sessions.model.session import Session
from mltd.sessions.storage import compacting
from mltd.sessions.storage.compacting import whole_journal
from mltd.sessions.storage.lock import HeldError, LostError, SessionLock
from mltd.sessions.storage.schema import MIGRATIONS
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import Entry

from .making import ID, note, triage_of, wish_for, without_checksums

KILLS = 220
CALLS = (
    "open", "write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "chmod", "fchmod",
    "ftruncate",
)  # fmt: skip
"""What can change something on a disk."""


def in_child(work: Callable[[], None]) -> int:
    """Do something in another process; its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """How another process ended."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# -- kill -9 at any moment ------------------------------------------------------------------


def write_until_killed(store: SessionStore, name: str, pipe: int) -> None:
    """Work on a session, and tell of each entry as soon as it counts."""
    session = store.open(name)
    assert not session.why_read_only, session.why_read_only
    for number in range(100_000):
        wish_for(
            session, "undo" if number % 5 == 3 else "redo" if number % 5 == 4 else note(number)
        )
        assert session.flush(60)
        os.write(pipe, session.triage.entries[-1].model_dump_json().encode() + b"\n")


def kill_again_and_again(folder: Path) -> None:
    """Everything that was told before a kill is there after it."""
    chance = random.Random(5)
    store = SessionStore(folder)
    name, most, total = "", 0.0, 0
    told: list[Entry] = []
    for kill in range(KILLS):
        if kill % 10 == 0:
            with store.create(f"number {kill}") as session:
                name = session.path.name
            told, most = [], chance.choice([0.003, 0.01, 0.03])
        ours, theirs = os.pipe()
        child = in_child(lambda: write_until_killed(store, name, theirs))  # noqa: B023
        os.close(theirs)
        # Some die while they open the session, most while they write.
        if kill % 4:
            select.select([ours], [], [], 20)
        time.sleep(chance.uniform(0, most))
        os.kill(child, signal.SIGKILL)
        assert ended(child) == -signal.SIGKILL
        with os.fdopen(ours, "rb") as pipe:
            acknowledged = [line for line in pipe.read().split(b"\n") if line]
        # The pipe may have been cut in the middle of a line; the disk may not.
        told += [Entry.model_validate_json(line) for line in acknowledged if line.endswith(b"}")]
        entries = store.load(name).entries
        assert entries[: len(told)] == told, f"kill {kill}: something is missing"
        # One more may be there, on disk but not told of yet.
        assert len(entries) <= len(told) + 1
        total += len(acknowledged)
        told = list(entries)
    assert total > KILLS, f"only {total} entries were ever written"


# -- death at every single step -------------------------------------------------------------


def dying(step: int) -> None:
    """Make this process die just before the given call to the system."""
    left = step

    def doomed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return real(*args, **options)

        return call

    for name in CALLS:
        setattr(os, name, doomed(getattr(os, name)))


def die_at_every_step(
    prepare: Callable[[], None], work: Callable[[], object], check: Callable[[bool], None]
) -> None:
    """Look at the disk after each death; `check` is told whether the work came to its end."""
    for step in range(400):
        prepare()

        def doomed(step: int = step) -> None:
            dying(step)
            work()

        status = ended(in_child(doomed))
        assert status in (0, 9), status
        check(status == 0)
        if status == 0:
            assert step > 10
            return
    raise AssertionError("it never came to its end")


def opening(folder: Path, data: bytes, expected: Session) -> None:
    """Whatever opening for writing has to do to a journal, the session is never lost."""
    store = SessionStore(folder)
    journal = folder / ID / "journal.jsonl"

    def prepare() -> None:
        if journal.parent.exists():
            store.delete(ID)
        journal.parent.mkdir(parents=True)
        journal.write_bytes(data)

    def check(is_done: bool) -> None:
        assert store.load(ID).session == expected

        def go_on() -> None:
            with store.open(ID) as session:
                assert session.session == expected
                session.do(note(77))
                assert session.flush(60)
            left = [file.name for file in journal.parent.iterdir() if ".new-" in file.name]
            assert not left, left

        assert ended(in_child(go_on)) == 0
        assert store.load(ID).session.notes[-1].id == "N77"

    die_at_every_step(prepare, lambda: store.open(ID).close(), check)


def compact(folder: Path) -> None:
    """A long journal is made short."""
    compacting.MOST_ENTRIES, compacting.KEPT, compacting.WORTHWHILE = 40, 10, 5
    triage = triage_of(*(note(n % 7 + 1) for n in range(50)), "undo")
    assert len(compacting.compacted(triage)[0].entries) == 10
    opening(folder, whole_journal(triage), triage.session)


def repair(folder: Path) -> None:
    """A torn line is cut off and kept, damaged ones are kept."""
    triage = triage_of(note(1), note(2))
    opening(folder, whole_journal(triage) + b'garbage\n{"n":3,"at"', triage.session)


def migrate(folder: Path) -> None:
    """An older journal is converted."""
    triage = triage_of(note(1), note(2))
    MIGRATIONS[0] = lambda lines: lines
    older = without_checksums(whole_journal(triage)).replace(b'"schema":1', b'"schema":0')
    opening(folder, older, triage.session)


def create(folder: Path) -> None:
    """A new session is there or it is not."""
    store = SessionStore(folder)

    def prepare() -> None:
        for row in store.summaries():
            store.delete(row.id)

    def check(is_done: bool) -> None:
        rows = store.summaries()
        assert [row.title for row in rows] in ([], ["fresh"])
        assert not is_done or rows
        assert not any(row.problem for row in rows)

    die_at_every_step(prepare, lambda: store.create("fresh").close(), check)


# -- all at once ----------------------------------------------------------------------------


def race(folder: Path) -> None:
    """Of eight that want the same lock at the same moment, one has it, and keeps it."""
    dead = in_child(lambda: None)
    ended(dead)
    for turn in range(24):
        place = folder / str(turn)
        place.mkdir()
        leave_lock(place, turn, dead)
        start, go = os.pipe()
        answers, answer = os.pipe()
        stop, end = os.pipe()

        def compete(
            place: Path = place, pipes: tuple[int, ...] = (start, go, answer, stop, end)
        ) -> None:
            start, go, answer, stop, end = pipes
            os.close(go)
            os.close(end)
            os.read(start, 1)
            try:
                lock = SessionLock(place)
            except HeldError:
                os.write(answer, b"-")
                return
            os.write(answer, b"!")
            os.read(stop, 1)
            try:
                lock.check()
                os.write(answer, b"+")
            except LostError:
                os.write(answer, b"?")

        rivals = [in_child(compete) for _ in range(8)]
        os.close(go)
        first = b""
        while len(first) < 8:
            first += os.read(answers, 8)
        os.close(end)
        os.close(answer)
        assert [ended(rival) for rival in rivals] == [0] * 8
        last = os.read(answers, 8)
        assert sorted(first) == sorted(b"!-------"), (turn, first)
        assert last == b"+", (turn, last)
        for pipe in (start, answers, stop):
            os.close(pipe)


def leave_lock(place: Path, turn: int, dead: int) -> None:
    """Every third time there is none, else one of a dead process, or of a silent host."""
    if turn % 3:
        lock = SessionLock(place)
        left = lock.me._replace(pid=dead, host=lock.me.host if turn % 3 == 1 else "gpu-17")
        lock.path.write_bytes(left.as_json())
        os.utime(lock.path, (1000, 1000))


SCENARIOS = {
    "kill": kill_again_and_again,
    "compact": compact,
    "repair": repair,
    "migrate": migrate,
    "create": create,
    "race": race,
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]](Path(sys.argv[2]))
