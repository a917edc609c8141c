"""Whether the planned change was made."""

from __future__ import annotations

import pytest

from mltd.runs.run import Run
from mltd.sessions.comparison.planned import planned_of
from mltd.sessions.model.result import BeforeAfter, Outcome
from tests.analyzers.made import make_run, read_log

from .made import curve, experiment, judged

PASSED, FAILED, INCONCLUSIVE = Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("lr 6e-4 -> 2e-4", [("lr", 6e-4, 2e-4)]),
        ("learning_rate = 0.001 → 0.0003", [("learning_rate", 0.001, 0.0003)]),
        ("lower the learning rate from 6e-4 to 2e-4", [("learning rate", 6e-4, 2e-4)]),
        ("optimizer.weight_decay: 0.1 => 0", [("optimizer.weight_decay", 0.1, 0.0)]),
        ("lr 1 -> 2, dropout .1 -> .3", [("lr", 1.0, 2.0), ("dropout", 0.1, 0.3)]),
        ("clip gradients at 1.0", []),
        ("lr 6e-4 -> 10%", []),
        ("precision fp16 -> bf16", []),
        ("batch size 64 to 128k", []),
        ("", []),
    ],
)
def test_changes_are_read(change: str, found: list[tuple[str, float, float]]) -> None:
    assert [(one.name, one.old, one.new) for one in planned_of(change)] == found


def run(
    level: float, rates: list[float] | None = None, config: dict[str, object] | None = None
) -> Run:
    columns = {"train_loss": curve(level, 300).tolist()}
    if rates is not None:
        columns["lr"] = rates
    return make_run(columns, config=config)


def ramped(peak: float, count: int = 300, warmup: int = 40) -> list[float]:
    return [peak * min(1.0, (k + 1) / warmup) for k in range(count)]


def tried(after: Run, change: str = "lr 6e-4 -> 2e-4", before: Run | None = None) -> BeforeAfter:
    planned = experiment("train/loss improves by 10%", change=change)
    return judged(before or run(2.0, ramped(6e-4)), after, planned)


def test_a_run_as_planned_is_judged_by_its_criteria_alone() -> None:
    passed = tried(run(1.5, ramped(2.1e-4)))
    assert (passed.outcome, len(passed.criteria)) == (PASSED, 1)
    assert tried(run(2.0, ramped(2e-4))).outcome is FAILED


@pytest.mark.parametrize("level", [1.5, 2.0, 3.0], ids=["better", "equal", "worse"])
def test_a_run_without_the_change_tests_nothing(level: float) -> None:
    result = tried(run(level, ramped(6e-4)))
    assert (result.outcome, result.excludes_success) == (INCONCLUSIVE, False)
    said = "the change is not visible in this run: lr is 6e-4, planned was 2e-4"
    assert said in result.summary
    assert result.criteria[0].said == said
    other = tried(run(level, ramped(9e-4)))
    assert other.outcome is INCONCLUSIVE
    assert "lr is 9e-4 in this run, planned was 2e-4" in other.summary


@pytest.mark.parametrize("rate", [3e-4, 4.5e-4, 1e-4], ids=["half", "part", "more"])
def test_more_or_less_of_the_planned_change_tests_it_too(rate: float) -> None:
    assert tried(run(1.5, ramped(rate))).outcome is PASSED
    assert tried(run(1.5, ramped(5.5e-4))).outcome is INCONCLUSIVE


def test_nor_does_one_that_fails_on_the_same_error_without_it() -> None:
    error = ('Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n'
             "    go()\nRuntimeError: it broke\n")  # fmt: skip
    lines = "".join(f"step {k} loss 2.0 lr 6e-4\n" for k in range(100))
    crashed = read_log(lines + error)
    result = tried(crashed, before=crashed)
    assert (result.outcome, result.excludes_success) == (INCONCLUSIVE, False)
    assert "the change is not visible" in result.summary
    assert "RuntimeError: it broke" in result.summary


@pytest.mark.parametrize(
    ("change", "config", "outcome"),
    [
        ("weight_decay 0.1 -> 0.3", {"optim": {"wd": 0.3}}, PASSED),
        ("weight_decay 0.1 -> 0.3", {"optim": {"wd": "0.1"}}, INCONCLUSIVE),
        ("batch size 64 to 128", {"train_batch_size": 64}, INCONCLUSIVE),
        ("dropout 0.1 -> 0", {"dropout": 0.0}, PASSED),
        ("dropout 0.1 -> 0", {"dropout": 0.1}, INCONCLUSIVE),
        ("beta2 0.999 -> 0.95", {"beta2": 0.999}, INCONCLUSIVE),
        ("my_own_knob 1 -> 5", {"my_own_knob": 1}, INCONCLUSIVE),
        ("my_own_knob 1 -> 5", {"other": 1}, PASSED),
        ("lr 6e-4 -> 2e-4", {"learning_rate": 6e-4}, INCONCLUSIVE),
    ],
)
def test_what_is_not_logged_is_read_off_the_settings(
    change: str, config: dict[str, object], outcome: Outcome
) -> None:
    assert tried(run(1.5, config=config), change, run(2.0)).outcome is outcome


def test_a_warmup_that_goes_on_is_compared_with_the_other_run_up_to_there() -> None:
    before = run(2.0, ramped(6e-4, warmup=600))
    stated: dict[str, object] = {"lr": 6e-4}
    as_planned = run(1.5, ramped(2e-4, warmup=600), stated)  # the log counts, not the file
    assert tried(as_planned, before=before).outcome is PASSED
    unchanged = run(1.5, ramped(6e-4, warmup=600), stated)
    assert tried(unchanged, before=before).outcome is INCONCLUSIVE
    # Alone it tells nothing, and what the run states counts.
    alone = run(2.0)
    rising = ramped(2e-4, warmup=600)
    assert tried(run(1.5, rising), before=alone).outcome is PASSED
    assert tried(run(1.5, rising, {"lr": 6e-4}), before=alone).outcome is INCONCLUSIVE


def test_where_the_run_before_is_not_as_told_nothing_is_claimed() -> None:
    before = run(2.0, ramped(1e-2))
    assert tried(run(1.5, ramped(5e-3)), before=before).outcome is PASSED
