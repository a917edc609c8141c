"""A model of a log directory against its mirror: every byte once, in its generation.

The copy is read by the local follower, so what is compared is what the rest of the app gets.
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

from tests.runs.remote.mirrored_log import MirroredLog

PIECES = {
    "a": b"a",
    "line": b"loss: 0.5 \xff\n",
    "nul": b"\0",
    "lines": b"step 17\n" * 700,
    "long": b"x" * 5000,
}
TEXT = st.lists(st.sampled_from(sorted(PIECES)), max_size=4)


def expand(text: list[str]) -> bytes:
    return b"".join(PIECES[name] for name in text)


@dataclass
class Content:
    """What one inode holds; rewriting replaces `version` by a new object."""

    version: object = field(default_factory=object)
    data: bytes = b""
    has_name: bool = True


class FarDirectory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.log = MirroredLog(self.place, ["sh"])
        self.firsts = iter(byte for byte in range(1, 256) if byte != 10)
        self.rotated = 0
        self.at_path: Content | None = None
        self.old_path: Path | None = None
        self.old: Content | None = None
        # What the mirror should know.
        self.held: Content | None = None
        self.version: object = None
        self.offset = 0
        self.expected: list[bytes] = []

    def teardown(self) -> None:
        self.log.close()
        shutil.rmtree(self.place)

    def unique(self, text: bytes) -> bytes:
        return bytes([next(self.firsts)]) + text if text else b""

    def add(self, text: bytes) -> None:
        if self.at_path is None:
            self.at_path = Content()
        data = text if self.at_path.data else self.unique(text)
        self.log.write(data)
        self.at_path.data += data

    def rewrite(self, text: bytes) -> None:
        if self.at_path is not None:
            data = self.unique(text)
            self.log.write(data, "wb")
            self.at_path.version, self.at_path.data = object(), data

    def remove(self) -> None:
        self.log.far.unlink(missing_ok=True)
        if self.at_path is not None:
            self.at_path.has_name = False
        self.at_path = None

    @rule(text=TEXT, is_seen=st.booleans())
    def append(self, text: list[str], is_seen: bool) -> None:
        self.add(expand(text))
        self.look_if(is_seen)

    @rule(text=TEXT, is_seen=st.booleans())
    def append_to_what_was_renamed(self, text: list[str], is_seen: bool) -> None:
        if self.old is not None and self.old_path is not None:
            data = expand(text) if self.old.data else self.unique(expand(text))
            self.log.write(data, path=self.old_path)
            self.old.data += data
        self.look_if(is_seen)

    @rule(is_seen=st.booleans())
    def rename(self, is_seen: bool) -> None:
        if self.at_path is not None:
            self.rotated += 1
            # Sometimes far from its old name.
            name = f"train.log.{self.rotated}" if self.rotated % 2 else f"old-{self.rotated}"
            self.old_path = self.log.folder / name
            self.log.far.rename(self.old_path)
            self.old, self.at_path = self.at_path, None
        self.look_if(is_seen)

    @rule(text=TEXT, is_seen=st.booleans())
    def rename_and_create(self, text: list[str], is_seen: bool) -> None:
        self.rename(False)
        self.append(text, is_seen)

    @rule(text=TEXT, is_seen=st.booleans())
    def move_another_over_it(self, text: list[str], is_seen: bool) -> None:
        data = self.unique(expand(text))
        self.log.write(data, "wb", self.place / "new")
        (self.place / "new").rename(self.log.far)
        if self.at_path is not None:
            self.at_path.has_name = False
        self.at_path = Content(data=data)
        self.look_if(is_seen)

    @rule(text=TEXT, is_seen=st.booleans())
    def truncate_and_write(self, text: list[str], is_seen: bool) -> None:
        self.rewrite(expand(text))
        self.look_if(is_seen)

    @rule(extra=st.integers(-3, 3), is_seen=st.booleans())
    def rewrite_with_about_the_same_length(self, extra: int, is_seen: bool) -> None:
        if self.at_path is not None and self.at_path.data:
            self.rewrite(b"x" * max(1, len(self.at_path.data) - 1 + extra))
        self.look_if(is_seen)

    @rule()
    def copy_and_truncate(self) -> None:
        if self.at_path is not None:
            self.rotated += 1
            shutil.copyfile(self.log.far, self.log.folder / f"train.log.{self.rotated}")
            os.truncate(self.log.far, 0)
            self.at_path.version, self.at_path.data = object(), b""

    @rule(is_seen=st.booleans())
    def delete(self, is_seen: bool) -> None:
        self.remove()
        self.look_if(is_seen)

    @rule()
    def cut(self) -> None:
        self.log.cut()

    @rule()
    def look(self) -> None:
        self.look_if(True)

    def look_if(self, is_seen: bool) -> None:
        if is_seen:
            self.expect()
            self.log.look()

    def expect(self) -> None:
        """What an all-knowing mirror would have, of bytes that still have a name."""
        if self.offset and self.held is not None:
            is_lost = not self.held.has_name or self.held.version is not self.version
            if not is_lost:
                self.take(self.held)
            if self.held is self.at_path and not is_lost:
                return
            if self.held is self.at_path:
                self.offset = 0
            elif self.at_path is None or not self.at_path.data:
                return
        self.held, self.offset = self.at_path, 0
        if self.held is not None and self.held.data:
            self.version = self.held.version
            self.expected.append(b"")
            self.take(self.held)

    def take(self, content: Content) -> None:
        self.expected[-1] += content.data[self.offset :]
        self.offset = len(content.data)

    @invariant()
    def the_copy_was_read_byte_for_byte(self) -> None:
        assert self.log.read == self.expected
        assert self.log.file.generation == len(self.expected) - 1


TestFarDirectory = FarDirectory.TestCase
TestFarDirectory.settings = settings(
    max_examples=80,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
