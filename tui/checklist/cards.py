"""Hypotheses in the list, and below each of them its experiments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mltd.sessions.model.checklist import Phase

from ..findings.bars import SHORT_BAR, WIDE_BAR, bar
from ..findings.blocks import Block, plain
from ..findings.spans import Line, Span, cells, clean, fit, hang, spread
from . import marks
from .lines import told
from .marks import NEXT
from .pick import Pick
from .tables import percent

if TYPE_CHECKING:
    from mltd.sessions.model.experiment import Experiment
    from mltd.sessions.model.hypothesis import Hypothesis
    from mltd.sessions.model.result import BeforeAfter

    from .shown import Shown

NONE_YET = "no hypothesis yet: a writes one down, h on a finding takes it over"
NARROW, MEDIUM = 44, 60
"""Columns below which a confidence is its number alone, or a bar without its ceiling."""
STATEMENT_LINES = 2


def hypothesis_cards(
    shown: Shown, width: int, following: object, *, is_rich: bool, is_spoken: bool
) -> Iterator[Block]:
    """Every hypothesis with its experiments, in the user's order."""
    if not shown.session.hypotheses:
        yield plain(*hang((Span("    "),), NONE_YET, width, "quiet"))
    for hypothesis in shown.session.hypotheses:
        pick = Pick(kind="hypothesis", id=hypothesis.id, phase=Phase.HYPOTHESES.value)
        is_next = pick.row == following
        if is_spoken:
            lines = _full_hypothesis(hypothesis, width, is_next=is_next)
        else:
            lines = [_hypothesis(hypothesis, width, is_next=is_next)]
        yield Block(tuple(lines), pick.row, pick)
        for experiment in shown.session.experiments_of(hypothesis.id):
            pick = Pick(kind="experiment", id=experiment.id, phase=Phase.HYPOTHESES.value)
            result = shown.result_of(experiment.id)
            is_next = pick.row == following
            lines = [_experiment(experiment, result, width, is_next=is_next, is_rich=is_rich)]
            if is_rich and result is not None:
                so_far = f"preliminary, {result.outcome.value} so far: "
                so_far = so_far if result.is_preliminary else ""
                said = so_far + told(result.summary)
                lines += hang((Span(" " * 9),), said, width, "quiet", most=1)
            yield Block(tuple(lines), pick.row, pick)


def _lead(mark: marks.Mark, name: str, indent: str) -> Line:
    return Span(f"{indent}{mark.glyph} ", mark.meaning), Span(f"{clean(name)} ", "quiet")


def _text_meaning(mark: marks.Mark, *, is_next: bool) -> str:
    return "heading" if is_next else "quiet" if mark.is_over else ""


def _hypothesis(hypothesis: Hypothesis, width: int, *, is_next: bool) -> Line:
    """In one line: status and confidence at its end."""
    mark = marks.HYPOTHESES[hypothesis.status.value]
    sure = hypothesis.confidence
    end: Line = (Span(f"  {mark.word:<9}", mark.meaning),)
    if width >= MEDIUM:
        end = (*end, Span(" "), *bar(sure.value, sure.ceiling, WIDE_BAR))
    elif width >= NARROW:
        end = (*end, Span(" "), *bar(sure.value, sure.ceiling, SHORT_BAR, has_mark=False))
    end = (*end, Span(f" {sure.value:.2f}", "quiet"))
    if is_next:
        end = (Span(f"  {NEXT}", "key"), *end)
    said = Span(told(hypothesis.statement), _text_meaning(mark, is_next=is_next))
    return spread((*_lead(mark, hypothesis.id, "  "), said), end, width)


def _full_hypothesis(hypothesis: Hypothesis, width: int, *, is_next: bool) -> list[Line]:
    """The statement, and below it status, confidence with its basis, and what speaks for it."""
    mark = marks.HYPOTHESES[hypothesis.status.value]
    lead = _lead(mark, hypothesis.id, "  ")
    meaning = _text_meaning(mark, is_next=is_next)
    statement = told(hypothesis.statement)
    lines = hang(lead, statement, width, meaning, most=STATEMENT_LINES)
    sure = hypothesis.confidence
    end: Line = (Span(NEXT, "key"),) if is_next else ()
    room = width - (cells(end) + 2 if is_next else 0)
    state: Line = (Span(" " * cells(lead)), Span(f"{mark.word:<9}  ", mark.meaning))
    number = Span(f" {sure.value:.2f}")
    second: Line = (*state, *bar(sure.value, sure.ceiling, WIDE_BAR), number)
    if cells(second) > room:
        second = (*state, *bar(sure.value, sure.ceiling, SHORT_BAR, has_mark=False), number)
    for remark in (f" {sure.basis.value} ≤ {sure.ceiling:.2f}", _sides(hypothesis)):
        longer = (*second, Span(remark, "quiet"))
        second = longer if cells(longer) <= room else second
    return [*lines, spread(second, end, width)]


def _sides(hypothesis: Hypothesis) -> str:
    count = len(hypothesis.evidence)
    said = f" · {count} for" if count else " · no evidence"
    return f"{said}, {len(hypothesis.against)} against" if hypothesis.against else said


def _experiment(
    experiment: Experiment,
    result: BeforeAfter | None,
    width: int,
    *,
    is_next: bool,
    is_rich: bool,
) -> Line:
    mark = marks.EXPERIMENTS[experiment.status.value]
    said = Span(told(experiment.change), _text_meaning(mark, is_next=is_next))
    left: Line = (*_lead(mark, experiment.id, "    "), said)
    end: Line = (Span(f"  {mark.word}", mark.meaning),)
    if is_next:
        end = (Span(f"  {NEXT}", "key"), *end)
    room = width - cells(end) - 1
    short = headline(result) if result is not None and not is_rich else ""
    if short and cells(left) + 2 + cells((Span(short),)) <= room:
        left = spread(left, (Span(short, "quiet"),), room)
    return spread(fit(left, room), end, width)


def headline(result: BeforeAfter) -> str:
    """What the change did to the target metric, in a few characters."""
    target = next((change for change in result.changes if change.change is not None), None)
    return f"{clean(target.name)} {percent(target.change)}" if target is not None else ""
