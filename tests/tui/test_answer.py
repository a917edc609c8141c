"""The diagnosis as JSON and as text: complete, in order, and safe to print."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mltd.analyzers.catalogue.catalogue import pages
from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Severity
from mltd.analyzers.diagnosis import Diagnosis
from mltd.tui.answer_text import AnswerText
from mltd.tui.document import document
from mltd.tui.headless import withdrawn_alarms
from mltd.tui.plain_text import render_run
from tests.analyzers.made import CONFIG_EVIDENCE, EVIDENCE, finding, fix, make_run

RUN = make_run({"loss": [3.0, 2.0, 1.0]})


def cause(identity: str = "lr_too_high", **more: Any) -> RootCause:
    whole: dict[str, Any] = {
        "id": identity,
        "issue": f"{identity} it is, with lr 0.1",
        "severity": Severity.CRITICAL,
        "explains": ("loss_divergence",),
        "confidence": 0.83,
        "basis": Basis.RESEARCH,
        "evidence": (EVIDENCE, CONFIG_EVIDENCE),
        "against": (Evidence(EvidenceKind.LOG, "a.log:7", "no overflow"),),
        "fixes": (fix(is_quick=True), fix(change="clip at 1.0", reversible=False)),
        "requests": ("log grad_norm: it tells lr_too_high from bad_batch",),
        "first_step": 3.0,
    }
    return RootCause(**{**whole, **more})


TOLD = Diagnosis(
    status="diagnosis_complete",
    findings=(
        dataclasses.replace(finding("loss_divergence", Severity.CRITICAL, 24590.0), last_step=2.5),
        finding("plateau", Severity.INFO, None),
    ),
    root_causes=(cause(), cause("bad_batch", confidence=0.8, fixes=(), requests=())),
    requests=("log the batch ids",),
    ties=(("lr_too_high", "bad_batch"),),
)


def test_the_document_has_all_of_the_answer() -> None:
    told: Any = document(RUN, 0.12345, TOLD)
    assert told["status"] == "diagnosis_complete"
    first, second = told["findings"]
    assert list(first) == [
        "id", "title", "severity", "confidence", "basis", "ceiling", "first_step", "last_step",
        "evidence",
    ]  # fmt: skip
    assert (first["first_step"], first["last_step"], second["first_step"]) == (24590, 2.5, None)
    assert isinstance(first["first_step"], int)
    assert (first["severity"], first["basis"], first["ceiling"]) == (
        "critical",
        "observation",
        0.95,
    )
    assert first["evidence"] == [{"kind": "series", "ref": "loss@3", "quote": "7.1"}]
    best, rival = told["root_causes"]
    assert (best["explains"], best["fix"]) == (["loss_divergence"], "lr 0.1 -> 0.03")
    assert best["against"][0]["ref"] == "a.log:7"
    assert rival["fix"] is None
    assert told["ties"] == [["lr_too_high", "bad_batch"]]
    assert told["quick_fixes"] == ["lr 0.1 -> 0.03"]
    assert [f["priority"] for f in told["recommended_fixes"]] == [1, 2]
    assert told["recommended_fixes"][1] == {
        "priority": 2,
        "addresses": "lr_too_high",
        "implementation": {"change": "clip at 1.0", "example": "lr: 0.03"},
        "expected_impact": "loss falls within 200 steps",
        "verify": "rerun",
        "if_it_fails": "again",
        "reversible": False,
    }
    assert told["requests"] == ["log the batch ids"]
    assert told["seconds"] == 0.123


def test_a_step_that_is_not_known_is_null() -> None:
    odd = Diagnosis("needs_more_data", (finding(step=float("nan")),))
    told: Any = document(RUN, 0.0, odd)
    assert told["findings"][0]["first_step"] is None


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("unicode", [True, False])
def test_the_text_says_everything_in_order(columns: int, unicode: bool) -> None:
    lines = list(render_run(RUN, TOLD, unicode=unicode, columns=columns))
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    wanted = [
        "made:", "1 critical", "the cause is clear", "lr_too_high it is", "0.83",
        "Findings", "critical loss_divergence, 0.90 by observation", "loss_divergence at 24590.0",
        "at loss@3: 7.1", "info plateau",
        "1. lr_too_high, 0.83 by research; explains loss_divergence", "for loss@3: 7.1",
        "for config:lr: 0.1", "against a.log:7: no overflow", "2. bad_batch",
        "tie: lr_too_high and bad_batch", "log grad_norm: it tells lr_too_high from bad_batch",
        "1. lr 0.1 -> 0.03 (lr_too_high; quick)", "> lr: 0.03", "expect loss falls",
        "verify rerun", "else again", "2. clip at 1.0 (lr_too_high; cannot be undone)",
        "log the batch ids", "metric role",
    ]  # fmt: skip
    places = [text.find(part) for part in wanted]
    assert -1 not in places, wanted[places.index(-1)]
    assert places == sorted(places)
    if not unicode:
        assert text.isascii()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (Diagnosis("healthy"), "healthy"),
        (Diagnosis("no_metrics", requests=("a log",)), "no metrics"),
        (Diagnosis("needs_more_data", (finding(),)), "1 warning; the cause is not known"),
        (
            Diagnosis("needs_more_data", (finding(),), (cause(confidence=0.5),)),
            "the cause is not certain: lr_too_high it is",
        ),
    ],
)
def test_the_first_line_is_the_answer(told: Diagnosis, words: str) -> None:
    assert words in next(AnswerText(told, columns=120).lines())


def test_a_run_that_hangs_or_failed_is_not_called_healthy() -> None:
    for state, words in (("stalled", "went silent"), ("failed", "failed")):
        first = next(AnswerText(Diagnosis("healthy"), columns=120, state=state).lines())
        assert "healthy" not in first
        assert words in first


def test_a_run_that_ended_before_its_plan_is_not_called_healthy() -> None:
    early = Diagnosis("healthy", requests=("why the log ends at step 299 of 1000",))
    first = next(AnswerText(early, columns=120, state="unknown").lines())
    assert "why it ended early is open" in first
    assert "healthy" in next(AnswerText(Diagnosis("healthy"), columns=120, state="unknown").lines())


def test_long_lists_are_cut_and_say_so() -> None:
    many = Diagnosis(
        "needs_more_data",
        tuple(finding(step=float(step)) for step in range(40)),
        (cause(evidence=(EVIDENCE,) * 9, fixes=tuple(fix(change=f"c{i}") for i in range(12))),),
    )
    lines = [line.strip() for line in AnswerText(many, columns=100).lines()]
    assert "and 30 more findings (all of them: --json)" in lines
    assert "and 6 more fixes (all of them: --json)" in lines
    assert "for 6 more" in lines


def test_text_from_outside_cannot_reach_the_terminal() -> None:
    evil = "\x1b]0;evil\x07 \x9b31m\r\n"
    shown = Evidence(EvidenceKind.LOG, evil, evil)
    harmful = dataclasses.replace(fix(), change=evil, example=evil)
    told = Diagnosis(
        "needs_more_data",
        (dataclasses.replace(finding(), title=evil, evidence=(shown,)),),
        (cause(issue=evil, fixes=(harmful,), requests=(evil,)),),
        (evil,),
    )
    for line in AnswerText(told, columns=100).lines():
        assert all(character.isprintable() for character in line)


def test_a_tie_without_requests_is_told_by_the_catalogue() -> None:
    told = Diagnosis(
        "needs_more_data",
        (finding(),),
        (cause("bad_batch", requests=()), cause(requests=())),
        ties=(("bad_batch", "lr_too_high"),),
    )
    text = " ".join(" ".join(AnswerText(told, columns=100).lines()).split())
    (entry,) = pages("lr_too_high")
    assert f"lr_too_high is told by {entry.page.sections['Told apart by'][0][:40]}" in text


def test_alarms_that_are_not_upheld_are_withdrawn() -> None:
    spike, later, moved = finding(step=3), finding(step=9), finding(step=4)
    assert withdrawn_alarms([spike], []) == [spike]
    assert withdrawn_alarms([spike], [moved]) == []
    assert withdrawn_alarms([spike, later], [later]) == [spike]
    assert withdrawn_alarms([spike], [finding(severity=Severity.INFO)]) == [spike]
    assert withdrawn_alarms([finding(severity=Severity.INFO)], []) == []
    assert withdrawn_alarms([], [spike]) == []
