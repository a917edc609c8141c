"""Pages of the catalogue as plain text: what `mltd-tui explain` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .escaping import printable

if TYPE_CHECKING:
    from mltd.analyzers.catalogue.catalogue import Entry


def render_index(columns: int) -> Iterator[str]:
    """All ids by family, with a sentence each."""
    from mltd.analyzers.catalogue.catalogue import by_family

    for number, (title, found) in enumerate(by_family()):
        if number:
            yield ""
        yield title
        width = max(len(entry.page.id) for entry in found)
        for entry in found:
            yield from textwrap.wrap(
                printable(entry.page.summary),
                columns,
                initial_indent=f"  {entry.page.id:<{width}}  ",
                subsequent_indent=" " * (width + 4),
            )


def render_page(entry: Entry, columns: int) -> Iterator[str]:
    """One page."""
    from mltd.analyzers.catalogue.page import EXAMPLES

    yield f"{entry.page.id} ({entry.kind}, {entry.title.lower()})"
    yield from _wrap(entry.page.summary, columns)
    for heading, content in entry.page.sections.items():
        yield ""
        yield heading
        for line in content:
            # Examples are meant to be copied, so they stay in one line.
            yield from [f"  {printable(line)}"] if heading in EXAMPLES else _wrap(line, columns)


def _wrap(text: str, columns: int) -> list[str]:
    return textwrap.wrap(
        printable(text),
        columns,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
