"""Lines of a file as a page: cited by name and number, private keys masked."""

from __future__ import annotations

from ...artifacts import ArtifactBook, ArtifactError
from ...tools.line_rows import line_rows
from ...tools.tool import Page

_LONGEST = 4096


def lines_page(
    book: ArtifactBook, name: str, first: int, last: int, why: str, problems: list[str]
) -> Page | None:
    """Some lines of an artifact; None, and a sentence, if they cannot be read."""
    try:
        excerpt = book.lines(name, first, last, longest=_LONGEST)
    except ArtifactError as problem:
        problems.append(f"{name} could not be quoted: {problem}")
        return None
    numbers = [line.number for line in excerpt.lines]
    if not numbers:
        return None
    shown = f"lines {numbers[0]}-{numbers[-1]}"
    return Page(
        brief=f"{name}, {shown}",
        head=f"{name}, {shown}{f': {why}' if why else ''}",
        rows=line_rows(excerpt.lines),
        about=lambda count: {"artifact": name, "lines": f"{numbers[0]}-{numbers[count - 1]}"},
        rest=lambda count: f"read_lines from line {numbers[count]} on",
        tail=excerpt.note,
    )
