"""Fixtures of the schedulers' tests."""

from __future__ import annotations

import pytest

from tests.runs.schedulers.real_slurm import RealSlurm, real_slurm

__all__ = ["real_slurm"]


@pytest.fixture
def slurm(real_slurm: RealSlurm, monkeypatch: pytest.MonkeyPatch) -> RealSlurm:
    """The real cluster, for commands that this process starts."""
    monkeypatch.setenv("SLURM_CONF", str(real_slurm.configuration))
    return real_slurm
