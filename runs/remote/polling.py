"""One look at all followed files of a host: one question, one answer, whatever has changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import far_side
from .arrival import Arrival
from .conversation import Conversation
from .far_numbers import LATEST_TIME, whole_number
from .marks import Mark
from .mirrored_file import MirroredFile
from .problems import unreadable
from .stamp import Stamp

_LEAST_BUDGET = 1 << 18
_FIRST_BUDGET = 1 << 20
_MOST_BUDGET = 1 << 22
_SHORT_LOOK = 0.5
_LONG_LOOK = 2.0
"""Seconds."""
_MOST_WORDS = 1 << 12
"""Bytes of what the far side's shell says of a file that it cannot open."""
_CLOCK_DOUBT = 1.5
"""Seconds of difference that whole seconds and a slow link explain."""


@dataclass
class Outcome:
    """What a look has shown."""

    is_news: bool = False
    """True if any file is not what it was before."""
    is_more: bool = False
    """True if there is more to get at once."""


class Poller:
    """Looks at files over one conversation, as often as it is told to."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._named: set[int] = set()
        self._budget = _FIRST_BUDGET
        self.clock_lead = 0.0
        """Seconds by which the clock over there is ahead of ours."""
        self._is_known = False
        conversation.define(far_side.FUNCTIONS)

    def look(
        self, files: Sequence[MirroredFile], now: float, wall: float, *, tail_first: bool = True
    ) -> Outcome:
        """Ask once for all that is new, and store it; `wall` is what our clock on the wall says."""
        self._name(files)
        due = {file.number: file for file in files if file.rests_until <= now}
        wants = [file.wanted(now, tail_first=tail_first) for file in due.values()]
        script = far_side.poll(wants, self._budget)
        most = far_side.most_of_poll(self._budget)
        digest = Digest(due, now, self.clock_lead, most)
        asked = time.monotonic()
        first = script if self._is_known else _first(script)
        for item in self._conversation.ask(first, most=far_side.sent(2 * most * len(due))):
            if isinstance(item, Mark) and item.words[0] == b"hello":
                self._compare_clocks(
                    b"".join(item.words[1:2]), wall + (time.monotonic() - asked) / 2
                )
                digest.clock_lead = self.clock_lead
            else:
                digest.take(item)
        self._adapt(time.monotonic() - asked)
        return digest.outcome

    def _name(self, files: Sequence[MirroredFile]) -> None:
        """Tell the far side names once, and let it forget those that are no longer of use."""
        numbers = {file.number for file in files}
        for file in files:
            if file.number not in self._named:
                self._conversation.define(far_side.remember(file.number, file.remote))
        for number in self._named - numbers:
            self._conversation.define(far_side.forget(number))
        self._named = numbers

    def _compare_clocks(self, there: bytes, here: float) -> None:
        self._is_known = True
        seconds = whole_number(there, LATEST_TIME)
        if seconds is not None:
            # Its seconds are whole.
            lead = seconds + 0.5 - here
            self.clock_lead = lead if abs(lead) > _CLOCK_DOUBT else 0.0

    def _adapt(self, seconds: float) -> None:
        """Keep looks short on a slow link, so that no file waits long for another."""
        if seconds > _LONG_LOOK:
            self._budget = max(_LEAST_BUDGET, self._budget // 2)
        elif seconds < _SHORT_LOOK:
            self._budget = min(_MOST_BUDGET, self._budget * 2)


def _first(script: bytes) -> bytes:
    return far_side.HELLO + b"\n" + script


class Digest:
    """Takes in the answer; also one that is cut off in the middle."""

    def __init__(
        self,
        files: Mapping[int, MirroredFile],
        now: float,
        clock_lead: float = 0.0,
        most: int = far_side.most_of_poll(_MOST_BUDGET),
    ) -> None:
        self.outcome = Outcome()
        self._files = files
        self._now = now
        self._most = most
        """Bytes that may come of one file."""
        self.clock_lead = clock_lead
        self._arrival: Arrival | None = None
        self._trouble: tuple[MirroredFile, bytes] | None = None
        self._words = b""

    def take(self, item: bytes | Mark) -> None:
        """The next part of the answer."""
        if isinstance(item, Mark):
            try:
                self._obey(*item.words)
            except (ValueError, IndexError, TypeError):
                raise unreadable() from None
        elif self._arrival is not None:
            self._arrival.take(item)
        else:
            self._words = (self._words + item)[-_MOST_WORDS:]

    def _obey(self, name: bytes, *words: bytes) -> None:
        if name == b"file":
            self._open(_number(words[0]), words[1], Stamp.of(words[2:]))
        elif name == b"trouble":
            file = self._files.get(_number(words[0]))
            self._trouble = (file, words[1]) if file is not None else None
            self._words = b""
        elif name == b"end":
            self._close(Stamp.of(words[1:]))
        elif self._arrival is not None:
            if name == b"head":
                self._arrival.start_head()
            else:
                self._arrival.start_data(_number(words[0]), words[1])

    def _open(self, number: int, how: bytes, stamp: Stamp | None) -> None:
        file = self._files.get(number)
        if file is not None and stamp is not None:
            self._arrival = Arrival(file, how, stamp, self._now, self._most)

    def _close(self, stamp: Stamp | None) -> None:
        if self._arrival is not None:
            file = self._arrival.file
            self._arrival.finish(stamp, self.clock_lead)
            self.outcome.is_news |= self._arrival.is_news
            is_due = not file.known and file.rests_until <= self._now
            self.outcome.is_more |= self._arrival.is_news and is_due
        elif self._trouble is not None:
            file, why = self._trouble
            file.set_trouble(why, _reason(self._words), self._now)
            self.outcome.is_news = True
        self._arrival = self._trouble = None


def _number(word: bytes) -> int:
    number = whole_number(word)
    if number is None:
        raise ValueError("not a number")
    return number


def _reason(words: bytes) -> str:
    """The end of `sh: 3: cannot open /x: Permission denied`."""
    text = words.decode(errors="replace").strip().rpartition(": ")[2]
    text = text if text.isprintable() else ""
    return (text[:1].lower() + text[1:] if text else "it cannot be opened") + " over there"
