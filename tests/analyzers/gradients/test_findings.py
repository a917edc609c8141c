"""Each finding: what fires, how gravely, from which step; and what must not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.registry import registry
from mltd.analyzers.core.view import RunView

from .helpers import found, run_of_log

MINE = (
    "exploding_gradients",
    "vanishing_gradients",
    "nan_gradients",
    "loss_scale_collapse",
    "dead_units",
    "frozen_layers",
    "nan_weights",
)
CALM = "train/loss: 2>1~0.02*{0} ; grad_norm: 0.5~0.05*{0}"


# -- exploding_gradients --------------------------------------------------------------------


def test_an_explosion_begins_where_the_climb_does() -> None:
    (finding,) = found(
        "exploding_gradients",
        "grad_norm: 0.5~0.02*100 1.5 5 20 90 400 3000*8 ; train/loss: 2>1~0.01*100 1 1.2 3 7 9*9",
    )
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 100


def test_a_single_outlier_is_information_at_most() -> None:
    noted = found(
        "exploding_gradients",
        "grad_norm: 0.5~0.02*100 20 0.5~0.02*100 ; train/loss: 2>1~0.01*100 1.6 1>0.8~0.01*100",
    )
    assert [finding.severity for finding in noted] == [Severity.INFO]


def test_the_unit_of_the_loss_changes_no_verdict() -> None:
    for unit in (1.0, 1000.0):
        norm = f"{0.5 * unit}~{0.02 * unit}*100 {2 * unit} {9 * unit} {50 * unit} {400 * unit}*9"
        loss = f"{2 * unit}>{unit}~{0.01 * unit}*100 {unit} {2 * unit} {5 * unit} {8 * unit}*9"
        (finding,) = found("exploding_gradients", f"grad_norm: {norm} ; train/loss: {loss}")
        assert (finding.severity, finding.first_step) == (Severity.CRITICAL, 100)


def test_a_norm_multiplied_by_the_loss_scale_is_divided_first() -> None:
    """The scale grows sixteenfold; the gradient itself does not."""
    scale = "loss_scale: 65536*60 131072*60 262144*60 1048576*60"
    norm = "grad_norm: 32768~900*60 65536~1800*60 131072~3600*60 524288~9000*60"
    run = example_run(f"{norm} ; {scale} ; train/loss: 2>1~0.3*240")
    assert RunView(run).facts.is_grad_norm_scaled
    assert not [f for f in found("exploding_gradients", run) if f.is_alarm]


def test_an_infinite_norm_alone_is_no_explosion() -> None:
    """A scaler skips such steps."""
    example = "grad_norm: 0.5~0.02*100 inf 0.5~0.02*100 ; train/loss: 2>1~0.02*201"
    assert found("exploding_gradients", example) == []


def test_steady_growth_counts_where_the_loss_gets_worse() -> None:
    # Grown before there is a usual size that it could leave.
    growing = "0.1*5 1 2 5 9 20 40 60~5*139"
    worse = found("exploding_gradients", f"grad_norm: {growing} ; train/loss: 2>9*9 9~0.5*141")
    assert [finding.severity for finding in worse] == [Severity.WARNING]
    assert worse[0].first_step == 5
    better = found("exploding_gradients", f"grad_norm: {growing} ; train/loss: 2>0.5~0.01*150")
    assert better == []


def test_gradients_that_begin_too_large_beside_a_loss_beyond_a_guess() -> None:
    example = "grad_norm: 200>4*60 4~0.3*140 ; train/loss: {}>1.9*60 1.9~0.05*140 ; config: "
    example += "num_classes=10"
    (finding,) = found("exploding_gradients", example.format(20))
    assert (finding.severity, finding.first_step) == (Severity.WARNING, 0)
    assert found("exploding_gradients", example.format(2.4)) == []


# -- vanishing_gradients --------------------------------------------------------------------


def test_layers_that_vanish_in_a_run_that_learns_are_information() -> None:
    layers = "grad/fc1: 1e-6*80 ; grad/fc2: 1e-4*80 ; grad/fc3: 0.2*80"
    stuck = found("vanishing_gradients", f"{layers} ; train/loss: 1.8~0.02*80")
    learns = found("vanishing_gradients", f"{layers} ; train/loss: 1.8>0.4~0.02*80")
    assert [finding.severity for finding in stuck] == [Severity.WARNING]
    assert [finding.severity for finding in learns] == [Severity.INFO]


def test_a_frozen_first_layer_is_not_a_vanishing_gradient() -> None:
    layers = "grad/fc1: 0*80 ; grad/fc2: 0.1~0.01*80 ; grad/fc3: 0.2~0.01*80"
    assert found("vanishing_gradients", f"{layers} ; train/loss: 1.8~0.02*80") == []


def test_small_norms_of_a_converged_run_are_right() -> None:
    example = "grad_norm: 0.5>1e-7*100 1e-7*50 ; train/loss: 2.3>1e-4*100 1e-4*50"
    assert found("vanishing_gradients", example) == []


# -- nan_gradients --------------------------------------------------------------------------


def test_a_nan_that_the_logger_prints_as_zero_loss() -> None:
    lines = [
        f"{{'loss': {2 - k / 100:.4f}, 'grad_norm': {0.5 + k % 3 / 10}, 'learning_rate': 1e-05, "
        f"'epoch': {k / 100}}}"
        for k in range(60)
    ]
    lines += [
        f"{{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': {k / 100}}}"
        for k in range(60, 80)
    ]
    (finding,) = found("nan_gradients", run_of_log("\n".join(lines) + "\n"))
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == pytest.approx(0.6)
    assert "printed as 0" in finding.title


def test_gradients_that_fail_again_and_again() -> None:
    norm = " ".join("nan" if k % 8 == 5 else "0.5" for k in range(160))
    (finding,) = found("nan_gradients", f"grad_norm: {norm} ; train/loss: 2>1~0.02*160")
    assert finding.severity is Severity.WARNING
    assert "18 of 160" in finding.title


def test_a_norm_that_is_never_computed_is_nothing() -> None:
    assert found("nan_gradients", "grad_norm: nan*80 ; train/loss: 2>1~0.02*80") == []


def test_nan_in_loss_and_gradient_at_once_is_left_to_the_loss() -> None:
    example = "grad_norm: 0.5~0.05*50 nan*20 ; train/loss: 2>1~0.02*50 nan*20"
    assert found("nan_gradients", example) == []


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, "
        "so it cannot be clipped.",
        "found NaN in local grad norm for bucket #2 in backward pass before data-parallel "
        "communication collective",
    ],
)
def test_messages_about_gradients(line: str) -> None:
    (finding,) = found("nan_gradients", run_of_log(line + "\n"))
    assert finding.evidence[0].ref == "train.log:1"


def test_a_skipped_step_is_no_message_about_gradients() -> None:
    assert found("nan_gradients", run_of_log("Found NaN in gradients, skipping step\n")) == []


# -- loss_scale_collapse --------------------------------------------------------------------


def megatron(step: int, scale: float, loss: str) -> str:
    return (
        f" iteration {step:8d}/    2000 | consumed samples: {step * 8} | learning rate: 1.0E-04 | "
        f"lm loss: {loss} | loss scale: {scale} | grad norm: 0.512 |"
    )


def test_a_collapse_in_a_log_begins_at_the_first_halving() -> None:
    lines = [megatron(k, 65536.0, f"{3 - k / 300:.6E}") for k in range(1, 201)]
    lines += [megatron(200 + k, 65536.0 / 2**k, "2.300000E+00") for k in range(1, 18)]
    (finding,) = found("loss_scale_collapse", run_of_log("\n".join(lines) + "\n"))
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 201


def test_a_fall_that_is_made_good_is_information() -> None:
    example = (
        "loss_scale: 65536*200 32768 16384 8192 4096 4096*100 8192*100 16384*100 32768*100 "
        "65536*100 ; train/loss: 2>1~0.02*704"
    )
    assert [f.severity for f in found("loss_scale_collapse", example)] == [Severity.INFO]


def test_overflow_lines_alone_tell_of_a_collapse() -> None:
    lines = []
    scale = 65536.0
    for k in range(20):
        lines.append(f"step {k} loss {2 - k / 100:.4f}")
        lines.append(
            "[2024-01-01 00:00:00,000] [INFO] [deepspeed] OVERFLOW! Rank 0 Skipping step. "
            f"Attempted loss scale: {scale}, reducing to {scale / 2}"
        )
        scale /= 2
    (finding,) = found("loss_scale_collapse", run_of_log("\n".join(lines) + "\n"))
    assert finding.severity is Severity.CRITICAL


def test_a_scaler_that_works_as_it_should_is_quiet() -> None:
    """Records far apart: a halving now and then, slowly down to a level that holds."""
    lines, scale = [], 256.0
    for k in range(1, 60):
        scale = max(8.0, scale / 2) if k % 4 == 0 else scale
        lines.append(megatron(200 * k, scale, f"{6 - k / 20:.6E}"))
    assert found("loss_scale_collapse", run_of_log("\n".join(lines) + "\n")) == []


def test_a_constant_scale_of_one_is_bf16() -> None:
    assert found("loss_scale_collapse", "loss_scale: 1*100 ; train/loss: 2>1~0.02*100") == []


@pytest.mark.parametrize(
    "line",
    [
        "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding.",
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore.",
    ],
)
def test_the_floor_in_words(line: str) -> None:
    (finding,) = found("loss_scale_collapse", run_of_log(line + "\n"))
    assert finding.severity is Severity.CRITICAL


# -- dead_units -----------------------------------------------------------------------------


def test_dead_units_begin_where_they_stay_dead() -> None:
    (finding,) = found(
        "dead_units", "dead_relu_frac: 0.2>0.4*40 0.99*60 ; train/loss: 2.3~0.01*100"
    )
    assert (finding.severity, finding.first_step) == (Severity.CRITICAL, 40)


def test_dead_units_of_a_run_that_learns_are_information() -> None:
    noted = found("dead_units", "dead_relu_frac: 0.8*100 ; train/loss: 2.3>0.5~0.01*100")
    assert [finding.severity for finding in noted] == [Severity.INFO]


def test_a_guess_stays_information() -> None:
    noted = found(
        "dead_units",
        "grad_norm: 1e-6*100 ; train/loss: 2.3~0.001*100 ; config: activation=relu",
    )
    assert [finding.severity for finding in noted] == [Severity.INFO]


# -- frozen_layers --------------------------------------------------------------------------


def test_evaluations_that_never_change() -> None:
    (finding,) = found("frozen_layers", "val/loss: 2.3025131*6 ; train/loss: 2.3~0.02*300")
    assert finding.severity is Severity.CRITICAL
    assert "6 evaluations" in finding.title


@pytest.mark.parametrize(("move", "is_frozen"), [(2e-5, False), (4e-3, True)])
def test_evaluations_that_moved_by_their_last_digit_before_are_not_frozen(
    move: float, is_frozen: bool
) -> None:
    moves = " ".join(f"{0.6054 + 0.3 * np.exp(-n / 4) + move * (n % 3 - 1):.5f}" for n in range(40))
    example = f"val/loss: {moves} 0.60541*4 ; train/loss: 0.9>0.5~0.02*200"
    assert bool(found("frozen_layers", example)) == is_frozen


def test_evaluations_at_the_end_of_a_decay_may_be_equal() -> None:
    example = (
        "val/loss: 2.1 1.8 1.5 1.3 1.2345671 1.2345671 1.2345671 ; train/loss: 2.2>1.2~0.02*300 ; "
        "lr: 0.1>0*300"
    )
    assert found("frozen_layers", example) == []


def test_few_digits_say_nothing() -> None:
    assert found("frozen_layers", "val/loss: 2.3*10 ; train/loss: 2.3~0.02*300") == []


def test_layers_without_gradient_in_a_stuck_run() -> None:
    layers = "grad/fc1: 0*80 ; grad/fc2: 0.1~0.01*80 ; grad/fc3: 0.2~0.01*80"
    stuck = found("frozen_layers", f"{layers} ; train/loss: 1.8~0.02*80")
    learns = found("frozen_layers", f"{layers} ; train/loss: 1.8>0.4~0.02*80")
    assert [finding.severity for finding in stuck] == [Severity.WARNING]
    assert [finding.severity for finding in learns] == [Severity.INFO]


def test_a_checkpointing_warning_is_harmless_while_the_run_learns() -> None:
    log = "UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n"
    log += "\n".join(f"step {k} loss {3 - k / 50:.4f}" for k in range(100)) + "\n"
    assert [f.severity for f in found("frozen_layers", run_of_log(log))] == [Severity.INFO]


def test_steps_that_a_scaler_skips_are_not_frozen_layers() -> None:
    still = "update_ratio: 0.001*100 0*160 ; train/loss: 2.3~0.02*260"
    assert found("frozen_layers", still) != []
    scale = "loss_scale: 65536*100 16384 4096 1024 256 64 16 4 1 0.25*152"
    assert found("frozen_layers", f"{still} ; {scale}") == []


# -- all of them ----------------------------------------------------------------------------

VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1.0, -1.0, 1e308, -1e308, 1e-320, float("nan"), float("inf")]),
)


@settings(max_examples=60, deadline=None)
@given(
    loss=st.lists(VALUES, max_size=60),
    norm=st.lists(VALUES, max_size=60),
    scale=st.lists(VALUES, max_size=60),
    layer=st.lists(VALUES, max_size=60),
)
def test_no_series_breaks_an_analyzer(
    loss: list[float], norm: list[float], scale: list[float], layer: list[float]
) -> None:
    columns = {
        "train_loss": loss,
        "val_loss": loss[::-1],
        "grad_norm": norm,
        "loss_scale": scale,
        "grad/fc1": layer,
        "grad/fc2": layer[::-1],
        "zero_grad_frac": norm,
        "dead_relu_frac": scale,
        "update_ratio": layer,
        "param_norm": norm,
    }
    text = " ; ".join(
        f"{name}: {' '.join(repr(value) for value in values)}"
        for name, values in columns.items()
        if values
    )
    with np.errstate(all="ignore"):
        run = example_run(text)
        view = RunView(run)
        assert view.facts is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for identity in MINE:
            list(registry().analyzers[identity].examine(view))


@pytest.mark.parametrize("identity", MINE)
def test_a_calm_run_is_left_alone(identity: str) -> None:
    assert found(identity, CALM.format(300)) == []


def test_a_validation_that_moves_by_less_than_its_digits_show_is_not_frozen() -> None:
    train = "train/loss: 0.693~0.002*60"
    assert found("frozen_layers", f"val/loss: 0.6935*8 ; {train} ; lr: 0.01*60")
    assert not found("frozen_layers", f"val/loss: 0.6935*8 ; {train} ; lr: 4e-9*60")
    loss = "train/loss: 6.4e4~2e3*30"
    slow = "val/loss: 63133.62>63133.15*14 63133.13 63133.15 63133.16*14"
    assert not found("frozen_layers", f"{slow} ; {loss}")
    assert found("frozen_layers", f"val/loss: 64210.11 63720.3 63133.15*14 ; {loss}")


def test_not_one_activation_is_dead_whatever_the_last_bias_learns() -> None:
    from tests.analyzers.loss.judging import alarms

    learns = "train/loss: 37>0.09*20 0.085~0.004*40"
    assert "dead_units" in alarms(f"act_zero: 1*60 ; {learns}")
    assert "dead_units" not in alarms(f"act_zero: 0.9995~0.0001*60 ; {learns}")


def skipping(epochs: int, each: int) -> str:
    """A log of ten batches a line, which are said to be skipped from the fourth epoch on."""
    lines = []
    for epoch in range(1, epochs + 1):
        lines.append(f"{epoch}/{epochs}epoch started")
        for batch in range(10, 31, 10):
            said = each if epoch > 3 else 0
            lines += ["WARNING: The grad norm is nan. Skipping updating the model."] * said
            lines.append(f"{epoch}epoch:train:{batch - 9}-{batch}batch: loss={9 / epoch:.3f}")
    return "\n".join(lines) + "\n"


def test_updates_skipped_again_and_again_are_counted_in_the_log() -> None:
    (finding,) = found("nan_gradients", run_of_log(skipping(12, 3)))
    assert finding.severity is Severity.WARNING
    assert finding.number("skipped") == 81
    assert finding.number("share") == pytest.approx(81 / 360)
    assert finding.first_step == 100


def test_updates_skipped_now_and_then_are_normal() -> None:
    said = "WARNING: The grad norm is nan. Skipping updating the model.\n"
    assert found("nan_gradients", run_of_log(skipping(12, 0).replace("5/12", f"{said}5/12"))) == []
