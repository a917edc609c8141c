"""Lines of a fixed width: wrapped text, rows of facts, bars; everything from outside is escaped."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from ..cells import fitted, fitted_middle, fitted_right
from ..escaping import printable
from ..plain_text import WIDE

LEAST_WIDTH = 40
MOST_WIDTH = 160
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Layout:
    """How wide lines may be, and whether they may hold more than ASCII."""

    columns: int
    unicode: bool = True

    def wrap(self, text: str, first: str, rest: str | None = None) -> list[str]:
        """Text over as many lines as it needs."""
        return textwrap.wrap(
            self.safe(text),
            self.columns,
            initial_indent=first,
            subsequent_indent=first if rest is None else rest,
            break_on_hyphens=False,
        )

    def facts(self, rows: Iterable[tuple[str, str]], indent: str = "    ") -> Iterator[str]:
        """Names at the left, what is to say about them at the right."""
        for name, text in rows:
            label = f"{indent}{name:<13} "
            yield from self.wrap(text, label, " " * len(label))

    def left(self, text: str, width: int) -> str:
        """Text in a column, cut at its end."""
        return self.safe(fitted(text, width))

    def middle(self, text: str, width: int) -> str:
        """A name in a column, cut in its middle."""
        return self.safe(fitted_middle(text, width))

    def right(self, text: str, width: int) -> str:
        """Text at the right of its column."""
        return self.safe(fitted_right(text, width))

    def bar(self, share: float, width: int) -> str:
        """A share as a bar; anything above nothing is seen."""
        share = min(max(share, 0.0), 1.0)
        if not self.unicode:
            full = round(share * width)
            return ("#" * full or ("." if share else "")).ljust(width)
        eighths = max(round(share * width * 8), 1 if share else 0)
        full, part = divmod(eighths, 8)
        return ("█" * full + (_EIGHTHS[part] if part else "")).ljust(width)

    def cut(self, line: str) -> str:
        """A line of a table that ends where the terminal does."""
        return line if cell_len(line) <= self.columns else set_cell_size(line, self.columns)

    def safe(self, text: str) -> str:
        """Outside text that this terminal can show and cannot be steered by."""
        text = printable(text)
        if self.unicode:
            return text
        return text.replace("…", "~").encode("ascii", "replace").decode("ascii")


def terminal_layout() -> Layout:
    """For stdout as it is: a terminal of some width, or a file."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return Layout(min(max(columns, LEAST_WIDTH), MOST_WIDTH), is_unicode)
