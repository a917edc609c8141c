"""Runs that are logged once per epoch: jumps that anyone sees, and wiggles that are none."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import read_log

from .judging import alarms, found

_FALLS = (2.2, 1.37, 0.66, 0.44, 0.34, 0.3, 0.28)
_AGAIN = (1.26, 0.54, 0.38, 0.32, 0.28, 0.25, 0.24)


def _log(before: tuple[float, ...], said: str, after: tuple[float, ...], scale: float = 1.0) -> str:
    lines = [f"Epoch {i + 1}/40 | train_loss {y * scale:.6g}" for i, y in enumerate(before)]
    later = [
        f"Epoch {len(before) + i + 1}/40 | train_loss {y * scale:.6g}" for i, y in enumerate(after)
    ]
    return "\n".join([*lines, *([said] if said else []), *later]) + "\n"


def _alarms(text: str) -> dict[str, float | None]:
    found = diagnose(read_log(text)).findings
    return {finding.id: finding.first_step for finding in found if finding.is_alarm}


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_an_epoch_that_takes_back_what_was_won_is_a_spike(scale: float) -> None:
    assert _alarms(_log(_FALLS, "", _AGAIN, scale)) == {"loss_spike": 8}


@pytest.mark.parametrize(
    "after",
    [
        (0.36, 0.27, 0.25, 0.24, 0.23, 0.22),
        (0.42, 0.26, 0.39, 0.24, 0.37, 0.23),
        (0.27, 0.25, 0.24, 0.23, 0.22, 0.21),
    ],
)
def test_epochs_that_wiggle_are_none(after: tuple[float, ...]) -> None:
    assert _alarms(_log(_FALLS, "", after)) == {}


def test_epochs_thrown_about_that_never_come_back_have_diverged() -> None:
    after = (0.97, 0.42, 1.09, 0.65, 0.44, 0.82)
    assert _alarms(_log(_FALLS, "", after)) == {"loss_divergence": 8}


def test_a_jump_that_the_log_announces_is_planned() -> None:
    assert _alarms(_log(_FALLS, "# --- adding task B (replay 50%) ---", _AGAIN)) == {}


def test_a_jump_of_epochs_where_a_checkpoint_was_loaded_is_one_of_the_resume() -> None:
    assert _alarms(_log(_FALLS, "=> loaded checkpoint last.pt (epoch 7)", _AGAIN))[
        "resume_discontinuity"
    ] == (8)


def test_missing_keys_explain_it() -> None:
    said = "=> loaded checkpoint last.pt (epoch 7), missing keys: 2, unexpected keys: 2"
    causes = diagnose(read_log(_log(_FALLS, said, _AGAIN))).root_causes
    assert causes[0].id == "incompatible_checkpoint"
    assert "missing keys: 2" in causes[0].issue
    whole = said.replace("keys: 2", "keys: 0")
    causes = diagnose(read_log(_log(_FALLS, whole, _AGAIN))).root_causes
    assert "incompatible_checkpoint" not in [cause.id for cause in causes]


def test_missing_keys_explain_it_in_other_words_and_whatever_the_rate_does() -> None:
    said = "WARNING: There were missing keys in the checkpoint model loaded: ['lm_head.weight']."
    said = f"=> loaded checkpoint last.pt (epoch 7)\n{said}"
    causes = diagnose(read_log(_log(_FALLS, said, _AGAIN))).root_causes
    assert causes[0].id == "incompatible_checkpoint"
    assert "lm_head.weight" in causes[0].issue


def _resumed(after: Iterable[float]) -> str:
    """A run that was saved, ended, and loaded what it had saved."""
    falls = [2 + 2 * 0.9**i + 0.01 * (i % 3) for i in range(40)]
    rows = [f"step {i + 1} loss {loss:.4f}" for i, loss in enumerate(falls)]
    rows += ["saving checkpoint at step 40 to out/a", "loading checkpoint from out/a at step 40"]
    rows += [f"step {41 + i} loss {loss:.4f}" for i, loss in enumerate(after)]
    return "\n".join(rows) + "\n"


def test_a_loss_that_begins_anew_has_lost_its_weights() -> None:
    causes = diagnose(read_log(_resumed(2 + 2 * 0.9**i for i in range(40)))).root_causes
    assert causes[0].id == "incompatible_checkpoint"
    assert "begins anew" in causes[0].issue


def test_a_loss_that_is_only_thrown_up_has_not() -> None:
    causes = diagnose(read_log(_resumed(2.05 + 1.5 * 0.5**i for i in range(40)))).root_causes
    assert "incompatible_checkpoint" not in [cause.id for cause in causes]


def test_a_resume_that_goes_on_is_none() -> None:
    assert _alarms(_resumed(2.03 - 0.001 * i + 0.01 * (i % 3) for i in range(40))) == {}


_TASKS = "epoch,tr_loss,acc_A,acc_B\n"


def _continual(kept: float) -> str:
    rows = [f"{i},{1.5 / i:.4f},{96 - 20 / i:.3f},{12 - i % 3}" for i in range(1, 16)]
    rows += [
        f"{15 + i},{2.6 / i + 0.05:.4f},{kept - i % 2:.3f},{90 - 40 / i:.3f}" for i in range(1, 16)
    ]
    return _TASKS + "\n".join(rows) + "\n"


def test_a_task_that_is_lost_where_another_is_won_was_forgotten() -> None:
    assert _alarms(_continual(10.0)) == {"forgetting": 16}
    causes = diagnose(read_log(_continual(10.0))).root_causes
    assert causes[0].id == "sequential_training"


def test_a_task_that_is_won_beside_another_explains_the_jump_of_the_loss() -> None:
    assert _alarms(_continual(95.0)) == {}


_RISES = "train/loss: 38 22 14.7 13.7 14>16.5*7 16.4>15.6*14"


@pytest.mark.parametrize(
    "turned", ["beta: 0.05>1*11 1*14", "mask_ratio: 0.1>0.5*11 0.5*14", "tf_ratio: 1>0*11 0*14"]
)
def test_a_rise_with_a_setting_that_is_turned_on_purpose_is_planned(turned: str) -> None:
    assert "loss_divergence" not in alarms(f"{_RISES} ; {turned}")


@pytest.mark.parametrize(
    "other",
    [
        "beta: 0.05>1*3 1*22",
        "beta: 1>0.05*25",
        "beta: (0.1 0.9)*12 1",
        "gamma: 0.05>1*11 1*14",
        "kl_weight: 0.98>1*25",
    ],
)
def test_a_setting_that_does_not_fit_the_rise_explains_nothing(other: str) -> None:
    assert "loss_divergence" in alarms(f"{_RISES} ; {other}")


@pytest.mark.parametrize("count", [12, 26, 40])
def test_a_loss_that_climbs_over_a_few_points_is_found_whatever_their_number(count: int) -> None:
    example = f"train/loss: 1>0.1*{count} 0.5 1 1.4 1.9 2.3"
    assert found(example, "loss_divergence").first_step == count


@pytest.mark.parametrize("count", [10, 20, 40])
def test_a_loss_that_stays_on_a_higher_level_is_found(count: int) -> None:
    example = f"train/loss: 1>0.25*{count} 0.66 0.63 0.61>0.55*{count // 2 + 4}"
    assert found(example, "loss_divergence").first_step == count


def test_two_rises_behind_a_low_point_are_none() -> None:
    noisy = "0.33 0.28 0.27 0.23 0.21 0.17 0.15 0.147 0.136 0.13 0.121 0.111 0.124 0.101 0.075"
    assert alarms(f"train/loss: 1 0.81 0.69 0.59 0.48 0.42 {noisy} 0.11 0.125") == set()


def test_a_curve_that_goes_up_and_down_about_one_level_is_none() -> None:
    assert alarms("train/loss: -0.0055 -0.0091 -0.005~0.0025*37") & {"loss_divergence"} == set()
