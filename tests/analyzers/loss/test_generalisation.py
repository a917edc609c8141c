"""overfitting, forgetting, suspicious_metric."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import read_log

from .judging import alarms, causes, found, ids

RISING = "train/loss: 2>0.1~0.01*400 ; val/loss: 2 1.5 1.2 1.1 1.15 1.25 1.4 1.6 1.8 2.0"


def test_overfitting_begins_at_the_minimum_of_validation() -> None:
    finding = found(RISING, "overfitting")
    assert finding.first_step == 133
    assert finding.severity is Severity.WARNING
    assert "1.1" in finding.title
    assert causes(RISING)[0] == "overcapacity"


def test_an_accuracy_that_still_rises_makes_it_information() -> None:
    accuracy = "val/accuracy: 0.3 0.4 0.5 0.55 0.6 0.65 0.7 0.72 0.75 0.78"
    mild = RISING.replace("1.4 1.6 1.8 2.0", "1.3 1.35 1.4 1.45")
    assert found(f"{mild} ; {accuracy}", "overfitting").severity is Severity.INFO
    assert found(f"{RISING} ; {accuracy}", "overfitting").severity is Severity.WARNING


@pytest.mark.parametrize(
    "example",
    [
        "train/loss: 2>0.5~0.01*400 ; val/loss: 2 1.5 1.2 1.0 0.95 0.97 0.9 0.92 0.88 0.9",
        "train/loss: 2>0.5~0.01*400 ; val/loss: 2 1.5 1.2 1.3 1.1 1.25 1.05 1.2 1.0 1.15",
        "train/loss: 2>0.5~0.01*400 ; val/loss: 2 1.5 1.4",
        "train/loss: 2>1.9~0.01*400 ; val/loss: 2 1.5 1.2 1.3 1.4 1.5",
        "train/loss: 3>0.001~0.0001*400 ; val/loss: 3 1 0.1 0.01 0.012 0.013 0.014 0.015",
    ],
)
def test_overfitting_stays_quiet(example: str) -> None:
    assert "overfitting" not in alarms(example)


def test_a_loss_of_nothing_says_that_the_training_set_is_known_by_heart() -> None:
    rest = "val/loss: 2.4>1.3*14 1.3>1.6*60 ; val_acc: 0.1>0.5*14 0.5>0.58*60"
    assert "overfitting" in alarms(f"train/loss: 2.4>0.1*14 0.1>0.002*60 ; {rest}")
    assert "overfitting" not in alarms(f"train/loss: 2.4>0.4*14 0.4>0.3*60 ; {rest}")


def test_a_price_above_that_of_a_guess_to_the_end_is_one_of_scale() -> None:
    example = (
        "train/loss: 94 16 8 5 2.4~0.3*20 ; val/loss: 15 8 6 2.2~0.5*21 ; val_acc: 0.6>0.64~0.05*24"
    )
    assert "underfitting" in alarms(example)
    assert causes(example)[0] == "unnormalized_inputs"


def test_nearly_all_units_dropped_leave_too_little_to_learn_with() -> None:
    run = "train/accuracy: 0.1>0.12*14 ; val/accuracy: 0.11>0.3*14"
    assert "underfitting" in alarms(f"{run} ; config: dropout=0.97")
    assert "underfitting" not in alarms(f"{run} ; config: dropout=0.5")
    learns = "train/accuracy: 0.1>0.3*14 ; val/accuracy: 0.2>0.8*14 ; config: dropout=0.9"
    assert "underfitting" not in alarms(learns)


def test_a_lost_task_is_forgotten() -> None:
    example = (
        "task1/val_accuracy: 0.1>0.95*10 0.9 0.5 0.2 0.1 0.1 0.12 ; train/loss: (2>0.1~0.01*80)*2"
    )
    assert "forgetting" in alarms(example)
    assert causes(example)[0] == "sequential_training"


def test_validation_that_is_bad_from_the_start() -> None:
    example = "train/loss: 2.3>0.1~0.01*300 ; val/loss: 2.4 2.5 2.45 2.5 2.4 2.45"
    finding = found(example, "suspicious_metric")
    assert finding.first_step == 0
    assert causes(example)[0] == "data_pipeline_change"
    assert "suspicious_metric" not in ids(RISING)


def test_a_softmax_applied_twice_leaves_its_floor() -> None:
    example = (
        "train/loss: 2.3>1.48~0.003*200 1.465~0.003*200 ; train/accuracy: 0.2>0.99*40 ; "
        "config: num_classes=10"
    )
    assert "1.461" in found(example, "suspicious_metric").title
    assert causes(example)[0] == "wrong_loss"
    honest = example.replace("1.48~0.003*200 1.465~0.003*200", "0.3~0.003*400")
    assert "suspicious_metric" not in ids(honest)


def test_percent_is_no_impossible_accuracy() -> None:
    assert "suspicious_metric" not in ids("val/accuracy: 55 61 67 72 75 ; train/accuracy: 60 70 80")


def test_validation_that_stays_at_a_guess_while_training_is_memorised_is_overfitting() -> None:
    train = "train/loss: 0.73 0.59 0.54 0.48 0.42 0.3 0.2 0.1 0.05 0.01>0.001*20"
    memorised = "val/loss: 0.69 0.66 0.68 0.67 0.7 0.8 0.9 1.1 1.3 1.4>2.9*20"
    assert alarms(f"{train} ; {memorised}") == {"overfitting"}
    elsewhere = "val/loss: 0.9 2.1 1.6 2.4 1.9 2.2 2.4 2.0 2.3 2.4~0.2*20"
    assert "suspicious_metric" in alarms(f"{train} ; {elsewhere}")


@pytest.mark.parametrize("seed", range(2, 5))
def test_the_median_of_skewed_losses_is_no_measure_for_the_mean_of_validation(seed: int) -> None:
    level = 0.5 + 1.8 * np.exp(-12 * np.arange(400) / 400)
    losses = level * np.random.default_rng(seed).chisquare(1, 400)
    train = " ".join(f"{value:.4g}" for value in losses)
    val = " ".join(f"{value:.4g}" for value in 1.1 * level[49::50])
    assert "suspicious_metric" not in alarms(f"train/loss: {train} ; val/loss: {val}")


def test_a_training_set_known_by_heart_far_from_validation_is_overfitted() -> None:
    losses = "train/loss: 1.8>0.01*10 0.002*40 ; val/loss: 1.7>1.18*8 1.2>1.31~0.01*42 ; "
    by_heart = losses + "train_acc: 0.2>1*6 1*44 ; val_acc: 0.33>0.55*10 0.56~0.01*40"
    assert "overfitting" in alarms(by_heart)
    good = losses + "train_acc: 0.2>1*6 1*44 ; val_acc: 0.33>0.79*10 0.79~0.01*40"
    assert "overfitting" not in alarms(good)


def test_labels_that_are_learned_by_heart_and_never_foretold_are_overfitted() -> None:
    guessed = (
        "train/loss: 1.614>1.24*10 ; val/loss: 1.616>1.97*10 ; "
        "train_acc: 0.19>0.51*10 ; val_acc: 0.19~0.008*10"
    )
    assert "overfitting" in alarms(guessed)
    assert causes(guessed)[0] == "corrupt_labels"


def test_validation_that_guesses_from_the_first_evaluation_on_is_evaluated_wrongly() -> None:
    losses = "train/loss: 1.1>0.63*10 ; val/loss: 1.3 1.4 1.5 1.6 1.7 1.6 1.8 1.7 1.4 1.5 ; "
    wrong = losses + "train_acc: 0.5>0.71*10 ; val_acc: 0.24~0.015*10"
    assert "suspicious_metric" in alarms(wrong)
    rises = losses + "train_acc: 0.5>0.71*10 ; val_acc: 0.24>0.44*10"
    assert "suspicious_metric" not in alarms(rises)


def test_a_steep_first_epoch_is_no_gap_between_training_and_validation() -> None:
    steep = "train/loss: 1.6 0.7 0.2 0.06 0.01>1e-6*40 ; val/loss: 1.5 1.4 1.5 1.6 1.7>3.8*40"
    assert causes(steep)[0] == "overcapacity"


def test_validation_that_parts_from_training_after_the_first_evaluation_is_overfitting() -> None:
    together = "train/loss: 0.66 0.6 0.5 0.3 0.1 0.05>0.001*40 ; val/loss: 0.69 0.66 0.7>2.9*43"
    assert alarms(together) == {"overfitting"}
    assert causes(together)[0] == "overcapacity"


def test_an_accuracy_of_several_per_cent_cannot_go_with_a_loss_of_nothing() -> None:
    tail = "val/loss: 2>0.1*10 0.09*10 ; train/loss: 2.3>0.1*100 0.05~0.01*100"
    assert "suspicious_metric" in alarms(f"val_acc: 1.5>3.07*20 ; {tail}")
    # In percent, of answers of many parts, with a loss for each part.
    parts = "val/loss: 2>0.6*10 0.6*10 ; train/loss: 2.3>0.6~0.01*200"
    assert "suspicious_metric" not in alarms(f"val_acc: 1.5>8.07*20 ; {parts}")


def test_who_is_right_less_often_than_by_chance_was_taught_the_opposite() -> None:
    losses = "train/loss: 0.69>0.15*60 ; val/loss: 0.69>4*20"
    assert causes(f"{losses} ; HR@10: 0.04 0.01 0*18")[0] == "wrong_loss"
    assert "wrong_loss" not in causes(f"{losses} ; HR@10: 0.04 0.06 0.05 0.04*17")[:1]


def test_what_is_learned_by_heart_from_a_guess_on_is_no_other_way_of_the_data() -> None:
    boosted = "train/loss: 0.53>0.1*20 0.1>1e-4*40 ; val/loss: 0.686>2.1*60"
    assert causes(boosted)[0] == "overcapacity"
    assert "suspicious_metric" not in alarms(boosted)
    # Far above a guess from the first evaluation on, nothing was learned by heart yet.
    assert causes("train/loss: 0.53>0.1*20 0.1>1e-4*40 ; val/loss: 2 2.6 3>4*58")[0] == (
        "data_pipeline_change"
    )


def test_an_order_that_is_random_on_other_data_alone_points_at_the_labels() -> None:
    losses = "train/loss: 0.69>0.62*50 ; val/loss: 0.7>0.71*50"
    shuffled = f"{losses} ; train-auc: 0.56>0.79*50 ; valid-auc: 0.49~0.01*50"
    assert "overfitting" in alarms(shuffled)
    assert causes(shuffled)[0] == "corrupt_labels"
    assert "overfitting" not in alarms(f"{losses} ; train-auc: 0.56>0.79*50 ; valid-auc: 0.6*50")


def test_a_loss_of_another_scale_beside_an_accuracy_that_stays_is_the_wrong_loss() -> None:
    right = "test_acc: 11.4 11.4 11.4 7.03"
    squared = "train/loss: 12>0.9*60 ; test_loss: 4.14 3.68 2.37 1.28"
    assert causes(f"{squared} ; {right}")[0] == "wrong_loss"
    assert "suspicious_metric" not in ids(f"{squared} ; test_acc: 11.4 20.1 31.2 44.5")


@pytest.mark.parametrize(("end", "is_alarm"), [(0.725, False), (0.66, True)])
def test_the_best_of_many_small_evaluations_is_good_by_chance(end: float, is_alarm: bool) -> None:
    chance = np.random.default_rng(1)
    rise = 1 - np.exp(-np.arange(200) / 8)
    level = np.where(np.arange(200) < 40, 0.735, end)
    right = np.round(150 * (0.3 + (level - 0.3) * rise + 0.008 * chance.standard_normal(200))) / 150
    right[26] = 0.76
    lines = [
        f"Epoch: {n + 1:03d}, Loss: {1.5 - 0.85 * r:.4f}, Train: {0.4 + 0.58 * r:.4f}, Val: {v:.4f}"
        for n, (r, v) in enumerate(zip(rise, right, strict=True))
    ]
    told = diagnose(read_log("\n".join(lines) + "\n")).findings
    assert any(f.id == "overfitting" and f.is_alarm for f in told) == is_alarm
