"""Nobody is surer than the basis allows, and who tries is told why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mltd.analyzers.core.finding import Basis
from mltd.sessions.model.confidence import Confidence, why_too_sure


@pytest.mark.parametrize(
    ("basis", "ceiling"),
    [(Basis.INFERENCE, 0.70), (Basis.RESEARCH, 0.85), (Basis.OBSERVATION, 0.95)],
)
def test_the_ceiling_itself_is_allowed_and_nothing_above_it(basis: Basis, ceiling: float) -> None:
    assert Confidence(value=ceiling, basis=basis).ceiling == ceiling
    with pytest.raises(ValidationError, match="is more than"):
        Confidence(value=ceiling + 0.01, basis=basis)


def test_the_refusal_says_the_ceiling_and_the_way_up() -> None:
    said = why_too_sure(0.8, Basis.INFERENCE)
    assert said.startswith("0.8 is more than inference can bear, which is 0.70 at most")
    assert "research, 0.85" in said
    assert "observation, 0.95" in said
    assert "nothing is surer" in why_too_sure(0.99, Basis.OBSERVATION)


def test_the_refusal_never_says_that_a_number_is_more_than_itself() -> None:
    assert why_too_sure(0.701, Basis.INFERENCE).startswith("0.701 is more than inference")


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), float("inf"), float("-inf")])
def test_what_is_no_confidence_is_refused(value: float) -> None:
    assert "is no confidence: give a number from 0 to 0.85" in why_too_sure(value, Basis.RESEARCH)
    with pytest.raises(ValidationError, match="is no confidence"):
        Confidence(value=value, basis=Basis.RESEARCH)


@given(st.sampled_from(Basis), st.floats(allow_nan=True))
def test_a_confidence_is_within_its_ceiling_or_does_not_exist(basis: Basis, value: float) -> None:
    try:
        confidence = Confidence(value=value, basis=basis)
    except ValidationError:
        assert why_too_sure(value, basis)
    else:
        assert 0 <= confidence.value <= basis.ceiling + 1e-9


def test_the_number_never_stands_alone() -> None:
    confidence = Confidence(value=0.6, basis=Basis.INFERENCE)
    assert str(confidence) == "0.60 (inference, ceiling 0.70)"
