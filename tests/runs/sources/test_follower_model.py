"""A model of a log directory against the follower: every line once, in order, in its generation.

The model knows which bytes belong together because it wrote them; the follower has to find out.
Every content begins with a byte that no other content begins with, since two contents that are
equal as far as they were read are beyond telling apart.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mltd.runs.sources.follower import FileFollower
from mltd.runs.sources.line_assembler import Line, LineAssembler

TEXT = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", "é".encode(), "雪".encode(), b"\0", b"loss: 0.5 \xff"]),
    max_size=8,
).map(b"".join)


@dataclass
class Content:
    """What one inode holds; rewriting replaces `version` by a new object."""

    version: object = field(default_factory=object)
    data: bytes = b""


@dataclass
class Delivered:
    data: bytes = b""
    ended: bool = False


class LogDirectory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.path = self.directory / "train.log"
        self.follower = FileFollower(self.path)
        self.assembler = LineAssembler()
        self.lines: list[Line] = []
        self.firsts = iter(byte for byte in range(1, 256) if byte != 10)
        self.rotated = 0
        self.at_path: Content | None = None
        self.old_path: Path | None = None
        self.old: Content | None = None
        # What the follower should know.
        self.held: Content | None = None
        self.emptied: Content | None = None
        self.version: object = None
        self.offset = 0
        self.delivered: list[Delivered] = []

    def teardown(self) -> None:
        self.follower.close()
        shutil.rmtree(self.directory)

    def unique(self, text: bytes) -> bytes:
        return bytes([next(self.firsts)]) + text if text else b""

    def write(self, path: Path, mode: str, data: bytes) -> None:
        with path.open(mode) as file:
            file.write(data)

    @rule(text=TEXT)
    def append(self, text: bytes) -> None:
        if self.at_path is None:
            self.at_path = Content()
        data = text if self.at_path.data else self.unique(text)
        self.write(self.path, "ab", data)
        self.at_path.data += data

    @rule(text=TEXT)
    def append_to_what_was_renamed(self, text: bytes) -> None:
        if self.old is not None and self.old_path is not None:
            data = text if self.old.data else self.unique(text)
            self.write(self.old_path, "ab", data)
            self.old.data += data

    @rule()
    def rename(self) -> None:
        if self.at_path is not None:
            self.rotated += 1
            self.old_path = self.directory / f"train.log-{self.rotated:04}"
            self.path.rename(self.old_path)
            self.old, self.at_path = self.at_path, None

    @rule(text=TEXT)
    def rename_and_create(self, text: bytes) -> None:
        self.rename()
        self.append(text)

    @rule(text=TEXT)
    def move_another_over_it(self, text: bytes) -> None:
        data = self.unique(text)
        self.write(self.directory / "new", "wb", data)
        (self.directory / "new").rename(self.path)
        self.at_path = Content(data=data)

    @rule(text=TEXT)
    def truncate_and_write(self, text: bytes) -> None:
        if self.at_path is not None:
            data = self.unique(text)
            self.write(self.path, "wb", data)
            self.at_path.version, self.at_path.data = object(), data

    @rule(extra=st.integers(-3, 3))
    def rewrite_with_about_the_same_length(self, extra: int) -> None:
        if self.at_path is not None and self.at_path.data:
            self.truncate_and_write(b"x" * max(1, len(self.at_path.data) - 1 + extra))

    @rule()
    def copy_and_truncate(self) -> None:
        if self.at_path is not None:
            self.rotated += 1
            shutil.copyfile(self.path, self.directory / f"train.log-{self.rotated:04}")
            os.truncate(self.path, 0)
            # Who has read a byte of it knows the copy by that, and reads on there.
            is_known = self.held is self.at_path and self.offset > 0
            is_known = is_known and self.version is self.at_path.version
            copied, self.at_path = self.at_path, Content()
            if is_known or self.emptied is copied:
                self.emptied = self.at_path
            elif self.held is copied:
                self.held = self.at_path

    @rule()
    def delete(self) -> None:
        self.path.unlink(missing_ok=True)
        self.at_path = None

    @rule(room=st.integers(1, 5))
    def read_a_little(self, room: int) -> None:
        self.read(room)

    @rule()
    def read_all(self) -> None:
        self.read(1 << 20)

    def read(self, room: int) -> None:
        self.expect(room)
        pieces = self.follower.read(room)
        self.lines += self.assembler.feed(pieces)

    def end(self) -> None:
        if self.offset:
            self.delivered[-1].ended = True
        self.offset = 0

    def expect(self, room: int) -> None:
        """What an all-knowing follower would deliver."""
        while room > 0:
            if self.held is None:
                self.held = self.at_path
            if self.held is None:
                return
            if self.held.version is not self.version:
                self.end()
                self.version = self.held.version
            data = self.held.data[self.offset : self.offset + room]
            if data:
                if not self.offset:
                    self.delivered.append(Delivered())
                self.delivered[-1].data += data
                self.offset += len(data)
                room -= len(data)
            elif self.emptied is not None and self.emptied.data:
                self.end()
                self.held, self.emptied = self.emptied, None
            elif self.at_path is not self.held and self.at_path and self.at_path.data:
                self.end()
                self.held, self.emptied = self.at_path, None
            else:
                return

    @invariant()
    def lines_are_complete_and_in_order(self) -> None:
        expected = []
        provisional = b""
        for generation, content in enumerate(self.delivered):
            *texts, rest = content.data.split(b"\n")
            if content.ended and rest:
                texts.append(rest)
                rest = b""
            offset = 0
            for number, text in enumerate(texts, 1):
                expected.append(Line(text, generation, number, offset))
                offset += len(text) + 1
            provisional = b"" if content.ended else rest
        assert self.lines == expected
        assert self.assembler.provisional == provisional
        assert self.follower.generation == len(self.delivered) - 1


TestLogDirectory = LogDirectory.TestCase
TestLogDirectory.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
