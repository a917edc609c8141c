"""What counts where criteria say different things, and where the runs have been."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mltd.runs.run import Run
from mltd.sessions.comparison.case import Case
from mltd.sessions.comparison.judged import Judged, Weight
from mltd.sessions.comparison.verdict import Ruled, Sort, Verdict, rule
from mltd.sessions.model.experiment import Purpose
from mltd.sessions.model.result import Outcome
from tests.analyzers.made import make_run, read_log

from .made import Values, curve, experiment, judged

PASSED, FAILED, INCONCLUSIVE = Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE
FINITE = "train/loss stays finite"
BETTER = "train/loss improves by 10%"
MEMORY = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def printed(steps: int, error: str = "") -> Run:
    lines = "".join(f"step {k} loss {3 - k * 0.001:.3f}\n" for k in range(steps))
    trace = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    go()\n'
    return read_log(lines + (f"{trace}{error}\n" if error else ""))


def diverging(at: int, count: int = 1000, seed: int = 0) -> Values:
    values = curve(2.0, count, seed=seed)
    values[at:] += np.minimum(6.0, 0.05 * np.arange(count - at))
    return values


# -- the order -------------------------------------------------------------------------------

RULES = (
    Judged(INCONCLUSIVE, "made without the change", weight=Weight.NO_TEST),
    Judged(FAILED, "not finite", weight=Weight.GRAVE),
    Judged(INCONCLUSIVE, "not there yet", needed=7, weight=Weight.EARLY),
    Judged(FAILED, "short of it"),
    Judged(INCONCLUSIVE, "noise", needed=9),
    Judged(PASSED, "fine"),
)


@pytest.mark.parametrize("first", range(len(RULES)))
def test_what_stands_first_in_the_order_decides(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last first: the order of the criteria themselves does not matter.
    ruled = tuple(Ruled(one.said, one) for one in reversed(RULES[first:]))
    monkeypatch.setattr("mltd.sessions.comparison.verdict._successes", lambda *_: iter(ruled))
    verdict = rule(Case(()), None)
    assert verdict.outcome is RULES[first].outcome
    assert verdict.deciding is not None
    assert verdict.deciding.judged is RULES[first]
    assert verdict.needed == RULES[first].needed


def test_a_guard_that_is_not_shown_does_not_count() -> None:
    unknown = Ruled("guard", Judged(INCONCLUSIVE, "noise", is_blocking=False), Sort.GUARD)
    passed = Ruled("target", Judged(PASSED, "fine"))
    assert Verdict(PASSED, None, (unknown, passed)).deciding is passed


# -- runs that failed ------------------------------------------------------------------------


@pytest.mark.parametrize("success", ["", FINITE, "train/loss is below 99"])
def test_the_same_error_again_fails_whatever_else_was_asked(success: str) -> None:
    again = judged(printed(300, MEMORY), printed(330, MEMORY), experiment(success))
    assert (again.outcome, again.excludes_success) == (FAILED, True)
    assert "failed again: torch.cuda.OutOfMemoryError" in again.summary


def test_another_error_fails_as_well_but_excludes_nothing() -> None:
    other = judged(printed(300, MEMORY), printed(330, "KeyError: 'x'"), experiment(FINITE))
    assert (other.outcome, other.excludes_success) == (FAILED, False)
    newly = judged(printed(300), printed(300, MEMORY), experiment(FINITE))
    assert newly.outcome is FAILED


@pytest.mark.parametrize("success", ["", FINITE, BETTER])
def test_a_run_that_did_not_come_to_the_error_shows_nothing(success: str) -> None:
    early = judged(printed(300, MEMORY), printed(150), experiment(success))
    assert early.outcome is INCONCLUSIVE
    assert early.needed == 180
    assert "it ended before it came to step 299, where the run before failed" in early.summary


def test_a_run_that_goes_on_past_the_error_is_judged_by_what_was_asked() -> None:
    before, after = printed(300, MEMORY), printed(500)
    passed = judged(before, after, experiment(FINITE))
    assert passed.outcome is PASSED
    assert "past step 299, where the run before failed" in passed.summary
    assert judged(before, after, experiment(BETTER)).outcome is FAILED


def test_how_far_a_run_came_is_read_off_what_it_writes_most_often() -> None:
    def run(steps: int, error: str) -> Run:
        lines = (f"step {k} loss 2.0" + (f" val_loss {2 + k % 3 / 50}" if k % 50 == 0 else "")
                 for k in range(steps))  # fmt: skip
        return read_log("\n".join(lines) + f"\n{error}\n")

    trace = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    go()\n'
    result = judged(run(340, trace + MEMORY), run(345, ""), experiment("val/loss is below 9"))
    assert result.outcome is INCONCLUSIVE
    assert "step 339, where the run before failed" in result.summary
    assert "1 more point of val_loss" in result.summary


def test_a_run_that_failed_before_its_first_point_is_outlived_by_any_training() -> None:
    crashed = printed(0, MEMORY)
    assert judged(crashed, printed(50), experiment(FINITE)).outcome is PASSED
    few = judged(crashed, printed(2), experiment(FINITE))
    assert (few.outcome, few.needed) == (INCONCLUSIVE, 3)


def test_a_reproduction_with_criteria_need_not_survive() -> None:
    planned = experiment("train/loss is above 1", purpose=Purpose.REPRODUCTION)
    assert judged(printed(300, MEMORY), printed(300, MEMORY), planned).outcome is PASSED


# -- runs that did not come to the incident --------------------------------------------------


@pytest.mark.parametrize("success", ["", BETTER, "train/loss is below 1", "train/loss is above 9"])
def test_before_the_place_of_the_incident_nothing_can_be_short_of_anything(success: str) -> None:
    result = judged(diverging(700), curve(2.0, seed=1)[:600], experiment(success), onset=700.0)
    assert (result.outcome, result.excludes_success) == (INCONCLUSIVE, False)
    assert "it ended before it came to step 700, where the incident" in result.summary
    assert result.needed == 171


def test_a_run_that_goes_on_has_not_come_there_so_far() -> None:
    result = judged(diverging(700), curve(2.0, seed=1)[:600], experiment(BETTER), onset=700.0,
                    is_running=True)  # fmt: skip
    assert result.outcome is INCONCLUSIVE
    assert "so far it has not come to step 700, where the incident" in result.summary


def test_a_few_steps_past_it_are_not_enough_unless_the_run_before_ended_there() -> None:
    few = judged(diverging(700), curve(2.0, seed=1)[:703], experiment(FINITE), onset=700.0)
    assert few.outcome is INCONCLUSIVE
    assert "it has not gone well past step 700" in few.summary
    before = diverging(940)
    assert judged(before, curve(2.0, seed=1), experiment(FINITE), onset=940.0).outcome is PASSED


def test_what_is_measured_seldom_must_have_been_measured_there() -> None:
    def run(values: Values) -> Run:
        lines = (f"step {k} loss {value}" + (f" val_loss {value}" if k % 50 == 0 else "")
                 for k, value in enumerate(values))  # fmt: skip
        return read_log("\n".join(lines) + "\n")

    runs = run(diverging(600)), run(curve(2.0, seed=1)[:690])
    result = judged(*runs, experiment("val/loss improves by 10%"), onset=600.0)
    assert (result.outcome, result.needed) == (INCONCLUSIVE, 3)
    assert "too little is measured behind step 600" in result.summary


def guarded(level: float, speed: float, count: int, seed: int) -> Run:
    noise = np.random.default_rng(seed).normal(0, 1, count)
    return make_run({"train_loss": curve(level, 1000, seed=seed)[:count].tolist(),
                     "tokens/s": (speed + noise).tolist()})  # fmt: skip


def test_guards_fail_nothing_before_that_place_and_are_named() -> None:
    before, slow = guarded(2.0, 100, 1000, 0), guarded(2.0, 50, 600, 1)
    early = judged(before, slow, experiment(FINITE), onset=700.0)
    assert early.outcome is INCONCLUSIVE
    assert "regressed so far: throughput" in early.summary
    there = judged(before, guarded(2.0, 50, 1000, 1), experiment(FINITE), onset=700.0)
    assert there.outcome is FAILED


def lost(values: Values, at: int) -> Values:
    values = values.copy()
    values[at:] = math.nan
    return values


def test_what_is_really_bad_is_bad_before_that_place_as_well() -> None:
    before = diverging(700)
    nan = judged(before, lost(curve(2.0, seed=1)[:600], 590), experiment(BETTER), onset=700.0)
    assert nan.outcome is FAILED
    worse = curve(2.6, seed=1)[:600]
    for success in (BETTER, "train/loss is below 2"):
        assert judged(before, worse, experiment(success), onset=700.0).outcome is FAILED
    failure = experiment(BETTER, failure="train/loss is above 1.5")
    assert judged(before, curve(2.0, seed=1)[:600], failure, onset=700.0).outcome is FAILED


def test_a_run_that_learns_a_little_slower_up_to_there_is_not_refuted() -> None:
    slower = curve(2.06, seed=1)[:600]
    assert judged(diverging(700), slower, experiment(BETTER), onset=700.0).outcome is INCONCLUSIVE


# -- overwhelming differences ----------------------------------------------------------------


def test_a_jump_inside_the_window_is_no_noise() -> None:
    before = [2.5] * 12 + [4.2, 5.9, 7.5, 8.5, 8.5, 8.4, 8.5, 8.5]
    after = [2.5 + 0.01 * (k % 3) for k in range(20)]
    planned = experiment("val/loss improves by 10%")
    result = judged(before, after, planned, name="val_loss", onset=12.0)
    assert result.outcome is PASSED
    assert "(-66.5%)" in result.summary
    assert judged(before, after, planned, name="val_loss").outcome is INCONCLUSIVE


def test_values_that_are_all_better_by_more_than_was_asked_are_no_noise() -> None:
    before = [9.0, 4.0, 9.0, 4.1, 8.9, 9.1, 4.0, 9.0, 4.2, 9.0]
    result = judged(before, [3.0, 2.0, 1.0, 2.9, 1.1] * 2, experiment(BETTER))
    assert result.outcome is PASSED
    near = judged(before, [3.9, 2.0, 1.0, 3.9, 1.1] * 2, experiment(BETTER))
    assert "every value after" not in near.summary


# -- the ends of both runs -------------------------------------------------------------------


def overfitting(count: int) -> Run:
    x = np.arange(count)
    noise = np.random.default_rng(3).normal(0, 0.01, 1000)[:count]
    val = 2.0 + 3 * np.exp(-x / 60) + 0.002 * np.maximum(0, x - 300) + noise
    return make_run({"val_loss": val.tolist(), "train_loss": (3 - 0.002 * x).tolist()})


def test_stopping_early_is_judged_by_what_each_run_ended_with() -> None:
    planned = experiment("val/loss improves by 10%")
    runs = overfitting(1000), overfitting(320)
    result = judged(*runs, planned, onset=400.0, at_end=True)
    assert result.outcome is PASSED
    assert "at the end of each run" in result.summary
    assert judged(*runs, planned, onset=400.0).outcome is INCONCLUSIVE
    assert judged(runs[0], runs[0], planned, at_end=True).outcome is FAILED
