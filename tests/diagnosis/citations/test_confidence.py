"""How sure a cause may be after its check, and what becomes of the status."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import CheckedOpinion, check

from ..answer.answers import answer, cause, log, setting

GOOD, ALSO_GOOD = setting("optimizer.lr", "0.01"), log("CUDA out of memory", 301)
WRONG, ALSO_WRONG = setting("optimizer.lr", "0.5"), log("nobody ever wrote this", 7)


def judged(book: ArtifactBook, *causes: Any, **more: Any) -> CheckedOpinion:
    return check(parse_opinion(answer(*causes, **more)), book)


@pytest.mark.parametrize(
    ("basis", "ceiling"), [("inference", 0.70), ("research", 0.85), ("observation", 0.95)]
)
def test_no_basis_bears_more_than_its_ceiling(
    book: ArtifactBook, basis: str, ceiling: float
) -> None:
    (found,) = judged(book, cause(GOOD, confidence=1.0, basis=basis)).causes
    assert (found.confidence, found.said) == (ceiling, 1.0)
    assert found.is_lowered
    assert f"{basis} bears {ceiling:.2f} at most" in found.notes


def test_what_is_within_its_ceiling_is_left_alone(book: ArtifactBook) -> None:
    (found,) = judged(book, cause(GOOD, ALSO_GOOD, confidence=0.82)).causes
    assert (found.confidence, found.notes) == (0.82, ())
    assert found.is_supported
    assert not found.is_lowered


@pytest.mark.parametrize("evidence", [[], [WRONG], [log("", 1)]])
def test_without_a_citation_that_holds_it_cannot_exceed_a_half(
    book: ArtifactBook, evidence: list[Any]
) -> None:
    (found,) = judged(book, cause(*evidence, confidence=0.95, basis="observation")).causes
    assert found.confidence <= 0.50
    assert not found.is_supported
    assert any("cannot exceed 0.50" in note for note in found.notes)


def test_what_speaks_against_it_does_not_support_it(book: ArtifactBook) -> None:
    (found,) = judged(book, cause(confidence=0.8, against=[GOOD, ALSO_GOOD])).causes
    assert found.confidence == 0.50


def test_if_more_than_half_is_wrong_the_confidence_is_halved(book: ArtifactBook) -> None:
    (half,) = judged(book, cause(GOOD, WRONG)).causes
    assert half.confidence == 0.8
    (found,) = judged(book, cause(GOOD, WRONG, ALSO_WRONG)).causes
    assert found.confidence == 0.4
    assert any("2 of 3 citations are wrong" in note for note in found.notes)
    (other,) = judged(book, cause(GOOD, against=[WRONG, ALSO_WRONG])).causes
    assert other.confidence == 0.4


def test_the_best_cause_comes_first_after_the_check(book: ArtifactBook) -> None:
    found = judged(
        book,
        cause(WRONG, confidence=0.95, basis="observation", failure_mode="bad_batch"),
        cause(GOOD, confidence=0.6),
    )
    assert [one.cause.failure_mode for one in found.causes] == ["lr_too_high", "bad_batch"]


def test_below_080_more_data_is_needed_and_must_be_named(book: ArtifactBook) -> None:
    found = judged(book, cause(WRONG))
    assert found.status == "needs_more_data"
    assert found.opinion.status == "diagnosis_complete"
    assert any("0.80" in note for note in found.notes)
    assert any("which data" in note for note in found.notes)
    named = judged(book, cause(WRONG), needed_data=[{"what": "grad_norm"}])
    assert not any("which data" in note for note in named.notes)
    assert judged(book, cause(GOOD)).status == "diagnosis_complete"
    assert judged(book, status="healthy").status == "healthy"
    assert judged(book, status="not_enough_access").status == "not_enough_access"


def test_an_unknown_failure_mode_is_allowed_and_marked(book: ArtifactBook) -> None:
    found = judged(book, cause(GOOD), cause(GOOD, failure_mode="moon_phase"))
    assert [one.is_known for one in found.causes] == [True, False]


def test_the_tally_counts_all_citations(book: ArtifactBook) -> None:
    found = judged(book, cause(GOOD, WRONG, against=["words", ALSO_GOOD]))
    assert found.tally == "2 of 3 citations confirmed, 1 wrong"
    assert judged(book).tally == "no citations"


def test_a_checked_opinion_survives_the_way_through_json(book: ArtifactBook) -> None:
    found = judged(
        book,
        cause(GOOD, WRONG, log("CUDA out of memory", 5), against=["words", GOOD]),
        quick_fixes=["rm -rf runs"],
    )
    assert CheckedOpinion.model_validate_json(found.model_dump_json()) == found
