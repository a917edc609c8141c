"""What a change costs, and the words for it."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.runs.run import Run
from mltd.sessions.comparison.wording import cost_text, duration, number, percent, sentence, where
from mltd.sessions.model.result import Cost, MetricChange
from tests.tui.engine.made_runs import make_run

from .made import judged


def timed(seconds: float, count: int = 100, pause: float = 0.0) -> Run:
    moments = 1_790_000_000 + seconds * np.arange(count) + pause * (np.arange(count) > count // 2)
    return make_run({"loss": [2.0] * count}, step=range(count), time=moments.tolist())


def test_time_is_that_of_the_stretch_both_runs_went() -> None:
    cost = judged(timed(10.0, 200), timed(12.0, 101)).cost
    assert cost.seconds == pytest.approx((1000.0, 1200.0))
    assert cost.time_ratio == pytest.approx(1.2)
    assert cost_text(cost) == ("takes 20% longer (16 min 40 s -> 20 min over the same stretch)")


def test_a_night_between_two_parts_is_no_cost_of_the_change() -> None:
    cost = judged(timed(10.0), timed(10.0, pause=40_000.0)).cost
    assert cost.time_ratio == pytest.approx(1.0)


def test_without_times_nothing_is_said() -> None:
    cost = judged([2.0] * 50, [2.0] * 50).cost
    assert cost == Cost()
    assert cost_text(cost) == ""


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (Cost(throughput=(1000.0, 850.0)), "throughput 1000 -> 850 (-15.0%)"),
        (Cost(seconds=(100.0, 100.2)), "takes as long (1 min 40 s -> 1 min 40 s over the same "
                                       "stretch)"),
        (Cost(seconds=(30.0, 90.0)), "takes 3 times as long (30 s -> 1 min 30 s over the same "
                                     "stretch)"),
        (Cost(seconds=(100.0, 50.0)), "takes 50% less time (1 min 40 s -> 50 s over the same "
                                      "stretch)"),
    ],
)  # fmt: skip
def test_costs_in_words(cost: Cost, said: str) -> None:
    assert cost_text(cost) == said


def test_numbers_in_words() -> None:
    assert [number(value) for value in (2.31, 12345.6, float("nan"), float("inf"), None)] == [
        "2.31", "12346", "NaN", "inf", "none"
    ]  # fmt: skip
    assert [percent(share) for share in (-0.143, 0.0, 25.0, 1e9)] == [
        "-14.3%", "0.0%", "+2,500%", "+1.0e+11%"
    ]  # fmt: skip
    assert [duration(seconds) for seconds in (3.0, 3600.0, 90_061.0, None)] == [
        "3 s", "1 h", "1 d 1 h", "?"
    ]  # fmt: skip


def test_a_change_in_a_sentence() -> None:
    change = MetricChange(
        name="val/loss", window=(900, 1000), before=2.31, after=1.98, change=-0.143, low=-0.17,
        high=-0.112,
    )  # fmt: skip
    assert sentence(change) == (
        "val/loss 2.31 -> 1.98 (-14.3%, 95% interval -17.0..-11.2%), over steps 900..1000"
    )
    assert where(MetricChange(name="a", axis="final")) == "at the end of each run"
    assert where(MetricChange(name="a", axis="epoch", window=(3, 3))) == "at epoch 3"
    assert where(MetricChange(name="a", axis="step")) == ""
