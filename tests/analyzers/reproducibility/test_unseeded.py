"""Seeds in the settings, under whatever name."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import falling, make_run

TRAINING: dict[str, object] = {"lr": 0.1, "batch_size": 8, "optimizer": "sgd", "epochs": 4}


def severities(config: dict[str, object]) -> list[Severity]:
    told = diagnose(make_run({"loss": falling(2, 1, 50)}, config=config))
    return [finding.severity for finding in told.findings if finding.id == "unseeded"]


@pytest.mark.parametrize("more", [{}, {"seed": None}, {"seed": -1}, {"random_seed": "none"}])
def test_a_missing_seed_is_worth_knowing(more: dict[str, object]) -> None:
    assert severities({**TRAINING, **more}) == [Severity.INFO]


@pytest.mark.parametrize(
    "more", [{"seed": 0}, {"trainer": {"manual_seed": 7}}, {"seed": None, "data_seed": 3}]
)
def test_any_seed_is_enough(more: dict[str, object]) -> None:
    assert severities({**TRAINING, **more}) == []


def test_what_is_no_training_configuration_is_not_judged() -> None:
    assert severities({"name": "x", "a": 1, "b": 2, "c": 3}) == []
    assert severities({}) == []
