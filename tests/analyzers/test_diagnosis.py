"""From findings and causes to one answer: status, ties, requests, fixes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from mltd.analyzers.core import calibration
from mltd.analyzers.core.cause import Clue
from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.verdict import MAX_FIXES
from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from tests.analyzers.made import (
    CONFIG_EVIDENCE,
    EVIDENCE,
    MadeAnalyzer,
    MadeCause,
    finding,
    fix,
    make_run,
    registered,
)

SURE = [Clue(0.99, EVIDENCE, states=True)]
HALF = [Clue(0.5, EVIDENCE)]


@pytest.fixture(autouse=True)
def uncalibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_maps", dict)


def judge(
    analyzers: list[Any], causes: list[Any] | None = None, run: Run | None = None
) -> Diagnosis:
    with registered(analyzers, causes or []):
        return diagnose(run or make_run({"loss": [1.0, 2.0]}))


def test_a_run_without_alarms_is_healthy() -> None:
    told = judge([MadeAnalyzer(finding("plateau", Severity.INFO))], [MadeCause("a", SURE)])
    assert told.status == "healthy"
    assert not told.has_alarm
    assert told.requests == ()


def test_a_run_without_metrics_says_what_is_missing() -> None:
    empty = judge([], run=Run("empty"))
    assert empty.status == "no_metrics"
    assert "training log" in empty.requests[0]


def test_a_sure_cause_completes_the_diagnosis() -> None:
    told = judge([MadeAnalyzer(finding())], [MadeCause("a", SURE, requests=["log more"])])
    assert told.status == "diagnosis_complete"
    assert told.requests == ()


def test_an_unsure_cause_asks_for_what_tells_rivals_apart() -> None:
    causes = [MadeCause("a", HALF, requests=["log x"]), MadeCause("b", HALF, requests=["log y"])]
    told = judge([MadeAnalyzer(finding())], causes)
    assert told.status == "needs_more_data"
    assert told.requests[:2] == ("log x", "log y")
    assert told.ties == (("a", "b"),)


def test_rivals_far_apart_or_of_other_findings_are_no_tie() -> None:
    far = judge([MadeAnalyzer(finding())], [MadeCause("a", SURE), MadeCause("b", HALF)])
    assert far.ties == ()
    other = judge(
        [MadeAnalyzer(finding()), MadeAnalyzer(finding("stall"))],
        [MadeCause("a", HALF), MadeCause("b", HALF, explains=("stall",))],
    )
    assert other.ties == ()


def test_findings_come_gravest_and_earliest_first() -> None:
    late, early = finding(step=9), finding("stall", step=2)
    grave, told = finding("nan_loss", Severity.CRITICAL), finding("plateau", Severity.INFO, step=1)
    found = judge([MadeAnalyzer(*each) for each in ([late], [told], [grave], [early])]).findings
    assert found == (grave, early, late, told)


def test_fixes_are_those_of_the_best_cause_first_and_none_twice() -> None:
    many = [fix(change=f"change {number}") for number in range(MAX_FIXES + 3)]
    told = judge(
        [MadeAnalyzer(finding())],
        [
            MadeCause("b", HALF, fixes=[fix(change="same"), *many]),
            MadeCause("a", [*HALF, Clue(0.5, CONFIG_EVIDENCE)], fixes=[fix("a", "same")]),
        ],
    )
    assert [each.addresses for each in told.fixes[:2]] == ["a", "lr_too_high"]
    assert len(told.fixes) == MAX_FIXES


def test_an_analyzer_that_raises_is_reported_and_the_others_go_on() -> None:
    broken = MadeAnalyzer(finding("stall"), error=ZeroDivisionError("x"))
    told = judge([broken, MadeAnalyzer(finding())])
    assert [f.id for f in told.findings] == ["loss_spike", "stall"]
    assert told.problems == ("analyzer 'stall' failed: ZeroDivisionError: x",)


def test_an_analyzer_that_yields_something_else_is_reported() -> None:
    class Chatty(MadeAnalyzer):
        def examine(self, view: object) -> Any:
            return ["loss is bad"]

    told = judge([Chatty(), MadeAnalyzer(finding())])
    assert [f.id for f in told.findings] == ["loss_spike"]
    assert "'made'" in told.problems[0]
    assert "str" in told.problems[0]


def test_findings_of_a_comparison_are_part_of_the_answer() -> None:
    with registered([], []):
        told = diagnose(make_run({"loss": [1.0, 2.0]}), (finding("nondeterminism"),))
    assert [f.id for f in told.findings] == ["nondeterminism"]


def test_a_log_that_ends_early_without_a_last_word_asks_why(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {n}/400 loss {2 * 0.98**n:.4f}\n" for n in range(120)))
    long_ago = time.time() - 20 * 86_400
    os.utime(log, (long_ago, long_ago))
    run = Run("old")
    read_file(run, str(log))
    told = diagnose(run)
    assert told.status == "healthy"
    assert "step 119 of 400" in told.requests[0]
    log.write_text("".join(f"step {n}/400 loss {2 * 0.98**n:.4f}\n" for n in range(401)))
    run = Run("whole")
    read_file(run, str(log))
    assert diagnose(run).requests == ()
