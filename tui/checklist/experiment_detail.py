"""An experiment in full: the one change, what decides it, and what came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..findings.blocks import Block, heading, plain
from ..findings.spans import Line, Span, clean, hang, spread, wrap
from . import marks
from .lines import code_lines, label, moment, paragraphs, section, told
from .pick import Pick
from .tables import change_table, cost_of, parting

if TYPE_CHECKING:
    from mltd.sessions.model.criterion import Criterion
    from mltd.sessions.model.experiment import Experiment
    from mltd.sessions.model.result import CriterionResult

    from .shown import Shown

_DEFAULT_SUCCESS = "the target metric improves by more than 10%, its interval excluding 0"
_DEFAULT_GUARD = "no other metric that has a better direction regresses by more than 5%"
_UNTIL_IT_ENDS = (
    "the hypothesis keeps its confidence until the run ends; F says that this run is over"
)
_OUTCOMES = {
    "passed": ("✔", "severity-fine"),
    "failed": ("✖", "severity-critical"),
    "inconclusive": ("◐", "severity-warning"),
}


def experiment_detail(shown: Shown, pick: Pick, width: int) -> Iterator[Block]:
    """The change, the command, the criteria, the run, before and after, the way back."""
    experiment = shown.session.experiment(pick.id)
    if experiment is None:
        return
    yield plain(*_head(experiment, width, is_next=shown.suggested == pick.id))
    yield from _tested(shown, experiment, width)
    yield from _result(shown, experiment, width)
    if experiment.command:
        yield heading("Line to use", width, "y copies it; nothing is ever run from here")
        lines = tuple(code_lines(experiment.command, width))
        yield Block(lines, ("command", pick.id), replace(pick, copied=experiment.command))
    else:
        said = paragraphs("none written down yet: Enter edits the plan", width, "quiet")
        yield from section("Line to use", said, width)
    yield from _criteria(experiment, width)
    yield from section("Run", _runs(shown, experiment, width), width)
    yield from section("Way back", _way_back(experiment, width), width)
    yield from section("Expectation", _expected(experiment, width), width)
    times = [f"planned {moment(experiment.created)}"]
    times += [f"started {moment(experiment.started)}"] if experiment.started else []
    times += [f"ended {moment(experiment.ended)}"] if experiment.ended else []
    yield plain((), *paragraphs(", ".join(times), width, "quiet"))


def _head(experiment: Experiment, width: int, *, is_next: bool) -> Iterator[Line]:
    mark = marks.EXPERIMENTS[experiment.status.value]
    left: Line = (
        Span(f"{mark.glyph} {mark.word}", mark.meaning),
        Span(f"  {clean(experiment.id)}", "heading"),
    )
    tags = [f"changes the {experiment.variable.value}"]
    if experiment.variable.value == "other":
        tags = []
    if experiment.purpose.value == "reproduction":
        tags = ["reproduction"]
    right: Line = (Span(" · ".join(tags), "quiet"),) if tags else ()
    if is_next:
        right = (Span(marks.NEXT, "key"), Span("  " if right else ""), *right)
    yield spread(left, right, width)
    for part in wrap(told(experiment.change), width):
        yield (Span(part, "heading"),)


def _tested(shown: Shown, experiment: Experiment, width: int) -> Iterator[Block]:
    hypothesis = shown.session.hypothesis(experiment.hypothesis)
    if hypothesis is not None:
        lead: Line = (Span(f"tests {clean(hypothesis.id)} ", "quiet"),)
        lines = hang(lead, told(hypothesis.statement), width, "quiet", most=2)
        target = Pick(kind="hypothesis", id=hypothesis.id)
        yield Block(tuple(lines), ("jump", *target.row), target)


def _criteria(experiment: Experiment, width: int) -> Iterator[Block]:
    is_fixed = experiment.status.value != "planned"
    hint = "can be changed until it starts"
    if is_fixed:
        since = f" since {moment(experiment.started)}" if experiment.started else ""
        hint = f"fixed{since}, before anything was seen"
    lines = [
        *_demands("succeeds if", experiment.success, width, _DEFAULT_SUCCESS),
        *_demands("fails if", experiment.failure, width, ""),
        *_demands("guards", experiment.guards, width, _DEFAULT_GUARD),
    ]
    yield from section("Criteria", lines, width, hint)


def _demands(name: str, criteria: Sequence[Criterion], width: int, default: str) -> Iterator[Line]:
    said = [str(criterion) for criterion in criteria]
    if not said and default:
        yield from label(name, f"{default} (the default)", width, "quiet", column=11)
    for number, text in enumerate(said):
        yield from label("" if number else name, text, width, column=11)


def _result(shown: Shown, experiment: Experiment, width: int) -> Iterator[Block]:
    result = shown.result_of(experiment.id)
    if result is None:
        return
    hint = result.preliminary or "v shows the curves"
    glyph, meaning = _OUTCOMES[result.outcome.value]
    word = " so far" if result.is_preliminary else ""
    lead: Line = (Span(f"{glyph} {result.outcome.value}{word}  ", meaning),)
    lines = [*hang(lead, told(result.summary), width)]
    if result.is_preliminary:
        lines += paragraphs(_UNTIL_IT_ENDS, width, "quiet")
    if result.needed and not any(change.needed for change in result.changes):
        said = f"{result.needed} more points of the target would decide it"
        lines += paragraphs(said, width, "severity-warning")
    lines += [(), *change_table(result.changes, width)]
    cost = ", ".join(part for part in (parting(result.changes), cost_of(result.cost)) if part)
    lines += paragraphs(cost, width, "quiet") if cost else []
    lines += [()] if result.criteria else []
    for verdict in result.criteria:
        lines += _verdict(verdict, width)
    yield from section("Before and after", lines, width, hint)


def _verdict(verdict: CriterionResult, width: int) -> Iterator[Line]:
    glyph, meaning = _OUTCOMES[verdict.outcome.value]
    guard = "guard: " if verdict.is_guard else ""
    yield from hang((Span(f"{glyph} ", meaning),), guard + told(verdict.criterion), width)
    yield from hang((Span("  "),), told(verdict.said), width, "quiet")


def _runs(shown: Shown, experiment: Experiment, width: int) -> Iterator[Line]:
    hypothesis = shown.session.hypothesis(experiment.hypothesis)
    about = hypothesis.run if hypothesis is not None else ""
    before = shown.session.run(experiment.baseline or about)
    after = shown.session.run(experiment.run) if experiment.run else None
    if before is not None:
        yield from label("before", f"{before.label}  {before.location}", width, column=6)
    if after is not None:
        over = "  over, as you said" if experiment.is_run_over else ""
        yield from label("after", f"{after.label}  {after.location}{over}", width, column=6)
    else:
        said = "none yet: L links the run that came out of it"
        yield from label("after", said, width, "quiet", column=6)


def _way_back(experiment: Experiment, width: int) -> Iterator[Line]:
    if experiment.rollback:
        yield from code_lines(experiment.rollback, width)
    else:
        yield from paragraphs("not written down: how is the change taken back?", width, "stale")


def _expected(experiment: Experiment, width: int) -> Iterator[Line]:
    for name, text in (
        ("expect", experiment.expected_impact),
        ("verify", experiment.verify),
        ("else", experiment.if_it_fails),
    ):
        if text:
            yield from label(name, told(text), width, column=6)
