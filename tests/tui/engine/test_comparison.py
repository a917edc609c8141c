"""Two runs compared where both have been."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.run import Run
from mltd.sessions.comparison.directions import smaller_is_better
from mltd.sessions.model.criterion import parse_criteria
from mltd.sessions.model.experiment import Experiment
from mltd.sessions.model.result import BeforeAfter
from mltd.tui.engine.comparison import compare
from mltd.tui.engine.curve_protocol import CompareRequest, CompareRow
from tests.analyzers.made import make_run, noisy, read_log


def rows_of(before: Run, after: Run) -> dict[str, CompareRow]:
    return {row.name: row for row in compare(CompareRequest(1, 0, 1), before, after).rows}


def test_the_answer_belongs_to_its_request() -> None:
    answer = compare(CompareRequest(5, 2, 3), make_run({}), make_run({}))
    assert (answer.ticket, answer.before, answer.after, answer.rows) == (5, 2, 3, ())


def test_values_are_from_the_last_place_that_both_reached() -> None:
    before = make_run({"loss": [4.0, 3.0, 2.0, 1.0]}, steps=[0, 10, 20, 30])
    after = make_run({"loss": [4.0, 2.5]}, steps=[0, 10])
    row = rows_of(before, after)["loss"]
    assert (row.axis, row.at, row.before, row.after) == ("step", 10.0, 3.0, 2.5)
    assert (row.before_best, row.after_best, row.smaller_is_better) == (1.0, 2.5, True)


def test_one_odd_batch_does_not_decide() -> None:
    steady = [2.0] * 200
    row = rows_of(make_run({"loss": steady}), make_run({"loss": [*steady[:-1], 50.0]}))["loss"]
    assert (row.before, row.after) == (2.0, 2.0)


def test_a_run_that_is_lost_there_is_lost() -> None:
    lost = [2.0] * 100 + [math.nan] * 100
    row = rows_of(make_run({"loss": [2.0] * 200}), make_run({"loss": lost}))["loss"]
    assert row.after is not None
    assert math.isnan(row.after)
    assert row.after_best == 2.0


def test_metrics_that_mean_the_same_are_compared_whatever_their_names_are() -> None:
    before, after = make_run({"loss": [2.0, 1.0]}), make_run({"train/loss": [2.0, 0.5]})
    rows = rows_of(before, after)
    assert list(rows) == ["train/loss"]
    assert (rows["train/loss"].before, rows["train/loss"].after) == (1.0, 0.5)


def test_a_metric_of_one_run_alone_is_there_too() -> None:
    rows = rows_of(
        make_run({"loss": [2.0, 1.0], "mystery": [1.0, 2.0]}),
        make_run({"loss": [2.0, 1.0], "riddle": [3.0, 4.0]}),
    )
    assert (rows["mystery"].before, rows["mystery"].after) == (2.0, None)
    assert (rows["riddle"].before, rows["riddle"].after) == (None, 4.0)


def test_the_loss_comes_first_and_layers_come_last() -> None:
    names = ["grad_norm/layers.1.fc", "grad_norm/layers.0.fc", "lr", "val_accuracy", "val_loss",
             "something", "train_loss"]  # fmt: skip
    run = make_run({name: [1.0, 2.0, 3.0] for name in names})
    assert list(rows_of(run, run)) == [
        "train_loss", "val_loss", "val_accuracy", "lr", "something",
        "grad_norm/layers.1.fc", "grad_norm/layers.0.fc",
    ]  # fmt: skip


def test_one_layer_is_never_compared_with_another() -> None:
    rows = rows_of(
        make_run({"grad_norm/a.0": [1.0, 2.0], "grad_norm/a.1": [1.0, 2.0]}),
        make_run({"grad_norm/a.1": [5.0, 6.0]}),
    )
    assert rows["grad_norm/a.0"].after is None
    assert rows["grad_norm/a.1"].after == 6.0


def test_without_common_steps_epochs_are_compared() -> None:
    before = read_log("".join(f"epoch {k} loss {3 - k * 0.1:.2f}\n" for k in range(1, 9)))
    after = read_log("".join(f"epoch {k} step {k * 10} loss {2 - k * 0.1:.2f}\n"
                             for k in range(1, 6)))  # fmt: skip
    row = rows_of(before, after)["loss"]
    assert (row.axis, row.at) == ("epoch", 5.0)
    assert (row.before, row.after) == (2.5, 1.5)


def test_runs_that_never_met_have_no_value_there() -> None:
    before = make_run({"loss": [4.0, 3.0]}, steps=[100, 110])
    row = rows_of(before, make_run({"loss": [4.0, 2.5]}, steps=[0, 10]))["loss"]
    assert (row.at, row.before, row.after) == (10.0, None, 2.5)


@pytest.mark.parametrize(
    ("role", "name", "expected"),
    [
        ("train/loss", "loss", True),
        ("val/perplexity", "val_ppl", True),
        ("error_rate", "wer", True),
        ("memory", "memory", True),
        ("val/accuracy", "val_acc", False),
        ("throughput", "tokens/s", False),
        ("score", "f1", False),
        ("score", "fid50k", True),
        ("lr", "lr", None),
        ("grad_norm", "grad_norm", None),
        (None, "mystery", None),
    ],
)
def test_which_way_is_better(role: str | None, name: str, expected: bool | None) -> None:
    assert smaller_is_better(role, name) is expected


def test_where_neither_way_is_better_there_is_no_best() -> None:
    run = make_run({"lr": [1e-3, 2e-3]})
    assert rows_of(run, run)["lr"].before_best is None


values = st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40)


@given(values, values)
def test_any_two_runs_can_be_compared(first: list[float], second: list[float]) -> None:
    before, after = make_run({"loss": first, "a": first}), make_run({"loss": second, "b": second})
    answer = compare(CompareRequest(1, 0, 1), before, after)
    assert b"numpy" not in pickle.dumps(answer)


# -- the verdict -----------------------------------------------------------------------------


def verdict_of(request: CompareRequest, before: Run, after: Run) -> BeforeAfter:
    return BeforeAfter.model_validate_json(compare(request, before, after).verdict)


def test_there_is_always_a_verdict() -> None:
    before, after = make_run({"loss": [2.0] * 50}), make_run({"loss": [1.5] * 50})
    verdict = verdict_of(CompareRequest(1, 0, 1), before, after)
    assert (verdict.outcome.value, verdict.before, verdict.is_preliminary) == (
        "passed", "made", False,
    )  # fmt: skip
    assert verdict_of(CompareRequest(1, 0, 1), make_run({}), make_run({})).outcome.value == (
        "inconclusive"
    )


def test_an_experiment_decides_by_its_own_criteria_and_its_metric_comes_first() -> None:
    runs = [make_run({"loss": [2.0] * 50, "tokens/s": [speed] * 50}) for speed in (100.0, 150.0)]
    planned = Experiment(
        id="E1",
        hypothesis="H1",
        change="more workers",
        success=parse_criteria("throughput improves by 20%"),
        baseline="R1",
        run="R2",
        created=datetime(2026, 3, 1, tzinfo=UTC),
    )
    request = CompareRequest(1, 0, 1, planned.model_dump_json())
    verdict = verdict_of(request, runs[0], runs[1])
    assert (verdict.outcome.value, verdict.before, verdict.after) == ("passed", "R1", "R2")
    assert compare(request, runs[0], runs[1]).rows[0].name == "tokens/s"
    plain = compare(CompareRequest(1, 0, 1), runs[0], runs[1])
    assert plain.rows[0].name == "loss"


def test_what_each_run_ended_with_is_compared_on_request() -> None:
    rising = [2.0 + 0.01 * k for k in range(400)]
    runs = make_run({"val_loss": rising}), make_run({"val_loss": rising[:100]})
    at_same_steps = compare(CompareRequest(1, 0, 1), *runs).rows[0]
    at_end = compare(CompareRequest(1, 0, 1, is_at_end=True), *runs).rows[0]
    assert (at_same_steps.axis, at_same_steps.change) == ("step", 0.0)
    assert at_end.axis == "final"
    assert at_end.change is not None
    assert at_end.change < -0.4


def test_a_row_has_the_interval_the_effect_and_where_the_runs_part() -> None:
    same = noisy(2.0, 400)
    row = rows_of(
        make_run({"loss": same}), make_run({"loss": [*same[:100], *noisy(1.5, 300, seed=2)]})
    )["loss"]
    assert row.change is not None
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.change < row.high < -0.2
    assert row.effect is not None
    assert row.effect < -5
    assert (row.parts_at, row.start, row.at, row.points) == (100.0, 360.0, 399.0, (40, 40))
