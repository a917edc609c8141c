"""Findings, causes and fixes cannot be built incomplete or surer than they may be."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mltd.analyzers.core.case import Case
from mltd.analyzers.core.cause import Clue, Fix, RootCause
from mltd.analyzers.core.finding import Basis, Finding, Severity
from tests.analyzers.made import CONFIG_EVIDENCE, EVIDENCE, finding, fix, view_of

WHOLE: dict[str, Any] = {
    "id": "x",
    "title": "t",
    "severity": Severity.INFO,
    "confidence": 0.5,
    "basis": Basis.INFERENCE,
    "evidence": (EVIDENCE,),
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"evidence": ()}, "evidence"),
        ({"title": ""}, "title"),
        ({"confidence": 0.71}, "ceiling"),
        ({"confidence": 0.86, "basis": Basis.RESEARCH}, "ceiling"),
        ({"confidence": 0.96, "basis": Basis.OBSERVATION}, "ceiling"),
        ({"confidence": -0.1}, "ceiling"),
        ({"confidence": float("nan")}, "ceiling"),
    ],
)
def test_a_finding_that_could_not_be_shown_is_refused(change: dict[str, Any], reason: str) -> None:
    Finding(**WHOLE)
    with pytest.raises(ValueError, match=reason):
        Finding(**{**WHOLE, **change})


def test_a_cause_needs_evidence_and_keeps_its_ceiling() -> None:
    whole: dict[str, Any] = {
        "id": "c", "issue": "i", "severity": Severity.INFO, "explains": ("x",),
        "confidence": 0.7, "basis": Basis.INFERENCE, "evidence": (EVIDENCE,),
    }  # fmt: skip
    RootCause(**whole)
    with pytest.raises(ValueError, match="evidence"):
        RootCause(**{**whole, "evidence": ()})
    with pytest.raises(ValueError, match="ceiling"):
        RootCause(**{**whole, "confidence": 0.75})


@pytest.mark.parametrize(
    "name", ["addresses", "change", "example", "expected_impact", "verify", "if_it_fails"]
)
def test_a_fix_is_complete_or_none(name: str) -> None:
    with pytest.raises(ValueError, match=name if name != "addresses" else "nothing"):
        Fix(**{**dataclasses.asdict(fix()), name: ""})


def test_details_are_numbers_or_the_default() -> None:
    made = Finding(**WHOLE, details={"peak": 3.0, "unit": "ms"})
    assert (made.number("peak"), made.number("unit", 2.0), made.number("none")) == (3, 2, 0)


def test_severities_are_ordered() -> None:
    assert [s.rank for s in (Severity.INFO, Severity.WARNING, Severity.CRITICAL)] == [0, 1, 2]
    assert not finding(severity=Severity.INFO).is_alarm
    assert finding().is_alarm


def test_a_case_answers_what_causes_ask() -> None:
    late, early = finding(step=9), finding(step=2)
    grave = finding("nan_loss", Severity.CRITICAL, step=5)
    told = finding("plateau", Severity.INFO, step=None)
    case = Case(view_of({"loss": [1.0, 2.0]}, config={"lr": 0.1}), [grave, late, early, told])
    assert case.all("loss_spike", "plateau") == [early, late, told]
    assert case.get("loss_spike", "nan_loss") is grave
    assert case.get("loss_spike") is early
    assert case.get("overfitting") is None
    assert case.has("loss_spike")
    assert not case.has("plateau")
    assert case.onset("loss_spike", "nan_loss", "plateau") == 2
    assert case.onset("plateau") is None
    setting = case.setting("lr")
    assert setting is not None
    assert setting.number == 0.1
    assert case.because(grave, 0.4) == Clue(0.4, EVIDENCE)
    assert case.clue(0.2, CONFIG_EVIDENCE, "job").kind == "job"
    assert case.clue(0.2, CONFIG_EVIDENCE).kind == "config"
