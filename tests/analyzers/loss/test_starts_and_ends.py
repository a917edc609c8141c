"""What happens in the first steps, at a resume, and at the foot of a rise."""

from __future__ import annotations

import numpy as np

from mltd.analyzers.core.excursions import backdate
from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.loss.levels import is_too_coarse
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from tests.analyzers.made import make_run, read_log

from .judging import alarms, causes, found, ids


def test_first_steps_that_throw_the_loss_far_up_are_a_spike_of_the_rate() -> None:
    example = (
        "train/loss: 4.6 12 33 44 40 36>4~0.2*20 4>2.8~0.1*60 ; config: lr=0.6, optimizer=adamw"
    )
    assert found(example, "loss_spike").first_step == 2
    assert causes(example)[0] == "lr_too_high"
    assert "loss_spike" not in alarms("train/loss: 0.05 0.16 0.2 0.1 0.06~0.02*80")


def test_a_spike_that_ends_a_little_higher_is_over_too() -> None:
    example = "train/loss: 10>9~0.1*60 63 40 20 9.8~0.05*60"
    assert found(example, "loss_spike").first_step == 60
    assert "loss_divergence" not in alarms(example)


def test_a_loss_that_ends_at_guessing_has_not_learned_however_it_began() -> None:
    example = "train/loss: 330 40 9 3 2.31~0.01*100 ; config: num_classes=10"
    assert "not_learning" in alarms(example)
    assert "suspicious_metric" in alarms(example)
    assert "not_learning" not in ids("train/loss: 0.06~0.002*100 ; config: num_classes=10")


def test_an_agent_that_acts_at_random_is_not_learning() -> None:
    example = "reward: -4~1*60 ; entropy: 1.0986*60 ; policy_loss: 0.1~0.05*60"
    assert "random" in found(example, "not_learning").title
    assert causes(example)[0] == "objective_collapse"
    learned = "reward: -4>9~1*60 ; entropy: 1.0986>0.3*60 ; policy_loss: 0.1~0.05*60"
    assert "not_learning" not in ids(learned)


def test_a_rate_that_is_another_after_a_resume() -> None:
    example = "train/loss: 2>1~0.02*200 @150 1.25>0.9~0.02*100 ; lr: 0.1>0.05*200 @150 0.1*100"
    finding = found(example, "lr_anomaly")
    assert finding.first_step == 150
    assert "resumed" in finding.title
    assert "lr_schedule" in causes(example)[:2]


def test_a_warm_up_is_no_jump_though_a_later_one_goes_higher() -> None:
    rate = "0.0003 0.003 0.006>0.0015*22 0.024>0.02*8"
    finding = found(f"train/loss: 4.5>2.6~0.05*32 ; lr: {rate}", "lr_anomaly")
    assert finding.first_step == 24
    assert finding.severity is Severity.WARNING


def test_a_plateau_begins_where_the_rate_died() -> None:
    example = "train/loss: 4.6>3.6~0.02*30 3.6~0.02*170 ; lr: 0.004>0.00041*40 4e-7*160"
    assert found(example, "plateau").first_step == 40


def test_a_resume_that_another_file_tells_of() -> None:
    run = make_run({"loss": [*np.linspace(2, 1, 30), 3.0, *np.linspace(1, 0.9, 30)]})
    read_stream(run, "stdout.log", iter([b"Resuming from checkpoint checkpoints/step_29.pt\n"]))
    told = [f for f in diagnose(run).findings if f.id == "resume_discontinuity"]
    assert [f.first_step for f in told] == [30]


def test_a_short_jump_after_a_resume_counts() -> None:
    assert "resume_discontinuity" in alarms(
        "train/loss: 2>0.2~0.01*60 @60 0.2 @50 1.05 0.4 0.25>0.2~0.01*40"
    )


def test_a_climb_is_dated_at_its_foot_and_a_jump_at_itself() -> None:
    flat = np.full(40, 2.0)
    climb = np.concatenate([flat, 2.0 + 0.2 * np.arange(1, 21)])
    assert backdate(climb, 55, 2.0, 0.2, 0) == 40
    assert backdate(np.concatenate([flat, [9.0]]), 40, 2.0, 0.2, 0) == 40
    assert backdate(climb, 55, 2.0, 0.2, 50) == 50


def test_a_softmax_applied_twice_shows_without_a_config_too() -> None:
    example = "train/loss: 2.303 2.303 2.3>1.48*200 1.465*200 ; train/accuracy: 0.1>0.99*40"
    assert "1.461" in found(example, "suspicious_metric").title


