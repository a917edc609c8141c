"""Slower by plan, slower by learning, and slower as a bar shows it."""

from __future__ import annotations

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.loss.judging import alarms, found
from tests.analyzers.made import read_log

LOSS = "train/loss: 4>1~0.05*300"


def test_several_rises_to_levels_that_hold_are_a_plan() -> None:
    staged = f"step_time: 0.3~0.003*100 0.6~0.006*100 0.9~0.009*100 ; {LOSS}"
    assert found(staged, "throughput_drop").severity is Severity.INFO
    assert "throughput_drop" in alarms(f"step_time: 0.3~0.003*150 0.9~0.009*150 ; {LOSS}")


def test_the_way_down_to_a_slow_level_is_no_stage() -> None:
    hot = f"tokens_per_sec: 1000~20*170 1000>450~10*30 450~10*100 ; {LOSS}"
    assert "throughput_drop" in alarms(hot)


def test_an_environment_gets_slower_as_the_agent_learns_but_not_at_once() -> None:
    agent = "reward: 1>20*300 ; policy_loss: 0.1~0.05*300"
    assert "throughput_drop" in alarms(f"step_time: 0.3~0.003*150 0.9~0.009*150 ; {agent}")
    assert "throughput_drop" not in alarms(f"step_time: 0.3>0.6~0.003*300 ; {agent}")


def test_a_slow_down_that_only_the_redraws_of_a_bar_show() -> None:
    drawn = "\r".join(
        f"Epoch 0:  50%|#####     | {n}/300 [00:01<00:01, loss={3 - n / 150:.4f}, "
        f"samples_per_sec={1500 / (1 + n / 100) + n % 7:.1f}]"
        for n in range(1, 301)
    )
    told = diagnose(read_log(drawn + "\n"))
    assert "throughput_drop" in {finding.id for finding in told.findings}
