"""What the course of a series tells that its name does not."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.runs.course import role_behind_losses, role_by_course
from mltd.runs.roles import shipped


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("train", [2.3, 2.2, 2.0, 1.8, 1.6, 1.5, 1.4, 1.3], "train/loss"),
        ("val", [0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.61], "val/accuracy"),
        ("train", [1, 2, 3, 4, 5, 6, 7, 8], None),
        ("scale", [65536.0] * 6 + [32768.0, 16384.0], "loss_scale"),
        ("scale", [1.0, 1.1, 1.0, 1.2, 1.0, 1.1, 1.0, 1.0], None),
        ("scale", [2.0] * 8, None),
        ("ls", [1024.0] * 8, "loss_scale"),
        ("ls", [1024.0] * 7, None),
    ],
)
def test_a_role_by_its_course(name: str, values: list[float], role: str | None) -> None:
    assert role_by_course(name, np.array(values), shipped()) == role


@pytest.mark.parametrize(
    ("role", "others", "meant"),
    [
        ("train/accuracy", ["train/loss", "val/loss"], "val/accuracy"),
        ("error_rate", ["train/loss", "val/loss"], "val/error_rate"),
        ("train/accuracy", ["val/loss", None], "train/accuracy"),
        ("lr", ["train/loss", "val/loss"], "lr"),
        (None, ["train/loss", "val/loss"], None),
    ],
)
def test_what_comes_behind_both_losses_was_measured_where_the_second_was(
    role: str | None, others: list[str | None], meant: str | None
) -> None:
    assert role_behind_losses(role, others) == meant
