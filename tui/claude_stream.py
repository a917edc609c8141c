"""A consultation as it goes, on stderr: what is said, and one line for each look."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mltd.diagnosis.client.pricing import cost_text
from mltd.diagnosis.events import (
    Answered,
    Retrying,
    Text,
    Thinking,
    ToolCalled,
    ToolDone,
    Wrapping,
)

from .escaping import printable

if TYPE_CHECKING:
    from mltd.diagnosis.events import Event, Usage


class Stream:
    """Writes what happens; where nobody watches, only what explains a wait."""

    def __init__(self) -> None:
        self.is_watched = sys.stderr.isatty()
        self._open: type[Text] | type[Thinking] | None = None
        """Whose words the last line on the screen holds, not ended yet."""
        self._called: dict[str, str] = {}

    def show(self, event: Event) -> None:
        """One thing that happened."""
        match event:
            case Text(text) | Thinking(text):
                self._words(type(event), text)
            case ToolCalled(id, name, brief):
                self._called[id] = f"{name} {brief}".strip()
            case ToolDone(id, brief, is_error):
                called = self._called.pop(id, "a look")
                self._line(f"  looks: {called} -> {'refused: ' if is_error else ''}{brief}")
            case Retrying(seconds, why):
                self._line(f"  waits {seconds:.0f} s: {why}", is_for_all=True)
            case Wrapping(why):
                self._line(f"  is told to answer now: {why}")
            case Answered():
                self._line("  has answered; its citations are looked up")
            case _:
                pass

    def end(self, usage: Usage) -> None:
        """What it took; told to everybody."""
        self._end_words()
        cached = f" (and {usage.cached:,} cached)" if usage.cached else ""
        _write(
            f"Claude: {usage.input:,} tokens in{cached}, {usage.output:,} out, "
            f"{cost_text(usage.dollars)}, {usage.seconds:.1f} s\n"
        )

    def _words(self, kind: type[Text] | type[Thinking], text: str) -> None:
        if not self.is_watched or not text:
            return
        if self._open is not kind:
            self._end_words()
            self._open = kind
            _write("  thinks: " if kind is Thinking else "  says: ")
        # Line by line, as nothing else that a terminal acts on may pass.
        _write("\n    ".join(printable(line) for line in text.split("\n")))

    def _line(self, text: str, *, is_for_all: bool = False) -> None:
        if self.is_watched or is_for_all:
            self._end_words()
            _write(f"{printable(text)}\n")

    def _end_words(self) -> None:
        if self._open is not None:
            _write("\n")
            self._open = None


def _write(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
    sys.stderr.flush()
