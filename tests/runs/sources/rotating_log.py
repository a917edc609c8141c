"""A log that is appended to, rotated, copied and truncated at random, and what was read of it.

The writer works in one directory and the follower reads another path of it, which may be a
network mount of the same directory.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mltd.runs.sources.follower import FileFollower

BANNER = b"torch 2.10, 8 x H100, training starts\n"
KEPT = 3
"""Rotated logs that are kept; the oldest is deleted."""
LIMIT_SECONDS = 60


@dataclass
class Written:
    """What one generation holds."""

    name: bytes
    data: bytes = b""
    is_destroyed: bool = False
    """True if the file was truncated without a copy of it, or deleted before its end was read."""


@dataclass
class Read:
    """What was read of one generation."""

    data: bytes = b""
    end: int = 0
    is_over: bool = False
    has_gap: bool = False


@dataclass
class Figures:
    """What went wrong, in lines, and how often it was said that lines may be missing."""

    operations: int = 0
    lines: int = 0
    doubled: int = 0
    torn: int = 0
    lost: int = 0
    unmarked: int = 0
    """Lost lines without a mark at their place."""
    needless: int = 0
    """Lost lines of a file that could have been found."""
    marks: int = 0
    needless_marks: int = 0
    """Marks behind a file that was neither truncated nor deleted before its end was read."""


@dataclass
class RotatingLog:
    """The writer, the follower, and the comparison of both."""

    folder: Path
    seen_at: Path
    seed: int
    written: list[Written] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path = self.folder / "train.log"
        self.random = random.Random(self.seed)
        # How often one has to look depends on the clock; what is done to the log must not.
        self.sizes = random.Random(self.seed)
        self.follower = FileFollower(self.seen_at / "train.log")
        self.partial = b""
        self.rotated: dict[int, Written] = {}
        self.line = 0
        self.is_opened = False
        """True if the follower had a chance to open the file that has the name now."""
        self.operations: list[str] = []
        self._begin()
        self._write(self._lines())

    # -- what the writer does ---------------------------------------------------------------

    def act(self) -> None:
        """Do one thing to the log, and mostly look at it then."""
        operations: dict[Callable[[], None], int] = {
            self.append: 6,
            self.rename: 3,
            self.rename_more_often: 1,
            self.copy_and_truncate: 2,
            self.sync_longer: 2,
            self.sync_same: 1,
            self.sync_rewritten: 1,
            self.truncate: 1,
            self.truncate_before_a_held_position: 1,
        }
        (operation,) = self.random.choices(list(operations), list(operations.values()))
        self.operations.append(operation.__name__)
        operation()
        if self.random.random() < 0.6:
            self.look()

    def append(self) -> None:
        """Add lines, sometimes a part of one."""
        self._write(self._lines())

    def rename(self) -> None:
        """Rotate; the writer may write on into the renamed file, and begin late with the new."""
        self._make_seen()
        self._shift()
        self.path.rename(self._numbered(1))
        self.rotated[1] = self.written[-1]
        if self.random.random() < 0.5:
            self._write(self._lines(), self._numbered(1))
        self._begin()
        if self.random.random() < 0.5:
            self.path.touch()
            self._look_sometimes()
        self._write(self._lines())

    def rename_more_often(self) -> None:
        """Rotate several times without a look."""
        self._make_seen()
        for _ in range(self.random.randint(2, KEPT + 2)):
            self._shift()
            self.path.rename(self._numbered(1))
            self.rotated[1] = self.written[-1]
            self._begin()
            self._write(self._lines())

    def copy_and_truncate(self) -> None:
        """Rotate as logrotate does with `copytruncate`."""
        self._make_seen()
        self._shift()
        shutil.copyfile(self.path, self._numbered(1))
        self.rotated[1] = self.written[-1]
        os.truncate(self.path, 0)
        self._begin()
        self._look_sometimes()
        self._write(self._lines())

    def sync_longer(self) -> None:
        """Move a newer copy into place, as rsync does."""
        data = self._lines()
        self.written[-1].data += data
        self._move_into_place(self.written[-1].data)

    def sync_same(self) -> None:
        """Move an identical copy into place."""
        self._move_into_place(self.written[-1].data)

    def sync_rewritten(self) -> None:
        """Move another log into place."""
        self._make_seen()
        self._begin()
        self.written[-1].data = self._lines()
        self._move_into_place(self.written[-1].data)

    def truncate(self) -> None:
        """Empty the log and write anew."""
        self._make_seen()
        self.written[-1].is_destroyed = True
        os.truncate(self.path, 0)
        self._begin()
        self._look_sometimes()
        self._write(self._lines())

    def truncate_before_a_held_position(self) -> None:
        """Empty the log under a writer that does not append: NULs come before its next line."""
        self._make_seen()
        position = self.path.stat().st_size
        self.written[-1].is_destroyed = True
        os.truncate(self.path, 0)
        self._begin()
        self._look_sometimes()
        data = self._lines()
        descriptor = os.open(self.path, os.O_WRONLY)
        os.pwrite(descriptor, data, position)
        os.close(descriptor)
        self.written[-1].data = b"\0" * position + data

    def _begin(self) -> None:
        # A line that was begun is never ended: its writer has another file now.
        self.partial = b""
        self.written.append(Written(b"run %06d\n" % len(self.written)))

    def _lines(self) -> bytes:
        """The next lines; the first ones of a generation say which one it is."""
        current = self.written[-1]
        data = b"" if current.data.strip(b"\0") else BANNER + current.name
        for _ in range(self.random.choice([1, 2, 5, 60])):
            rest = self.partial or self._next_line()
            self.partial = b""
            data += rest
        if self.random.random() < 0.3:
            line = self._next_line()
            cut = self.random.randrange(1, len(line))
            data, self.partial = data + line[:cut], line[cut:]
        return data

    def _next_line(self) -> bytes:
        self.line += 1
        return b"<%d loss %.4f>\n" % (self.line, 1 / self.line)

    def _write(self, data: bytes, path: Path | None = None) -> None:
        with (path or self.path).open("ab") as file:
            file.write(data)
        self.written[-1].data += data

    def _move_into_place(self, data: bytes) -> None:
        new = self.folder / ".train.log.Xa3f1"
        new.write_bytes(data)
        new.rename(self.path)
        self.is_opened = False

    def _numbered(self, number: int) -> Path:
        return self.folder / f"train.log.{number}"

    def _shift(self) -> None:
        if (oldest := self.rotated.pop(KEPT, None)) is not None:
            self._numbered(KEPT).unlink()
            oldest.is_destroyed = not any(
                oldest.name in read.data and read.is_over for read in self.read
            )
        for number in range(KEPT - 1, 0, -1):
            if number in self.rotated:
                self._numbered(number).rename(self._numbered(number + 1))
                self.rotated[number + 1] = self.rotated.pop(number)

    # -- what the reader sees ---------------------------------------------------------------

    def look(self) -> None:
        """Read what is to be seen now."""
        self.is_opened = True
        while pieces := self.follower.read(self.sizes.choice([1 << 20, 500])):
            for piece in pieces:
                if piece.generation == len(self.read):
                    self.read.append(Read())
                read = self.read[piece.generation]
                assert not read.is_over
                assert not read.data or read.end == piece.offset
                read.data += piece.data
                read.end = piece.offset + len(piece.data)
                read.is_over, read.has_gap = piece.ends, piece.has_gap

    def look_until(self, condition: Callable[[], bool]) -> None:
        """Look until something was read; a network client may take a second to see it."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, (self.seed, self.follower.status, self.operations)
            self.look()
            if not condition():
                time.sleep(0.01)  # the client's cache ends without a word

    def finish(self) -> Figures:
        """Read the rest, and compare."""
        self.look_until(lambda: self._is_known() and self._last_bytes_came())
        self.follower.close()
        return self._compare()

    def _look_sometimes(self) -> None:
        if self.random.random() < 0.5:
            self.look()

    def _make_seen(self) -> None:
        """A log that comes and goes between two looks is beyond any reader."""
        self.look_until(self._is_known)
        if self.random.random() < 0.7:
            # So that there is something unread when the log changes.
            self._write(self._lines())

    def _is_known(self) -> bool:
        name = self.written[-1].name
        return self.is_opened and bool(self.read) and name in self.read[-1].data

    def _last_bytes_came(self) -> bool:
        return self.read[-1].data.lstrip(b"\0") == self.written[-1].data.lstrip(b"\0")

    def _compare(self) -> Figures:
        figures = Figures(len(self.operations), self.line)
        place = 0
        may_lack = True
        for read in self.read:
            data = read.data.lstrip(b"\0")
            found = [
                number
                for number, written in enumerate(self.written)
                if written.data.lstrip(b"\0").startswith(data) and written.name in data
            ]
            if len(found) != 1 or found[0] < place:
                figures.torn += 1
                continue
            for skipped in self.written[place : found[0]]:
                # Rotated logs are found by the one before them.
                is_out_of_reach = skipped.is_destroyed or self.written[place - 1].is_destroyed
                lost = skipped.data.count(b"\n")
                figures.lost += lost
                figures.unmarked += 0 if may_lack else lost
                figures.needless += 0 if is_out_of_reach else lost
            written = self.written[found[0]]
            lost = written.data.lstrip(b"\0")[len(data) :].count(b"\n")
            figures.lost += lost
            figures.unmarked += 0 if read.has_gap else lost
            figures.needless += 0 if written.is_destroyed else lost
            figures.marks += read.has_gap
            figures.needless_marks += read.has_gap and not written.is_destroyed
            place, may_lack = found[0] + 1, read.has_gap
        lines = [
            line
            for read in self.read
            for line in read.data.split(b"\n")
            if line.startswith(b"<") and line.endswith(b">")
        ]
        figures.doubled = len(lines) - len(set(lines))
        return figures
