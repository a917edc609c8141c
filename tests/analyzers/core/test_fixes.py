"""Fixes that causes share name the run's own settings and values."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.analyzers.core.case import Case
from mltd.analyzers.core.fixes import clip_gradients, learning_rate_of, lower_learning_rate, shown
from tests.analyzers.made import noisy, view_of


def case(series: dict[str, Any] | None = None, config: dict[str, object] | None = None) -> Case:
    return Case(view_of(series or {"loss": [1.0, 2.0]}, config=config or {}), [])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1000, "1000"), (0.1 / 3, "0.0333"), (3e-5, "3e-05"), (1e9, "1e+09"), (0.5, "0.5"),
     (float("inf"), "inf"), (float("nan"), "nan")],
)  # fmt: skip
def test_numbers_are_written_as_in_a_config(value: float, text: str) -> None:
    assert shown(value) == text


def test_the_rate_is_that_of_the_config_else_the_logged_peak() -> None:
    logged = {"lr": [1e-5, 1e-3, float("nan"), 5e-4]}
    assert learning_rate_of(case(logged, {"opt": {"learning_rate": 0.1}})) == ("learning_rate", 0.1)
    assert learning_rate_of(case(logged)) == ("lr", 1e-3)
    assert learning_rate_of(case({"lr": [float("nan")] * 3})) is None
    assert learning_rate_of(case()) is None


def test_lowering_names_the_value() -> None:
    assert lower_learning_rate(case(config={"lr": 0.3}), "x").change == "lr 0.3 -> 0.1"
    assert lower_learning_rate(case(), "x").change == "divide the learning rate by 3"


def test_clipping_is_at_what_is_usual() -> None:
    norms = {"grad_norm": [*noisy(2, 200, 0.1), *([900.0] * 200)]}
    made = clip_gradients(case(norms), "x")
    assert "clip the gradient norm at 2." in made.change
    configured = clip_gradients(case(norms, {"max_grad_norm": 10.0}), "x")
    assert configured.change.startswith("max_grad_norm 10 -> 2.")
    assert "at 1 before" in clip_gradients(case(), "x").change
