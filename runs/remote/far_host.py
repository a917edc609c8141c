"""A host as listings need it: its home, and somebody who runs scripts there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from .marks import Mark
from .problems import LinkError, LinkKind

LISTING_SECONDS = 120.0
"""A tree of thousands of folders on a slow file system takes its time."""
_HELLO = b"cd 2>/dev/null || cd /\npwd -P\nsay time $(date +%s)\n"
"""Without its links, so that `..` in a path means what it says."""


class Asked(Protocol):
    """A link to a host."""

    def ask(self, script: bytes, timeout: float = ...) -> Sequence[bytes | Mark]:
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

    def ask(self, script: bytes) -> Sequence[bytes | Mark]:
        """Run a script over there and give all that it printed."""
        return self._link.ask(script, timeout=LISTING_SECONDS)

    def _say_hello(self) -> None:
        before = time.time()
        answer = self._link.ask(_HELLO)
        now = (before + time.time()) / 2
        home = b"".join(item for item in answer if isinstance(item, bytes)).removesuffix(b"\n")
        if not home.startswith(b"/"):
            raise LinkError("the host does not tell where your home is", kind=LinkKind.NO_SHELL)
        for item in answer:
            if isinstance(item, Mark) and len(item.words) > 1 and item.words[1].isdigit():
                self.skew = float(item.words[1]) - now
        self._home = home
