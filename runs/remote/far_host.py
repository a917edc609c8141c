"""A host as listings need it: its home, and somebody who runs scripts there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from .far_numbers import LATEST_TIME, whole_number
from .listing import MOST_BYTES
from .marks import Mark
from .problems import LinkError, LinkKind

LISTING_SECONDS = 120.0
"""A tree of thousands of folders on a slow file system takes its time."""
_HELLO = b"cd 2>/dev/null || cd /\npwd -P\nsay time $(date +%s)\n"
"""Without its links, so that `..` in a path means what it says."""
_MOST_HELLO = 1 << 16


class Asked(Protocol):
    """A link to a host."""

    def ask(self, script: bytes, timeout: float = ..., most: int = ...) -> Sequence[bytes | Mark]:
        """The whole answer to a script."""


class FarHost:
    """Asks once for what does not change while we are connected."""

    def __init__(self, link: Asked) -> None:
        self._link = link
        self._home = b""
        self.skew = 0.0
        """By how many seconds the clock over there is ahead of ours."""

    @property
    def home(self) -> bytes:
        """The home over there, from the root."""
        if not self._home:
            self._say_hello()
        return self._home

    def ask(self, script: bytes, most: int = MOST_BYTES) -> Sequence[bytes | Mark]:
        """Run a script over there and give all that it printed, so many bytes at most."""
        return self._link.ask(script, timeout=LISTING_SECONDS, most=most)

    def _say_hello(self) -> None:
        before = time.time()
        answer = self._link.ask(_HELLO, most=_MOST_HELLO)
        now = (before + time.time()) / 2
        home = b"".join(item for item in answer if isinstance(item, bytes)).removesuffix(b"\n")
        if not home.startswith(b"/") or b"\0" in home:
            raise LinkError("the host does not tell where your home is", kind=LinkKind.NO_SHELL)
        for item in answer:
            words = item.words[1:] if isinstance(item, Mark) else ()
            there = whole_number(b"".join(words), LATEST_TIME)
            if there is not None:
                self.skew = there - now
        self._home = home
