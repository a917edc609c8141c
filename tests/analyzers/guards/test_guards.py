"""The guards against false alarms, one test or more for each of the 22 traps."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.event import EventKind
from mltd.runs.run import Run
from tests.analyzers.made import falling, make_run, noisy, read_log, view_of


def alarms(run: Run) -> list[str]:
    told = diagnose(run)
    assert told.problems == ()
    return [finding.title for finding in told.findings if finding.is_alarm]


def ema(values: list[float], keep: float = 0.98) -> list[float]:
    found = [values[0]]
    for value in values[1:]:
        found.append(keep * found[-1] + (1 - keep) * value)
    return found


# 1 -- a running mean -------------------------------------------------------------------------


def test_1_a_smoothed_loss_is_known_as_such() -> None:
    raw = falling(4, 2, 800, 0.3)
    assert view_of({"loss": raw}).facts.smoothed == {}
    view = view_of({"loss": ema(raw)})
    curve = view.curve("train/loss")
    assert curve is not None
    assert view.facts.is_smoothed(curve)
    assert "running mean" in view.facts.remarks(curve)[0].quote
    assert view_of({"smoothed_loss": raw}).facts.smoothed
    mean = np.cumsum(raw) / np.arange(1, 801)
    assert view_of({"loss": mean.tolist()}).facts.smoothed
    # A steep descent turns back seldom too, but around its trend it does as raw noise does.
    assert view_of({"loss": falling(9, 1, 400, 0.01)}).facts.smoothed == {}


def test_1_a_noise_free_descent_is_not_taken_for_smoothed() -> None:
    assert view_of({"loss": falling(4, 2, 800, 0.0)}).facts.smoothed == {}


# 2 -- few digits -----------------------------------------------------------------------------


def test_2_a_loss_printed_with_two_digits_is_quantised() -> None:
    raw = falling(2.4, 2.3, 600, 0.02)
    assert view_of({"loss": raw}).facts.quantised == {}
    view = view_of({"loss": [round(value, 2) for value in raw]})
    curve = view.curve("train/loss")
    assert curve is not None
    assert view.facts.is_quantised(curve)


def test_2_a_constant_is_not_quantised() -> None:
    assert view_of({"loss": [2.0] * 100}).facts.quantised == {}


# 3 -- the counter goes back ------------------------------------------------------------------


def test_3_a_rollback_is_a_branch_not_a_spike() -> None:
    first = falling(4, 1, 300, 0.02)
    run = make_run({"loss": first + first[200:]}, [*range(300), *range(200, 300)])
    curve = RunView(run).curve("train/loss")
    assert curve is not None
    assert len(curve.restarts) == 1
    assert curve.excursions == []


# 4, 5, 6 -- the schedule ---------------------------------------------------------------------


def rates(shape: str, count: int = 400) -> list[float]:
    x = np.arange(count) / count
    found = {
        "warm-up": np.minimum(1.0, x * 5 + 0.002),
        "cosine": 0.5 * (1 + np.cos(np.pi * x)),
        "cyclic": 0.5 * (1 + np.cos(8 * np.pi * x)),
        "constant": np.ones(count),
    }[shape]
    shape_of: list[float] = (3e-4 * found).tolist()
    return shape_of


@pytest.mark.parametrize(
    ("shape", "warmup", "is_decayed", "is_cyclic"),
    [
        ("constant", None, False, False),
        ("warm-up", 79, False, False),
        ("cosine", None, True, False),
        ("cyclic", None, False, True),
    ],
)
def test_4_5_6_the_schedule_is_known(
    shape: str, warmup: float | None, is_decayed: bool, is_cyclic: bool
) -> None:
    facts = view_of({"loss": noisy(2, 400), "lr": rates(shape)}).facts
    found = facts.warmup_until
    assert found == (pytest.approx(warmup, abs=3) if warmup else None)
    assert (facts.is_decayed, facts.is_cyclic) == (is_decayed, is_cyclic)


def test_5_a_flat_loss_under_a_decayed_rate_is_no_alarm() -> None:
    assert alarms(make_run({"loss": falling(5, 2, 1000), "lr": rates("cosine", 1000)})) == []


def test_6_waves_that_follow_the_rate_are_no_alarm() -> None:
    wave = rates("cyclic", 1000)
    loss = np.asarray(falling(5, 2, 1000)) + 500 * np.asarray(wave)
    assert alarms(make_run({"loss": loss.tolist(), "lr": wave})) == []


# 7 -- every k-th step is logged --------------------------------------------------------------


def test_7_the_log_interval_is_known() -> None:
    view = view_of({"loss": noisy(2, 50)}, steps=range(0, 500, 10))
    curve = view.curve("train/loss")
    assert curve is not None
    assert curve.spacing == 10


# 8 -- planned changes ------------------------------------------------------------------------


def test_8_a_change_of_what_the_run_is_fed_is_a_fact() -> None:
    view = view_of({"loss": noisy(2, 90), "batch_size": [16.0] * 40 + [64.0] * 50})
    (change,) = view.facts.changes
    assert (change.step, change.evidence.quote) == (40, "16 -> 64")
    assert view.facts.change_near(45, before=10) is change
    assert view.facts.change_near(60, before=10) is None


def test_8_a_mean_batch_size_that_wavers_is_no_plan() -> None:
    # Seldom told, as by fairseq at the ends of epochs: what is told so is else a change.
    loss = noisy(2, 90)
    assert view_of({"loss": loss, "train_bsz": [130.5, 131.6, 128.9, 134.4]}).facts.changes == []
    changes = view_of({"loss": loss, "train_bsz": [128.0, 256.0, 512.0]}).facts.changes
    assert len(changes) == 2


def test_8_a_measurement_that_always_changes_is_no_plan() -> None:
    assert view_of({"loss": noisy(2, 90), "seq_len": noisy(100, 90, 9)}).facts.changes == []


def test_8_an_announced_stage_is_a_fact() -> None:
    lines = [f"step {i} loss {2 + i % 3 / 10}\n" for i in range(30)]
    lines.insert(15, "WARNING: curriculum: switching to stage 2\n")
    view = RunView(read_log("".join(lines)))
    assert [change.step for change in view.facts.changes] == [15]


# 9 -- few evaluations ------------------------------------------------------------------------


def test_9_one_worse_evaluation_is_no_alarm() -> None:
    for values in ([2.0, 1.5, 1.6], [2.0, 1.5, 1.3, 1.35], [1.0, 1.02, 0.99, 1.01, 1.0, 1.03]):
        count = 40 * len(values)
        text = []
        loss = falling(2, 1, count)
        for step, value in enumerate(loss):
            text.append(f"step {step} loss {value:.4f}\n")
            if step % 40 == 39:
                text.append(f"step {step} val_loss {values[step // 40]:.4f}\n")
        assert alarms(read_log("".join(text))) == []


# 10 -- objectives that do not fall -----------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ("d_loss", "g_loss"),
        ("policy_loss", "ep_rew_mean"),
        ("train/loss_critic", "train/loss_actor"),
        ("contrastive_loss", "loss"),
        ("nce_loss", "lr"),
        ("nt_xent", "lr"),
        ("loss_netD", "loss_netG"),
        ("Q", "eps"),
        ("q1", "return"),
    ],
)
def test_10_losses_that_need_not_fall_are_known(names: tuple[str, str]) -> None:
    facts = view_of({name: noisy(1, 50) for name in names}).facts
    assert not facts.is_monotone
    assert names[0] in facts.objective


def test_10_a_letter_alone_is_no_agent() -> None:
    assert view_of({"loss": noisy(1, 50), "q": noisy(1, 50)}).facts.is_monotone


def test_10_the_value_of_a_loss_is_not_the_loss_of_a_value() -> None:
    assert view_of({"loss": noisy(1, 50), "loss value": noisy(1, 9)}).facts.is_monotone


def test_10_a_config_may_say_so() -> None:
    facts = view_of({"loss": noisy(1, 50)}, config={"algorithm": "PPO"}).facts
    assert not facts.is_monotone
    assert view_of({"loss": noisy(1, 50)}, config={"model": "resnet18"}).facts.is_monotone


def test_10_a_rising_generator_loss_is_no_alarm() -> None:
    series = {"d_loss": falling(1.4, 0.6, 900, 0.2), "g_loss": falling(0.7, 3.0, 900, 0.3)}
    assert alarms(make_run(series)) == []


# 11, 12, 13 -- gradient norms ----------------------------------------------------------------


def test_11_a_norm_times_the_loss_scale_is_known() -> None:
    scale = np.repeat([2.0**18, 2.0**17, 2.0**18, 2.0**16], 50)
    norm = np.abs(noisy(0.3, 200, 0.01)) * scale
    view = view_of({"grad_norm": norm.tolist(), "loss_scale": scale.tolist()})
    assert view.facts.is_grad_norm_scaled
    plain = view_of({"grad_norm": noisy(0.3, 200, 0.01), "loss_scale": scale.tolist()})
    assert not plain.facts.is_grad_norm_scaled


def test_11_a_norm_times_a_scale_that_changes_seldom_is_known_under_its_noise() -> None:
    scale = np.repeat([2.0**12, 2.0**13, 2.0**14, 2.0**15, 2.0**16], 40)
    spread = np.exp(np.random.default_rng(2).normal(0.0, 0.35, 200))
    times = view_of({"grad_norm": (2 * spread * scale).tolist(), "loss_scale": scale.tolist()})
    assert times.facts.is_grad_norm_scaled
    # The same growth, but not where the scale changes.
    climb = 2 * spread * np.geomspace(2.0**12, 2.0**16, 200)
    grown = view_of({"grad_norm": climb.tolist(), "loss_scale": scale.tolist()})
    assert not grown.facts.is_grad_norm_scaled


def test_12_a_norm_printed_as_zero_is_not_vanishing() -> None:
    run = make_run({"loss": falling(4, 2, 200), "grad_norm": [0.0] * 200})
    assert "printed as 0" in RunView(run).facts.grad_norm_flaw
    assert alarms(run) == []


def test_12_a_zero_norm_of_a_loss_that_stands_still_is_a_zero() -> None:
    assert view_of({"loss": [2.3] * 200, "grad_norm": [0.0] * 200}).facts.grad_norm_flaw == ""


def test_13_values_repeated_to_the_last_digit_are_skipped_steps() -> None:
    norm = noisy(1, 200, 0.1)
    norm[50:54] = [464441.887] * 4
    view = view_of({"grad_norm": norm})
    assert view.facts.skipped == {51, 52, 53}
    assert view_of({"grad_norm": noisy(1, 200, 0.1)}).facts.skipped == set()


# 14 to 17 -- where lines become records ------------------------------------------------------


def test_14_source_code_in_the_log_is_no_message() -> None:
    source = (
        "import torch\n"
        "def check(x):\n"
        '    raise RuntimeError(f"CUDA out of memory. Tried to allocate {x}")\n'
        "    print('loss: nan')  # NCCL error\n"
        "    loss = float('nan')\n"
    )
    lines = "".join(f"step {i} loss {3 - i / 50:.4f}\n" for i in range(60))
    run = read_log(source + "=" * 60 + "\n" + lines)
    assert [e.kind for _, e in run.events if e.kind is not EventKind.FINISHED] == []
    assert alarms(run) == []


def test_15_nan_inside_words_and_units_is_no_value() -> None:
    lines = "".join(
        f"step {i} loss {3 - i / 50:.4f} step_avg:nanms nanobatch: 4 banana\n" for i in range(60)
    )
    run = read_log("fixing nan_to_num and nancy\n" + lines)
    loss = next(s for s in run.series if s.name == "loss")
    assert np.isfinite(loss.values).all()
    assert alarms(run) == []


def test_16_redrawn_bars_are_one_value_per_step() -> None:
    drawn = "".join(
        f"\rEpoch 1: {i}%|###| {i}/60 [00:0{i % 10}<00:10, 5it/s, loss={3 - i / 50:.3f}]"
        for i in range(61)
    )
    run = read_log(drawn + "\n")
    curve = RunView(run).curve("train/loss")
    assert curve is not None
    assert curve.y[-1] == 1.8
    assert curve.x.max() <= 60
    assert alarms(run) == []


def test_17_ranks_that_interleave_are_series_of_their_own() -> None:
    lines = []
    for i in range(80):
        for rank in (0, 1, 2, 3):
            lines.append(f"[rank{rank}]: step {i} loss {(rank + 1) * (3 - i / 50):.4f}\n")
    run = read_log("".join(lines))
    assert {s.rank for s in run.series if s.role == "train/loss"} == {0, 1, 2, 3}
    curve = RunView(run).curve("train/loss")
    assert curve is not None
    assert len(curve) == 80
    assert alarms(run) == []


# 18 -- what was overcome ---------------------------------------------------------------------

ERROR = """Traceback (most recent call last):
  File "upload.py", line 3, in send
    send()
