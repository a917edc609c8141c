"""list_artifacts: the runs of the session and their files."""

from __future__ import annotations

from pydantic import Field

from ..artifacts import Artifact
from .tool import Arguments, Bench, Page, Row, Tool
from .wording import plural, size


class ListArtifacts(Arguments):
    """Which files are wanted."""

    run: str | None = Field(
        None, description="Name of one run, such as `run1`; leave it out to see all runs."
    )


def work(bench: Bench, wish: ListArtifacts) -> Page:
    """A row for each run, and one for each of its files."""
    called = [bench.run(wish.run)[0]] if wish.run is not None else list(bench.runs)
    rows: list[Row] = []
    count = 0
    for name in called:
        run = bench.runs[name]
        files = bench.book.of_run(name)
        count += len(files)
        told = f"{plural(len(files), 'file')}, {len(run.series)} series, {len(run.events)} events"
        rows.append(Row(f'run {name} "{run.name}": {told}'))
        rows += [Row(_described(bench, artifact), "  ") for artifact in files]
    if wish.run is None:
        for root in bench.book.source_roots:
            names = root.listed()
            rows.append(Row(f"source root {root.name}: code below it, by read_source"))
            rows += [Row(name, "  ") for name in names]
    whose = f" of {called[0]}" if wish.run is not None else ""
    return Page(
        brief=f"list the files{whose}: {plural(count, 'file')}",
        head="Name, kind, format, size and lines. Use the names as they stand here.",
        rows=rows,
        about={"what": "files"},
        rest="ask for one run",
    )


def _described(bench: Bench, artifact: Artifact) -> str:
    parts = [artifact.kind.value]
    if artifact.format and artifact.format != artifact.kind.value:
        parts.append(artifact.format)
    if artifact.problem:
        parts.append(f"not readable: {artifact.problem}")
    elif artifact.parts:
        parts.append(f"folder with {plural(len(artifact.parts), 'weight file')}")
    elif artifact.real:
        parts.append(size(bench.book.size_of(artifact)))
    else:
        parts.append("folder without weight files")
    if (counted := bench.book.line_count(artifact)) is not None:
        lines, goes_on = counted
        parts.append(plural(lines, "line") + (" so far" if goes_on else ""))
    if artifact.note:
        parts.append(artifact.note)
    return f"{artifact.name}  {', '.join(parts)}"


LIST_ARTIFACTS = Tool(
    "list_artifacts",
    "List the runs of this session and the files that belong to them (logs, metrics, settings, "
    "checkpoints, source files named in tracebacks) with their kind, size and number of lines. "
    "Only these files can be read. Begin here if you do not know a file's name.",
    ListArtifacts,
    work,
    reads_runs=True,
)
