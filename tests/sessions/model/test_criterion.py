"""Criteria are read as people say them, and written so that they are read back the same."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from mltd.runs.errors import InputError
from mltd.sessions.model.criterion import Criterion, Demand, parse_criteria, parse_criterion

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_./@-]{0,20}", fullmatch=True)
SHARES = st.integers(0, 99_999).map(lambda n: n / 1000)
VALUES = st.decimals(-(10**9), 10**9, places=6).map(float)


@st.composite
def criteria(draw: st.DrawFn) -> Criterion:
    """Any criterion that can be said in ten digits."""
    demand = draw(st.sampled_from(Demand))
    amount = 0.0
    if demand in (Demand.IMPROVES, Demand.HOLDS):
        amount = draw(SHARES)
    elif demand in (Demand.BELOW, Demand.ABOVE):
        amount = float(f"{draw(VALUES):.10g}")
    return Criterion(metric=draw(NAMES), demand=demand, amount=amount)


@given(criteria())
@example(Criterion(metric="is", demand=Demand.BELOW, amount=-0.5))
@example(Criterion(metric="train/loss", demand=Demand.ABOVE, amount=1e-5))
def test_what_is_written_is_read_back_the_same(criterion: Criterion) -> None:
    again = parse_criterion(str(criterion))
    assert again.metric == criterion.metric
    assert again.demand is criterion.demand
    assert again.amount == pytest.approx(criterion.amount, rel=1e-9, abs=1e-12)


@given(st.lists(criteria(), max_size=5))
def test_several_are_read_line_by_line(several: list[Criterion]) -> None:
    for divider in ("\n", " ; ", "\n\n"):
        assert [str(c) for c in parse_criteria(divider.join(map(str, several)))] == [
            str(c) for c in several
        ]


@pytest.mark.parametrize(
    ("text", "metric", "demand", "amount"),
    [
        ("val/loss improves by 10%", "val/loss", Demand.IMPROVES, 0.10),
        ("val/loss improves", "val/loss", Demand.IMPROVES, 0.10),
        ("  val/loss   improve by at least 12.5 % ", "val/loss", Demand.IMPROVES, 0.125),
        ("val/loss improves more than 3%", "val/loss", Demand.IMPROVES, 0.03),
        ("lm loss improves by >= 5%", "lm loss", Demand.IMPROVES, 0.05),
        ("throughput regresses by less than 5%", "throughput", Demand.HOLDS, 0.05),
        ("throughput worsens at most 2%", "throughput", Demand.HOLDS, 0.02),
        ("acc holds", "acc", Demand.HOLDS, 0.05),
        ("acc does not regress", "acc", Demand.HOLDS, 0.05),
        ("grad_norm stays finite", "grad_norm", Demand.FINITE, 0.0),
        ("GRAD is finite", "GRAD", Demand.FINITE, 0.0),
        ("train/loss is below 2.5", "train/loss", Demand.BELOW, 2.5),
        ("train/loss < 2.5", "train/loss", Demand.BELOW, 2.5),
        ("train/loss<=1e-3", "train/loss", Demand.BELOW, 1e-3),
        ("loss stays under .5", "loss", Demand.BELOW, 0.5),
        ("acc at least 1,000", "acc", Demand.ABOVE, 1000),
        ("acc >= -3", "acc", Demand.ABOVE, -3),
        ("acc is above 12_000.5", "acc", Demand.ABOVE, 12000.5),
    ],
)
def test_it_is_read_as_people_say_it(text: str, metric: str, demand: Demand, amount: float) -> None:
    read = parse_criterion(text)
    assert (read.metric, read.demand) == (metric, demand)
    assert read.amount == pytest.approx(amount)


@pytest.mark.parametrize(
    "text", ["", "   ", "loss", "loss is good", "loss below", "improves", "< 3", "loss below 1,5"]
)
def test_what_cannot_be_read_gets_examples(text: str) -> None:
    with pytest.raises(InputError, match="is no criterion") as refusal:
        parse_criterion(text)
    assert "val/loss improves by 10%" in refusal.value.hint


@pytest.mark.parametrize(
    "text", ["loss improves by -5%", "loss improves by 99999%", "loss below 1e999"]
)
def test_a_senseless_amount_gets_one_clear_sentence(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_criterion(text)
    said = str(refusal.value)
    assert said.startswith(f"{text!r} is no criterion: ")
    assert "\n" not in said
    assert "validation" not in said
    assert "pydantic" not in said


@given(st.text(max_size=60) | st.builds("{} {}".format, NAMES, st.text(max_size=20)))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        read = parse_criterion(text)
        assert parse_criterion(str(read)) == read


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), float("-inf")])
def test_an_amount_is_a_number(amount: float) -> None:
    with pytest.raises(ValidationError, match="is no amount"):
        Criterion(metric="loss", demand=Demand.BELOW, amount=amount)
