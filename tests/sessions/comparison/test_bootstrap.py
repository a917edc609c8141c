"""The interval covers the truth as often as it says, however much the points remember."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.comparison import bootstrap
from mltd.sessions.comparison.bootstrap import Blocks, plan, resample, resample_one
from mltd.sessions.comparison.levels import level_of

from .made import remembering

TRIALS = 160
CHANGE = -0.1


def coverage(memory: float, count: int, *, is_paired: bool, seed: int = 7) -> float:
    """How often the interval holds the change by which two processes really differ."""
    random = np.random.default_rng(seed)
    x = np.arange(count, dtype=float)
    places = (x, x if is_paired else x + 0.25)
    at = (float(places[0].mean()) + float(places[1].mean())) / 2
    hits = 0
    for _ in range(TRIALS):
        before = 2.0 + 0.1 * remembering(count, memory, random)
        after = 2.0 * (1 + CHANGE) + 0.1 * remembering(count, memory, random)
        levels = level_of(places[0], before, at), level_of(places[1], after, at)
        assert levels[0] is not None
        assert levels[1] is not None
        drawn = resample(levels[0], levels[1])
        low, high = np.quantile((drawn.after - drawn.before) / drawn.before, (0.025, 0.975))
        hits += low <= CHANGE <= high
    return hits / TRIALS


@pytest.mark.parametrize("is_paired", [True, False], ids=["same steps", "other steps"])
@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_interval_covers_the_truth_in_about_95_of_100(memory: float, is_paired: bool) -> None:
    assert 0.88 <= coverage(memory, 100, is_paired=is_paired) <= 0.997


@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_it_does_with_ten_points_too(memory: float) -> None:
    assert coverage(memory, 10, is_paired=True) >= 0.88


def test_single_points_drawn_again_would_promise_far_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bootstrap, "plan", lambda *noise: Blocks(1, 1.0))
    assert coverage(0.0, 100, is_paired=True) > 0.9
    assert coverage(0.5, 100, is_paired=True) < 0.85
    assert coverage(0.9, 100, is_paired=True) < 0.5


def test_blocks_are_as_long_as_the_noise_remembers() -> None:
    random = np.random.default_rng(1)
    lengths = [plan(remembering(200, memory, random)).length for memory in (0.0, 0.5, 0.9)]
    assert lengths == sorted(lengths)
    assert lengths[0] <= 3
    assert lengths[2] >= 12


def test_what_both_runs_have_in_common_cancels_out_at_equal_steps() -> None:
    random = np.random.default_rng(2)
    x, batches = np.arange(100.0), random.normal(size=100)
    own = 0.1 * random.normal(size=(2, 100))
    first, second = level_of(x, 2 + batches + own[0]), level_of(x, 2 + batches + own[1])
    assert first is not None
    assert second is not None
    drawn = resample(first, second)
    alone = np.std(resample_one(first))
    assert np.std(drawn.after - drawn.before) < alone / 3


def test_a_straight_descent_is_no_noise() -> None:
    x = np.arange(50.0)
    level = level_of(x, 3 - 0.02 * x)
    assert level is not None
    assert level.value == pytest.approx(3 - 0.02 * 24.5)
    assert np.ptp(resample_one(level)) < 1e-9


def test_the_same_numbers_come_out_each_time() -> None:
    level = level_of(np.arange(30.0), np.random.default_rng(0).normal(size=30))
    assert level is not None
    assert np.array_equal(resample_one(level), resample_one(level))


@given(st.lists(st.floats(-1.0, 1.0), min_size=5, max_size=600))
def test_any_noise_can_be_drawn_again(values: list[float]) -> None:
    level = level_of(np.arange(len(values), dtype=float), np.array(values))
    assert level is not None
    drawn = resample_one(level)
    assert len(drawn) == bootstrap.RESAMPLES
    assert np.isfinite(drawn).all()
