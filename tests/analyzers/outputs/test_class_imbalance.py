"""Rare classes: counts alone are information, ignored classes a warning."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Run
from tests.analyzers.made import falling, make_run, noisy


def found(run: Run) -> list[Finding]:
    told = diagnose(run)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == "class_imbalance"]


BASE = {"loss": falling(1, 0.3, 20)}


@pytest.mark.parametrize(
    "config",
    [
        {"class_counts": [950, 50, 5]},
        {"data": {"class_counts": {"cat": 950, "dog": 50}}},
        {"label_distribution": (0.95, 0.05)},
    ],
)
def test_counts_alone_are_information(config: dict[str, object]) -> None:
    (finding,) = found(make_run(BASE, config=config))
    assert finding.severity is Severity.INFO
    assert finding.evidence[0].kind == "config"


def test_even_counts_are_nothing() -> None:
    assert found(make_run(BASE, config={"class_counts": [100, 90, 110]})) == []
    assert found(make_run(BASE, config={"class_counts": ["a", 3], "class_names": [1, 20]})) == []


def test_accuracy_at_the_majority_share_is_a_warning_with_its_cause() -> None:
    run = make_run({**BASE, "val_acc": noisy(0.95, 20, 0.001)}, config={"class_counts": [95, 5]})
    (finding,) = found(run)
    assert finding.severity is Severity.WARNING
    best = diagnose(run).root_causes[0]
    assert best.id == "class_imbalance"
    assert best.confidence > 0.75
    assert len(best.fixes) >= 3


def test_a_model_that_beats_the_majority_is_no_alarm() -> None:
    run = make_run({**BASE, "val_acc": noisy(0.99, 20, 0.001)}, config={"class_counts": [95, 5]})
    (finding,) = found(run)
    assert finding.severity is Severity.INFO


def test_percent_and_share_are_the_same() -> None:
    for scale in (1.0, 100.0):
        run = make_run(
            {**BASE, "val_acc": [0.93 * scale] * 20, "val_balanced_acc": [0.33 * scale] * 20}
        )
        (finding,) = found(run)
        assert finding.is_alarm


def test_two_evaluations_are_too_few() -> None:
    assert (
        found(make_run({"loss": [1, 0.9], "val_acc": [0.9] * 2, "balanced_acc": [0.3] * 2})) == []
    )
