"""Recordings replayed as if live: growing files in a private directory, at any speed.

The files are written by a process of their own, which removes them as soon as this one closes
the pipe between them, on purpose or by dying.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from mltd.runs.errors import InputError
from mltd.runs.owned_folder import TempFolder

from . import recordings

_CLOSING_SECONDS = 5.0


class Replay:
    """Some recordings, or all of them, growing from `start` on until `close`."""

    def __init__(self, names: Sequence[str] | None = None, *, speed: float = 1.0) -> None:
        chosen = recordings.names() if names is None else dict.fromkeys(names)
        self.recordings = tuple(recordings.load(name) for name in chosen)
        self._speed = _checked(speed)
        self._is_paused = False
        self._directory: Path | None = None
        self._folder: TempFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def speed(self) -> float:
        """1 is the pace of the demo, at which every recording ends within 60 to 90 seconds."""
        return self._speed

    @property
    def is_paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._is_paused

    @property
    def directory(self) -> Path:
        """Where the runs are, a folder for each; nobody else can look into it."""
        if self._directory is None:
            raise InputError("the replay was not started")
        return self._directory

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files that are being written."""
        return tuple(
            self.directory / one.name / file.name for one in self.recordings for file in one.files
        )

    def start(self) -> None:
        """Begin; on return the first part of each recording is there."""
        if self._process is not None:
            return
        try:
            self._folder = TempFolder("demo")
            self._directory = self._folder.path
            self._process = self._spawn(self._directory)
        except OSError as problem:
            self.close()
            raise _failure(problem.strerror or str(problem)) from None
        self._expect("ready")

    def set_speed(self, factor: float) -> None:
        """Go on so many times as fast as the demo's own pace."""
        self._speed = _checked(factor)
        self._tell(f"speed {self._speed}")

    def pause(self) -> None:
        """Write nothing until `resume`."""
        self._is_paused = True
        self._tell("pause")

    def resume(self) -> None:
        """Go on where `pause` stopped."""
        self._is_paused = False
        self._tell("resume")

    def finish(self) -> None:
        """Write the rest; on return all files are complete."""
        self._tell("finish")

    def close(self) -> None:
        """Stop, and remove the directory; fine to call twice."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            try:
                process.wait(_CLOSING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        if self._folder is not None:
            self._folder.close()

    def __enter__(self) -> Replay:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _spawn(self, directory: Path) -> subprocess.Popen[bytes]:
        names = [one.name for one in self.recordings]
        # -P: no module of the directory that the user stands in is ours. A session of its own:
        # Ctrl+C and a hang-up are for the screen, which then closes the pipe.
        program = [sys.executable, "-P", "-m", f"{__package__}.replay_process"]
        return subprocess.Popen(
            [*program, str(directory), str(self._speed), *names],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _tell(self, command: str) -> None:
        if self._process is None:
            raise InputError("the replay was not started")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n".encode())
        except BrokenPipeError:
            raise self._lost() from None
        self._expect("done")

    def _expect(self, answer: str) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        said = self._process.stdout.readline().decode().strip()
        if said != answer:
            raise self._lost(said.removeprefix("failed "))

    def _lost(self, reason: str = "") -> InputError:
        self.close()
        return _failure(reason or "its process ended")


def _failure(reason: str) -> InputError:
    return InputError(
        f"the recordings cannot be replayed: {reason}",
        hint="they need some room: set TMPDIR to a directory that has it",
    )


def _checked(speed: float) -> float:
    if not 0 < speed < math.inf:
        raise InputError(f"a replay can't run {speed} times as fast", hint="give a number above 0")
    return float(speed)
