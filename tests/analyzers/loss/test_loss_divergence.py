"""loss_divergence: up and not back, since when, and never for noise, cycles or recoveries."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.loss.loss_divergence import LossDivergence
from mltd.runs.harvest import Floats
from tests.analyzers.made import make_run, read_log

from .judging import alarms, causes, found


def test_a_jump_that_stays_begins_where_it_jumped() -> None:
    finding = found("train/loss: 4>1~0.03*300 6~0.1*150", "loss_divergence")
    assert finding.first_step == 300
    assert finding.severity is Severity.CRITICAL
    assert "6" in finding.title


def test_a_slow_climb_begins_near_its_foot() -> None:
    finding = found("train/loss: 4>1~0.02*300 1>2~0.02*300", "loss_divergence")
    assert finding.first_step is not None
    assert 290 <= finding.first_step <= 312


def wandering(count: int, seed: int) -> Floats:
    """Noise of 15 % that hangs together over some points, as losses of a sequential loader do."""
    steps = np.random.default_rng(seed).normal(size=count) * 0.15 * np.sqrt(1 - 0.7**2)
    noise = np.zeros(count)
    for place in range(1, count):
        noise[place] = 0.7 * noise[place - 1] + steps[place]
    return 1 + noise


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [4, 10])
def test_noise_that_hangs_together_hides_no_jump(seed: int, factor: float) -> None:
    level = np.where(np.arange(2000) < 1200, 1 + 3 * np.exp(-np.arange(2000) / 200), factor)
    run = make_run({"loss": list(level * wandering(2000, seed))})
    (finding,) = LossDivergence().examine(RunView(run))
    assert finding.first_step == pytest.approx(1200, abs=3)


@pytest.mark.parametrize("seed", range(4))
def test_noise_that_hangs_together_is_no_divergence(seed: int) -> None:
    level = 1 + 3 * np.exp(-np.arange(2000) / 200)
    run = make_run({"loss": list(level * wandering(2000, seed))})
    assert list(LossDivergence().examine(RunView(run))) == []


@pytest.mark.parametrize("length", [10, 20, 50])
def test_a_loss_that_grows_without_end_is_found_at_its_foot(length: float) -> None:
    step = np.arange(300)
    grown = np.exp(np.maximum(0, step - 150) / length) - 1
    loss = (0.5 + 3 * np.exp(-step / 80) + grown) * np.random.default_rng(3).normal(1, 0.03, 300)
    (finding,) = LossDivergence().examine(RunView(make_run({"loss": list(loss)})))
    assert finding.first_step == pytest.approx(150, abs=8)


def test_a_growth_from_the_first_step_is_found() -> None:
    loss = np.exp(np.arange(300) / 50) * np.random.default_rng(3).normal(1, 0.05, 300)
    (finding,) = LossDivergence().examine(RunView(make_run({"loss": list(loss)})))
    assert finding.severity is Severity.CRITICAL


def test_a_run_that_explodes_from_the_start() -> None:
    finding = found("train/loss: 2.3 2.4 3 5 9 20 60 200 900 3000*30", "loss_divergence")
    assert finding.first_step is not None
    assert finding.first_step <= 5


def test_ten_epochs_are_enough_if_they_rise_and_rise() -> None:
    example = "train/loss: 3.76 1.9 0.9 0.5 0.3 0.2 0.16 0.19 0.24 0.31"
    assert found(example, "loss_divergence").severity is Severity.WARNING


@pytest.mark.parametrize(
    "example",
    [
        "train/loss: 4>1~0.4*400 1~0.4*400",
        "train/loss: 4>1~0.03*300 9 5 3 2 1.2 1~0.03*200",
        "train/loss: 3 2 1.5 1.2 1.0 0.9 0.95 0.85 0.9",
        "train/loss: 4>0.01~0.002*400 0.013~0.002*200",
        "train/loss: 4>1~0.03*300 1~0.03*5 3",
        "train/loss: (4>1~0.03*100 1>2~0.03*100)*2 ; lr: (0.1>0.001*100 0.001>0.1*100)*2",
        "d_loss: 1>0.2~0.03*200 0.2>1.5~0.03*200 ; g_loss: 1>2~0.1*400",
    ],
)
def test_quiet(example: str) -> None:
    assert "loss_divergence" not in alarms(example)


def test_a_thousand_times_the_loss_is_the_same_divergence() -> None:
    small = found("train/loss: 4>1~0.03*300 1>3~0.05*150", "loss_divergence")
    large = found("train/loss: 4000>1000~30*300 1000>3000~50*150", "loss_divergence")
    assert small.first_step == large.first_step
    assert small.severity is large.severity


def test_a_rise_with_an_announced_stage_is_no_divergence_if_it_is_learned() -> None:
    loss = "train/loss: 1.7>0.03~0.01*60 3 2 1.6>0.9~0.03*58"
    assert "loss_divergence" in alarms(loss)
    assert alarms(f"{loss} ; stage: 1*60 2*60") == set()
    assert alarms(f"{loss} ; eps: 0.1*60 0.2*60") == set()
    lost = "train/loss: 1.7>0.03~0.01*60 2.3~0.03*60"
    assert "loss_divergence" in alarms(f"{lost} ; stage: 1*60 2*60")


def test_a_loss_that_is_thrown_about_ever_higher_diverges() -> None:
    noise = np.random.default_rng(60).standard_normal(60)
    wild = np.abs(np.geomspace(4.5, 160, 60) * (1 + 0.9 * noise)) + 1
    assert "loss_divergence" in alarms("train/loss: " + " ".join(f"{v:.4g}" for v in wild))
    level = np.abs(30 * (1 + 0.9 * noise)) + 1
    assert alarms("train/loss: " + " ".join(f"{v:.4g}" for v in level)) == set()


def test_value_estimates_that_grow_without_reward_run_away() -> None:
    grown = "train/loss: 0.01 0.02 0.01>4*8 4>3e5*80 ; q_mean: 0.1 0.3 0.5>80*8 80>9e3*80 ; "
    assert "loss_divergence" in alarms(grown + "reward: -0.5~0.02*90")
    assert "loss_divergence" not in alarms(grown + "reward: -0.5>9~0.2*90")


@pytest.mark.parametrize("names", [("Q", "R"), ("avg_q", "avg50"), ("Q1", "return"), ("qf1", "r")])
def test_estimates_and_earnings_are_known_by_their_letters(names: tuple[str, str]) -> None:
    values, earned = names
    grown = f"train/loss: 0.01 0.02 0.01>4*8 4>3e5*80 ; {values}: 0.1 0.3 0.5>80*8 80>9e3*80 ; "
    explores = "eps: 0.9>0.05*90 ; "
    assert causes(f"{grown}{explores}{earned}: 12~2*90")[0] == "objective_collapse"
    assert "loss_divergence" not in alarms(f"{grown}{explores}{earned}: 12>190~4*90")


def test_a_loss_that_never_comes_back_to_its_first_value_has_diverged() -> None:
    assert "loss_divergence" in alarms("train/loss: 115 490 470 300 280>180~40*80 170~20*30")
    assert "loss_divergence" not in alarms("train/loss: 115 490 470 300 200>60~9*12 50~9*98")
    assert "loss_divergence" not in alarms("train/loss: 0.5 1.3 1.1~0.3*120")


def test_a_loss_that_comes_back_only_when_the_rate_has_decayed_was_thrown() -> None:
    thrown = "train/loss: 4.6 5.7 9 12>30~2*20 30>9~2*30 6 4 3.3~0.1*60"
    assert "loss_divergence" in alarms(thrown)
    assert causes(thrown)[0] == "lr_too_high"
    assert "loss_divergence" not in alarms("train/loss: 4.6 9 12 9 6 4 3.3~0.1*120")
    scattered = "train/loss: 0.004 0.9 0.2 1.4 0.8 0.5 0.3~0.4*240"
    assert "loss_divergence" not in alarms(scattered)
    begun = "train/loss: 12.4 40 41 38 30 20>11~1*10 10~1*20"
    assert "loss_divergence" not in alarms(begun)


def test_noise_that_comes_with_the_rise_does_not_hide_it() -> None:
    noisy = "train/loss: 2.1>1.2~0.05*12 1.2>5~0.3*12 6.5~1.6*40"
    assert "loss_divergence" in alarms(noisy)
    assert "loss_divergence" not in alarms("train/loss: 2.1>1.2~0.3*12 1.3~0.5*52")


def test_a_loss_that_wanders_up_before_it_jumps_began_where_it_jumped() -> None:
    example = "train/loss: 3.1>2~0.08*50 1.86*2 2~0.08*8 2.1~0.03*6 4 3.8 3.6 3.4>3.2*4 3.2~0.01*45"
    assert found(example, "loss_divergence").first_step == 66


def test_what_explodes_from_the_first_step_begins_there() -> None:
    example = "train/loss: 0.61 46 7e5 4e11 3e17 2e23 1e29 7e34 inf nan*80"
    assert found(example, "loss_divergence").first_step in (1, 2)


def test_a_rise_with_a_resume_begins_there_and_not_in_the_noise_before() -> None:
    wander = (1.2, 0.6, 0.9, 0.5, 1.3, 0.7, 1.0, 0.55, 1.1, 0.6)
    before = [1.0 * wander[n % 10] + 2 * 0.9**n for n in range(60)]
    lines = [f"step {n + 1} loss {loss:.4f}" for n, loss in enumerate([*before, 1.2, 1.0])]
    lines.append("Resuming from checkpoint ckpt/last.pth (step 62)")
    after = [1.35, 4.3, *(2.3 + 0.01 * (n % 3) for n in range(60))]
    lines += [f"step {n + 63} loss {loss:.4f}" for n, loss in enumerate(after)]
    diagnosis = diagnose(read_log("\n".join(lines) + "\n"))
    (risen,) = [f for f in diagnosis.findings if f.id == "loss_divergence"]
    assert risen.first_step in (63, 64)


def test_a_climb_over_many_steps_and_a_long_way_back_was_thrown() -> None:
    climb = [4.5, 4.3, 7.3, 6, 7.9, 16.3, 12, 18.5, 19.9, 44.2, 54.9, 38.4, 33.7, 29.7, 28.3]
    losses = [*climb, *(28 * 0.8**n for n in range(10)), *([3.2, 3.1, 3.3] * 5)]
    lines = [f"iter {10 * n}: loss {loss:.4f}, time 30.2ms" for n, loss in enumerate(losses)]
    told = diagnose(read_log("\n".join(lines) + "\n")).findings
    (finding,) = (one for one in told if one.id == "loss_divergence")
    assert finding.severity is Severity.WARNING
    assert "so long was it above where it began" in finding.title


@pytest.mark.parametrize(("validation", "is_quiet"), [("1.4>0.28*16", True), ("1.4>0.6*16", False)])
def test_a_training_set_that_is_made_harder_while_validation_gains_does_not_diverge(
    validation: str, is_quiet: bool
) -> None:
    falls = [1.7 * 0.93**n for n in range(27)]
    losses = [*falls, *([0.9, 1.1, 0.95, 1.2, 1.05] * 3)]
    values = " ".join(f"{loss:.3f}" for loss in losses)
    after = "0.28>0.24*8" if is_quiet else "0.6>0.9*8"
    example = f"train/loss: {values} ; val/loss: {validation} {after}"
    assert ("loss_divergence" in alarms(example)) != is_quiet


@pytest.mark.parametrize(
    ("sizes", "is_planned"), [("130 134 129 134 131 134", False), ("64 64 64 128 128 128", True)]
)
def test_a_mean_size_of_batches_that_wavers_is_no_planned_change(
    sizes: str, is_planned: bool
) -> None:
    rows = [f"update {10 * n} loss {3 + 3 * 0.85**n:.3f}" for n in range(1, 61)]
    for number, size in reversed(list(enumerate(sizes.split(), 1))):
        rows.insert(10 * number, f"update {100 * number} bsz {size}")
    assert bool(RunView(read_log("\n".join(rows) + "\n")).facts.changes) == is_planned


@pytest.mark.parametrize(("last", "is_quiet"), [(2.8, True), (3.2, False)])
def test_an_announced_stage_that_is_learned_slowly_but_steadily_is_no_divergence(
    last: float, is_quiet: bool
) -> None:
    chance = np.random.default_rng(4)
    easy = 2 + 1.5 * np.exp(-np.arange(200) / 15)
    hard = np.linspace(3.05, last, 360)
    hard[:6] += [4.5, 2.5, 1.5, 0.8, 0.4, 0.2]
    losses = np.concatenate([easy, hard]) + 0.02 * chance.standard_normal(560)
    lines = [f"iter {n}: loss {loss:.4f}, time 81.2ms" for n, loss in enumerate(losses)]
    lines.insert(200, "[curriculum] phase 2/2: alphabet=full block_size=48")
    told = diagnose(read_log("\n".join(lines) + "\n")).findings
    assert any(f.id == "loss_divergence" and f.is_alarm for f in told) != is_quiet
