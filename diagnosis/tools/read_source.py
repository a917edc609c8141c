"""read_source: source code that a traceback names, or below a folder that the user added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from ..artifacts import ArtifactError, ArtifactKind
from .line_rows import excerpt_rows
from .read_lines import MASKED_LINE
from .tool import Arguments, Bench, Page, Row, Tool
from .wording import plural

if TYPE_CHECKING:
    from mltd.runs.run import Run

_BEFORE, _LINES = 20, 60


class ReadSource(Arguments):
    """Which lines of which file."""

    path: str = Field(
        description="The file as a traceback or list_artifacts names it; `train.py:210` shows the "
        "lines around that one."
    )
    first: int | None = Field(None, description="First line; lines count from 1.")
    last: int | None = Field(None, description="Last line; at most 200 lines a call.")


def work(bench: Bench, wish: ReadSource) -> Page:
    """The lines with their numbers."""
    try:
        place = bench.book.place(wish.path)
    except ArtifactError as refusal:
        return _from_events(bench, wish, refusal)
    artifact = place.artifact
    if artifact.kind is not ArtifactKind.SOURCE:
        raise ArtifactError(f"{artifact.name} is a {artifact.kind} file", hint="use read_lines")
    first = wish.first or max(1, (place.first or 1) - _BEFORE)
    last = wish.last or (place.last or first) + _LINES - _BEFORE
    excerpt = bench.book.lines(artifact.name, first, last, longest=MASKED_LINE)
    numbers = [line.number for line in excerpt.lines]
    total = f" of {excerpt.total:,}" if excerpt.total is not None else ""
    shown = f"lines {numbers[0]}-{numbers[-1]}"
    return Page(
        brief=f"read {artifact.name} {shown}: {plural(len(numbers), 'line')}",
        head=f"{artifact.name}, {shown}{total}",
        rows=excerpt_rows(excerpt),
        about=lambda count: {
            "source": artifact.name,
            "lines": f"{numbers[0]}-{numbers[count - 1]}",
        },
        rest=lambda count: f"go on with first={numbers[count]}, last={numbers[-1]}",
    )


def kept_source(runs: Mapping[str, Run]) -> dict[str, tuple[str, str]]:
    """The lines around failures that runs have kept by now."""
    found: dict[str, tuple[str, str]] = {}
    for called, run in runs.items():
        for _, event in run.events:
            for place, text in event.source.items():
                found.setdefault(place, (called, text))
    return found


def _from_events(bench: Bench, wish: ReadSource, refusal: ArtifactError) -> Page:
    """What the run itself has kept of a file that is out of reach."""
    bare = wish.path.partition(":")[0]
    for place, (called, text) in bench.kept_source.items():
        file = place.rpartition(":")[0]
        if bare and (file == bare or file.endswith(f"/{bare}")):
            return Page(
                brief=f"read {place}: only the lines around the failure",
                head=f"Only these lines of {file} are known; the user may add its folder "
                "as a source root to let the rest be read.",
                rows=[Row(line) for line in text.split("\n")],
                about={"run": called, "source": place},
            )
    raise ArtifactError(
        f"{refusal.message}: only files that a traceback names, in the run's folders or below a "
        "source root that the user added, are read",
        hint=refusal.hint,
    )


READ_SOURCE = Tool(
    "read_source",
    "Read source code with line numbers: files that a traceback of a run names, as far as they are "
    "in the run's folders, and any code below a source root that the user added.",
    ReadSource,
    work,
    reads_runs=False,
)
