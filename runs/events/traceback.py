"""One traceback, read line by line: chained, grouped, interleaved with copies of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto

from ..event import Event, Frame
from .childfailed import describe_child_failure
from .rule import shorten
from .stack import (
    CHAIN,
    HEADER,
    continues_message,
    is_bar,
    is_log_line,
    kind_of,
    parse_frame,
    parse_raised,
    undouble,
)
from .telling import announces, first_line

_MOST_NOISE = 8
"""Foreign lines in a row that a stack may hold before it counts as cut off."""
_MOST_BLANKS = 6
_MOST_PROSE = 20
"""Unindented lines that a message may hold."""
_MOST_TEXT = 100_000
_MOST_CHAIN = 1000
"""Characters of an exception that another one followed."""
_BOX = tuple("│┃╭╰╮╯└├")
_GARBLED = re.compile(
    r"(?P<type>[A-Z][A-Za-z]{0,80}?(?:Error|Exception)|KeyboardInterrupt)(?=\W|$|[A-Z])"
)
_THROWN = re.compile(r"raise (?P<type>[A-Za-z_][\w.]{0,100})\(")
"""The last line of code of a traceback that was cut off may still name the exception."""
_GROUP_LINE = re.compile(r"^\s*[|+]")
_GROUP_MEMBER = re.compile(r"^\s*\+[+-]*-{4,} (?:\d+|\.{3}) -{4,}")
_RULER = re.compile(r"^([=*])\1{9,}\s*$")


class _State(Enum):
    STACK = auto()
    MESSAGE = auto()
    GAP = auto()
    MARKED = auto()
    TABLE = auto()
    GROUP = auto()
    CLOSED = auto()


@dataclass(slots=True)
class _Raised:
    frames: list[Frame] = field(default_factory=list)
    type: str = ""
    message: list[str] = field(default_factory=list)
    is_original: bool = False
    """It happened in a worker; the exception before it in the list only reports it."""

    @property
    def title(self) -> str:
        return shorten(self.said)

    @property
    def said(self) -> str:
        """Type and the line that tells most, whole: the reason often stands at its end."""
        first = first_line("\n".join(self.message))
        return f"{self.type}: {first}"[:_MOST_CHAIN] if first else self.type


class TracebackReader:
    """Takes lines as long as they belong to one traceback."""

    def __init__(self, index: int, *, indent: int = 0, rank: int | None = None) -> None:
        self.first = index
        self.last = index
        """Index of the last line that surely belongs."""
        self.rank = rank
        self._indent = indent
        self._state = _State.STACK
        self._raised = [_Raised()]
        self._lines: list[str] = []
        self._waiting: list[str] = []
        self._copies = 1
        self._skipped = 0
        self._prose = 0
        self._ruler = ""
        self._is_long = False
        """The message goes on after blank lines."""
        self._is_awaited = False
        """The line of the type ends with a colon: what is said begins on the next one."""

    @property
    def is_closed(self) -> bool:
        """The traceback is whole, whatever comes next."""
        return self._state is _State.CLOSED

    def start(self, header: str) -> None:
        """Take the header line."""
        self._lines.append(header.strip())
        if "Exception Group" in header:
            self._state = _State.GROUP

    def feed(self, line: str, index: int) -> bool:
        """Take a line, or say that it is not part of the traceback."""
        indent = len(line) - len(line.lstrip(" "))
        text = line[min(indent, self._indent) :].rstrip()
        verdict = self._step(text)
        if verdict is None:
            self._waiting.append(text)
            return True
        if verdict:
            self._lines += [*self._waiting, text]
            self._waiting.clear()
            self.last = index
        return verdict

    def _step(self, text: str) -> bool | None:
        """True: taken; False: not ours; None: ours only if more of us follows."""
        match self._state:
            case _State.STACK:
                return self._in_stack(text)
            case _State.MESSAGE | _State.GAP:
                return self._in_message(text)
            case _State.MARKED:
                return self._after_mark(text)
            case _State.TABLE:
                return self._in_table(text)
            case _State.GROUP:
                return self._in_group(text)
        return False

    def _in_stack(self, text: str) -> bool | None:
        raised = self._raised[-1]
        if not text.strip():
            return self._skip(_MOST_BLANKS)
        if frame := parse_frame(text):
            self._skipped = 0
            if self._copies == 1 or not raised.frames or not _is_same(raised.frames[-1], frame):
                raised.frames.append(frame)
            return True
        if HEADER.search(text) and not raised.type:
            self._copies += 1
            return True
        is_inside = text.startswith((" ", "\t", *_BOX)) and (raised.frames or text.startswith(_BOX))
        if is_inside and not is_bar(text):
            self._add_code(raised, text)
            self._skipped = 0
            return True
        if found := parse_raised(text, is_after_stack=bool(raised.frames) and not self._skipped):
            self._begin_message(raised, *found)
            self._is_awaited = not found[1] and text.endswith(":")
            return True
        return self._skip(_MOST_NOISE)

    def _skip(self, most: int) -> bool | None:
        self._skipped += 1
        return False if self._skipped > most else None

    def _add_code(self, raised: _Raised, text: str) -> None:
        code = text.strip()
        if (
            not raised.frames
            or raised.frames[-1].code
            or code.startswith((*_BOX, "^", "~", "[Prev"))
        ):
            return
        frame, half = raised.frames[-1], len(code) // 2
        if self._copies > 1 and code[:half] == code[half:]:
            code = code[:half]
        raised.frames[-1] = Frame(frame.file, frame.line, frame.function, code[:500])

    def _begin_message(self, raised: _Raised, kind: str, message: str) -> None:
        raised.type = kind
        raised.message = [message]
        self._is_long = announces(message)
        self._skipped = self._prose = 0
        is_table = kind.endswith("ChildFailedError") and not message
        self._state = _State.TABLE if is_table else _State.MESSAGE

    def _in_message(self, text: str) -> bool | None:
        raised = self._raised[-1]
        if not text.strip():
            self._state = _State.GAP
            return self._skip(_MOST_BLANKS)
        if CHAIN.search(text):
            self._state, self._skipped = _State.MARKED, 0
            return True
        if text.lstrip().startswith("Original Traceback (most recent"):
            self._raised.append(_Raised(is_original=True))
            self._state = _State.STACK
            return True
        is_indented = text.startswith(("    ", "\t"))
        if HEADER.search(text):
            return False
        if self._is_long:
            if is_log_line(text):
                return False
        elif self._state is _State.GAP and not is_indented:
            return False
        else:
            previous = raised.message[-1] if self._state is _State.MESSAGE else ""
            if self._is_awaited and self._state is _State.MESSAGE:
                previous = ":"
            is_foreign = parse_frame(text) is not None and not raised.is_original
            if is_foreign or not continues_message(previous, text):
                return False
        self._prose += not text.startswith((" ", "\t"))
        if self._prose > _MOST_PROSE:
            return False
        self._state, self._skipped = _State.MESSAGE, 0
        self._is_awaited = False
        raised.message.append(text)
        return True

    def _after_mark(self, text: str) -> bool | None:
        if HEADER.search(text):
            self._raised.append(_Raised())
            self._state, self._skipped = _State.STACK, 0
            return True
        if not text.strip() or CHAIN.search(text):
            return None
        if not self._skipped and (found := parse_raised(text, is_after_stack=False)):
            # A log that was cut to what matters: the frames are left out.
            self._raised.append(_Raised())
            self._begin_message(self._raised[-1], *found)
            return True
        return self._skip(3)

    def _in_table(self, text: str) -> bool | None:
        raised = self._raised[-1]
        raised.message.append(text)
        if ruler := _RULER.match(text):
            if self._ruler == ruler[1]:
                self._state = _State.CLOSED
            self._ruler = self._ruler or ruler[1]
        elif not self._ruler and len(raised.message) > 3:
            return False
        elif is_log_line(text) and not text.startswith((" ", "-", "=", "*")):
            raised.message.pop()
            return self._skip(_MOST_NOISE)
        self._skipped = 0
        return True

    def _in_group(self, text: str) -> bool | None:
        if not _GROUP_LINE.match(text):
            return False
        inner = text.lstrip(" |+-").rstrip()
        raised = self._raised[-1]
        if frame := parse_frame(inner):
            raised.frames.append(frame)
        elif _GROUP_MEMBER.match(text):
            self._raised.append(_Raised())
        elif not raised.type and (found := parse_raised(inner, is_after_stack=False)):
            raised.type, raised.message = found[0], [found[1]]
        return True

    def event(self) -> Event | None:
        """What was read, as an event; none if it was no traceback after all."""
        if not self._raised[0].frames and any(line.strip() == "..." for line in self._lines[1:3]):
            return None  # an example in somebody's documentation
        raised = [one for one in self._raised if one.type]
        if not raised and (garbled := self._find_garbled()):
            raised = [garbled]
        if not raised:
            return self._cut_off()
        if self._lines and "Exception Group" in self._lines[0]:
            top, chain = raised[0], raised[1:]
        else:
            outer = [one for one in raised if not one.is_original]
            top = outer[-1] if outer else raised[-1]
            chain = [one for one in raised if one is not top]
        frames = [*top.frames, *(f for one in chain if one.is_original for f in one.frames)]
        message = "\n".join(top.message).strip()
        event = Event(
            kind_of(top.type, message),
            top.title,
            self.first + 1,
            text=self._text(),
            last_line=self.last + 1,
            ranks=() if self.rank is None else (self.rank,),
            count=self._copies,
            exception=top.type,
            message=message[:_MOST_TEXT],
            frames=tuple(frames),
            chain=tuple(one.said for one in chain),
        )
        if self._ruler:
            describe_child_failure(event)
        return event

    def _text(self) -> str:
        text = "\n".join(self._lines)
        if len(text) > _MOST_TEXT:
            return f"{text[: _MOST_TEXT // 2]}\n…\n{text[-_MOST_TEXT // 2 :]}"
        return text

    def _cut_off(self) -> Event | None:
        frames = tuple(self._raised[-1].frames)
        if not frames:
            return None
        said = next((text for text in self._waiting if text[:1].strip()), "")
        if not said and (thrown := _THROWN.match(frames[-1].code)):
            said = f"raise {thrown['type']}, whose message is not there"
        if len(said.split()) < 3 or is_log_line(said):
            said = f"last frame {frames[-1].file}:{frames[-1].line}"
        return Event(
            kind_of("", said),
            shorten(f"Traceback without its end: {said}"),
            self.first + 1,
            text=self._text(),
            last_line=self.last + 1,
            ranks=() if self.rank is None else (self.rank,),
            count=self._copies,
            frames=frames,
            message=said,
        )

    def _find_garbled(self) -> _Raised | None:
        """Ranks that write at once tear the exception line apart; its name survives."""
        if self._copies == 1:
            return None
        lines = [*self._lines, *self._waiting]
        for number in range(len(lines) - 1, -1, -1):
            line = lines[number][:2000]
            if parse_frame(line) or "raise " in line or not (found := _GARBLED.search(line)):
                continue
            kind = found["type"]
            rest = line[found.end() :].lstrip(": ") or " ".join(lines[number + 1 : number + 2])
            rest = undouble(rest.replace(kind, "").strip(": "))
            frames = self._raised[-1].frames
            self.last += len(self._waiting)
            self._lines += self._waiting
            self._waiting.clear()
            return _Raised(frames, kind, [rest])
        return None


def _is_same(one: Frame, other: Frame) -> bool:
    return (one.file, one.line, one.function) == (other.file, other.line, other.function)
