"""Runs that others recorded: none that is healthy is alarmed, and most faults are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults.metrics import cause_share, false_alarm_share, macro_recall
from benchmarks.faults.score import judge_all
from benchmarks.faults.truth import read_truths
from benchmarks.recorded.sets import NAMES, unpack

LEAST_FOUND = 0.88
LEAST_EXPLAINED = 0.85
"""Somewhat below what is reached: a rule may win one run and lose another."""


@pytest.mark.parametrize("name", NAMES)
def test_recorded_runs_are_judged_as_their_authors_did(tmp_path: Path, name: str) -> None:
    data = unpack(name, tmp_path)
    judged = judge_all(read_truths(data), data, jobs=1)
    assert not [one.broken for one in judged if one.broken]
    assert false_alarm_share(judged) <= 0.01
    assert macro_recall(judged) >= LEAST_FOUND
    assert cause_share(judged, within=1) >= LEAST_EXPLAINED
