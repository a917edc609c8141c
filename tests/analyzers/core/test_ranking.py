"""Ranking: belief from clues, ceilings by evidence, rivals in order."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.analyzers.core import calibration
from mltd.analyzers.core.case import Case
from mltd.analyzers.core.cause import Clue
from mltd.analyzers.core.finding import Basis, Finding, Severity
from mltd.analyzers.core.ranking import rank
from tests.analyzers.made import CONFIG_EVIDENCE, EVIDENCE, MadeCause, finding, fix, view_of


@pytest.fixture(autouse=True)
def uncalibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arithmetic is tested without the map that is laid over it."""
    monkeypatch.setattr(calibration, "_maps", dict)


def ranked(*causes: Any, findings: tuple[Finding, ...] = ()) -> Any:
    failed: list[str] = []
    case = Case(view_of({"loss": [1.0, 2.0]}), findings or [finding()])
    found = rank(case, causes, failed)
    assert failed == []
    return found


def test_clues_remove_a_share_of_the_doubt_each() -> None:
    (root,) = ranked(MadeCause("a", [Clue(0.5, EVIDENCE), Clue(0.5, EVIDENCE)]))
    assert root.confidence == pytest.approx(0.75 * 0.70, abs=1e-3)
    assert root.basis is Basis.INFERENCE
    assert root.evidence == (EVIDENCE,)


def test_two_kinds_of_evidence_lift_the_ceiling() -> None:
    clues = [Clue(0.5, EVIDENCE), Clue(0.5, CONFIG_EVIDENCE)]
    (root,) = ranked(MadeCause("a", clues))
    assert (root.basis, root.confidence) == (Basis.RESEARCH, pytest.approx(0.6375, abs=2e-3))
    (guess,) = ranked(MadeCause("a", clues, basis=Basis.INFERENCE))
    assert guess.basis is Basis.INFERENCE
    (weak,) = ranked(MadeCause("a", [Clue(0.5, EVIDENCE), Clue(0.05, CONFIG_EVIDENCE)]))
    assert weak.basis is Basis.INFERENCE


def test_a_message_that_states_the_cause_makes_it_an_observation() -> None:
    (root,) = ranked(MadeCause("a", [Clue(0.99, EVIDENCE, states=True)], basis=Basis.INFERENCE))
    assert root.basis is Basis.OBSERVATION
    assert 0.9 < root.confidence <= 0.95


def test_no_cause_is_surer_than_its_ceiling() -> None:
    many = [Clue(1.0, EVIDENCE)] * 9
    (root,) = ranked(MadeCause("a", many))
    assert root.confidence <= Basis.INFERENCE.ceiling


def test_evidence_against_takes_a_share_of_the_belief() -> None:
    (root,) = ranked(MadeCause("a", [Clue(0.8, EVIDENCE), Clue(-0.5, CONFIG_EVIDENCE)]))
    assert root.confidence == pytest.approx(0.4 * 0.7, abs=1e-3)
    assert root.against == (CONFIG_EVIDENCE,)
    assert ranked(MadeCause("a", [Clue(-0.5, EVIDENCE)])) == []
    assert ranked(MadeCause("a", [Clue(0.5, EVIDENCE), Clue(-0.9, EVIDENCE)])) == []


def test_causes_that_explain_nothing_are_not_asked() -> None:
    class Untouchable(MadeCause):
        def clues(self, case: object) -> list[Clue]:
            raise AssertionError("asked")

    assert ranked(Untouchable("a", [], explains=("overfitting",))) == []


def test_the_best_comes_first_and_a_broken_one_is_reported() -> None:
    class Broken(MadeCause):
        def clues(self, case: object) -> list[Clue]:
            raise KeyError("oops")

    failed: list[str] = []
    case = Case(view_of({"loss": [1.0, 2.0]}), [finding(severity=Severity.CRITICAL, step=4)])
    causes: list[Any] = [
        MadeCause("weak", [Clue(0.3, EVIDENCE)]),
        Broken("broken", []),
        MadeCause("strong", [Clue(0.6, EVIDENCE)], fixes=[fix()]),
        MadeCause("also", [Clue(0.3, EVIDENCE)]),
    ]
    found = rank(case, causes, failed)
    assert [root.id for root in found] == ["strong", "also", "weak"]
    assert failed == ["cause 'broken' failed: KeyError: 'oops'"]
    best = found[0]
    assert (best.severity, best.explains, best.first_step) == (
        Severity.CRITICAL,
        ("loss_spike",),
        4,
    )
    assert best.fixes == (fix(),)


def test_calibration_never_passes_the_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_maps", lambda: {"cause": ([0.0, 1.0], [0.0, 2.0])})
    assert calibration.calibrated("cause", Basis.INFERENCE, 0.6) == 0.70
    assert calibration.calibrated("cause", Basis.INFERENCE, 0.2) == pytest.approx(0.4)
    assert calibration.finding_confidence(Basis.RESEARCH, 0.99) == 0.85


def test_a_cause_that_goes_with_the_best_one_is_no_rival() -> None:
    clue = [Clue(0.8, EVIDENCE)]
    weak = [Clue(0.6, EVIDENCE)]
    alone = ranked(MadeCause("lr_too_high", clue))[0]
    allied = ranked(MadeCause("lr_too_high", clue), MadeCause("missing_grad_clipping", weak))[0]
    contested = ranked(MadeCause("lr_too_high", clue), MadeCause("bad_batch", weak))[0]
    assert allied.confidence == alone.confidence
    assert contested.confidence < alone.confidence
