"""The pace at which recordings are replayed, without a clock and without a disk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.tui import recordings
from mltd.tui.recordings import RecordedFile, Recording
from mltd.tui.replay_process import FIRST_END, LAST_END, DueLine, Playback, schedule, serve

ALL = [recordings.load(name) for name in recordings.names()]
LINES = schedule(ALL)


def history(lines: list[DueLine]) -> list[DueLine]:
    return [line for line in lines if line.due <= 0]


def of(name: str, lines: list[DueLine]) -> list[DueLine]:
    return [line for line in lines if line.file.startswith(f"{name}/")]


class Sink:
    """Remembers what was written, by file and in order."""

    def __init__(self) -> None:
        self.order: list[tuple[str, bytes]] = []

    def __call__(self, file: str, content: bytes) -> None:
        self.order.append((file, content))

    @property
    def files(self) -> dict[str, bytes]:
        found: dict[str, bytes] = defaultdict(bytes)
        for file, content in self.order:
            found[file] += content
        return dict(found)


# -- the pace ------------------------------------------------------------------------------


@pytest.mark.parametrize("recording", ALL, ids=lambda one: one.name)
def test_the_first_screen_has_some_of_every_run_and_most_is_to_come(recording: Recording) -> None:
    own = of(recording.name, LINES)
    assert 0.35 < len(history(own)) / len(own) < 0.5


@pytest.mark.parametrize("recording", ALL, ids=lambda one: one.name)
def test_lines_come_in_the_recorded_order(recording: Recording) -> None:
    own = [(line.file.split("/")[1], line.content) for line in of(recording.name, LINES)]
    assert own == [(file, content) for _, file, content in recording.timeline()]


def test_the_runs_end_one_after_another_within_the_promised_time() -> None:
    ends = [max(line.due for line in of(one.name, LINES)) for one in ALL]
    assert ends == sorted(set(ends))
    assert [ends[0], ends[-1]] == pytest.approx([FIRST_END, LAST_END])


def test_something_happens_every_few_seconds_in_every_run_that_still_goes_on() -> None:
    for one in ALL:
        dues = [line.due for line in of(one.name, LINES) if line.due >= 0]
        assert max(b - a for a, b in pairwise(dues)) < 3.0


def test_the_run_that_diverges_does_so_before_the_viewers_eyes() -> None:
    own = of("diverging-learning-rate", LINES)
    first_nan = next(line.due for line in own if b"loss=nan" in line.content)
    assert 0 < first_nan < 15


def test_one_recording_alone_ends_first() -> None:
    assert schedule(ALL[3:4])[-1].due == pytest.approx(FIRST_END)


def test_a_recording_without_duration_is_all_history(tmp_path: Path) -> None:
    one = made(tmp_path, {"a.log": (2, 0.0, 0.0)})
    assert [line.due for line in schedule([one])] == [0.0, 0.0]
    assert schedule([made(tmp_path, {})]) == []


def made(folder: Path, files: dict[str, tuple[int, float, float]]) -> Recording:
    """A recording of numbered lines: how many, from when, how far apart."""
    listed = []
    for name, (count, starts_after, pace) in files.items():
        path = folder / name
        path.write_bytes(b"".join(b"%d\n" % number for number in range(count)))
        listed.append(RecordedFile(name, path, count, starts_after, pace))
    return Recording("made", "", "", (), 0, "", tuple(listed))


# -- playing -------------------------------------------------------------------------------

moves = st.one_of(
    st.floats(0, 40).map(lambda seconds: lambda player: player.advance(seconds)),
    st.floats(0.01, 1000).map(lambda factor: lambda player: player.obey(f"speed {factor}")),
    st.sampled_from(["pause", "resume"]).map(lambda word: lambda player: player.obey(word)),
)


@given(st.lists(moves, max_size=12))
def test_however_it_is_driven_a_prefix_is_written_and_in_the_end_every_byte(
    steps: list[Callable[[Playback], None]],
) -> None:
    sink = Sink()
    player = Playback(LINES, sink)
    for step in steps:
        step(player)
    expected = [(line.file, line.content) for line in LINES]
    assert sink.order == expected[: len(sink.order)]
    player.finish()
    assert player.is_over
    assert sink.files == {
        f"{one.name}/{file.name}": file.read() for one in ALL for file in one.files
    }


@given(st.floats(0.1, 100), st.floats(0, 100))
def test_twice_the_speed_takes_half_the_time(speed: float, seconds: float) -> None:
    one, other = Sink(), Sink()
    Playback(LINES, one, speed).advance(seconds)
    Playback(LINES, other, speed * 2).advance(seconds / 2)
    assert len(one.order) == len(other.order)


def test_nothing_is_written_while_paused_and_nothing_is_lost() -> None:
    sink = Sink()
    player = Playback(LINES, sink)
    player.advance(10)
    written = len(sink.order)
    player.obey("pause")
    player.advance(1000)
    assert len(sink.order) == written
    assert player.seconds_to_next() is None
    player.obey("resume")
    player.advance(0)
    assert len(sink.order) == written
    player.advance(5)
    assert written < len(sink.order) < len(LINES)


def test_the_time_to_the_next_line_is_exact() -> None:
    sink = Sink()
    player = Playback([DueLine(0, "a", b"0\n"), DueLine(8, "a", b"1\n")], sink, speed=4)
    player.advance(0)
    assert player.seconds_to_next() == 2
    player.advance(1.5)
    assert sink.files == {"a": b"0\n"}
    player.advance(0.5)
    assert sink.files == {"a": b"0\n1\n"}
    assert player.seconds_to_next() is None


def test_an_unknown_command_is_refused() -> None:
    with pytest.raises(ValueError, match="jump"):
        Playback([], Sink()).obey("jump 3")


class Desk:
    """A clock and a list of commands, each given when its time has come."""

    def __init__(self, orders: list[tuple[float, str]]) -> None:
        self.time = 100.0
        self.orders = [(100.0 + moment, order) for moment, order in orders]
        self.waits = 0

    def now(self) -> float:
        return self.time

    def commands(self, seconds: float | None) -> list[str] | None:
        self.waits += 1
        due, order = self.orders[0]
        if seconds is not None and self.time + seconds < due:
            self.time += seconds
            return []
        self.time = due
        self.orders.pop(0)
        return None if order == "end" else [order]


def test_speed_counts_from_the_command_on() -> None:
    lines = [DueLine(float(second), "a", b"%d\n" % second) for second in range(100)]
    sink, answers = Sink(), list[str]()
    desk = Desk([(3.5, "speed 10"), (5.51, "pause"), (60, "resume"), (61.01, "end")])
    serve(Playback(lines, sink), desk.commands, answers.append, desk.now)
    # 3.5 s, then 2.01 s and 1.01 s ten times as fast
    assert len(sink.order) == 1 + int(3.5 + 20.1 + 10.1)
    assert answers == ["ready", "done", "done", "done"]


def test_at_great_speed_it_wakes_up_at_most_twenty_times_a_second() -> None:
    lines = [DueLine(number / 10, "a", b"x\n") for number in range(100_000)]
    desk = Desk([(1.0, "end")])
    serve(Playback(lines, Sink(), speed=1000), desk.commands, lambda _: None, desk.now)
    assert desk.waits <= 22


def test_after_the_last_line_it_sleeps_until_it_is_told_something() -> None:
    desk = Desk([(3600.0, "end")])
    serve(Playback([DueLine(1, "a", b"x\n")], Sink()), desk.commands, lambda _: None, desk.now)
    assert desk.waits <= 3
