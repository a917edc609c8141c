"""loss_spike: up and back."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import read_log

from .judging import alarms, found, judge


def test_begin_and_end_are_named() -> None:
    finding = found("train/loss: 4>2~0.05*300 6 7 6.5 5 4 3 2~0.05*100", "loss_spike")
    assert (finding.first_step, finding.last_step) == (300, 306)
    assert finding.severity is Severity.WARNING
    assert "from 2" in finding.title


def test_a_hard_batch_is_no_alarm() -> None:
    assert alarms("train/loss: 4>2~0.05*300 2.9 2~0.05*100") == set()


def test_a_single_value_above_all_that_was_is_one() -> None:
    assert "loss_spike" in alarms("train/loss: 4>2~0.05*300 30 2~0.05*100")
    assert "loss_spike" not in alarms("train/loss: 4>2~0.05*300 7 2~0.05*100")


def test_a_step_that_sticks_out_once_an_epoch_is_a_hard_batch() -> None:
    assert alarms("train/loss: 4>2~0.05*300 (30 2~0.05*139)*4") == set()
    assert "loss_spike" in alarms("train/loss: 4>2~0.05*300 30 2~0.05*40 30 2~0.05*200 30 2*90")


def test_each_spike_is_reported_once() -> None:
    example = "train/loss: 4>2~0.05*300 (6 7 6.5 5 2~0.05*150)*3"
    spikes = [f for f in judge(example).findings if f.id == "loss_spike"]
    assert len(spikes) == 3


def test_noise_is_no_spike() -> None:
    assert alarms("train/loss: 4>2~0.6*1000") == set()


@pytest.mark.parametrize("seed", range(4))
def test_losses_of_one_sample_range_over_decades(seed: int) -> None:
    tails = np.random.default_rng(seed).chisquare(1, 900) * np.geomspace(1.0, 0.3, 900)
    assert "loss_spike" not in alarms("train/loss: " + " ".join(f"{v:.5g}" for v in tails))


def test_a_low_first_value_among_wide_noise_is_no_explosion() -> None:
    tails = np.random.default_rng(3).chisquare(2, 240) * np.geomspace(1.0, 0.1, 240)
    tails[0], tails[4:7] = 0.05, (2.1, 1.9, 2.4)
    assert "loss_spike" not in alarms("train/loss: " + " ".join(f"{v:.5g}" for v in tails))


def test_a_high_value_that_came_before_is_no_spike() -> None:
    calm = "0.15 0.1 0.2 0.13 0.08 0.12 0.17"
    log = f"train/loss: 0.2 {calm} 0.55 0.45 ({calm})*4 0.56 ({calm})*4 ; step: 10>430*68"
    assert "loss_spike" not in alarms(log)


def test_a_rise_with_each_restart_of_the_rate_is_planned() -> None:
    loss = "train/loss: 1>0.5~0.01*130 0.9>0.55~0.01*8 0.5~0.01*40"
    restarts = "lr: (0.1>0.001*65)*2 0.1>0.001*48"
    assert "loss_spike" in alarms(loss)
    assert "loss_spike" not in alarms(f"{loss} ; {restarts}")


@pytest.mark.parametrize(("jump", "is_spike"), [(0.0, False), (1.5, True)])
def test_a_running_mean_that_wanders_up_and_back_has_no_spike(jump: float, is_spike: bool) -> None:
    chance = np.random.default_rng(5)
    raw = 0.23 + 0.3 * np.exp(-np.arange(900) / 60) + 0.1 * chance.standard_normal(900)
    raw[600:640] += 0.07
    raw[600:604] += jump
    smooth, values = float(raw[0]), []
    for value in raw:
        smooth = 0.98 * smooth + 0.02 * float(value)
        values.append(f"{smooth:.4f}")
    lines = [f"step {n} loss {value} lr 3e-4" for n, value in enumerate(values)]
    told = diagnose(read_log("\n".join(lines) + "\n")).findings
    assert any(f.id == "loss_spike" and f.is_alarm for f in told) == is_spike


@pytest.mark.parametrize(("later", "is_spike"), [([20.3, 23.6], False), ([9.3, 9.6], True)])
def test_the_first_of_several_high_values_is_a_tail(later: list[float], is_spike: bool) -> None:
    tuned = [7.4, 4.4, 6.1, 6.8, 8.4, 14.8, 6.1, 10.5, 6.4, 7.5, 8.4, 6.8, 9.2, 8.2, 5.4, 7.5, 6.2,
             9.8, 5.8, 28, 4, 10.4, 6.8, later[0], 7.6, 3.4, 11.7, 2.8, 10.8, 11.8, 5, later[1],
             6.7, 12.5, 9.3, 3.9, 8.4, 9.2, 9.8, 11.5]  # fmt: skip
    lines = [f"step {5 * n + 5} train loss {value / 1000:.4f}" for n, value in enumerate(tuned)]
    told = diagnose(read_log("\n".join(lines) + "\n")).findings
    assert any(f.id == "loss_spike" and f.is_alarm for f in told) == is_spike
