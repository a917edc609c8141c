"""not_learning, slow_convergence, plateau, underfitting: told apart, and quiet on learning runs."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.harvest import Floats

from ..made import read_log
from .judging import alarms, causes, found, ids


def test_flat_at_guessing_is_not_learning() -> None:
    example = "train/loss: 2.303~0.02*400 ; config: num_classes=10, lr=0.001"
    finding = found(example, "not_learning")
    assert finding.severity is Severity.CRITICAL
    assert "2.303" in finding.title
    assert "guessing" in finding.title


@pytest.mark.parametrize(
    "example",
    [
        "train/loss: 2.303~0.02*8",
        "train/loss: 2.303>1.9~0.02*400",
        "train/loss: 2.303~0.02*400 ; val/accuracy: 0.1>0.6*10",
        "train/loss: 0.2~0.02*400 ; config: pretrained=resnet",
        "train/loss: 2.3~0.02*100 ; lr: 0>0.1*100",
        "policy_loss: 0.1~0.05*400 ; reward: 1>20*100",
        "train/loss: 2.303~0.02*5 nan*395",
        "train/loss: 1.4>1.2~0.05*50 25000>100~20*40",
    ],
)
def test_not_learning_stays_quiet(example: str) -> None:
    assert "not_learning" not in ids(example)


def test_a_straight_slow_fall_is_slow_convergence_with_a_small_rate_as_its_cause() -> None:
    example = "train/loss: 2.30>2.10~0.01*600 ; config: lr=1e-6, optimizer=adam"
    assert "slow_convergence" in alarms(example)
    assert causes(example)[0] == "lr_too_low"


@pytest.mark.parametrize(
    "example",
    [
        "train/loss: 2.30>1.2~0.02*100 1.2>1.0~0.02*500",
        "train/loss: 10>3~0.05*1000",
        "train/loss: 2.30>2.28~0.05*200",
    ],
)
def test_slow_convergence_stays_quiet(example: str) -> None:
    assert "slow_convergence" not in ids(example)


_DRIVEN = "train/loss: 25>3.2~0.05*150 3.2~0.05*400"


@pytest.mark.parametrize(
    ("around", "is_stuck"),
    [
        ("config: lr=0.5, optimizer=adamw", True),
        ("lr: 0.5*550 ; config: optimizer=AdamW", True),
        (
            "lr: 0.5*550 ; consumed samples: 1>550*550 ; elapsed time per iteration (ms): 9*550",
            True,
        ),
        ("lr: 0.5*550 ; config: optimizer=sgd", False),
        ("lr: 0.5*550", False),
        ("config: lr=0.003, optimizer=adamw", False),
    ],
)
def test_flat_under_a_rate_that_adam_does_not_bear_is_stuck(around: str, is_stuck: bool) -> None:
    example = f"{_DRIVEN} ; {around}"
    assert (found(example, "plateau").severity is Severity.WARNING) == is_stuck
    if is_stuck:
        assert causes(example)[0] == "lr_too_high"
        assert "at a rate of 0.5" in found(example, "plateau").title


def test_a_plateau_near_the_beginning_is_stuck_and_a_low_one_converged() -> None:
    stuck = found("train/loss: 2.3>1.9~0.01*60 1.9~0.01*600", "plateau")
    converged = found("train/loss: 2.3>0.3~0.01*300 0.3~0.01*500", "plateau")
    assert (stuck.severity, converged.severity) == (Severity.WARNING, Severity.INFO)
    assert "stuck" in stuck.title
    assert "converged" in converged.title


def test_a_decayed_rate_means_converged() -> None:
    example = "train/loss: 2.3>1.9~0.01*330 1.9~0.01*330 ; lr: 0.1>0.001*660"
    assert "plateau" not in alarms(example)


def test_coarse_digits_are_no_plateau() -> None:
    assert "plateau" not in ids("train/loss: (2.3 2.2 2.1)*10 (2.0 1.9)*200")


def test_both_accuracies_low_and_flat_is_underfitting() -> None:
    flat = "train/accuracy: 0.1>0.42*10 0.42~0.005*30 ; val/accuracy: 0.1>0.41*10 0.41~0.005*30"
    assert "underfitting" in alarms(f"{flat} ; config: num_classes=10")
    assert "underfitting" not in alarms(flat)
    assert "underfitting" not in alarms(f"{flat} ; config: num_classes=10, vocab_size=50000")


def _noisy(levels: Floats, spread: float, seed: int) -> str:
    noise = np.random.default_rng(seed).normal(0.0, spread, len(levels))
    return "train/loss: " + " ".join(f"{value:.4g}" for value in levels + noise)


@pytest.mark.parametrize("seed", [3, 4, 9, 11])
def test_a_loss_that_falls_by_less_than_its_noise_is_not_stuck(seed: int) -> None:
    # An adapter moves a trained model by little, far below what its batches differ by.
    assert alarms(_noisy(np.linspace(3.15, 2.8, 60), 0.2, seed)) == set()


def test_a_loss_that_does_not_fall_within_its_noise_is() -> None:
    assert "plateau" in alarms(_noisy(np.full(60, 3.15), 0.2, 6))


@pytest.mark.parametrize("seed", range(4))
def test_a_loss_that_falls_faster_and_faster_is_not_slow(seed: int) -> None:
    steps = np.arange(360)
    loss = _noisy(2.09 - 0.03 * steps / 360 - 0.2 * (steps / 360) ** 5, 0.004, seed)
    assert "slow_convergence" not in ids(loss)


@pytest.mark.parametrize("seed", range(4))
def test_a_noisy_loss_that_still_falls_is_not_flat(seed: int) -> None:
    loss = 1.8 + 0.9 * np.exp(-np.arange(120) / 60)
    assert "plateau" not in ids(_noisy(loss, 0.12, seed))


def test_a_flat_stretch_does_not_begin_with_values_far_above_its_level() -> None:
    example = "train/loss: 1.313 0.95 0.78 0.735 " + " ".join(["0.731 0.729"] * 60)
    plateau = found(example, "plateau")
    first = float(plateau.evidence[0].quote.partition(" -> ")[0])
    assert first == pytest.approx(0.73, rel=0.02), plateau


def test_a_level_that_is_still_coming_down_was_reached_honestly() -> None:
    loss = np.concatenate([np.linspace(0.67, 0.42, 10), np.linspace(0.41, 0.34, 140)])
    val = " ".join(f"{value:.4g}" for value in 0.43 + 0.07 * np.exp(-np.arange(20)))
    assert "plateau" not in alarms(f"{_noisy(loss, 0.08, 10)} ; val/loss: {val}")


def test_means_that_begin_anew_with_every_bar_are_no_swings() -> None:
    lines = []
    for epoch in range(25):
        level = 0.3 + 1.5 / (epoch + 1)
        lines.append(f"Epoch {epoch + 1}/25\n")
        lines += [
            f"\r{n}/60 [{'=' * (n // 6)}>{'.' * (10 - n // 6)}] - ETA: 1s - loss: {mean:.4f}"
            for n in range(6, 60, 6)
            for mean in [level * (1.2 - 0.2 * n / 60)]
        ]
        lines.append(f"\r60/60 [==========] - 3s 58ms/step - loss: {level:.4f}\n")
    findings = diagnose(read_log("".join(lines))).findings
    assert not any(finding.id == "oscillating_loss" for finding in findings)


@pytest.mark.parametrize("seed", range(4))
def test_a_loss_that_falls_as_fast_as_ever_is_on_no_plateau(seed: int) -> None:
    assert "plateau" not in alarms(_noisy(np.linspace(2.0, 1.85, 600), 0.04, seed))


def test_from_a_wild_beginning_down_to_a_guess_is_no_progress() -> None:
    thrown = "train/loss: 1900 100 50 20 1.83~0.08*140 ; val/loss: 16 2.5 1.81~0.02*10 ; "
    assert "not_learning" in alarms(thrown + "val/accuracy: 0.18~0.012*12")
    assert "not_learning" not in alarms(thrown + "val/accuracy: 0.18 0.3 0.4~0.01*10")


def test_a_regression_that_explains_nothing_foretells_the_mean() -> None:
    noisy = "train/loss: 1150~300*150 ; "
    assert "not_learning" in alarms(noisy + "val_r2: -0.019*20")
    assert "not_learning" in alarms("train/loss: 4 9 2.8 1.2~0.4*147 ; dev_r2: -0.4~0.1*20")
    assert "not_learning" not in alarms(noisy + "val_r2: -0.02>0.05*20")
    assert "not_learning" not in alarms(noisy + "val_r2: -0.01 0.0 0.01 0.0 0.0")


def test_what_was_thrown_to_a_guess_is_blamed_on_the_rate_and_not_on_labels() -> None:
    thrown = "train/loss: 1900 100 50 20 1.83~0.08*140 ; val/accuracy: 0.18~0.012*12"
    assert causes(thrown)[0] == "lr_too_high"
    wild = "train/loss: 4 9 2.8 1.2~0.4*147 ; dev_r2: -0.4~0.1*20 ; lr: 0.9*150"
    assert causes(wild)[0] == "lr_too_high"


def test_a_flat_loss_with_nothing_but_errors_is_stuck_once_the_rate_has_decayed() -> None:
    flat = "train/loss: 74>9~0.5*40 9~0.5*60 ; val_ter: 0.98 1 1 1 ; lr: "
    assert "plateau" in alarms(flat + "0.0005*40 0.0005>1e-8*60")
    assert causes(flat + "0.0005*40 0.0005>1e-8*60")[0] == "corrupt_labels"
    assert "plateau" not in alarms(flat + "0.0005*100")
    speed = flat.replace("val_ter: 0.98 1 1 1", "samples_per_second: 3800~50*20")
    assert "plateau" not in alarms(speed + "0.0005*40 0.0005>1e-8*60")
    learns = flat.replace("0.98 1 1 1", "1 0.9 0.6 0.4")
    assert "plateau" not in alarms(learns + "0.0005*40 0.0005>1e-8*60")


def test_batches_of_one_class_do_not_hide_that_validation_is_guessed() -> None:
    ordered = (
        "train/loss: 2.3 2.0 1.7 1.5 1.5 2.8 2.3 2.07~0.05*200 ; "
        "acc: 0 0.1 1*8 0*150 0.4 1*6 0.7 0*46 ; "
        "val/loss: 2.083~0.001*12 ; val_acc: 0.1055*12"
    )
    assert "not_learning" in alarms(ordered)
    assert "not_learning" in alarms(f"{ordered} ; config: num_classes=8")
    assert causes(ordered)[0] == "data_pipeline_change"


def test_a_constant_score_shows_that_nothing_is_tuned() -> None:
    course = "train/loss: 1.61>1.57*90 ; val/loss: 1.61>1.57*20 ; lr: 1e-5*90"
    assert "not_learning" in alarms(f"{course} ; val_dice: 0.194*20 ; val_iou: 0.118*20")
    assert "not_learning" not in alarms(f"{course} ; val_dice: 0.194*9 0.196*11 ; val_iou: 0.1*20")
    assert "not_learning" not in alarms(f"{course} ; val_f1: 0.9*20")  # too few digits to tell
    assert "not_learning" not in alarms(course)


def test_one_answer_for_all_samples_is_told_from_coarse_digits_and_from_a_good_model() -> None:
    course = "train/loss: 1.33 1.07~0.01*40 ; val/loss: 1.05~0.003*12"
    finding = found(f"{course} ; val_acc: (0.43 0.39 0.39)*4", "not_learning")
    assert "0.39 or 0.43" in finding.title
    for accuracy in ("(0.43 0.42 0.42)*4", "(0.93 0.89 0.89)*4", "(0.43 0.39 0.41 0.42)*3"):
        assert "not_learning" not in alarms(f"{course} ; val_acc: {accuracy}"), accuracy
    better = "train/accuracy: 0.4>0.7*20 ; val_acc: (0.43 0.39 0.39)*4"
    assert "not_learning" not in alarms(f"{course} ; {better}")


def test_a_loss_far_above_that_of_a_guess_is_no_progress_while_no_answer_gets_better() -> None:
    loss, right = "train/loss: 15.6>11.5~0.3*22", "train_acc: 0.1~0.01*22 ; val_acc: 0.11~0.01*22"
    assert "not_learning" in alarms(f"{loss} ; {right}")
    assert causes(f"{loss} ; {right}")[0] == "poor_init"
    # Tokens: a few are frequent, so that a guess is right often and costs much nevertheless.
    tokens = "train/loss: 4>3.2~0.1*22 ; train_acc: 0.28~0.01*22 ; val_acc: 0.3~0.01*22"
    assert "not_learning" not in alarms(tokens)
    assert "not_learning" not in alarms(f"{loss} ; train_acc: 0.1>0.2*22 ; val_acc: 0.1>0.2*22")


def test_a_guess_is_a_result_when_all_planned_steps_were_made_and_evaluated() -> None:
    course = "train/loss: 1.792*15 ; acc: 0.17~0.005*15"
    assert "not_learning" in alarms(f"{course} ; val/loss: 1.792*15 ; config: max_steps=15")
    assert "not_learning" not in alarms(f"{course} ; val/loss: 1.792*15 ; config: max_steps=900")
    assert "not_learning" not in alarms(f"{course} ; config: max_steps=15")


def test_answers_that_stay_the_same_speak_for_small_steps_and_not_for_wrong_labels() -> None:
    loss = "train/loss: 0.6935~0.0005*90 ; val/loss: 0.6933>0.6934*30"
    assert causes(f"{loss} ; HR@10: 0.0733333*30 ; NDCG@10: 0.0324~0.0001*30")[0] == "lr_too_low"
    assert causes(f"{loss} ; HR@10: 0.07~0.01*30 ; NDCG@10: 0.032~0.004*30")[0] == "corrupt_labels"


def test_a_solver_that_ran_out_of_iterations_is_done() -> None:
    losses = [f"Iteration {n}, loss = {0.7236 - 1.4e-5 * n:.8f}\n" for n in range(1, 61)]
    warning = (
        "/x/sklearn/neural_network/_multilayer_perceptron.py:785: ConvergenceWarning: Stochastic "
        "Optimizer: Maximum iterations (60) reached and the optimization hasn't converged yet.\n"
        "  warnings.warn(\n"
    )
    done = diagnose(read_log("".join([*losses, warning])))
    assert "slow_convergence" in {finding.id for finding in done.findings}
    assert done.root_causes[0].id == "lr_too_low"
    going_on = diagnose(read_log("".join(losses)))
    assert "slow_convergence" not in {finding.id for finding in going_on.findings}


def test_a_few_epochs_in_a_straight_line_are_slow_only_when_they_are_all() -> None:
    epochs = [f"epoch {n}/12 train_loss {2.3 - 0.01 * n:.4f}\n" for n in range(1, 13)]
    assert "slow_convergence" in {f.id for f in diagnose(read_log("".join(epochs))).findings}
    begun = "".join(epochs).replace("/12", "/90")
    assert "slow_convergence" not in {f.id for f in diagnose(read_log(begun)).findings}


def test_a_high_accuracy_at_a_fitting_loss_is_not_stuck() -> None:
    course = "train/loss: 0.34>0.3*4 0.293~0.0005*60 ; val/loss: 0.35>0.32*3 0.32~0.004*37"
    assert found(f"{course} ; val_acc: 0.89>0.92*4 0.917~0.007*36", "plateau").severity is (
        Severity.INFO
    )
    # The share of the largest class, and an accuracy that says little, do not excuse it.
    assert "plateau" in alarms(f"{course} ; val_acc: 0.9*40")
    assert "plateau" in alarms(f"{course} ; val_acc: 0.6~0.01*40")
    assert "plateau" in alarms(f"{course} ; val_acc: 0.05 0.06 0.05")  # too few to be judged


def test_blocks_that_come_again_point_at_the_order_of_the_data() -> None:
    validation = "val/loss: 1.387~0.0005*20 ; val_acc: 0.25*20"
    ordered = "(1.44~0.01*3 1.25~0.01*3 1.37~0.01*3 1.47~0.01*3 )*20"
    assert causes(f"train/loss: {ordered} ; {validation}")[0] == "sequential_training"
    shuffled = causes(f"train/loss: 1.39~0.09*240 ; {validation}")
    assert shuffled[0] == "corrupt_labels"
    assert "sequential_training" not in shuffled


def test_the_mean_of_the_first_epoch_shows_that_the_first_steps_broke_it() -> None:
    lines = []
    for epoch in range(1, 13):
        lines += [f"epoch {epoch} step {40 * epoch + s} loss {2.3 + 0.01 * (s % 3)} acc 0.1\n"
                  for s in range(0, 40, 10)]  # fmt: skip
        mean = 14399.9 if epoch == 1 else 2.301
        lines.append(f"epoch {epoch} step {40 * epoch + 39} avg loss {mean} val_acc 0.1\n")
    told = diagnose(read_log("".join(lines)))
    assert told.root_causes[0].id == "lr_too_high"
    assert "unnormalized_inputs" in [cause.id for cause in told.root_causes]


def test_what_was_solved_in_the_first_epoch_is_neither_slow_nor_stuck() -> None:
    scored = "train/loss: 1.05>1*4 1~0.002*60 ; val/loss: 1.01~0.004*40"
    assert "plateau" not in alarms(f"{scored} ; val_r2: 0.86~0.004*40")
    assert "plateau" in alarms(f"{scored} ; val_r2: 0.2~0.004*40")
    creeping = "train/loss: 0.1012>0.0995*20 ; config: max_iters=20"
    assert "slow_convergence" in alarms(f"{creeping} ; val/loss: 0.102>0.1*20")
    assert "slow_convergence" not in alarms(f"{creeping} ; val/loss: 0.1~0.0005*20")


def test_a_good_score_may_stay_the_same() -> None:
    tuned = "train/loss: 0.21>0.206~0.008*90 ; val/loss: 0.22~0.001*20 ; lr: 1e-5*90"
    assert "not_learning" not in alarms(f"{tuned} ; val_acc: 0.935*20")
    solved = "train/loss: 0.21~0.002*90 ; val/loss: 0.22~0.001*20"
    assert "not_learning" not in alarms(f"{solved} ; val_acc: 0.93~0.004*20")
    assert "not_learning" in alarms(f"{solved} ; val_acc: 0.935*20")  # the share of one class


def test_epochs_of_a_loss_without_a_known_floor_are_not_called_stuck() -> None:
    levels = [208.0, 204.0, 201.0, *(200.0 + 0.3 * (n % 3) for n in range(27))]
    lines = [f"epoch {n} train_loss {at:.2f} val_loss {at + 2:.2f}" for n, at in enumerate(levels)]
    assert not any(f.is_alarm for f in diagnose(read_log("\n".join(lines) + "\n")).findings)
    right = [f"{line} val_acc {0.3 + 0.01 * (n % 4):.2f}" for n, line in enumerate(lines)]
    told = diagnose(read_log("\n".join(right) + "\n")).findings
    assert "plateau" in {finding.id for finding in told if finding.is_alarm}


def test_validation_that_never_beats_its_first_guess_is_no_gentle_tuning() -> None:
    run = "train/loss: 1.386>1.345~0.004*120 ; lr: 5e-4>5e-6*120 ; config: steps=120"
    assert "not_learning" in alarms(f"{run} ; val/loss: 1.386>1.41*8 ; val_acc: 0.25~0.01*8")
    assert "not_learning" not in alarms(f"{run} ; val/loss: 1.386>1.33*8 ; val_acc: 0.25>0.4*8")


def test_what_is_where_it_began_is_not_called_underfitting_as_well() -> None:
    told = alarms("train/loss: 2.303~0.001*200 ; val/loss: 2.302*20 ; val_acc: 0.1035*20")
    assert "not_learning" in told
    assert "underfitting" not in told


@pytest.mark.parametrize(
    ("train", "is_alarm"),
    [("0.5~0.005*30", True), ("(0.42 0.56 0.47 0.6 0.39 0.51)*5", False)],
    ids=["labels that are wrong", "samples that are mixed"],
)
def test_a_training_set_that_is_the_worse_and_jumps_is_made_so(train: str, is_alarm: bool) -> None:
    example = f"train/accuracy: 0.2>0.5*6 {train} ; val/accuracy: 0.25>0.9*8 0.9~0.01*28"
    assert ("underfitting" in alarms(example)) == is_alarm


@pytest.mark.parametrize(
    "example",
    [
        "train/loss: 3.6>2.95~0.04*35 2.95~0.04*45",
        "train/loss: 2.45>1.9~0.03*10 1.9~0.03*70 ; train_acc: 0.1>0.34~0.01*10 0.34~0.01*70 ; "
        "val/loss: 2.3 1.95 1.9 1.89 1.885 1.885 1.88 1.88 ; lr: 0.001>0.00001*80",
        "train/loss: 0.054>0.04~0.002*10 0.04~0.002*300 ; val/loss: 0.0449~0.0003*15",
        "train/loss: 3.1>2.8~0.02*20 2.8>2.7~0.015*130 ; lr: 0.002*150 ; feat_std: 0.17~0.001*150",
    ],
    ids=["nothing else is logged", "right more often", "a number with noise", "creeps on"],
)
def test_flat_at_what_may_be_the_floor_is_not_stuck(example: str) -> None:
    assert "plateau" not in alarms(example)


def test_a_reward_that_is_lost_for_good_was_learned_with_steps_too_large() -> None:
    example = "reward: 20>120~8*60 120>9~4*10 9~1*90"
    assert "lost" in found(example, "forgetting").title
    assert causes(example)[0] == "lr_too_high"
    assert "forgetting" not in ids("reward: 19~2*20 19>10~1*30 10~1*50")
