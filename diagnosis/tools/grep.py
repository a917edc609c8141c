"""grep: lines of a file that match a regular expression."""

from __future__ import annotations

from pydantic import Field

from .line_rows import line_rows
from .read_lines import MASKED_LINE
from .tool import Arguments, Bench, Page, Tool
from .wording import plural

_MOST_ROWS = 200


class Grep(Arguments):
    """What is searched, and where."""

    artifact: str = Field(
        description="Name of the file as list_artifacts gives it, such as `run1/train.log`."
    )
    pattern: str = Field(
        min_length=1,
        max_length=1000,
        description="Regular expression in Python's syntax, matched within single lines as they "
        "are shown. Without capital letters it ignores case: `nan|inf`, `loss[^0-9]+nan`.",
    )
    most: int = Field(50, ge=1, le=200, description="Matching lines that are shown.")
    context: int = Field(
        0, ge=0, le=10, description="Lines shown before and after each match, marked `812-`."
    )
    first: int = Field(1, ge=1, description="Begin at this line; to go on after earlier matches.")


def work(bench: Bench, wish: Grep) -> Page:
    """The matching lines with their numbers, and how many there are in all."""
    artifact = bench.book.resolve(wish.artifact)
    most = max(1, min(wish.most, _MOST_ROWS // (2 * wish.context + 1)))
    found = bench.book.search(
        artifact.name,
        wish.pattern,
        most=most,
        # The line before may name a secret, also if nobody wants to see it.
        context=max(1, wish.context),
        first=wish.first,
        longest=MASKED_LINE,
    )
    lines = [line for line in found.lines if line.is_match or wish.context]
    rows = [
        row
        for line in found.lines
        for row in line_rows([line], is_hidden=not (line.is_match or wish.context))
    ]
    told = plural(found.total, "line")
    if found.problem:
        told = f"{told} so far, not all was searched"
    since = f" from line {wish.first:,} on" if wish.first > 1 else ""
    head = f"{told} of {artifact.name}{since} {'matches' if found.total == 1 else 'match'}"
    if found.problem:
        head = f"{plural(found.total, 'matching line')} found{since} in a part of {artifact.name}"
    shown = sum(line.is_match for line in lines)
    further: list[str] = [found.problem] if found.problem else []
    if shown < found.total:
        head += f"; the first {shown:,} are here"
        last = max((line.number for line in lines), default=wish.first)
        further.append(f"go on with first={last + 1}, or use a rarer pattern")
    elif found.is_late:
        further.append(f"go on with first={found.searched + 1}")
    return Page(
        brief=f'grep "{wish.pattern}" in {artifact.name}: {told}',
        head=f"{head}.",
        rows=rows,
        about=lambda count: {
            "artifact": artifact.name,
            "lines": f"{lines[0].number}-{lines[count - 1].number}",
        },
        rest=lambda count: f"go on with first={lines[count].number}, or use a rarer pattern",
        tail="; ".join(further),
    )


GREP = Tool(
    "grep",
    "Search a text file of this session with a regular expression. Returns matching lines with "
    "their numbers and the exact count. A search may take 2 seconds; in a huge file it says how "
    "far it came. One file a call.",
    Grep,
    work,
    reads_runs=False,
)
