"""query_series: a metric of a run in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from ..artifacts import ArtifactError
from .series_lookup import close_names, described, find_series
from .series_table import Points, statistics, table
from .tool import Arguments, Bench, Page, Row, Tool
from .wording import place, plural

if TYPE_CHECKING:
    from mltd.runs.run import Run
    from mltd.runs.series import Series


_WITH_LINES = ("text", "jsonl", "csv")


class QuerySeries(Arguments):
    """Which metric, and which stretch of it."""

    name: str | None = Field(
        None,
        description="Name of the series as logged, or its role: `train/loss`, `val/loss`, "
        "`grad_norm`, `lr`, `throughput`, `memory`. Leave it out to list all series of the run.",
    )
    run: str | None = Field(None, description="Name of the run; not needed if there is only one.")
    first_step: float | None = Field(
        None, description="Only from this step on (or epoch, if that is the axis of the series)."
    )
    last_step: float | None = Field(None, description="Only up to this step.")
    around: float | None = Field(
        None, description="Show the single points around this step instead of a range."
    )
    most_points: int = Field(
        40, ge=2, le=200, description="Rows of the table; more points are put into groups."
    )
    artifact: str | None = Field(
        None, description="Only what this file logs, if several files log a series of that name."
    )


def work(bench: Bench, wish: QuerySeries) -> Page:
    """Statistics of the stretch, and a table of it."""
    called, run = bench.run(wish.run)
    path = bench.book.resolve(wish.artifact).path if wish.artifact else ""
    if wish.name is None:
        return _listing(called, run, f"Series of {called}:", is_error=False)
    found = find_series(run, wish.name, path)
    if not found:
        close = ", ".join(close_names(run, wish.name))
        hint = f"; the closest names: {close}" if close else ""
        return _listing(
            called, run, f"{called} logs no {wish.name!r}{hint}. It logs:", is_error=True
        )
    return _page(called, run, found, wish)


def _listing(called: str, run: Run, head: str, *, is_error: bool) -> Page:
    rows = [Row(described(run, series)) for series in run.series if len(series)]
    what = head.rstrip(":") if is_error else f"list the series of {called}"
    return Page(
        brief=f"{what}: {len(rows)} series",
        head=head if rows else f"{called} logs no series at all.",
        rows=rows,
        about={"run": called, "what": "series"},
        rest="ask for one by its name or role",
        is_error=is_error or not rows,
    )


def _page(called: str, run: Run, found: list[Series], wish: QuerySeries) -> Page:
    series = found[0]
    axis = series.axis_name
    unit = "line" if run.files[series.file].format in _WITH_LINES else "record"
    whole = Points(axis, series.axis(axis), series.values, series.lines, unit)
    points = _chosen(whole, wish)
    head, rows = table(points, wish.most_points)
    name = series.name
    file = run.files[series.file].path.rpartition("/")[2]
    role = f" [{series.role}]" if series.role else ""
    told = [f"{name}{role} of {called}, from {file}", *statistics(points)]
    others = [f"{s.name} ({run.files[s.file].path.rpartition('/')[2]})" for s in found[1:4]]
    if others:
        told.append(f"also meant may be: {', '.join(others)}")
    if series.dropped:
        told.append(
            f"{series.dropped:,} older points were dropped to save memory, {series.dropped_bad:,} "
            "of them not finite; what is told is about those that are kept"
        )
    where = f"around {axis} {place(wish.around)}" if wish.around is not None else "in all"
    if wish.around is None and (wish.first_step is not None or wish.last_step is not None):
        where = f"{axis} {place(points.x[0])}..{place(points.x[-1])}"
    return Page(
        brief=f"{name} of {called}, {where}: {plural(len(points), 'point')}",
        head="Rows are in the order in which the run logged them.",
        rows=[*map(Row, told), Row(head), *map(Row, rows)],
        about={"run": called, "series": name},
        rest="ask for a narrower range of steps, or for fewer points",
    )


def _chosen(whole: Points, wish: QuerySeries) -> Points:
    if wish.around is not None:
        return whole.around(wish.around, wish.most_points)
    if wish.first_step is None and wish.last_step is None:
        return whole
    points = whole.between(wish.first_step, wish.last_step)
    if not len(points):
        ends = f"{place(float(whole.x[0]))}..{place(float(whole.x[-1]))}"
        raise ArtifactError(
            f"{wish.name} has no point in that range; it was logged at {whole.axis} {ends}"
        )
    return points


QUERY_SERIES = Tool(
    "query_series",
    "Look at a metric of a run: exact count, minimum, maximum, mean, last value, NaNs and where "
    "the first one is, and a table of it. Up to most_points points are shown singly with the line "
    "of the file they stand in; more are put into groups that keep every minimum and maximum. "
    "Narrow the range, or use `around`, to see single values. Without a name: all series.",
    QuerySeries,
    work,
    reads_runs=True,
)
