"""Healthy trainings under the probe raise no alarm, whatever they look like inside."""

from __future__ import annotations

import pytest

from .conftest import Judge

HEALTHY = (
    "relu", "fresh", "gelu_warm_up_and_cosine", "normalised", "clipped_tanh", "transformer",
    "recurrent", "frozen_base", "low_rank", "convolutions", "unfrozen_later", "two_optimizers",
)  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_model_is_left_alone(judge: Judge, name: str) -> None:
    diagnosis = judge(name).diagnosis
    assert diagnosis.problems == ()
    assert {finding.id for finding in diagnosis.findings} <= {"plateau"}
    assert diagnosis.status == "healthy"


@pytest.mark.parametrize("name", HEALTHY)
def test_nor_does_its_recording_alone_raise_an_alarm(judge: Judge, name: str) -> None:
    diagnosis = judge(name, alone=True).diagnosis
    assert (diagnosis.findings, diagnosis.problems) == ((), ())
