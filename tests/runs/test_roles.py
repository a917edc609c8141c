"""What names in the wild mean."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("train/CrossEntropyLoss", "train/loss"),
        ("metrics/eval/LanguageCrossEntropy", "val/loss"),
        ("Validation-cross-entropy", "val/loss"),
        ("xent", "train/loss"),
        ("neg_log_likelihood", "train/loss"),
        ("policy_entropy", "entropy"),
        ("entropy_loss", "entropy"),
        ("targets/neg_log_perplexity", "log_likelihood"),
        ("perplexity", "train/perplexity"),
        ("optim/learning_rate_group0", "lr"),
        ("optim0_lr0", "lr"),
        ("critic/rewards/mean", "reward"),
        ("x/lr0", "lr"),
        ("Train loss_scale (avg)", "loss_scale"),
    ],
)
def test_what_a_name_means(name: str, role: str) -> None:
    assert shipped().role_of(name) == role


@pytest.mark.parametrize(
    ("name", "axis"), [("steps_completed", "step"), ("dev_other_num_updates", "step")]
)
def test_names_of_coordinates(name: str, axis: str) -> None:
    assert shipped().axis_of(name) == axis


@pytest.mark.parametrize("name", ["val_best_epoch", "train_time_step", "other_num_updates"])
def test_a_coordinate_within_a_longer_name_is_none(name: str) -> None:
    assert shipped().axis_of(name) is None
