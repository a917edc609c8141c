"""What is done is written in order, tried again where it fails, and never forgotten."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from mltd.sessions.storage.holder import BEAT
from mltd.sessions.storage.lines import entry_line
from mltd.sessions.storage.lock import LostError
from mltd.sessions.storage.saver import Saver, Saving
from mltd.sessions.triage import Entry

from .making import MOMENT, HeldClock, States, note

PATH = Path("/state/some-session/journal.jsonl")


class Shelf:
    """A place that fails on wish."""

    path = PATH

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.problem: Exception | None = None
        self.beats = 0
        self.beaten = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def append(self, line: bytes) -> None:
        assert self.gate.wait(60)
        if self.problem is not None:
            raise self.problem
        self.lines.append(line)

    def beat(self) -> None:
        self.beats += 1
        self.beaten.set()
        if isinstance(self.problem, LostError):
            raise self.problem

    def release(self) -> None:
        return


class Bench:
    """A saver with everything that a test wants to hold in its hands."""

    def __init__(self) -> None:
        self.shelf, self.clock, self.states = Shelf(), HeldClock(), States()
        self.saver = Saver(self.shelf, self.states, self.clock)

    def put(self, *numbers: int) -> None:
        for number in numbers:
            entry = Entry(n=number, at=MOMENT, action=note(number))
            self.saver.put(entry, entry_line(entry))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def test_lines_are_written_in_order(bench: Bench) -> None:
    bench.put(*range(1, 21))
    assert bench.saver.flush(60)
    written = [Entry.model_validate_json(line).n for line in bench.shelf.lines]
    assert written == list(range(1, 21))
    assert bench.saver.saving == Saving("saved")


def test_it_says_what_it_does(bench: Bench) -> None:
    bench.shelf.gate.clear()
    bench.put(1)
    assert bench.states.wait_for("saving").pending == 1
    bench.shelf.gate.set()
    bench.states.wait_for("saved")


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE, errno.EFBIG]
)
def test_any_failure_keeps_everything_and_says_which_file_and_why(
    bench: Bench, number: int
) -> None:
    bench.shelf.problem = _error(number)
    bench.put(1, 2)
    told = bench.states.wait_for("unsaved", 2)
    assert str(PATH) in told.problem
    assert os.strerror(number).lower() in told.problem.lower()
    assert [entry.n for entry in bench.saver.unsaved] == [1, 2]


def test_it_tries_again_after_longer_and_longer_pauses(bench: Bench) -> None:
    bench.shelf.problem = _error(errno.ENOSPC)
    bench.put(1)
    bench.states.wait_for("unsaved")
    tried = threading.Event()
    real = bench.shelf.append

    def append(line: bytes) -> None:
        tried.set()
        real(line)

    bench.shelf.append = append  # type: ignore[method-assign]
    for pause in (1, 2, 4, 8, 16, 30, 30):
        bench.clock.advance(pause - 0.1)
        assert not tried.wait(0.02)
        bench.clock.advance(0.1)
        assert tried.wait(60)
        tried.clear()
    bench.shelf.problem = None
    bench.clock.advance(30)
    bench.states.wait_for("saved")
    assert len(bench.shelf.lines) == 1


def test_after_it_worked_the_pauses_are_short_again(bench: Bench) -> None:
    for _ in range(2):
        bench.shelf.problem = _error(errno.EIO)
        bench.put(1)
        bench.states.wait_for("unsaved")
        bench.shelf.problem = None
        bench.clock.advance(1)
        bench.states.wait_for("saved")


def test_what_is_done_meanwhile_waits_its_turn(bench: Bench) -> None:
    bench.shelf.problem = _error(errno.ENOSPC)
    bench.put(1)
    bench.states.wait_for("unsaved", 1)
    bench.put(2)
    bench.states.wait_for("unsaved", 2)
    bench.shelf.problem = None
    assert bench.saver.flush(60)
    assert [Entry.model_validate_json(line).n for line in bench.shelf.lines] == [1, 2]


def test_flush_tries_at_once_and_does_not_wait_for_a_disk_that_is_full(bench: Bench) -> None:
    bench.shelf.problem = _error(errno.ENOSPC)
    bench.put(1)
    bench.states.wait_for("unsaved")
    assert not bench.saver.flush(3600)
    bench.shelf.problem = None
    assert bench.saver.flush(60)


def test_flush_gives_up_on_a_disk_that_hangs(bench: Bench) -> None:
    bench.shelf.gate.clear()
    bench.put(1)
    assert not bench.saver.flush(0.01)
    assert not bench.saver.stop(0.01)
    bench.shelf.gate.set()


def test_a_session_that_was_taken_over_is_read_only_from_then_on(bench: Bench) -> None:
    bench.shelf.problem = LostError("it was taken over by pid 7 on gpu-3")
    bench.put(1)
    told = bench.states.wait_for("read_only")
    assert told == Saving("read_only", 1, "it was taken over by pid 7 on gpu-3")
    assert bench.saver.lost == told.problem
    assert not bench.saver.flush(3600)


def test_signs_of_life_are_given_even_while_saving_fails(bench: Bench) -> None:
    bench.shelf.problem = _error(errno.ENOSPC)
    bench.put(1)
    bench.states.wait_for("unsaved")
    for beat in range(1, 4):
        bench.shelf.beaten.clear()
        bench.clock.advance(BEAT)
        assert bench.shelf.beaten.wait(60)
        assert bench.shelf.beats >= beat


def test_a_sign_of_life_notices_that_the_session_was_taken_over(bench: Bench) -> None:
    bench.shelf.problem = LostError("it was taken over")
    bench.clock.advance(BEAT)
    assert bench.states.wait_for("read_only").problem == "it was taken over"


def test_at_another_place_it_goes_on_with_what_comes_next(bench: Bench) -> None:
    bench.shelf.problem = _error(errno.ENOSPC)
    bench.put(1)
    bench.states.wait_for("unsaved")
    other = Shelf()
    assert bench.saver.move(other) is bench.shelf
    bench.states.wait_for("saved")
    bench.put(2)
    assert bench.saver.flush(60)
    assert [Entry.model_validate_json(line).n for line in other.lines] == [2]


def test_a_write_that_was_under_way_when_it_moved_changes_nothing(bench: Bench) -> None:
    bench.shelf.gate.clear()
    bench.put(1)
    bench.states.wait_for("saving")
    other = Shelf()
    bench.saver.move(other)
    bench.put(2)
    bench.shelf.gate.set()
    assert bench.saver.flush(60)
    assert [Entry.model_validate_json(line).n for line in other.lines] == [2]


def test_a_listener_that_fails_does_not_stop_it(bench: Bench) -> None:
    def listener(saving: Saving) -> None:
        raise RuntimeError("gone")

    saver = Saver(bench.shelf, listener, bench.clock)
    entry = Entry(n=1, at=MOMENT, action=note(1))
    for _ in range(3):
        saver.put(entry, entry_line(entry))
        assert saver.flush(60)


def test_an_unexpected_error_is_told_and_tried_again(bench: Bench) -> None:
    bench.shelf.problem = RuntimeError("odd")
    bench.put(1)
    assert "odd" in bench.states.wait_for("unsaved").problem
    bench.shelf.problem = None
    assert bench.saver.flush(60)
