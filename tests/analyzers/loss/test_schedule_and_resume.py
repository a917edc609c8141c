"""lr_anomaly, resume_discontinuity, oscillating_loss and the causes behind them."""

from __future__ import annotations

import pytest

from mltd.analyzers.diagnosis import Diagnostician
from tests.analyzers.made import read_log

from .judging import alarms, causes, found, ids, judge

JUMP = "train/loss: 2>1~0.01*100 3>2.5~0.05*100 ; lr: 0.001*100 0.01*100"


def test_a_jump_of_the_rate_is_found_and_explains_the_loss() -> None:
    finding = found(JUMP, "lr_anomaly")
    assert finding.first_step == 100
    assert "10x" in finding.title
    assert causes(JUMP)[0] in ("lr_schedule", "lr_too_high")
    assert set(causes(JUMP)[:2]) == {"lr_schedule", "lr_too_high"}


def test_a_rate_that_dies_early_is_found() -> None:
    example = "train/loss: 2>1.5~0.01*50 1.5~0.01*150 ; lr: 0.01>1e-6*50 1e-6*150"
    assert "lr_anomaly" in alarms(example)
    assert causes(example)[0] == "lr_schedule"


@pytest.mark.parametrize(
    "rate",
    [
        "0.0>0.01*20 0.01>0.0001*180",
        "0.1*100 0.01*50 0.001*50",
        "(0.1>0.001*50)*4",
        "0.001>0.01*100 0.01>0.0001*100",
        "0.01*200",
    ],
)
def test_schedules_that_are_meant(rate: str) -> None:
    assert "lr_anomaly" not in alarms(f"train/loss: 2>0.4~0.01*200 ; lr: {rate}")


def test_numbers_called_lr_that_are_no_schedule() -> None:
    assert "lr_anomaly" not in ids("train/loss: 2>0.4~0.01*200 ; lr: 0.3 0.3 1 1")


def test_a_rise_that_chance_seems_to_begin_begins_with_the_rate() -> None:
    loss = "train/loss: 0.6~0.05*90 0.4~0.02*6 0.55 0.56 0.5 2.8 3.6 107 6 3 1.05~0.03*80"
    example = f"{loss} ; lr: 0.001*98 0.12*86"
    assert found(example, "loss_divergence").first_step == 98
    assert found(loss, "loss_divergence").first_step == 96


def test_a_resume_that_jumps_up_lost_its_optimizer() -> None:
    example = "train/loss: 2>1~0.02*200 @150 1.9>1.4~0.02*100"
    assert found(example, "resume_discontinuity").first_step == 150
    assert causes(example)[0] == "stale_optimizer_state"


@pytest.mark.parametrize("thrown", [1.4, 0.36])
def test_a_small_rise_at_a_resume_counts_where_the_gradient_jumps_as_well(thrown: float) -> None:
    def record(step: int) -> str:
        noise = 0.05 * ((7 * step) % 11 - 5) / 5
        norm = thrown if step == 242 else 0.35 + 0.1 * noise
        level = 2.5 if step <= 240 else 2.64 - 0.001 * (step - 240)
        return f"iter {step}: loss {level + noise:.4f}, gnorm {norm:.3f}"

    lines = [record(step) for step in range(1, 400)]
    lines.insert(240, "Resuming training from out/ckpt.pt")
    told = Diagnostician(read_log("\n".join(lines))).diagnose()
    alarmed = [one.first_step for one in told.findings if one.id == "resume_discontinuity"]
    assert alarmed == ([241] if thrown > 1 else [])


def test_a_resume_that_jumps_down_sees_data_again() -> None:
    example = "train/loss: 2>1.5~0.02*200 @150 1.0>0.9~0.02*100 ; val/loss: 2.0 1.9 1.8 1.7 1.7 1.7"
    assert causes(example)[0] == "replayed_data"


def test_a_good_resume_is_quiet() -> None:
    assert alarms("train/loss: 2>1~0.02*200 @150 1.25>0.8~0.02*100") == set()


def test_a_period_is_an_oscillation_and_noise_is_not() -> None:
    assert "oscillating_loss" in alarms("train/loss: 2.3>1~0.02*60 (0.5 1.5 2.5 1.5)*14")
    assert "oscillating_loss" not in ids("train/loss: 2.3>1~0.5*400")


def test_what_is_left_of_a_loss_may_swing() -> None:
    assert "oscillating_loss" in ids("train/loss: 2.3>1~0.02*60 (0.5 0.7 0.9 0.7)*24")
    assert "oscillating_loss" not in ids(
        "train/loss: 2.3>0.01~0.0001*60 (0.01 0.012 0.014 0.012)*24"
    )


