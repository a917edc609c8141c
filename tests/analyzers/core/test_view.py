"""The view: which series stands for a role, and what else analyzers see."""

from __future__ import annotations

from mltd.analyzers.core.view import RunView
from mltd.runs.event import EventKind
from tests.analyzers.made import extend, make_run, read_log, view_of


def test_the_total_stands_for_the_role_not_a_part() -> None:
    values = [3.0, 2.0, 1.0]
    view = view_of({"loss_bbox": values, "loss_cls": values, "loss": values})
    curve = view.curve("train/loss")
    assert curve is not None
    assert curve.name == "loss"
    assert next(c.name for c in view.curves("train/loss")) == "loss"
    assert view.curve("train/loss") is curve
    assert view.curve("grad_norm") is None


def test_curves_are_found_by_words_of_their_name() -> None:
    view = view_of({"grad_norm/layer0": [1.0, 2.0], "loss": [1.0, 2.0]})
    assert [c.name for c in view.named("layer0")] == ["grad_norm/layer0"]


def test_events_have_a_file_and_a_line() -> None:
    run = read_log("step 1 loss 2.0\nRuntimeError: CUDA error: device-side assert triggered\n")
    (placed,) = RunView(run).events_of(EventKind.EXCEPTION, EventKind.ERROR)
    evidence = placed.evidence()
    assert (evidence.kind.value, evidence.ref) == ("log", "train.log:2")
    assert "device-side assert" in evidence.quote
    assert placed.evidence(line=9, quote="x").ref == "train.log:9"


def test_what_was_derived_is_forgotten_when_the_run_grows() -> None:
    run = make_run({"loss": [2.0] * 3, "lr": [1e-5, 1e-4, 1e-3]})
    view = RunView(run)
    assert view.facts.warmup_until == 2
    assert not view.settings
    extend(run, {"loss": [2.0] * 2, "lr": [2e-3, 2e-3]})
    run.add_config({"max_steps": 100})
    view.update()
    assert view.facts.warmup_until == 3
    assert view.planned_steps == 100


def test_the_state_is_that_of_a_moment() -> None:
    view = view_of({"loss": [1.0, 2.0]})
    assert view.state.value in ("unknown", "finished")
    assert view.state_reason


def test_the_error_of_a_regression_stands_in_for_a_loss_that_is_not_logged() -> None:
    values = [3.0, 2.0, 1.0]
    view = view_of({"train-rmse": values, "eval-rmse": values})
    train, val = view.curve("train/loss"), view.curve("val/loss")
    assert train is not None
    assert val is not None
    assert (train.name, val.name) == ("train-rmse", "eval-rmse")
    beside = view_of({"loss": values, "rmse": values, "eval-rmse": values})
    assert [curve.name for curve in beside.curves("train/loss")] == ["loss"]
    assert beside.curve("val/loss") is None


def test_an_accuracy_that_counts_gives_way_to_its_percentage() -> None:
    counted = {"test_accuracy": [239.0, 332.0, 340.0], "test_accuracy (%)": [60.0, 83.0, 85.0]}
    chosen = view_of({"loss": [3.0, 2.0, 1.0], **counted}).curve("val/accuracy")
    assert chosen is not None
    assert chosen.name == "test_accuracy (%)"
    alone = view_of({"test_accuracy": counted["test_accuracy"]}).curve("val/accuracy")
    assert alone is not None
    assert alone.name == "test_accuracy"