def test_few_digits_hide_only_what_is_small() -> None:
    fine = RunView(make_run({"loss": [2.301, 2.302, 2.303] * 40}))
    coarse = RunView(make_run({"loss": [0.01, 0.02, 0.03] * 40}))
    for view, expected in ((fine, False), (coarse, True)):
        curve = view.curve("train/loss")
        assert curve is not None
        assert is_too_coarse(view, curve) is expected


def bar(count: int) -> str:
    """A bar that repeats its last evaluation, measured every tenth step."""
    shown = "\r".join(
        f"Epoch 0: {n}/{count} [00:01<00:01, loss={2 - n / count:.4f}, "
        f"val_loss={3 - n // 10 / 10:.3f}]"
        for n in range(1, count + 1)
    )
    return shown.replace("Epoch 0: ", "Epoch 0:  50%|#####     | ") + "\n"


def test_redraws_of_a_bar_are_points_but_not_evaluations() -> None:
    view = RunView(read_log(bar(100)))
    loss, val = view.curve("train/loss"), view.curve("val/loss")
    assert loss is not None
    assert val is not None
    assert len(loss) > 90
    assert len(val) <= 11
    assert np.all(np.diff(val.y) < 0)


def test_both_losses_near_guessing_after_all_steps_is_underfitting() -> None:
    losses = "train/loss: 2.4>1.65~0.02*100 ; val/loss: 2.3>1.65*10"
    assert "underfitting" in alarms(f"{losses} ; config: num_classes=10, max_steps=100")
    assert "underfitting" not in alarms(f"{losses} ; config: num_classes=10, max_steps=900")


def test_an_empty_run_has_no_curves() -> None:
    assert diagnose(Run("nothing")).status == "no_metrics"


def test_guesses_summed_over_time_are_no_wild_start() -> None:
    # CTC sums over all frames: no number of classes explains 72, yet nothing is wrong.
    later = "66 62 50 40 28 20 15>1.5*12 1.2~0.1*60 ; config: vocab_size=8"
    assert "suspicious_metric" not in alarms(f"train/loss: 72.1 71.9 72.6 71.3 {later}")
    assert "suspicious_metric" in alarms(f"train/loss: 72.1 57.3 80.6 71.3 {later}")


def test_an_accuracy_that_contradicts_its_loss_is_a_fault_of_the_code() -> None:
    stuck = (
        "train/loss: 1.3>0.01*13 ; train_acc: 0.25*13 ; val/loss: 0.9>0.03*13 ; val_acc: 0.25*13"
    )
    assert "suspicious_metric" in alarms(stuck)
    assert causes(stuck)[0] == "code_bug"
    doubled = "train/loss: 1.1>0.1~0.01*60 ; acc: 0.6>1.45~0.02*60 ; val_acc: 0.98>1.46*12"
    assert causes(doubled)[0] == "code_bug"
    low = (
        "train/loss: 1.1>0.1~0.01*60 ; acc: 0.3>1.45~0.02*60 ; val/loss: 0.09*12 ; val_acc: 1.46*12"
    )
    assert causes(low)[0] == "code_bug"


def test_a_loss_in_another_unit_and_sequences_do_not_contradict_their_accuracy() -> None:
    assert "suspicious_metric" not in alarms("train/loss: 8e-4>2e-4*20 ; train_acc: 0.85>0.94*20")
    assert "suspicious_metric" not in alarms("train/loss: 3>0.1*20 ; train_acc: 0.01>0.4*20")
    assert "suspicious_metric" not in alarms("train/loss: 6.9>6*40 ; train_acc: 0.1>1.6*40")


def test_a_fixed_sum_of_loss_and_accuracy_is_a_softmax_applied_twice() -> None:
    train = "train/loss: 2.08>1.5*40 ; acc: 0.13>0.75*40 ; "
    twice = train + "val/loss: 1.9 1.6 1.554 1.531 1.514 1.517 1.515 1.503 1.5 1.503 ; "
    right = "val_acc: 0.45 0.7 0.73 0.76 0.76 0.766 0.758 0.771 0.779 0.766"
    assert found(twice + right, "suspicious_metric").details["kind"] == "double_softmax"
    once = train + "val/loss: 1.9 1.2 1.0 0.9 0.85 0.83 0.8 0.79 0.78 0.78 ; "
    assert "suspicious_metric" not in ids(once + right)
