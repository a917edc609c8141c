"""nan_loss: only a loss that is not finite counts, and its first bad step is the onset."""

from __future__ import annotations

import pytest

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.core.case import Case
from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import RunView

from .judging import alarms, found


def test_the_onset_is_the_first_bad_value() -> None:
    finding = found("train/loss: 2.3>1.8~0.02*100 nan*50", "nan_loss")
    assert (finding.first_step, finding.severity) == (100, Severity.CRITICAL)
    assert "the last number was 1.7" in finding.title
    assert finding.evidence[0].ref == "train_loss@99..100"


def test_the_onset_is_the_last_break_if_the_loss_had_come_back() -> None:
    finding = found("train/loss: 2.3>1.8~0.02*100 nan 1.8~0.02*200 nan*30", "nan_loss")
    assert finding.first_step == 301


def test_from_the_first_value_on() -> None:
    finding = found("train/loss: nan*40", "nan_loss")
    assert finding.first_step == 0
    assert "first value" in finding.title


def test_values_that_come_and_go_are_a_warning() -> None:
    finding = found("train/loss: (2.0~0.1*20 nan)*10 2.0*20", "nan_loss")
    assert finding.severity is Severity.WARNING
    assert finding.last_step == 209


def test_one_bad_value_in_a_long_run_is_nothing() -> None:
    assert "nan_loss" not in alarms("train/loss: 2.0~0.1*500 nan 2.0~0.1*500")


def test_a_validation_loss_that_is_lost_is_a_warning() -> None:
    example = "train/loss: 2>1~0.02*100 ; val/loss: 2.0 1.8 1.7 nan nan nan"
    assert found(example, "nan_loss").severity is Severity.WARNING


def test_the_clamped_loss_of_old_frameworks_is_a_hidden_infinity() -> None:
    finding = found("train/loss: 21.4 87.3365*20", "nan_loss")
    assert finding.first_step == 1


@pytest.mark.parametrize(
    "line",
    [
        "FloatingPointError: Loss became infinite or NaN at iteration=756!",
        "Loss is nan, stopping training",
        "RuntimeError: The loss returned in `training_step` is nan.",
        "ValueError: Train loss contains a NaN.",
    ],
)
def test_messages_that_say_so(line: str) -> None:
    assert "nan_loss" in alarms(f"log: epoch 1 starts | {line}")


@pytest.mark.parametrize("line", ["banana: 3", "step_avg:nanms", "np.nan_to_num(loss)", "nan"])
def test_the_letters_alone_mean_nothing(line: str) -> None:
    assert "nan_loss" not in alarms(f"log: step 1 loss 2.0 | step 2 loss 1.9 | {line}")


def test_a_nan_at_the_end_of_a_rise_began_where_the_rise_began() -> None:
    example = "train/loss: 4>1~0.02*100 4 20 900 1e6 nan*20"
    finding = found(example, "nan_loss")
    assert finding.first_step == 100
    assert "is nan since step 104" in finding.title
    assert "on a rise that began at 100" in finding.title
    case = Case(RunView(example_run(example)), [finding])
    assert case.onset("nan_loss") == 104, "what led to it is looked for before it broke"


def test_a_nan_out_of_calm_began_where_it_is() -> None:
    finding = found("train/loss: 4>1~0.02*100 nan*20", "nan_loss")
    assert finding.first_step == 100
    assert "rise" not in finding.title
