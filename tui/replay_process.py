"""The process that writes recordings as if their trainings ran now.

`python -m mltd.tui.replay_process DIRECTORY SPEED NAME...` writes the beginning of every
recording, says `ready`, and goes on line by line. Commands come as lines on standard input
(`speed 2`, `pause`, `resume`, `finish`); each is answered by `done`. When standard input ends,
because the screen closed it or died, the directory is removed and the process leaves.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .recordings import Recording, load

HISTORY = 0.4
"""Share of a recording's lines that is there from the start: curves to look at, and the run
that blows up half-way does so before the viewer's eyes."""
FIRST_END, LAST_END = 60.0, 90.0
"""Seconds at speed 1 after which the first and the last recording end; the others in between,
so that there is always something going on."""
_SHORTEST_WAIT = 0.05
"""Seconds; lines that are due closer together are written together."""
_LONGEST_WAIT = 60.0
_STDIN, _STDOUT = 0, 1


class DueLine(NamedTuple):
    """One line of one file, and when it is to be written, in seconds at speed 1."""

    due: float
    file: str
    """Its place below the directory, such as `overfitting/train.log`."""
    content: bytes


def schedule(recordings: Sequence[Recording]) -> list[DueLine]:
    """All lines of all recordings in order; what is due at 0 or before is history."""
    lines = [
        line for number, one in enumerate(recordings) for line in _stretch(one, number, recordings)
    ]
    return sorted(lines, key=lambda line: line.due)


def _stretch(one: Recording, number: int, among: Sequence[Recording]) -> Iterable[DueLine]:
    """A recording at its own pace, slowed down or sped up so that it ends at its time."""
    lines = list(one.timeline())
    if not lines:
        return
    end = FIRST_END + (LAST_END - FIRST_END) * number / max(1, len(among) - 1)
    last = lines[-1][0]
    begin = lines[max(0, round(len(lines) * HISTORY) - 1)][0]
    factor = end / (last - begin) if last > begin else 0.0
    for moment, file, content in lines:
        yield DueLine((moment - begin) * factor, f"{one.name}/{file}", content)


class Playback:
    """Hands out the lines that are due; knows no clock, it is told how much time went by."""

    def __init__(
        self, lines: Sequence[DueLine], write: Callable[[str, bytes], object], speed: float = 1.0
    ) -> None:
        self.speed = speed
        self.is_paused = False
        self._lines = lines
        self._write = write
        self._next = 0
        self._position = 0.0

    @property
    def is_over(self) -> bool:
        """True once every line was written."""
        return self._next == len(self._lines)

    def advance(self, seconds: float) -> None:
        """So much time went by: write what has become due."""
        if not self.is_paused:
            self._position += seconds * self.speed
            self._write_until(self._position)

    def finish(self) -> None:
        """Write the rest at once, paused or not."""
        self._write_until(float("inf"))

    def seconds_to_next(self) -> float | None:
        """How long nothing will become due; None if nothing will without a command."""
        if self.is_paused or self.is_over:
            return None
        return (self._lines[self._next].due - self._position) / self.speed

    def obey(self, command: str) -> None:
        """Do what a line of text says."""
        match command.split():
            case ["speed", factor]:
                self.speed = float(factor)
            case ["pause"]:
                self.is_paused = True
            case ["resume"]:
                self.is_paused = False
            case ["finish"]:
                self.finish()
            case _:
                raise ValueError(f"unknown command {command!r}")

    def _write_until(self, position: float) -> None:
        while not self.is_over and self._lines[self._next].due <= position:
            line = self._lines[self._next]
            self._write(line.file, line.content)
            self._next += 1


def serve(
    playback: Playback,
    commands: Callable[[float | None], list[str] | None],
    answer: Callable[[str], object],
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Play and obey until `commands` (which waits so many seconds for some) returns None."""
    before = now()
    playback.advance(0.0)
    answer("ready")
    while True:
        wait = playback.seconds_to_next()
        if wait is not None:
            wait = min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT)
        orders = commands(wait)
        moment = now()
        # The time that went by belongs to the speed that was set before.
        playback.advance(moment - before)
        before = moment
        if orders is None:
            return
        for order in orders:
            playback.obey(order)
            answer("done")


class CommandPipe:
    """Lines from a pipe, waited for with a time limit."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""

    def __call__(self, seconds: float | None) -> list[str] | None:
        """The lines that came; none if the time was over first, None at the end of the pipe."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return []
        data = os.read(self._descriptor, 4096)
        if not data:
            return None
        *lines, self._pending = (self._pending + data).split(b"\n")
        return [line.decode() for line in lines]


class GrowingFiles:
    """The files below a directory, all there from the start as a job script makes them."""

    def __init__(self, directory: Path, files: Iterable[str]) -> None:
        self._open: dict[str, BinaryIO] = {}
        for file in files:
            path = directory / file
            path.parent.mkdir(exist_ok=True)
            self._open[file] = path.open("ab")

    def append(self, file: str, content: bytes) -> None:
        """Write so that everybody sees it at once."""
        stream = self._open[file]
        stream.write(content)
        stream.flush()

    def close(self) -> None:
        """Let go of all files."""
        for stream in self._open.values():
            stream.close()


def _leave(_signal: int, _frame: object) -> None:
    sys.exit(0)


def main(arguments: Sequence[str]) -> int:
    """Replay into a directory, and remove it in the end, whatever the end is."""
    directory, speed, *names = arguments
    signal.signal(signal.SIGTERM, _leave)
    try:
        recordings = [load(name) for name in names]
        files = GrowingFiles(
            Path(directory), (f"{one.name}/{file.name}" for one in recordings for file in one.files)
        )
        playback = Playback(schedule(recordings), files.append, float(speed))
        with closing(files):
            serve(playback, CommandPipe(_STDIN), _answer)
    except BrokenPipeError:
        return 0
    except OSError as problem:
        _answer(f"failed {problem.strerror or problem}")
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


def _answer(text: str) -> None:
    os.write(_STDOUT, f"{text}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
