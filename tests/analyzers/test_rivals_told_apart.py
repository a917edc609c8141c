"""Causes that look alike until one looks at a second curve."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.catalogue.examples import example_run
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


def test_a_loss_that_climbs_evenly_from_the_start_has_the_wrong_sign() -> None:
    told = judged(train__loss=noisy(np.linspace(4.5, 160, 60), 0.01))
    assert best(told) == "wrong_loss"
    assert "sign" in told.root_causes[0].issue


def test_a_loss_that_is_thrown_about_from_the_start_is_the_rate() -> None:
    wild = noisy(np.geomspace(4.5, 160, 60), 0.9)
    assert best(judged(train__loss=[abs(value) + 1 for value in wild])) != "wrong_loss"


def test_a_tiny_rate_is_blamed_before_the_labels() -> None:
    log = "\n".join(
        ['config: {"lr": 1e-05, "optimizer": "adamw", "batch_size": 32, "num_classes": 8}']
        + [f"step {n * 20} loss {value:.4f}" for n, value in enumerate(level(2.081, 40, 0.003))]
    )
    assert best(diagnose(read_log(log))) == "lr_too_low"


def test_training_that_is_far_worse_than_validation_speaks_of_its_labels() -> None:
    told = judged(
        train__loss=[*fall(2.1, 1.9, 20), *level(1.88, 60, 0.01)],
        train__accuracy=[*noisy(np.linspace(0.3, 0.49, 20)), *level(0.49, 60, 0.01)],
        val__accuracy=[*noisy(np.linspace(0.7, 0.95, 20)), *level(0.95, 60, 0.01)],
    )
    assert best(told) == "corrupt_labels"
    finding = next(f for f in told.findings if f.id == "underfitting")
    assert finding.is_alarm
    assert "the training set is the worse" in finding.title


def test_a_slow_rank_is_found_by_the_unit_of_its_times_and_where_it_began() -> None:
    lines = []
    for step in range(0, 400, 5):
        for rank in range(4):
            taken = (
                190.0 * (1.6 if rank == 2 and step >= 210 else 1.0)
                + (step // 5 * 7 + rank * 3) % 11
            )
            lines.append(f"[rank {rank}] step {step}/400 compute {taken:.1f} ms")
    told = diagnose(read_log("\n".join(lines) + "\n"))
    (finding,) = [f for f in told.findings if f.id == "straggler"]
    assert finding.details["rank"] == 2
    assert finding.first_step == pytest.approx(210, abs=10)
    assert best(told) == "hardware_fault"


def test_a_rate_that_begins_anew_where_a_checkpoint_was_loaded() -> None:
    rates = [0.03 * (1 - n / 100) for n in range(80)]
    rows = [
        f"step {n * 10} loss {2 / (1 + n / 20):.4f} lr {rate:.6f}" for n, rate in enumerate(rates)
    ]
    rows.append("Loaded checkpoint checkpoints/last.pt (epoch 4 @ 790 updates)")
    rows += [
        f"step {n * 10} loss 0.41 lr {0.03 * (1 - (n - 80) / 100):.6f}" for n in range(80, 100)
    ]
    told = diagnose(read_log("\n".join(rows) + "\n"))
    assert any(f.id == "lr_anomaly" and f.is_alarm for f in told.findings)


def test_a_policy_that_is_certain_and_right_has_not_collapsed() -> None:
    entropy = [*fall(1.38, 0.05, 12), *level(0.03, 48)]
    won = [*noisy(np.linspace(-0.5, 0.95, 12), 0.01), *level(0.95, 48, 0.003)]
    lost = [*noisy(np.linspace(0.5, 0.1, 12), 0.01), *level(0.1, 48, 0.03)]
    told = judged(entropy=entropy, reward=won)
    assert not any(f.id == "mode_collapse" and f.is_alarm for f in told.findings)
    told = judged(entropy=entropy, reward=lost)
    assert any(f.id == "mode_collapse" and f.is_alarm for f in told.findings)


def test_a_falling_loss_that_falls_on_after_a_resume_is_no_jump() -> None:
    loss = fall(2.5, 0.2, 70)
    rows = [f"step {n * 10} loss {value:.4f}" for n, value in enumerate(loss[:36])]
    rows.append("Resumed from checkpoint-350, will skip to global step 350")
    rows += [f"step {n * 10} loss {value:.4f}" for n, value in enumerate(loss[36:], start=36)]
    told = diagnose(read_log("\n".join(rows) + "\n"))
    assert not any(f.id == "resume_discontinuity" for f in told.findings)


def test_records_between_two_bars_have_steps_of_their_own() -> None:
    rows = []
    for n in range(0, 210, 10):
        if n % 70 == 0:
            rows.append(f"\r {n // 7}%|#   | {max(n, 1)}/700 [00:06<14:23, 0.16it/s]\r\n")
        rows.append(
            f"{{'loss': {2.5 - n / 200:.3f}, 'learning_rate': 0.001, 'epoch': {n / 233.3:.4f}}}\n"
        )
    run = read_log("".join(rows))
    (loss,) = [s for s in run.series if s.name == "loss"]
    steps = loss.axis("step")
    assert np.all(np.diff(steps) > 0)
    assert np.allclose(steps[1:], np.arange(10, 210, 10), atol=3)


def test_a_rate_that_ran_out_is_the_schedule_not_frozen_layers() -> None:
    told = judged(
        train__loss=[*fall(3.3, 2.1, 10), *level(2.1, 90, 0.02)],
        val__loss=[2.1521] * 100,
        lr=[0.0015 * 0.5**n for n in range(100)],
    )
    assert best(told) == "lr_schedule"


def test_tuning_that_creeps_down_is_no_alarm() -> None:
    told = judged(
        train__loss=noisy(np.linspace(2.8, 2.63, 200), 0.05),
        val__loss=noisy(np.linspace(2.74, 2.69, 200), 0.0002),
        lr=[0.001] * 200,
    )
    assert not any(f.is_alarm for f in told.findings)


def test_source_code_behind_a_logger_is_nothing_that_happened() -> None:
    head = "2026-03-03 08:23:08,310 - trainer - INFO - "
    code = [
        "def step(batch):",
        "    if not math.isfinite(loss.item()):",
        "        raise RuntimeError(f'loss is nan: {loss.item()} at step {it}')",
        "    # avoid error: CUDA out of memory",
    ]
    rows = [f"{head}step {n} loss {value:.4f}" for n, value in enumerate(fall(0.6, 0.1, 80))]
    told = diagnose(read_log("\n".join([*(head + line for line in code), *rows]) + "\n"))
    assert not any(f.is_alarm for f in told.findings)


def test_a_table_with_a_ruled_header_is_read_row_by_row() -> None:
    lines = ["|   step |   loss |   f1 |", "|--------|:-------|-----:|"]
    lines += [f"| {n * 5} | {0.7 - n / 100:.4f} | 0.2{n:02d} |" for n in range(1, 30)]
    run = read_log("\n".join(lines) + "\n")
    series = {s.name: s for s in run.series}
    assert len(series["loss"]) == 29
    assert series["loss"].axis_name == "step"


def test_a_spike_behind_a_steep_beginning_is_seen() -> None:
    loss = [*fall(0.25, 0.02, 24), *level(0.014, 46, 0.4), *level(0.28, 5, 0.05)]
    told = judged(train__loss=[*loss, 0.14, 0.06, 0.03, *level(0.01, 40, 0.4)])
    spikes = [f for f in told.findings if f.id == "loss_spike" and f.is_alarm]
    assert [f.first_step for f in spikes] == [70]


def test_spikes_that_come_again_and_again_are_not_blamed_on_one_batch() -> None:
    loss = level(0.8, 240, 0.1)
    for at in (70, 120, 190):
        loss[at : at + 4] = [9.0, 6.0, 4.0, 2.0]
    assert best(judged(train__loss=loss)) == "lr_too_high"


def test_a_decay_that_draws_all_weights_to_zero_is_blamed_before_the_labels() -> None:
    curves = {
        "train/loss": level(1.386, 160, 0.004),
        "grad_norm": level(0.1, 160, 0.3),
        "val_acc": level(0.25, 160, 0.05),
    }
    pulled = {"optimizer": "sgd", "lr": 0.05, "weight_decay": 0.5}
    assert best(diagnose(make_run(curves, config=pulled))) in ("bad_config", "undercapacity")
    usual = {"optimizer": "sgd", "lr": 0.05, "weight_decay": 1e-4}
    assert best(diagnose(make_run(curves, config=usual))) == "corrupt_labels"


def test_gradients_lifted_to_a_new_level_at_once_are_those_of_other_data() -> None:
    loss = [*fall(1.8, 0.2, 100), 40.0, 12.0, 5.0, *level(1.2, 77, 0.4)]
    norm = level(2.0, 100, 0.2) + level(180.0, 80, 0.4)
    rate = [0.004 / np.sqrt(1 + step / 20) for step in range(180)]
    told = judged(train__loss=loss, grad_norm=norm, lr=rate)
    assert best(told) == "data_pipeline_change"


def test_labels_that_teach_a_little_at_every_evaluation_are_not_blamed() -> None:
    val = [0.6926, 0.6921, 0.6917, 0.6914, 0.6912, 0.6910, 0.6908, 0.6907, 0.6906, 0.6905]
    run = {"train/loss": level(0.692, 100, 0.004), "grad_norm": level(0.12, 100, 0.3)}
    quiet = diagnose(make_run({**run, "val/loss": val}))
    assert best(quiet) != "corrupt_labels"
    wanders = [0.6926, 0.6931, 0.6924, 0.6935, 0.6922, 0.6933, 0.6930, 0.6925, 0.6934, 0.6929]
    assert best(diagnose(make_run({**run, "val/loss": wanders}))) == "corrupt_labels"


def test_gradients_that_begin_at_exactly_zero_come_from_the_initialisation() -> None:
    slowly = [0.0, 0.0, *np.geomspace(5e-9, 1e-3, 98), *np.geomspace(1e-3, 0.3, 300)]
    told = judged(
        train__loss=level(2.303, 200, 0.004) + fall(2.3, 1.9, 200),
        grad__layer0=[float(value) for value in slowly],
        grad__layer2=[0.0, *(float(value) for value in np.geomspace(1e-4, 0.3, 399))],
        grad__layer4=level(0.12, 400, 0.2),
    )
    assert best(told) == "poor_init"


def test_codes_that_are_equal_at_the_first_step_come_from_the_initialisation() -> None:
    nothing = [0.0] * 120
    told = judged(train__loss=[0.4] * 120, grad_norm=nothing, emb_std=nothing)
    assert best(told) == "poor_init"
    assert best(judged(train__loss=[0.4] * 120, grad_norm=nothing)) == "frozen_parameters"


def test_a_metric_of_outputs_that_overflowed_accuses_no_code() -> None:
    broken = [np.inf, *[np.nan] * 60]
    told = judged(train__loss=broken, mae=[2.6e28, *[np.nan] * 60])
    assert "code_bug" not in [cause.id for cause in told.root_causes]
    finite = judged(train__loss=fall(2.0, 0.5, 61), val__accuracy=[0.4, *[-3.7] * 60])
    assert best(finite) == "code_bug"


def test_a_guess_that_is_thrown_about_is_no_matter_of_labels() -> None:
    accuracy = level(0.1, 100, 0.2)
    run = {"train/accuracy": accuracy, "grad_norm": level(0.5, 100, 0.2)}
    above = diagnose(make_run({**run, "train/loss": level(1.015 * np.log(10), 100, 0.006)}))
    assert best(above) == "lr_too_high"
    exact = diagnose(make_run({**run, "train/loss": level(np.log(10), 100, 0.006)}))
    assert best(exact) == "corrupt_labels"


def test_labels_without_sense_do_not_make_a_model_deaf() -> None:
    run = {"train/loss": level(np.log(10), 100, 0.003), "grad_norm": level(0.5, 100, 0.2)}
    deaf = [0.0925] * 12 + [0.1075] * 8
    assert best(diagnose(make_run({**run, "val/accuracy": deaf}))) == "poor_init"
    hears = [round(value, 4) for value in level(0.1, 20, 0.1)]
    assert best(diagnose(make_run({**run, "val/accuracy": hears}))) == "corrupt_labels"


def test_a_loss_on_its_way_past_a_guess_is_none() -> None:
    loss = 1.6 + 0.9 * np.exp(-np.arange(20) / 11)
    hits = [0.12, 0.05, 0.05, 0.11, 0.13, *np.linspace(0.19, 0.22, 15).tolist()]
    log = "\n".join(
        f"Epoch {n + 1:03d} | train loss {cost:.4f} | val loss {cost:.4f} | val acc {hit:.4f}"
        for n, (cost, hit) in enumerate(zip(loss.tolist(), hits, strict=True))
    )
    assert all(finding.id != "not_learning" for finding in diagnose(read_log(log)).findings)


def test_trees_without_a_split_are_not_frozen() -> None:
    lines = [f"[{n}]\ttraining's l2: 0.688139\tvalid_1's l2: 0.70553" for n in range(1, 31)]
    assert best(diagnose(read_log("\n".join(lines)))) == "frozen_parameters"
    said = (
        "[LightGBM] [Warning] Stopped training because there are no more leaves that meet the "
        "split requirements"
    )
    log = "\n".join(line for pair in lines for line in (said, pair))
    assert best(diagnose(read_log(log))) == "bad_config"


def test_a_batch_of_rare_classes_is_a_spike_to_a_model_that_ignores_them() -> None:
    run = {"train/loss": [*fall(0.67, 0.15, 60), *level(0.15, 40), 3.0, 0.9, *level(0.15, 20)]}
    assert best(diagnose(make_run(run))) == "bad_batch"
    ignored = {"val/accuracy": [0.9667] * 6, "val/recall": [0.0] * 6, "val/f1": [0.0] * 6}
    assert best(diagnose(make_run({**run, **ignored}))) == "class_imbalance"


@pytest.mark.parametrize(("rate", "is_blamed"), [(0.03, True), (3e-4, False)])
def test_a_rate_that_adam_does_not_bear_is_known_where_the_program_is(
    rate: float, *, is_blamed: bool
) -> None:
    loss = [3.6, 3.17, 3.1, *level(3.02, 147, 0.01)]
    config: dict[str, object] = {"learning_rate": rate, "per_device_train_batch_size": 16}
    told = diagnose(make_run({"loss": loss}, config=config))
    assert (best(told) == "lr_too_high") is is_blamed
    plain: dict[str, object] = {"learning_rate": rate, "batch_size": 16}
    assert best(diagnose(make_run({"loss": loss}, config=plain))) != "lr_too_high"


def ranks_log(said: str) -> str:
    lines = []
    for step in range(1, 301):
        lines += [
            f"[rank{rank}] step {step} | loss {loss:.4f} | gnorm {norm:.3f}"
            for rank, (loss, norm) in enumerate(
                [(max(2.5, 3.5 - 0.01 * step) if step < 180 else 3.5, 0.7)] * 2
            )
        ]
        if step == 182 and said:
            lines.append(said)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("said", "is_blamed"),
    [
        ("[rank1] param checksum mismatch at step 182: rank1 6d1f09a4 others 91c0e77b", True),
        ("WARNING: parameters differ across ranks: max abs diff 3.1e-2 in layers.0", True),
        ("[rank1] param checksum at step 182: no mismatch on any rank", False),
        ("WARNING: checksum mismatch of shard-00017.tar, downloading it again", False),
        ("", False),
    ],
)
def test_ranks_whose_weights_differ_blame_the_machine(said: str, *, is_blamed: bool) -> None:
    told = diagnose(read_log(ranks_log(said)))
    assert "loss_divergence" in {finding.id for finding in told.findings}
    assert (best(told) == "hardware_fault") is is_blamed


def epochs(train: list[float], val: list[float]) -> Diagnosis:
    lines = [
        f"Epoch [{epoch}/20] train_loss: {one:.4f} val_loss: {other:.4f}"
        for epoch, (one, other) in enumerate(zip(train, val, strict=True), 1)
    ]
    return diagnose(read_log("\n".join(lines) + "\n"))


def test_validation_below_the_first_epoch_was_never_a_matter_of_memory() -> None:
    train = [1.27, *fall(0.6, 0.05, 19)]
    rising = np.linspace(1.43, 1.65, 17)
    assert best(epochs(train, [1.65, 1.5, 1.44, *rising])) != "overcapacity"
    assert best(epochs(train, [1.1, 0.9, 0.8, *(rising - 0.65)])) == "overcapacity"


def weight_of_capacity(hits: list[float]) -> float:
    series = {
        "train/loss": [4.4, 3.7, *level(3.3, 98, 0.02)],
        "val/loss": [3.4, *level(3.32, 99, 0.001)],
        "val/accuracy": hits,
    }
    told = diagnose(make_run(series))
    return next((one.confidence for one in told.root_causes if one.id == "undercapacity"), 0.0)


def test_a_small_model_does_not_answer_all_samples_alike() -> None:
    varied = [round(value, 4) for value in level(0.2808, 100, 0.02)]
    assert 0.0 < weight_of_capacity([0.2808] * 100) < weight_of_capacity(varied)


def test_the_rate_that_was_stepped_with_counts_and_not_the_one_that_was_meant() -> None:
    told = diagnose(example_run("train/loss: 2>1~0.02*100 4~0.3*60 ; lr: 3*160 ; config: lr=0.1"))
    (rate,) = (cause for cause in told.root_causes if cause.id == "lr_too_high")
    assert "lr 3" in rate.issue
    assert rate.fixes[0].change == "lr 3 -> 1"


def _resumed(after: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Diagnosis:
    """A run of 300 steps, resumed in its middle, whose validation turns there and runs away."""
    losses = [*noisy(np.linspace(3.0, 2.4, 150), 0.01), *noisy(after, 0.01)]
    lines = []
    for step, value in enumerate(losses, start=1):
        if step == 151:
            lines.append("Resuming training from out/ckpt.pt")
        lines.append(f"iter {step}: loss {value:.4f}, lr 2.0e-3")
        if step % 25 == 0:
            worse = 2.5 + 0.012 * (step - 150) if step > 150 else 2.5 + 0.004 * (150 - step)
            lines.append(f"step {step}: val loss {worse:.4f}")
    return diagnose(read_log("\n".join(lines)))


def test_what_is_easier_since_a_resume_has_been_seen_before() -> None:
    assert best(_resumed(np.linspace(2.35, 0.7, 150))) == "replayed_data"


def test_a_loss_that_falls_as_before_since_a_resume_is_not_replayed() -> None:
    told = _resumed(np.linspace(2.4, 1.9, 150))
    assert told.problems == ()
    assert "replayed_data" not in [one.id for one in told.root_causes[:1]]


def told_of(example: str) -> Diagnosis:
    return diagnose(example_run(example))


def test_a_new_task_costs_more_at_first() -> None:
    lost = "val/loss: 2>0.3~0.005*10 1.6~0.02*10"
    known = told_of(f"train/loss: 2>0.3~0.01*100 0.3>0.01~0.003*100 ; {lost}")
    other = told_of(f"train/loss: 2>0.3~0.01*100 1.5>0.1~0.01*100 ; {lost}")
    assert best(known) == "overcapacity"
    beliefs = [
        next(one.confidence for one in told.root_causes if one.id == "sequential_training")
        for told in (known, other)
    ]
    assert beliefs[0] < 0.3 < 0.6 < beliefs[1]


def test_validation_that_is_thrown_as_far_as_training_accuses_the_model_not_its_data() -> None:
    loss = "train/loss: 4.6>2.2~0.05*150 3.3~0.05*150"
    alike = told_of(f"{loss} ; val/loss: 4.6>2.3~0.02*10 3.4~0.02*10")
    apart = told_of(f"{loss} ; val/loss: 4.6>2.3~0.02*10 2.5~0.02*10")
    assert best(alike) != "data_pipeline_change"
    assert best(apart) == "data_pipeline_change"


def test_gradients_that_burst_and_fade_were_thrown_by_a_step() -> None:
    loss = [*fall(4.6, 2.2, 150), 6.0, 5.2, 4.5, *level(3.0, 147)]
    thrown = judged(train__loss=loss, grad_norm=[*level(0.9, 150), 5.0, 4.0, *level(0.25, 148)])
    fed = judged(train__loss=loss, grad_norm=[*level(0.9, 150), 2.0, 1.8, *level(0.85, 148)])
    assert best(thrown) != "data_pipeline_change"
    assert best(fed) == "data_pipeline_change"


def test_one_answer_to_all_since_a_jump_is_no_change_of_data() -> None:
    loss = "train/loss: 2.3>0.2~0.02*100 2.3~0.01*100"
    seen = "val/accuracy: 0.3>0.95~0.01*10"
    same = told_of(f"{loss} ; {seen} (0.096 0.118 0.096 0.096 0.118)*2")
    free = told_of(f"{loss} ; {seen} 0.101 0.093 0.117 0.088 0.106 0.112 0.097 0.099 0.104 0.109")
    assert best(same) != "data_pipeline_change"
    assert "dead_relu" in [one.id for one in same.root_causes]
    assert best(free) == "data_pipeline_change"


def test_accuracies_that_come_again_and_again_are_no_sign_of_wrong_labels() -> None:
    flat = "train/loss: 2.303~0.005*200 ; grad_norm: 0.2~0.02*200 ; val/loss: 2.31~0.008*12"
    same = told_of(f"{flat} ; val/accuracy: (0.096 0.118 0.103 0.096)*3")
    free = told_of(
        f"{flat} ; val/accuracy: 0.101 0.093 0.117 0.088 0.106 0.112 0.097 0.099 0.104 "
        "0.109 0.095 0.114"
    )
    assert best(free) == "corrupt_labels"
    assert free.root_causes[0].confidence > 0.8
    blamed = [one.confidence for one in same.root_causes if one.id == "corrupt_labels"]
    assert max(blamed, default=0.0) < 0.7


def test_one_answer_with_three_decimals_is_deaf() -> None:
    flat = "train/loss: 2.303~0.005*200 ; grad_norm: 0.2~0.02*200 ; val/loss: 2.302~0.0003*15"
    assert best(told_of(f"{flat} ; val/accuracy: 0.096 0.1*14")) == "poor_init"


def test_a_loss_that_is_too_good_does_not_explain_steps_that_got_slower() -> None:
    loss = "train/loss: 2.4>0.6~0.01*20 0.05>0.003~0.0003*80"
    slow = told_of(f"{loss} ; tokens_per_second: 18400~100*50 7500~50*50 ; config: vocab_size=64")
    assert "throughput_drop" in slow.root_causes[0].explains


def test_a_training_that_bears_the_next_task_and_loses_the_last_is_sequential() -> None:
    lines = []
    first, second = noisy(np.geomspace(2.0, 0.08, 75)), noisy(np.geomspace(4.0, 0.03, 75))
    for number, value in enumerate([*first, *second]):
        step = 6 * number
        if number == 75:
            lines.append(f"INFO train: task A done, starting task B at step {step}")
        lines.append(f"INFO step={step} loss={value:.4f} lr=0.0015")
        if number % 5 == 4:
            known = 0.96 if number < 75 else max(0.45, 0.96 - 0.05 * (number - 70) / 5)
            lines.append(f"INFO eval step={step} val_acc={known:.3f}")
    told = diagnose(read_log("\n".join(lines)))
    assert best(told) == "sequential_training"