ConnectionError: connection reset by peer
"""


def test_18_a_message_after_which_training_went_on_was_overcome() -> None:
    lines = [f"step {i} loss {3 - i / 50:.4f}\n" for i in range(60)]
    went_on = RunView(read_log("".join([*lines[:30], ERROR, *lines[30:]])))
    ended = RunView(read_log("".join([*lines, ERROR])))
    for view, count in ((went_on, 1), (ended, 0)):
        grave = [p for p in view.events if p.event.kind is EventKind.EXCEPTION]
        assert len(grave) == 1
        assert len(view.facts.recovered) == count
    assert alarms(went_on.run) == []


# 19 -- buffered output -----------------------------------------------------------------------


def test_19_output_in_bursts_is_known() -> None:
    def stamped(seconds: list[int]) -> str:
        return "".join(
            f"2024-01-01 10:{s // 60:02d}:{s % 60:02d} step {i} loss 2.{i % 9}\n"
            for i, s in enumerate(seconds)
        )

    burst = [600 * (i // 50) for i in range(200)]
    assert RunView(read_log(stamped(burst))).facts.is_buffered
    assert not RunView(read_log(stamped([3 * i for i in range(200)]))).facts.is_buffered


# 20 -- converged toys ------------------------------------------------------------------------


def test_20_tiny_losses_may_jump_tenfold() -> None:
    generator = np.random.default_rng(3)
    loss = 2.3 * np.exp(-np.arange(1500) / 80) + 1e-3 * np.exp(generator.normal(0, 0.8, 1500))
    loss[[900, 1100, 1101, 1300]] *= 10
    assert alarms(make_run({"loss": loss.tolist()})) == []


# 21 -- the first intervals -------------------------------------------------------------------


def test_21_slow_first_steps_are_compilation() -> None:
    times = [30.0, 9.0, 4.0, *noisy(0.2, 297, 0.01)]
    speed = [1 / t for t in times]
    run = make_run({"loss": falling(4, 2, 300), "step_time": times, "samples_per_sec": speed})
    assert alarms(run) == []


# 22 -- metrics that are not defined everywhere -----------------------------------------------


def test_22_a_metric_undefined_at_the_edges_of_epochs_is_no_alarm() -> None:
    accuracy = np.asarray(noisy(0.8, 300, 0.01))
    accuracy[::50] = np.nan
    run = make_run({"loss": falling(4, 2, 300), "train_accuracy": accuracy.tolist()})
    assert alarms(run) == []


def test_10_an_agent_is_known_by_columns_of_one_letter() -> None:
    grows, same = falling(1, 9, 90, 0.1), noisy(20, 90)
    for names in (("eps", "R"), ("Q", "avg50"), ("epsilon", "score"), ("pi_loss", "ret")):
        view = view_of({"loss": grows, names[0]: grows, names[1]: same})
        assert not view.facts.is_monotone
        assert "reinforcement" in view.facts.objective
    assert view_of({"loss": grows, "eps": grows}).facts.is_monotone
    assert view_of({"loss": grows, "r": same}).facts.is_monotone
