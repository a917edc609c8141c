"""Two runs side by side, as the screen wants them: a row for every metric, and the verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mltd.runs.run import Run
from mltd.runs.summary import has_ended, run_state

from .curve_protocol import CompareRequest, CompareRow, Comparison

if TYPE_CHECKING:
    from mltd.sessions.comparison.measuring import Measured


def compare(
    request: CompareRequest, before: Run, after: Run, now: float | None = None
) -> Comparison:
    """The answer to a request: the loss first, or what the experiment is about.

    The verdict is preliminary until the run after the change is over, by its log or by the user's
    word.
    """
    # Here and not above: the engine tells what it reads before it needs the models of a session.
    from mltd.sessions.comparison.compare import compare_in_full
    from mltd.sessions.model.experiment import Experiment

    experiment = None
    names = (before.name, after.name)
    is_ended_by_user = False
    if request.experiment:
        experiment = Experiment.model_validate_json(request.experiment)
        names = (experiment.baseline or names[0], experiment.run or names[1])
        is_ended_by_user = experiment.is_run_over
    result, measured = compare_in_full(
        before,
        after,
        experiment,
        names=names,
        at=datetime.now(UTC),
        is_running=not (is_ended_by_user or has_ended(after, now)),
        run_state=run_state(after, now)[0].value,
        onset=request.onset,
        at_end=request.is_at_end,
    )
    if experiment is not None:
        order = {id(change): place for place, change in enumerate(result.changes)}
        measured = tuple(sorted(measured, key=lambda one: order[id(one.change)]))
    return Comparison(
        request.ticket,
        request.before,
        request.after,
        tuple(map(_row, measured)),
        result.model_dump_json(),
    )


def _row(one: Measured) -> CompareRow:
    change = one.change
    start, end = change.window or (None, None)
    best = one.best
    return CompareRow(
        change.name,
        change.role,
        change.axis,
        end,
        change.before,
        change.after,
        *best,
        smaller_is_better=change.smaller_is_better,
        start=start,
        change=change.change,
        low=change.low,
        high=change.high,
        effect=change.effect,
        parts_at=change.parts_at,
        points=change.points,
        needed=change.needed,
    )
