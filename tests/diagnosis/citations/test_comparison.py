"""Both verdicts side by side."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import Row, check, side_by_side

from ..answer.answers import answer, cause, setting, value

LOSS = Evidence(EvidenceKind.SERIES, "loss@100..200", "2.5")
GOOD = setting("optimizer.lr", "0.01")


def ours(name: str, confidence: float = 0.6, explains: str = "loss_spike") -> RootCause:
    return RootCause(
        id=name,
        issue=f"{name} it is",
        severity=Severity.WARNING,
        explains=(explains,),
        confidence=confidence,
        basis=Basis.INFERENCE,
        evidence=(LOSS,),
    )


def spike(severity: Severity = Severity.WARNING, name: str = "loss_spike") -> Finding:
    return Finding(name, "a spike", severity, 0.9, Basis.OBSERVATION, (LOSS,))


def rows(
    book: ArtifactBook,
    causes: list[Any],
    diagnosis: Diagnosis,
    agreement: dict[str, str] | None = None,
) -> list[Row]:
    words = [
        {"id": name, "stance": stance, "why": f"because of {name}"}
        for name, stance in (agreement or {}).items()
    ]
    opinion = parse_opinion(answer(*causes, agreement=words))
    return list(side_by_side(check(opinion, book, diagnoses=[diagnosis]), diagnosis))


def told(found: list[Row]) -> list[tuple[str, str, str]]:
    return [(row.relation.value, row.ours, row.claudes) for row in found]


def test_the_same_failure_mode_is_agreement(book: ArtifactBook) -> None:
    found = rows(book, [cause(GOOD)], Diagnosis("x", root_causes=(ours("lr_too_high"),)))
    assert told(found) == [("agree", "lr_too_high", "lr_too_high")]
    assert (found[0].ours_confidence, found[0].claudes_confidence) == (0.6, 0.8)


def test_the_same_failure_mode_may_still_be_doubted(book: ArtifactBook) -> None:
    diagnosis = Diagnosis("x", root_causes=(ours("lr_too_high"),))
    found = rows(book, [cause(GOOD)], diagnosis, {"LR_too_high": "disagrees"})
    assert found[0].relation == "disagree"
    assert found[0].why == "because of LR_too_high"


def test_another_cause_for_the_same_finding_is_disagreement(book: ArtifactBook) -> None:
    diagnosis = Diagnosis("x", root_causes=(ours("bad_batch"),))
    found = rows(book, [cause(GOOD, explains=["loss_spike"])], diagnosis)
    assert told(found) == [("disagree", "bad_batch", "lr_too_high")]
    assert "loss_spike" in found[0].why


@pytest.mark.parametrize(("said", "relation"), [("2.5", "disagree"), ("9.9", "only Claude")])
def test_another_cause_for_the_same_metric_is_disagreement_if_the_citation_holds(
    book: ArtifactBook, said: str, relation: str
) -> None:
    diagnosis = Diagnosis("x", root_causes=(ours("bad_batch"),))
    found = rows(book, [cause(value(100, said), GOOD)], diagnosis)
    assert relation in {row.relation.value for row in found}


def test_what_only_one_side_says_stands_alone(book: ArtifactBook) -> None:
    diagnosis = Diagnosis("x", root_causes=(ours("bad_batch", 0.3),))
    assert told(rows(book, [cause(GOOD)], diagnosis)) == [
        ("only Claude", "", "lr_too_high"),
        ("only analyzers", "bad_batch", ""),
    ]


def test_findings_follow_with_claudes_word_on_them(book: ArtifactBook) -> None:
    diagnosis = Diagnosis(
        "x",
        findings=(
            spike(),
            spike(name="plateau"),
            spike(name="stall"),
            spike(Severity.INFO, "unseeded"),
        ),
    )
    found = rows(book, [cause(GOOD, explains=["loss_spike"])], diagnosis, {"stall": "disagrees"})
    assert told(found) == [
        ("only Claude", "", "lr_too_high"),
        ("agree", "loss_spike", ""),
        ("only analyzers", "plateau", ""),
        ("disagree", "stall", ""),
    ]
    assert [row.subject for row in found] == ["cause", *["finding"] * 3]


def test_several_runs_are_put_together(book: ArtifactBook) -> None:
    opinion = check(parse_opinion(answer(cause(GOOD))), book)
    found = side_by_side(
        opinion,
        Diagnosis("x", root_causes=(ours("lr_too_high", 0.3),)),
        Diagnosis("x", root_causes=(ours("lr_too_high", 0.5),)),
    )
    assert [(row.relation.value, row.ours_confidence) for row in found] == [("agree", 0.5)]


def test_without_anything_there_are_no_rows(book: ArtifactBook) -> None:
    assert side_by_side(check(parse_opinion(answer()), book)) == ()


def test_a_run_that_claude_calls_healthy_is_disagreement_with_every_alarm(
    book: ArtifactBook,
) -> None:
    diagnosis = Diagnosis(
        "x",
        findings=(spike(Severity.CRITICAL), spike(Severity.CRITICAL, "nan_loss")),
        root_causes=(ours("bad_batch"),),
    )
    said = {"id": "nan_loss", "stance": "agrees", "why": "it is there"}
    opinion = check(parse_opinion(answer(status="healthy", agreement=[said])), book)
    found = list(side_by_side(opinion, diagnosis))
    assert told(found) == [
        ("disagree", "bad_batch", ""),
        ("disagree", "loss_spike", ""),
        ("agree", "nan_loss", ""),
    ]
    why = "Claude calls the run healthy"
    assert [row.why for row in found] == [why, why, "it is there"]


def test_who_names_no_cause_and_asks_for_more_data_denies_nothing(book: ArtifactBook) -> None:
    diagnosis = Diagnosis("x", findings=(spike(),), root_causes=(ours("bad_batch"),))
    found = rows(book, [], diagnosis)
    assert told(found) == [
        ("only analyzers", "bad_batch", ""),
        ("only analyzers", "loss_spike", ""),
    ]
    assert [row.why for row in found] == ["Claude names no cause at all", ""]
