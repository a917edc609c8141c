"""compare_runs: every metric of two runs before and after, and the settings that differ."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from ..artifacts import ArtifactError
from .settings_rows import flat_settings
from .tool import Arguments, Bench, Page, Row, Tool

if TYPE_CHECKING:
    from mltd.runs.run import Run

MOST_POINTS = 15_000_000
"""Of both runs together: more would take longer than a call may."""
_MOST_SETTINGS = 40
_MOST_METRICS = 40


class CompareRuns(Arguments):
    """Which two runs."""

    before: str = Field(description="Name of the first run: the baseline, or before the change.")
    after: str = Field(description="Name of the second run.")
    at_end: bool = Field(
        False,
        description="Compare what each run ended with instead of the last stretch both have.",
    )


def work(bench: Bench, wish: CompareRuns) -> Page:
    """The verdict in a sentence, the metrics, the costs, and the settings that differ."""
    # Here and not above: the statistics take a moment to import.
    from mltd.runs.summary import has_ended, run_state
    from mltd.sessions.comparison import wording
    from mltd.sessions.comparison.compare import compare

    before, first = bench.run(wish.before)
    after, second = bench.run(wish.after)
    if before == after:
        raise ArtifactError("a run cannot be compared with itself", hint="name two runs")
    points = sum(len(series) for run in (first, second) for series in run.series)
    if points > MOST_POINTS:
        raise ArtifactError(
            f"these runs have {points:,} points, too many to compare in the time of a call",
            hint="use query_series on the metrics that matter",
        )
    found = compare(
        first,
        second,
        names=(before, after),
        at=datetime.now(UTC),
        is_running=not has_ended(second),
        run_state=run_state(second)[0].value,
        at_end=wish.at_end,
    )
    hasty = f" ({found.preliminary})" if found.preliminary else ""
    rows = [Row(f"verdict: {found.outcome.value}{hasty}: {found.summary}")]
    if cost := wording.cost_text(found.cost):
        rows.append(Row(f"cost: {cost}"))
    rows += [Row(wording.sentence(one), "metric ") for one in found.changes[:_MOST_METRICS]]
    settings = _different(bench, first, second)
    rows += [Row(told, "setting ") for told in settings[:_MOST_SETTINGS]]
    if len(settings) > _MOST_SETTINGS:
        rows.append(Row(f"{len(settings) - _MOST_SETTINGS} more settings differ: read_config"))
    if not settings:
        rows.append(Row("no setting that is known of both differs"))
    return Page(
        brief=f"compare {before} with {after}: {found.outcome.value}",
        head=f"{before} -> {after}; changes are relative, intervals are 95% bootstrap intervals.",
        rows=rows,
        about={"before": before, "after": after, "what": "comparison"},
        rest="use query_series for single metrics and read_config for settings",
    )


def _different(bench: Bench, first: Run, second: Run) -> list[str]:
    """Settings with two values; those that only one run states come last."""
    left, right = (flat_settings(bench.masker.clean_value(run.config)) for run in (first, second))
    both = [f"{k}: {left[k]} -> {right[k]}" for k in left if k in right and left[k] != right[k]]
    lone = [f"{k}: {left[k]} -> (not stated)" for k in left if k not in right and right]
    lone += [f"{k}: (not stated) -> {right[k]}" for k in right if k not in left and left]
    return both + lone


COMPARE_RUNS = Tool(
    "compare_runs",
    "Compare two runs of this session: each metric before and after over the stretch that both "
    "went, with the relative change and its 95% interval, what it cost in time, and which settings "
    "differ.",
    CompareRuns,
    work,
    reads_runs=True,
)
