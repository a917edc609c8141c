"""Calibration: within the ceiling, in order, and silent where it knows nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mltd.analyzers.core import calibration
from mltd.analyzers.core.calibration import (
    calibrated,
    cause_confidence,
    finding_confidence,
    with_repute,
)
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.core.registry import load_analyzers, load_causes


@pytest.mark.parametrize("basis", Basis)
@pytest.mark.parametrize("kind", ["finding", "cause"])
def test_the_shipped_map_rises_and_respects_the_ceiling(kind: str, basis: Basis) -> None:
    scores = [calibrated(kind, basis, raw) for raw in np.linspace(0, 1, 101)]
    assert scores == sorted(scores)
    assert max(scores) <= basis.ceiling
    assert scores[0] == 0.0


def test_doubt_that_was_never_met_stays_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_maps", lambda: {"finding": ([0.6, 0.8], [0.8, 0.9])})
    assert finding_confidence(Basis.OBSERVATION, 0.3) == 0.3
    assert finding_confidence(Basis.OBSERVATION, 0.6) == 0.8
    assert finding_confidence(Basis.OBSERVATION, 0.7) == 0.85
    assert finding_confidence(Basis.OBSERVATION, 1.0) == 0.9
    assert finding_confidence(Basis.INFERENCE, 0.7) == 0.7


def test_without_a_map_the_score_is_the_confidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_maps", dict)
    assert calibrated("cause", Basis.RESEARCH, 0.4) == 0.4
    assert calibrated("cause", Basis.RESEARCH, 0.99) == 0.85


CURVES = {
    "measured": {"base": 0.0, "belief": 1.0, "rival": -1.0},
    "stated": {"base": 1.0, "belief": 1.0, "rival": -1.0},
}


@pytest.fixture
def curves(monkeypatch: pytest.MonkeyPatch) -> None:
    repute = {"corrupt_labels": -1.0, "memory_leak": 1.0, "frozen_parameters": 9.0}
    content = {"causes": CURVES, "repute": {"causes": repute}}
    monkeypatch.setattr(calibration, "_maps", lambda: {"finding": ([0.0, 1.0], [0.0, 1.0])})
    monkeypatch.setattr(calibration, "_shipped", lambda: content)


def sure(cause: str, belief: float, rival: float = 0.0, *, is_told: bool = False) -> float:
    return cause_confidence(cause, Basis.RESEARCH, belief, rival, is_told=is_told)


def stated(cause: str, belief: float, rival: float = 0.0) -> float:
    return cause_confidence(cause, Basis.OBSERVATION, belief, rival, is_told=True)


@pytest.mark.usefixtures("curves")
def test_the_same_belief_means_less_from_a_cause_that_is_often_mistaken() -> None:
    assert sure("corrupt_labels", 0.6) < sure("lr_too_high", 0.6) < sure("memory_leak", 0.6)
    assert sure("lr_too_high", 0.6) == pytest.approx(0.6)
    assert sure("frozen_parameters", 0.6) == Basis.RESEARCH.ceiling


@pytest.mark.usefixtures("curves")
def test_a_rival_that_is_as_likely_makes_a_cause_less_sure_and_a_weak_one_does_not() -> None:
    assert sure("lr_too_high", 0.6, 0.3) > 0.59
    assert sure("lr_too_high", 0.6, 1.0) < 0.4


@pytest.mark.usefixtures("curves")
def test_what_a_message_states_has_rivals_but_no_repute() -> None:
    assert stated("corrupt_labels", 0.6) == stated("x", 0.6) > 0.6
    assert stated("x", 0.6, 1.0) < stated("x", 0.6)


@pytest.mark.usefixtures("curves")
def test_a_message_that_hints_is_as_sure_as_its_wording() -> None:
    assert sure("x", 0.4, 0.9, is_told=True) == pytest.approx(0.4 * 0.85)


@pytest.mark.parametrize("ask", [sure, stated])
def test_the_shipped_curves_rise_with_belief_and_fall_with_rivals(
    ask: Callable[..., float],
) -> None:
    known = [ask("x", belief) for belief in np.linspace(0, 1, 51)]
    assert known == sorted(known)
    assert known[0] < 0.5
    assert known[-1] >= 0.85
    assert ask("x", 0.5, 0.95) < ask("x", 0.5)


def test_a_finding_that_is_often_mistaken_is_less_sure_unless_a_message_says_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calibration, "_maps", lambda: {"finding": ([0.0, 1.0], [0.0, 1.0])})
    monkeypatch.setattr(calibration, "_shipped", lambda: {"repute": {"findings": {"x": -1.0}}})
    seen = Evidence(EvidenceKind.SERIES, "loss@1", "2")
    told = Evidence(EvidenceKind.LOG, "train.log:3", "said")
    one = Finding("x", "it is so", Severity.WARNING, 0.9, Basis.OBSERVATION, (seen,))
    assert with_repute(one).confidence == pytest.approx(0.768)
    assert with_repute(replace(one, evidence=(told,))).confidence == 0.9
    assert with_repute(replace(one, id="y")).confidence == 0.9


def test_the_shipped_reputes_are_of_what_there_is() -> None:
    shipped = calibration._shipped()["repute"]
    assert set(shipped["causes"]) <= set(load_causes().causes)
    assert set(shipped["findings"]) <= set(load_analyzers().analyzers)
