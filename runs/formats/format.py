"""What a log format is: something that recognises its files and reads them.

Third parties register a `Format` under the entry point group `mltd.formats`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..harvest import Harvest


class Reader(Protocol):
    """Turns the bytes of one generation of one file into harvests."""

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read what is complete in `data`; `harvest.consumed` says how far.

        The caller presents unconsumed bytes again, in front of what follows. With `final`
        nothing will follow, so an unterminated last line counts as complete.
        """
        ...


@runtime_checkable
class ReadsBeside(Protocol):
    """A reader that opens more files than its own."""

    root: str
    """The folder that they must lie in; replaced by that of its own file if it has one."""


class Format(Protocol):
    """A kind of file: its name, how to recognise it, how to read it."""

    @property
    def name(self) -> str:
        """Short name shown to people and printed in `files[].format`."""
        ...

    @property
    def is_snapshot(self) -> bool:
        """True if the writer rewrites the whole file: a new generation replaces the old."""
        ...

    def sniff(self, head: bytes, path: str) -> float:
        """How sure (0..1) that a file starting with `head` (64 KiB) is of this format.

        The path may only break ties: content decides.
        """
        ...

    def open(self, path: str) -> Reader:
        """A fresh reader for one generation of the file."""
        ...