@pytest.mark.parametrize(("swing", "is_alarm"), [(0.1, False), (0.5, True)])
def test_the_same_batches_in_the_same_order_are_no_alarm(swing: float, is_alarm: bool) -> None:
    parts = (-swing, 0.0, swing, 0.0)
    lines = [
        f"epoch: {epoch}, batch_id: {500 * part}, loss: {1 + 2 / (epoch + 1) ** 2 + size:.4f}"
        for epoch in range(30)
        for part, size in enumerate(parts)
    ]
    told = Diagnostician(read_log("\n".join(lines) + "\n")).diagnose()
    (found,) = [finding for finding in told.findings if finding.id == "oscillating_loss"]
    assert found.is_alarm is is_alarm


def test_data_that_are_not_shuffled() -> None:
    example = "train/loss: 2.3>1~0.02*60 (0.5 1.5 2.5 1.5)*14 ; config: shuffle=false, lr=0.001"
    assert causes(example)[0] == "sequential_training"


def test_single_points_at_even_distances_are_no_swing() -> None:
    start = "train/loss: 2.3>1~0.02*60"
    assert alarms(f"{start} (1 0.97 1.03 1.01 0.98 1.02 0.5)*12") == set()
    assert alarms(f"{start} (1 0.97 1.03 1.5)*20") == set()
    assert "oscillating_loss" in alarms(f"{start} (1 1.5 1.3 1.4 0.9 0.5 0.7)*12")


def test_a_rate_that_dies_early_is_seen_under_a_noisy_loss() -> None:
    noisy = "train/loss: 2.6>2.3~0.5*20 2.3~0.5*180 ; lr: 0.01>1e-6*50 1e-6*150"
    assert found(noisy, "lr_anomaly").details["kind"] == "early_end"
    assert causes(noisy)[0] == "lr_schedule"


def test_a_warm_up_as_long_as_the_run_is_a_fault_of_the_schedule() -> None:
    example = "train/loss: 1.39~0.02*125 ; lr: 1e-8>3e-6*125 ; config: max_steps={}"
    assert found(example.format(125), "lr_anomaly").details["kind"] == "warming"
    assert causes(example.format(125))[0] == "lr_schedule"
    assert "lr_anomaly" not in alarms(example.format(2000))
    slowly = "train/loss: 4.7>4.1~0.02*125 ; lr: 1e-7>2e-5*125 ; config: max_steps=125"
    assert found(slowly, "lr_anomaly").details["kind"] == "warming"
    learns = "train/loss: 1.39>0.8~0.02*125 ; lr: 1e-5>3e-3*125 ; config: max_steps=125"
    assert "lr_anomaly" not in alarms(learns)


def test_a_jump_to_a_new_peak_that_hurts_is_no_end_of_a_warm_up() -> None:
    jump = "lr: 0.0001>0.003*6 0.003*44 0.12*31"
    assert "lr_anomaly" in alarms(f"train/loss: 4.7>2.5~0.05*50 3.4>2.9~0.1*31 ; {jump}")
    assert "lr_anomaly" not in alarms(f"train/loss: 4.7>2.5~0.05*50 2.5>2.1~0.05*31 ; {jump}")


def _rates(values: list[float]) -> str:
    losses = " ".join(f"{2 * 0.97**n + 0.1:.4f}" for n in range(len(values)))
    return f"train/loss: {losses} ; lr: {' '.join(f'{v:.6g}' for v in values)}"


def test_a_held_rate_that_grows_by_a_factor_has_a_decay_above_one() -> None:
    creeping = [0.001] * 15 + [0.001 * 1.1**n for n in range(1, 56)]
    finding = found(_rates(creeping), "lr_anomaly")
    assert (finding.details["kind"], finding.first_step) == ("creeping", 15)


@pytest.mark.parametrize(
    "values",
    [
        [1e-5 * 1.15**n for n in range(70)],
        [1e-5] * 15 + [1e-5 + 2e-5 * n for n in range(1, 56)],
        [0.001] * 15 + [0.001 * 1.02**n for n in range(1, 56)],
        [0.001] * 15 + [0.001 * 1.1**n for n in range(1, 31)] + [0.017 * 0.9**n for n in range(25)],
    ],
)
def test_searches_late_warm_ups_and_what_comes_down_again_have_none(values: list[float]) -> None:
    kinds = [f.details["kind"] for f in judge(_rates(values)).findings if f.id == "lr_anomaly"]
    assert "creeping" not in kinds
