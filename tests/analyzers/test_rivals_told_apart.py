"""Causes that look alike until one looks at a second curve."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.roles import shipped
from tests.analyzers.made import make_run, read_log


def noisy(values: np.ndarray[tuple[int], np.dtype[np.float64]], share: float = 0.03) -> list[float]:
    noise = np.random.default_rng(len(values)).standard_normal(len(values))
    scattered = values * (1 + share * noise)
    return [float(value) for value in scattered]


def level(value: float, count: int, share: float = 0.03) -> list[float]:
    return noisy(np.full(count, value), share)


def fall(start: float, end: float, count: int) -> list[float]:
    return noisy(np.geomspace(start, end, count))


def best(told: Diagnosis) -> str:
    assert told.problems == ()
    return told.root_causes[0].id


def judged(**series: list[float]) -> Diagnosis:
    renamed = {name.replace("__", "/"): values for name, values in series.items()}
    return diagnose(make_run(renamed))


def test_norms_that_rise_as_a_model_learns_do_not_accuse_the_rate_of_a_nan() -> None:
    norms = noisy(np.linspace(0.2, 1.2, 60), 0.3)
    told = judged(
        train__loss=[*fall(1.6, 1.0, 60), *[np.nan] * 40], grad_norm=[*norms, *[np.nan] * 40]
    )
    assert best(told) != "lr_too_high"


def test_norms_that_explode_before_a_nan_do() -> None:
    norms = [*level(0.5, 56), 2.0, 9.0, 40.0, 300.0]
    loss = [*fall(1.6, 1.0, 56), 1.3, 2.2, 5.0, 30.0]
    told = judged(train__loss=[*loss, *[np.nan] * 40], grad_norm=[*norms, *[np.nan] * 40])
    assert best(told) == "lr_too_high"


def test_nan_now_and_then_in_a_loss_that_goes_on_falling_is_the_batches() -> None:
    loss = np.array(fall(4.0, 0.4, 400))
    loss[150::12] = np.nan
    assert best(judged(train__loss=loss.tolist())) == "bad_batch"


def test_hidden_layers_without_gradient_under_a_flat_loss_are_dead() -> None:
    told = judged(
        train__loss=level(1.61, 80, 0.01),
        grad__conv1=[0.0] * 80,
        grad__conv2=[0.0] * 80,
        grad__readout=level(0.2, 80),
    )
    assert best(told) == "dead_relu"


def test_hidden_layers_without_gradient_under_a_falling_loss_are_frozen() -> None:
    told = judged(
        train__loss=fall(4.1, 2.4, 80),
        grad__conv1=[0.0] * 80,
        grad__conv2=[0.0] * 80,
        grad__readout=level(0.2, 80),
    )
    assert best(told) == "frozen_parameters"


def test_layers_that_fell_silent_when_the_loss_jumped_are_dead() -> None:
    silent = [*level(0.2, 60), *[0.0] * 60]
    told = judged(
        train__loss=[*fall(0.69, 0.2, 60), *level(0.693, 60, 0.005)],
        grad__fc1=silent,
        grad__fc2=silent,
        grad__fc3=level(0.1, 120),
    )
    assert best(told) == "dead_relu"
    frozen = next(f for f in told.findings if f.id == "frozen_layers")
    assert frozen.first_step == 60


def test_training_labels_that_went_wrong_leave_validation_right() -> None:
    told = judged(
        train__loss=[*fall(1.6, 0.2, 80), 5.0, *level(1.61, 79)],
        train__accuracy=[*noisy(np.linspace(0.3, 0.95, 80)), *level(0.18, 80)],
        val__accuracy=[*noisy(np.linspace(0.3, 0.95, 80)), *level(0.72, 80)],
    )
    assert best(told) == "corrupt_labels"


def test_a_jump_after_which_validation_stays_bad_is_no_single_batch() -> None:
    told = judged(
        train__loss=[*fall(2.0, 0.3, 80), 14.0, 6.0, 2.0, 0.8, *level(0.3, 76)],
        val__loss=[*fall(2.0, 0.45, 80), *level(2.3, 80)],
    )
    assert best(told) == "data_pipeline_change"
    assert any(f.id == "forgetting" for f in told.findings)


def test_a_slow_swing_is_the_order_of_the_data_not_the_rate() -> None:
    phase = np.arange(400) * 2 * np.pi / 25
    fading = 0.35 + 0.5 * np.exp(-np.arange(400) / 40)
    told = judged(train__loss=noisy(fading + 0.12 * np.sin(phase), 0.1))
    assert any(f.id == "oscillating_loss" and f.is_alarm for f in told.findings)
    assert best(told) == "sequential_training"


def test_a_weight_decay_that_crushes_the_weights_is_a_bad_setting() -> None:
    log = "\n".join(
        ['config: {"lr": 0.001, "optimizer": "adamw", "weight_decay": 40.0, "batch_size": 32}']
        + [f"step {n * 10} loss {value:.4f}" for n, value in enumerate(level(2.303, 80, 0.004))]
    )
    told = diagnose(read_log(log))
    assert best(told) == "bad_config"
    assert "weight_decay" in told.root_causes[0].issue
    assert "weight_decay 40.0 -> 0.01" in told.root_causes[0].fixes[0].change


def test_a_usual_weight_decay_is_not() -> None:
    log = "\n".join(
        ['config: {"lr": 0.001, "optimizer": "adamw", "weight_decay": 0.05, "batch_size": 32}']
        + [f"step {n * 10} loss {value:.4f}" for n, value in enumerate(level(2.303, 80, 0.004))]
    )
    causes = [cause.id for cause in diagnose(read_log(log)).root_causes]
    assert "bad_config" not in causes


def test_a_few_epochs_are_enough_where_loss_and_accuracy_agree_on_a_guess() -> None:
    rows = [(2.334, 0.099), (2.319, 0.097), (2.312, 0.106), (2.309, 0.104), (2.305, 0.1)]
    rows += [(2.303, 0.098), (2.302, 0.103), (2.301, 0.107)]
    log = "".join(
        f"Epoch {n}/8\n125/125 [==============================] - 49s 390ms/step - loss: {loss} - "
        f"accuracy: {right}\n"
        for n, (loss, right) in enumerate(rows, start=1)
    )
    told = diagnose(read_log(log))
    (finding,) = [f for f in told.findings if f.id == "not_learning"]
    assert finding.is_alarm
    assert "guessing one of 10" in finding.title


def test_a_rise_that_is_nothing_beside_the_first_loss_is_no_divergence() -> None:
    told = judged(train__loss=[*fall(1.2, 1e-8, 200), *fall(1e-7, 0.01, 100)])
    assert not any(f.id == "loss_divergence" for f in told.findings)


def test_a_test_during_training_stands_in_for_validation() -> None:
    told = judged(
        train__loss=fall(2.3, 0.01, 160),
        test__loss=[*fall(2.3, 0.9, 40), *noisy(np.linspace(0.9, 2.4, 120))],
    )
    assert any(f.id == "overfitting" and f.is_alarm for f in told.findings)


@pytest.mark.parametrize(
    "name", ["grad_2.0_norm_total", "grad_norm/total", "gradnorm", "grad_norm_pre_clip"]
)
def test_a_total_of_the_gradient_is_known_by_its_names(name: str) -> None:
    assert shipped().role_of(name) == "grad_norm"


def test_a_summary_behind_a_star_is_of_the_validation() -> None:
    lines = []
    for epoch in range(4):
        lines += [
            f"Epoch: [{epoch}][{n}/100]\tTime 0.06 ( 0.06)\tLoss {1 / (epoch + 1):.4e} (1.0e+00)\t"
            f"Acc@1 {90 + epoch:.2f} ( 90.0)"
            for n in (50, 100)
        ]
        lines.append(f" * Acc@1 {40 + epoch:.3f} Acc@5 80.000")
    run = read_log("\n".join(lines) + "\n")
    roles = {s.role: s for s in run.series if s.role}
    assert len(roles["val/accuracy"]) == 4
    assert float(roles["train/accuracy"].values.min()) >= 90
