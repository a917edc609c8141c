"""What a session keeps of an opinion, and what it makes of a cause."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mltd.analyzers.core.verdict import Diagnosis
from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.answer.markdown import markdown
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import (
    CheckedOpinion,
    check,
    describe_opinion,
    hypothesis_of,
    opinion_in,
)
from mltd.sessions.model.records import DiagnosisRecord
from tests.analyzers.made import finding

from ..answer.answers import answer, cause, fix, log, setting, value

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def checked(book: ArtifactBook) -> CheckedOpinion:
    opinion = parse_opinion(
        answer(
            cause(
                log("CUDA out of memory", 250),
                value(100, "2.5", run="run1"),
                setting("optimizer.lr", "0.5"),
                {"kind": "finding", "id": "loss_spike"},
                against=["words", setting("amp", "true")],
            ),
            quick_fixes=["rm -rf checkpoints/old", "lower the learning rate"],
            recommended_fixes=[fix(), fix(change="rm -rf out", priority=2)],
            needed_data=[{"what": "grad_norm", "why": "to tell them apart"}],
        )
    )
    found = Diagnosis("needs_more_data", findings=(finding("loss_spike"),))
    return check(opinion, book, diagnoses=[found])


def test_the_kept_diagnosis_is_the_contracts_object_with_what_held(
    checked: CheckedOpinion,
) -> None:
    body = describe_opinion(checked)
    causes = body["root_causes"]
    assert isinstance(causes, list)
    (told,) = causes
    assert isinstance(told, dict)
    assert (told["id"], told["confidence"], told["ceiling"]) == ("lr_too_high", 0.8, 0.85)
    assert told["evidence"] == [
        {"kind": "log", "ref": "train.log:301", "quote": "CUDA out of memory"},
        {"kind": "series", "ref": "loss@100", "quote": "2.5"},
    ]
    assert told["against"] == [{"kind": "config", "ref": "config:amp", "quote": "true"}]
    assert told["fix"] == "lr 1e-2 -> 3e-3"
    assert body["requests"] == ["grad_norm: to tell them apart"]
    fixes = body["recommended_fixes"]
    assert isinstance(fixes, list)
    assert [one["destructive"] for one in fixes if isinstance(one, dict)] == [False, True]


def test_what_could_destroy_is_no_quick_fix_for_whoever_reads_the_contract(
    checked: CheckedOpinion,
) -> None:
    body = describe_opinion(checked)
    assert body["quick_fixes"] == ["lower the learning rate"]
    assert body["destructive_quick_fixes"] == ["rm -rf checkpoints/old"]


def test_counter_arguments_in_words_are_kept_and_told_although_they_are_no_evidence(
    checked: CheckedOpinion,
) -> None:
    kept = opinion_in(describe_opinion(checked))
    assert kept is not None
    assert "words" in kept.causes[0].against
    assert "- words" in markdown(kept)


def test_the_whole_opinion_comes_back_from_the_journal(checked: CheckedOpinion) -> None:
    record = DiagnosisRecord(at=NOW, source="claude", body=describe_opinion(checked))
    kept = DiagnosisRecord.model_validate_json(record.model_dump_json())
    assert opinion_in(kept.body) == checked
    assert opinion_in({}) is None
    assert opinion_in({"opinion": {"status": "?"}}) is None


def test_a_cause_becomes_a_hypothesis_of_claudes(checked: CheckedOpinion) -> None:
    made = hypothesis_of("H3", checked.causes[0], checked, NOW, run="r1")
    assert (made.source, made.cause, made.run) == ("claude", "lr_too_high", "r1")
    assert made.confidence.value == 0.8
    assert [one.ref for one in made.evidence] == ["train.log:301", "loss@100"]
    assert [one.ref for one in made.against] == ["config:amp"]
    assert made.explains == ("loss_spike",)
    assert [one.change for one in made.fixes] == ["lr 1e-2 -> 3e-3"]
    assert made.history[0].source == "claude"


def test_an_unsupported_cause_becomes_a_hypothesis_without_evidence(book: ArtifactBook) -> None:
    opinion = parse_opinion(answer(cause(failure_mode="moon_phase", confidence=0.9)))
    found = check(opinion, book)
    made = hypothesis_of("H1", found.causes[0], found, NOW)
    assert (made.evidence, made.cause, made.confidence.value) == ((), "", 0.50)
    assert "no citation is given" in made.history[0].reason
