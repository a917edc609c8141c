"""read_lines: lines of a file of the session, by their numbers."""

from __future__ import annotations

from pydantic import Field

from .line_rows import excerpt_rows
from .tool import Arguments, Bench, Page, Tool
from .wording import plural

DEFAULT_LINES = 60
MASKED_LINE = 4096
"""Characters that are looked at of a line; what is shown of it is less."""


class ReadLines(Arguments):
    """Which lines are wanted."""

    artifact: str = Field(
        description="Name of the file as list_artifacts gives it, such as `run1/train.log`; "
        "`run1/train.log:812` begins at that line."
    )
    first: int | None = Field(
        None,
        description="First line; lines count from 1. Negative counts from the end: -50 is the "
        "fiftieth line before the end.",
    )
    last: int | None = Field(
        None,
        description=f"Last line, -1 for the end of the file. At most 200 lines a call; "
        f"{DEFAULT_LINES} from the first one on if left out.",
    )


def work(bench: Bench, wish: ReadLines) -> Page:
    """The lines with their numbers."""
    place = bench.book.place(wish.artifact)
    first = wish.first if wish.first is not None else place.first or 1
    last = wish.last
    if last is None and wish.first is None and place.last != place.first:
        last = place.last
    if last is None:
        last = -1 if -DEFAULT_LINES <= first < 0 else first + DEFAULT_LINES - 1
    excerpt = bench.book.lines(place.artifact.name, first, last, longest=MASKED_LINE)
    numbers = [line.number for line in excerpt.lines]
    total = f" of {excerpt.total:,}" if excerpt.total is not None else ""
    name = place.artifact.name
    shown = f"lines {numbers[0]}-{numbers[-1]}"
    is_short = excerpt.total is not None and numbers[-1] >= excerpt.total
    return Page(
        brief=f"read {name} {shown}: {plural(len(numbers), 'line')}",
        head=f"{name}, {shown}{total}" + (" (the end of the file)" if is_short else ""),
        rows=excerpt_rows(excerpt),
        about=lambda count: {"artifact": name, "lines": f"{numbers[0]}-{numbers[count - 1]}"},
        rest=lambda count: f"go on with read_lines, first={numbers[count]}, last={numbers[-1]}",
        tail=excerpt.note,
    )


READ_LINES = Tool(
    "read_lines",
    "Read lines of a log, metrics, settings or source file of this session, with their numbers "
    "(as a citation needs them). A progress bar that redraws its line is shown in its last state. "
    "Long lines are cut at 2,000 characters, the answer at 8 kB. To find the right place in a long "
    "file, use grep first.",
    ReadLines,
    work,
    reads_runs=False,
)
