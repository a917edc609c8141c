"""The watcher's decisions, with made-up files, events and time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mltd.runs.errors import SettingsError
from mltd.runs.sources.looks import Look
from mltd.runs.sources.watched_path import GRACE_SECONDS, SAFETY_SECONDS
from mltd.runs.sources.watcher import REST_SECONDS, Watcher

LOG = Path("/logs/train.log")


class FakeClock:
    """Time that passes only by waiting, with things that happen on the way."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits: list[float] = []
        self._plan: list[tuple[float, Callable[[], object]]] = []

    def now(self) -> float:
        return self.time

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        self._plan.append((self.time + seconds, action))
        self._plan.sort(key=lambda entry: entry[0])

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        until = float("inf") if seconds is None else self.time + seconds
        if self._plan and self._plan[0][0] <= until:
            self.time, action = self._plan.pop(0)
            action()
            return
        assert seconds is not None, "this wait would never end"
        self.waits.append(seconds)
        self.time = until


class World:
    """Files, a clock and a notifier, all made up."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.files: dict[Path, Look] = {LOG: Look(1, 2, 0, 0, 0)}
        self.file_system = "ext4"
        self.watch_error = 0
        self.directories: list[str] = []
        self.fresh_looks = 0
        self.tell: Callable[[str], None] = lambda name: None

    def grow(self, path: Path = LOG) -> None:
        before = self.files[path]
        self.files[path] = before._replace(size=before.size + 1)

    def look(self, path: Path, *, fresh: bool) -> Look | None:
        self.fresh_looks += fresh
        return self.files.get(path)

    def watcher(self, poll_seconds: float | None = None) -> Watcher:
        world = self

        class FakeNotifier:
            def __init__(self, tell: Callable[[str], None]) -> None:
                world.tell = tell

            def watch(self, directory: str) -> None:
                if world.watch_error:
                    raise OSError(world.watch_error, os.strerror(world.watch_error))
                world.directories.append(directory)

            def close(self) -> None:
                world.directories.clear()

        return Watcher(
            [LOG],
            poll_seconds,
            clock=self.clock,
            look=self.look,
            file_system=lambda path: self.file_system,
            notifier=FakeNotifier,
        )


@pytest.fixture
def world() -> World:
    return World()


def test_every_path_is_reported_once_at_the_start(world: World) -> None:
    with world.watcher() as watcher:
        assert watcher.wait(0) == {LOG}
        assert watcher.wait(3) == set()
        watcher.add(LOG)
        assert watcher.wait(0) == set()
        watcher.add(Path("/logs/other.log"))
        assert watcher.wait(0) == {Path("/logs/other.log")}
        assert world.directories == ["/logs"]
    assert world.directories == []


def test_an_event_is_reported_at_once(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(0)
        assert watcher.modes() == {LOG: "inotify"}
        start = world.clock.time
        world.clock.after(1.5, world.grow)
        world.clock.after(1.5, lambda: world.tell(str(LOG)))
        assert watcher.wait(4) == {LOG}
        assert world.clock.time == start + 1.5
        assert watcher.wait(30) == set()
        assert watcher.modes() == {LOG: "inotify"}
        assert watcher.notes() == {}


def test_events_about_other_files_wake_nobody(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(0)
        world.clock.after(1, lambda: world.tell("/logs/unrelated"))
        assert watcher.wait(2) == set()


def test_a_storm_of_events_is_reported_at_a_steady_pace(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(0)
        for moment in range(1000):
            world.clock.after(0.001 * moment, lambda: world.tell(str(LOG)))
        start, reports = world.clock.time, 0
        while world.clock.time < start + 1:
            reports += bool(watcher.wait(1))
        assert 9 <= reports <= 1 / REST_SECONDS + 1


def test_a_missed_change_is_found_and_ends_the_trust_in_inotify(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(0)
        start = world.clock.time
        world.clock.after(0.5, world.grow)
        assert watcher.wait(60) == {LOG}
        assert world.clock.time - start <= SAFETY_SECONDS + GRACE_SECONDS
        assert watcher.modes() == {LOG: "poll 0.25 s"}
        assert watcher.notes() == {LOG: "inotify missed a change of this file"}
        world.grow()
        assert watcher.wait(60) == {LOG}


def test_a_late_event_is_not_a_missed_change(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(0)
        world.clock.after(SAFETY_SECONDS - 0.01, world.grow)
        world.clock.after(SAFETY_SECONDS + 0.3, lambda: world.tell(str(LOG)))
        assert watcher.wait(60) == {LOG}
        assert watcher.wait(60) == set()
        assert watcher.modes() == {LOG: "inotify"}


def test_a_new_hard_link_is_not_a_missed_change(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(0)
        world.files[LOG] = world.files[LOG]._replace(changed_ns=7)
        assert watcher.wait(20) == set()
        assert watcher.modes() == {LOG: "inotify"}


@pytest.mark.parametrize("file_system", ["nfs4", "lustre", "fuse.sshfs"])
def test_polling_slows_down_in_silence_and_speeds_up_on_change(
    world: World, file_system: str
) -> None:
    world.file_system = file_system
    with world.watcher() as watcher:
        watcher.wait(0)
        assert watcher.modes() == {LOG: "poll 0.25 s"}
        assert watcher.notes() == {LOG: f"inotify is silent on {file_system}"}
        assert watcher.wait(10) == set()
        assert world.clock.waits[:6] == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0]
        assert watcher.modes() == {LOG: "poll 2 s"}
        world.grow()
        assert watcher.wait(10) == {LOG}
        assert watcher.modes() == {LOG: "poll 0.25 s"}
    assert world.directories == []
    assert world.fresh_looks > 5


def test_local_looks_do_not_open_the_file(world: World) -> None:
    with world.watcher() as watcher:
        watcher.wait(20)
        watcher.wait(20)
    assert world.fresh_looks == 0


def test_files_that_come_and_go_are_changes_when_polled(world: World) -> None:
    world.file_system = "beegfs"
    with world.watcher() as watcher:
        watcher.wait(0)
        gone = world.files.pop(LOG)
        assert watcher.wait(5) == {LOG}
        assert watcher.wait(5) == set()
        world.files[LOG] = gone
        assert watcher.wait(5) == {LOG}


def test_the_user_can_ask_for_polling(world: World) -> None:
    with world.watcher(poll_seconds=3) as watcher:
        watcher.wait(0)
        assert watcher.modes() == {LOG: "poll 3 s"}
        world.clock.after(1, world.grow)
        assert watcher.wait(60) == {LOG}
        assert watcher.wait(20) == set()
        assert set(world.clock.waits[:5]) <= {2.0, 3.0}
        assert watcher.modes() == {LOG: "poll 3 s"}
    assert world.directories == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_an_impossible_interval_is_refused(seconds: float) -> None:
    with pytest.raises(SettingsError, match="no polling interval"):
        Watcher([], seconds)


def test_a_directory_that_appears_later_is_then_watched(world: World) -> None:
    world.watch_error = errno.ENOENT
    look = world.files.pop(LOG)
    with world.watcher() as watcher:
        watcher.wait(0)
        assert watcher.notes() == {LOG: "its directory does not exist yet"}
        world.watch_error = 0
        world.files[LOG] = look
        assert watcher.wait(5) == {LOG}
        assert watcher.modes() == {LOG: "inotify"}
        assert world.directories == ["/logs"]


def test_a_discarded_path_is_not_reported(world: World) -> None:
    world.file_system = "nfs"
    with world.watcher() as watcher:
        watcher.wait(0)
        watcher.discard(LOG)
        world.grow()
        assert watcher.wait(5) == set()
        assert watcher.modes() == {}


def test_watchdog_is_loaded_only_when_it_is_needed() -> None:
    code = "import sys, mltd.runs.sources.watcher; sys.exit('watchdog' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
