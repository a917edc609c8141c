"""Examples of the catalogue as runs."""

from __future__ import annotations

import numpy as np
import pytest

from mltd.analyzers.catalogue.examples import example_run, parse_values
from mltd.analyzers.core.view import RunView


def test_values_are_short_for_many() -> None:
    assert parse_values("1 2*3 4>6*3 nan inf").tolist()[:7] == [1, 2, 2, 2, 4, 5, 6]
    noisy = parse_values("2~0.1*500")
    assert noisy.std() == pytest.approx(0.1, rel=0.2)
    np.testing.assert_array_equal(noisy, parse_values("2~0.1*500"))


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(ValueError, match="'x'"):
        parse_values("1 x")


def test_an_example_has_series_a_log_and_settings() -> None:
    run = example_run(
        "train/loss: 4>1*100 ; lr: 0.1 ; val/loss: 2 1.5 1 ; config: lr=0.1, optimizer=sgd ; "
        "log: RuntimeError: CUDA out of memory. | srun: error: node1: task 0: Killed"
    )
    view = RunView(run)
    curve, rate, val = view.curve("train/loss"), view.curve("lr"), view.curve("val/loss")
    assert curve is not None
    assert rate is not None
    assert val is not None
    assert (len(curve), len(rate), val.x.tolist()) == (100, 100, [0, 50, 99])
    assert run.config == {"lr": 0.1, "optimizer": "sgd"}
    assert len(run.events) == 2
