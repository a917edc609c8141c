"""Healthy trainings under the probe raise no alarm, whatever they look like inside."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Severity

from .conftest import Judge

HEALTHY = (
    "relu", "fresh", "gelu_warm_up_and_cosine", "normalised", "clipped_tanh", "transformer",
    "recurrent", "frozen_base", "low_rank", "convolutions", "unfrozen_later", "two_optimizers",
    "in_turns",
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


@pytest.mark.parametrize("alone", [False, True])
def test_a_part_that_is_never_differentiated_is_information(judge: Judge, *, alone: bool) -> None:
    diagnosis = judge("fixed_features", alone=alone).diagnosis
    (found,) = [one for one in diagnosis.findings if one.id == "frozen_layers"]
    assert found.severity is Severity.INFO
    assert found.title.startswith("3 of 4 layers (backbone.0, backbone.2, backbone.4) are not in")
    assert "no gradient reaches them" in found.title
    assert "computed" not in found.title
    assert diagnosis.status == "healthy"


def test_a_model_that_is_mostly_a_table_is_worth_knowing(judge: Judge) -> None:
    diagnosis = judge("mostly_a_table").diagnosis
    (found,) = [one for one in diagnosis.findings if one.id == "param_imbalance"]
    assert found.severity is Severity.INFO
    assert found.title == "92% of the 20,804 parameters are in the embedding (rows)"
    assert found.evidence[0].ref == "mltd-probe.jsonl:1"
    assert diagnosis.status == "healthy"
