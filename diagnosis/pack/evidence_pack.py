"""What an evidence pack is: sections of text, their size, and what they do not have."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

_MASK = re.compile(r"\[masked: ([^\]\n]{1,40})\]")
_PSEUDONYM = re.compile(r"(?<![\w-])(user|host)-\d+(?!\w)")


def tokens_of(text: str) -> int:
    """An estimate: 3.5 characters each, rounded up. Only the service itself can count them."""
    return -(-2 * len(text) // 7)


def characters_for(tokens: int) -> int:
    """How long a text of so many estimated tokens may be."""
    return 7 * max(0, tokens) // 2


class PackSection(NamedTuple):
    """One part of a pack."""

    title: str
    text: str
    """Markdown with its heading and the empty line behind it."""
    tokens: int
    priority: int
    """1 is the most informative."""


@dataclass(frozen=True, slots=True)
class EvidencePack:
    """All that is sent at first, or handed to somebody."""

    sections: tuple[PackSection, ...]
    left_out: tuple[str, ...] = ()
    """What did not fit, in a few words each."""
    redacts: bool = False
    """Users, hosts and paths were replaced as well."""

    @property
    def text(self) -> str:
        """The whole as Markdown."""
        return "".join(section.text for section in self.sections)

    @property
    def tokens(self) -> int:
        """Estimate for the whole; never more than the budget."""
        return sum(section.tokens for section in self.sections)

    @property
    def redactions(self) -> dict[str, int]:
        """How often something of a kind is masked in the text: `{"key": 2, "user": 5}`."""
        found = Counter(mark[1] for mark in _MASK.finditer(self.text))
        if self.redacts:
            found.update(mark[1] for mark in _PSEUDONYM.finditer(self.text))
        return dict(sorted(found.items()))
