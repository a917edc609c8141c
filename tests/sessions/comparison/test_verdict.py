"""Verdicts: by the criteria fixed before, else by the default bar."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from mltd.runs.run import Run
from mltd.sessions.model.experiment import Purpose
from mltd.sessions.model.result import BeforeAfter, CriterionResult, Outcome
from tests.analyzers.made import make_run, read_log

from .made import Values, curve, experiment, judged, remembering

PASSED, FAILED, INCONCLUSIVE = Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE
ERROR = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    step()\n'


def criterion(result: BeforeAfter, word: str) -> CriterionResult:
    return next(one for one in result.criteria if word in one.criterion)


def lost(values: Values, at: int, until: int | None = None) -> Values:
    values = values[:until].copy()
    values[at:] = math.nan
    return values


def log(steps: int, error: str = "") -> str:
    lines = "".join(f"step {k} loss {3 - k * 0.001:.3f}\n" for k in range(steps))
    return lines + (f"{ERROR}{error}\n" if error else "")


# -- the default bar -------------------------------------------------------------------------


def test_an_improvement_beyond_noise_passes_and_says_its_numbers() -> None:
    result = judged(curve(2.0), curve(1.6, seed=1))
    assert result.outcome is PASSED
    assert re.fullmatch(
        r"train_loss 1\.9\d+ -> 1\.\d+ \(-\d+\.\d%, 95% interval -\d+\.\d\.\.-\d+\.\d%\), "
        r"over steps 900\.\.999",
        result.summary,
    )
    assert (result.needed, result.excludes_success) == (0, False)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_two_runs_of_one_process_hardly_ever_pass(memory: float) -> None:
    random = np.random.default_rng(11)
    passed = 0
    for _ in range(60):
        first, second = (2 + 0.3 * remembering(600, memory, random) for _ in range(2))
        passed += judged(first, second).outcome is PASSED
    assert passed <= 3


def test_a_fifth_less_is_seen_through_modest_noise() -> None:
    passed = sum(
        judged(curve(2.0, 400, 0.2, seed), curve(1.6, 400, 0.2, seed + 50)).outcome is PASSED
        for seed in range(20)
    )
    assert passed >= 18


def test_too_small_an_improvement_fails_and_more_points_would_not_help() -> None:
    result = judged(curve(2.0), curve(1.94, seed=1))
    assert (result.outcome, result.excludes_success) == (FAILED, True)
    assert "short of the 10% asked for" in result.summary
    is_early = judged(curve(2.0), curve(1.94, seed=1), is_running=True)
    assert (is_early.is_preliminary, is_early.excludes_success) == (True, False)


def test_an_improvement_that_could_be_noise_is_inconclusive_and_says_what_it_takes() -> None:
    result = judged(curve(2.0, 200, 1.2), curve(1.6, 200, 1.2, seed=1))
    assert result.outcome is INCONCLUSIVE
    assert 1 <= result.needed < 100_000
    assert f"it takes at least {result.needed:,} more points of train_loss" in result.summary


def test_too_few_points_are_inconclusive() -> None:
    result = judged([3.0, 2.5, 2.2], [3.0, 2.0, 1.5], name="val_loss")
    assert (result.outcome, result.needed) == (INCONCLUSIVE, 7)
    assert "it takes at least 7 more points of val_loss" in result.summary


def test_the_validation_loss_decides_if_there_is_enough_of_it() -> None:
    def pair(count: int) -> BeforeAfter:
        columns = [{"train_loss": [3.0] * 100, "val_loss": [level] * count} for level in (2.0, 1.5)]
        before, after = map(make_run, columns)
        return judged(before, after)

    assert pair(100).changes[0].name == "val_loss"
    assert pair(3).changes[0].name == "train_loss"


def test_a_regression_of_a_guarded_metric_fails_a_good_fix() -> None:
    def run(level: float, speed: float, seed: int) -> Run:
        noise = np.random.default_rng(seed).normal(0, 10, 500)
        return make_run({"train_loss": curve(level, 500, seed=seed).tolist(),
                         "tokens/s": (speed + noise).tolist()})  # fmt: skip

    good = judged(run(2.0, 1000, 0), run(1.6, 990, 1))
    assert good.outcome is PASSED
    assert "no guarded metric regressed by more than 5%" in good.summary
    slow = judged(run(2.0, 1000, 0), run(1.6, 900, 1))
    assert (slow.outcome, slow.excludes_success) == (FAILED, False)
    assert criterion(slow, "throughput").outcome is FAILED
    assert criterion(slow, "throughput").is_guard
    assert "tokens/s" in slow.summary
    assert slow.cost.throughput_ratio == pytest.approx(0.9, abs=0.01)


def test_a_noisy_guard_does_not_fail_a_good_fix() -> None:
    random = np.random.default_rng(3)
    runs = [make_run({"train_loss": curve(level, 300, seed=seed).tolist(),
                      "tokens/s": random.normal(1000, 900, 300).tolist()})
            for seed, level in enumerate((2.0, 1.6))]  # fmt: skip
    result = judged(runs[0], runs[1])
    assert result.outcome is PASSED
    assert criterion(result, "throughput").outcome is INCONCLUSIVE
    assert "not shown" in result.summary


def test_speeds_of_different_things_are_not_guarded() -> None:
    before = make_run({"train_loss": curve(2.0).tolist(), "tokens/s": [9000.0] * 1000})
    after = make_run({"train_loss": curve(1.5).tolist(), "samples/s": [9.0] * 1000})
    result = judged(before, after)
    assert result.outcome is PASSED
    assert len(result.criteria) == 1


def test_a_cure_of_overfitting_may_make_the_training_loss_worse() -> None:
    runs = [make_run({"train_loss": curve(train, seed=seed).tolist(),
                      "val_loss": curve(val, seed=seed + 5).tolist()})
            for seed, (train, val) in enumerate(((1.0, 3.0), (1.5, 2.0)))]  # fmt: skip
    assert judged(runs[0], runs[1]).outcome is PASSED


# -- runs that are lost ----------------------------------------------------------------------


@pytest.mark.parametrize("end", [None, 601], ids=["goes on with NaN", "stops at NaN"])
def test_staying_finite_past_the_place_where_it_was_lost_passes(end: int | None) -> None:
    result = judged(lost(curve(2.0), 600, end), curve(2.0, seed=1))
    assert result.outcome is PASSED
    assert "past step 600, where it was lost before" in result.summary
    assert result.criteria[0].criterion == "train/loss stays finite"


def test_not_having_come_so_far_is_inconclusive() -> None:
    result = judged(lost(curve(2.0), 600, 601), curve(2.0, seed=1)[:605])
    assert result.outcome is INCONCLUSIVE
    assert result.needed == 56
    earlier = judged(lost(curve(2.0), 600, 601), curve(2.0, seed=1)[:300])
    assert earlier.outcome is not PASSED


@pytest.mark.parametrize("at", [700, 950])
def test_a_run_that_becomes_nan_has_failed_wherever_that_is(at: int) -> None:
    before = curve(2.0)[:800]
    result = judged(before, lost(curve(1.0, seed=1), at))
    assert (result.outcome, result.excludes_success) == (FAILED, True)


def test_going_on_where_the_run_before_failed_passes() -> None:
    crashed = read_log(log(300, "RuntimeError: CUDA error: an illegal memory access"))
    result = judged(crashed, read_log(log(500)))
    assert result.outcome is PASSED
    assert "past step 299, where the run before failed" in result.summary
    assert judged(crashed, read_log(log(302))).outcome is INCONCLUSIVE
    again = judged(crashed, crashed)
    assert (again.outcome, again.excludes_success) == (FAILED, True)
    assert "failed again: RuntimeError" in again.summary
    newly = judged(read_log(log(500)), crashed)
    assert newly.outcome is FAILED
    assert criterion(newly, "does not fail").outcome is FAILED


def test_a_run_that_was_stopped_by_somebody_did_not_fail() -> None:
    stopped = read_log(log(300, "KeyboardInterrupt"))
    assert judged(read_log(log(300)), stopped).criteria[0].criterion == "train/loss improves by 10%"
    assert judged(stopped, read_log(log(300))).criteria[0].criterion == "train/loss improves by 10%"


# -- criteria fixed before -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("success", "outcome"),
    [
        ("train/loss improves by 15%", PASSED),
        ("train/loss improves by 30%", FAILED),
        ("train_loss is below 1.8", PASSED),
        ("loss is below 1.5", FAILED),
        ("train/loss is above 1.9", FAILED),
        ("train/loss stays finite", PASSED),
        ("train/loss regresses by less than 5%", PASSED),
        ("train/loss improves by 15%; train/loss is below 1.5", FAILED),
    ],
)
def test_all_criteria_of_success_must_hold(success: str, outcome: Outcome) -> None:
    result = judged(curve(2.0), curve(1.6, seed=1), experiment(success))
    assert result.outcome is outcome
    assert [one.criterion for one in result.criteria if not one.is_guard]


def test_one_criterion_of_failure_is_enough() -> None:
    planned = experiment("train/loss improves by 10%", failure="train/loss is below 1.7")
    result = judged(curve(2.0), curve(1.6, seed=1), planned)
    assert result.outcome is FAILED
    assert criterion(result, "fails if").outcome is FAILED


def test_given_guards_replace_the_default_ones() -> None:
    levels = ((2.0, 10.0, 100.0), (1.6, 20.0, 99.0))
    runs = [make_run({"train_loss": curve(level, seed=seed).tolist(), "gpu_mem": [memory] * 1000,
                      "tokens/s": [speed] * 1000})
            for seed, (level, memory, speed) in enumerate(levels)]  # fmt: skip
    assert judged(runs[0], runs[1]).outcome is FAILED
    planned = experiment(guards="throughput regresses by less than 2%")
    assert judged(runs[0], runs[1], planned).outcome is PASSED
    strict = experiment(guards="throughput regresses by less than 0.5%")
    assert judged(runs[0], runs[1], strict).outcome is FAILED


def test_a_metric_that_is_not_logged_is_named_with_those_that_are_like_it() -> None:
    result = judged(curve(2.0), curve(1.6, seed=1), experiment("train/lss improves by 10%"))
    assert result.outcome is INCONCLUSIVE
    assert "the run after the change does not log train/lss" in result.summary
    assert "train_loss" in result.summary


def test_a_value_that_is_measured_once_counts() -> None:
    text = "".join(f"step {k} loss 2.0\n" for k in range(50)) + "test accuracy: 0.81\n"
    result = judged(read_log(text), read_log(text), experiment("test/accuracy is above 0.8"))
    assert result.outcome is PASSED
    assert criterion(result, "test/accuracy").said == "test accuracy ends at 0.81, measured once"


def test_a_level_too_close_to_the_bound_is_inconclusive() -> None:
    level = float(np.mean(curve(2.0, seed=1)[900:])) + 0.001
    result = judged(curve(2.0), curve(2.0, seed=1), experiment(f"train/loss is below {level}"))
    assert result.outcome is INCONCLUSIVE
    assert result.needed > 0


def test_what_the_incident_is_about_decides_if_it_is_known() -> None:
    runs = [make_run({"train_loss": [2.0] * 100, "tokens/s": [speed] * 100})
            for speed in (100.0, 150.0)]  # fmt: skip
    assert judged(runs[0], runs[1]).outcome is FAILED
    assert judged(runs[0], runs[1], incident="throughput").outcome is PASSED


# -- reproduction ----------------------------------------------------------------------------


def test_a_reproduction_passes_if_the_symptom_shows_again() -> None:
    planned = experiment(purpose=Purpose.REPRODUCTION)
    assert judged(curve(2.0), curve(2.05, seed=1), planned).outcome is PASSED
    assert judged(curve(2.0), curve(1.5, seed=1), planned).outcome is FAILED
    bad = lost(curve(2.0), 600)
    assert judged(bad, bad, planned).outcome is PASSED
    assert judged(bad, curve(2.0), planned).outcome is FAILED
    crashed = read_log(log(300, "RuntimeError: CUDA error: an illegal memory access"))
    assert judged(crashed, crashed, planned).outcome is PASSED
    assert judged(crashed, read_log(log(300)), planned).outcome is FAILED
    wide = judged(curve(2.0, 60, 3.0), curve(2.0, 60, 3.0, seed=1), planned)
    assert wide.outcome is INCONCLUSIVE


# -- the whole -------------------------------------------------------------------------------


def test_nothing_in_common_is_inconclusive() -> None:
    result = judged(make_run({}), make_run({}))
    assert (result.outcome, result.changes) == (INCONCLUSIVE, ())
    assert "share no metric" in result.summary
    apart = judged(
        make_run({"loss": [2.0] * 9}, steps=range(100, 109)), make_run({"loss": [1.0] * 9})
    )
    assert apart.outcome is INCONCLUSIVE
    assert "share no stretch of step" in apart.summary


def test_a_comparison_survives_the_way_to_the_disk() -> None:
    for result in (judged(curve(2.0), lost(curve(2.0), 500)), judged([1e308] * 9, [math.inf] * 9)):
        again = BeforeAfter.model_validate_json(result.model_dump_json())
        assert again.model_dump_json() == result.model_dump_json()


def test_of_hundreds_of_metrics_only_the_most_important_are_looked_into_in_depth() -> None:
    random = np.random.default_rng(0)
    names = [f"grad_norm/layers.{k}.w" for k in range(400)] + [f"metric {k}" for k in range(99)]
    columns = {name: (3 + random.normal(size=1000)).tolist() for name in ("train_loss", *names)}
    run = make_run(columns)
    result = judged(run, run)
    assert len(result.changes) == 500
    # Each takes milliseconds, and a person waits.
    assert sum(change.low is not None for change in result.changes) <= 64
    assert result.changes[0].low is not None
    assert result.changes[-1].low is None


# -- the place of the incident ---------------------------------------------------------------


def test_a_run_that_stops_before_the_incident_has_cured_nothing_yet() -> None:
    planned = experiment(success="train/loss improves by 10%; train/loss stays finite")
    short = judged(lost(curve(2.0), 700), curve(1.5, seed=1)[:650], planned)
    assert short.outcome is INCONCLUSIVE
    assert "step 700, where the incident showed itself" in short.summary
    assert short.needed >= 50
    long = judged(lost(curve(2.0), 700), curve(1.5, seed=1)[:900], planned)
    assert long.outcome is PASSED


def test_an_incident_that_left_numbers_is_waited_for_too() -> None:
    planned = experiment(success="train/loss improves by 10%")
    assert judged(curve(2.0), curve(1.5, seed=1)[:650], planned).outcome is PASSED
    told = judged(curve(2.0), curve(1.5, seed=1)[:650], planned, onset=700.0)
    assert told.outcome is INCONCLUSIVE
    elsewhere = judged(curve(2.0), curve(1.5, seed=1)[:650], planned, onset=70_000.0)
    assert elsewhere.outcome is PASSED


def test_a_failure_is_one_before_the_place_of_the_incident_as_well() -> None:
    planned = experiment(success="train/loss improves by 10%")
    worse = judged(curve(2.0), curve(2.6, seed=1)[:650], planned, onset=700.0)
    assert worse.outcome is FAILED
