"""Replicas that must be equal, and are not."""

from __future__ import annotations

import numpy as np

from mltd.analyzers.diagnosis import Diagnosis, diagnose
from tests.analyzers.made import read_log


def _ranks(drift: float, *, is_cut: bool = False) -> Diagnosis:
    random = np.random.default_rng(3)
    lines = []
    for step in range(2, 122, 2):
        norm = 3.0 + 0.01 * step
        for rank in range(3):
            off = rank * drift * max(0, step - 60)
            own = norm + (rank if is_cut else 0.0) + off
            loss = 2.0 * np.exp(-step / 40) + random.normal(0, 0.02)
            lines.append(f"[rank{rank}] step={step} loss={loss:.4f} param_norm={own:.5f}")
    return diagnose(read_log("\n".join(lines) + "\n"))


def test_ranks_whose_weights_part_are_found_where_they_part() -> None:
    said = _ranks(drift=0.001)
    parted = [finding for finding in said.findings if finding.id == "nondeterminism"]
    assert parted
    assert parted[0].is_alarm
    assert parted[0].first_step == 62
    assert [cause.id for cause in said.root_causes[:2]] == ["code_bug", "communication_failure"]


def test_equal_ranks_and_parts_of_a_model_are_left_alone() -> None:
    for said in (_ranks(drift=0.0), _ranks(drift=1e-7), _ranks(drift=0.001, is_cut=True)):
        assert not any(finding.is_alarm for finding in said.findings)
