"""All checks at once: none breaks the others, and none holds them up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from mltd.tui.doctor.check import Check, examine
from mltd.tui.doctor.line import Line, State, grouped, worst
from mltd.tui.doctor.surroundings import Surroundings

AROUND = Surroundings()


def good(_around: Surroundings) -> Iterator[Line]:
    yield Line("a", State.OK, "fine")


def broken(_around: Surroundings) -> Iterator[Line]:
    yield Line("a", State.OK, "before")
    raise ValueError("no such luck")


def test_a_check_that_raises_is_named_and_the_rest_goes_on() -> None:
    lines = examine([Check("a", "luck", broken), Check("a", "goodness", good)], AROUND)
    assert [(line.state, line.fact) for line in lines] == [
        (State.OK, "before"),
        (State.PROBLEM, "the check of luck failed: ValueError: no such luck"),
        (State.OK, "fine"),
    ]


class Clock:
    """Stands still until a moment has come, and is then past all deadlines."""

    def __init__(self, await_moment: Callable[[], None]) -> None:
        self._await_moment = await_moment
        self._is_first = True

    def monotonic(self) -> float:
        if self._is_first:
            self._is_first = False
            return 0.0
        self._await_moment()
        return 1e9


def test_a_check_that_hangs_is_left_behind_with_what_it_had_to_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released, hangs, is_back = threading.Event(), threading.Semaphore(0), threading.Event()

    def hanging(_around: Surroundings) -> Iterator[Line]:
        yield Line("b", State.OK, "so far")
        hangs.release()
        released.wait(60)
        is_back.set()

    def await_the_others() -> None:
        if not has_waited:
            assert hangs.acquire(timeout=60)
            assert hangs.acquire(timeout=60)
            for thread in threading.enumerate():
                if thread.name == "goodness":
                    thread.join(60)
        has_waited.append(True)

    has_waited: list[bool] = []
    monkeypatch.setattr("mltd.tui.doctor.check.time", Clock(await_the_others))
    check = Check("b", "/mnt", hanging, late_state=State.PROBLEM, late_advice="mend it")
    lines = examine([check, check, Check("a", "goodness", good)], AROUND, seconds=0.3)
    assert not is_back.is_set(), "nobody waited for it"
    released.set()
    late = Line("b", State.PROBLEM, "/mnt: no answer within 0.3 s", "mend it")
    so_far = Line("b", State.OK, "so far")
    assert lines == [so_far, late, so_far, late, Line("a", State.OK, "fine")]


def test_without_threads_what_cannot_hang_is_still_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    checks = [Check("a", "quick", good, may_hang=False), Check("a", "slow", good)]
    first, second = examine(checks, AROUND)
    assert first == Line("a", State.OK, "fine")
    assert second.state is State.PROBLEM
    assert second.fact == "the check of slow was not done: can't start new thread"


def test_lines_of_one_area_stand_together() -> None:
    lines = [Line(area, State.OK, str(n)) for n, area in enumerate("abacb")]
    assert [line.fact for line in grouped(lines)] == ["0", "2", "1", "4", "3"]


@pytest.mark.parametrize(
    ("states", "whole"),
    [
        ([], State.OK),
        ([State.OK, State.WARNING], State.WARNING),
        ([State.WARNING, State.PROBLEM, State.OK], State.PROBLEM),
    ],
)
def test_the_worst_line_tells_how_things_stand(states: list[State], whole: State) -> None:
    assert worst([Line("a", state, "") for state in states]) is whole
