"""What a probe recorded is known by layer, in the order of the model, and by nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.recording import newest_recordings, recordings
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.gradients.layers import gradient_layers, weight_layers
from mltd.analyzers.gradients.recorded_units import recorded_shares
from mltd.runs.harvest import Column, ColumnKey, Harvest
from mltd.runs.run import Run, SourceFile
from mltd.runs.statements import Statement, StatementKind

from .conftest import Judge


def test_layers_with_any_name_are_layers(judge: Judge) -> None:
    view = RunView(judge("transformer").run)
    names = [layer.layer for layer in gradient_layers(view)]
    assert {"time_embed", "norm", "head", "body.layers.1.norm2"} <= set(names)
    assert [layer.layer for layer in weight_layers(view)] == names
    assert names[-2:] == ["norm", "head"]


def test_rules_that_go_by_names_do_not_meet_single_layers(judge: Judge) -> None:
    view = RunView(judge("transformer").run)
    assert not any("/" in series.name for series in view.series)
    assert len(view.layer_series) > 80


def test_a_layer_that_got_its_first_gradient_late_stands_where_it_is(judge: Judge) -> None:
    view = RunView(judge("unfrozen_later").run)
    assert [layer.layer for layer in gradient_layers(view)] == ["0", "2", "4", "6"]


def test_layers_that_are_told_not_to_learn_are_frozen_on_purpose(judge: Judge) -> None:
    (recording,) = recordings(RunView(judge("low_rank").run))
    assert recording.frozen == ["0.base", "2.base", "4.base"]
    assert recording.left_out == []


def recorded(left_out: set[str], norms: dict[str, list[float]], loss: str = "") -> Run:
    """A recording of layers with these weight norms, all trained but some."""
    text = f"probe update_ratio: 0.001*{len(next(iter(norms.values())))}"
    run = example_run(f"{text} ; train/loss: {loss}" if loss else text)
    file = len(run.files) - 1
    count = len(next(iter(norms.values())))
    rows = np.arange(count, dtype=np.int64)
    columns = [
        Column(ColumnKey(f"weight_norm/{name}", layer=name), rows, np.array(values))
        for name, values in norms.items()
    ]
    said = [
        Statement(
            StatementKind.LAYER, name, 10.0,
            "not in the optimizer" if name in left_out else "trained", 1,
        )
        for name in norms
    ]  # fmt: skip
    lines, axes = rows + 1, {"step": rows.astype(np.float64)}
    run.append(file, Harvest(line=lines, axes=axes, columns=columns, statements=said, lines=count))
    return run


MOVING, STILL = [1.0 + 0.1 * n for n in range(6)], [2.0] * 6


@pytest.mark.parametrize(
    ("left_out", "norms", "loss", "severity"),
    [
        ({"b"}, {"a": MOVING, "b": STILL, "c": MOVING}, "2>1~0.01*60", Severity.WARNING),
        # Somebody else moves it.
        ({"b"}, {"a": MOVING, "b": MOVING, "c": MOVING}, "2>1~0.01*60", None),
        # All but the last layer: a head on fixed features, as long as it learns.
        ({"a", "b"}, {"a": STILL, "b": STILL, "c": MOVING}, "2>1~0.01*60", Severity.INFO),
        ({"a", "b"}, {"a": STILL, "b": STILL, "c": MOVING}, "2~0.01*60", Severity.WARNING),
        (set(), {"a": MOVING, "b": STILL, "c": MOVING}, "2>1~0.01*60", None),
    ],
)
def test_what_the_optimizer_was_not_given_is_told_from_what_is_meant(
    left_out: set[str], norms: dict[str, list[float]], loss: str, severity: Severity | None
) -> None:
    found = [f for f in diagnose(recorded(left_out, norms, loss)).findings
             if f.id == "frozen_layers"]  # fmt: skip
    assert [finding.severity for finding in found] == ([] if severity is None else [severity])


def test_two_models_of_one_run_are_two_recordings() -> None:
    run = example_run("probe grad_norm/a: 1*5 ; probe grad_norm/b: 1*5")
    other = run.add_file(SourceFile("other.probe.jsonl", format="probe"))
    rows = np.arange(5, dtype=np.int64)
    columns = [
        Column(ColumnKey(f"grad_norm/{name}", layer=name), rows, np.ones(5)) for name in "abc"
    ]
    axes = {"step": rows.astype(np.float64)}
    run.append(other, Harvest(line=rows + 1, axes=axes, columns=columns, lines=5))
    view = RunView(run)
    assert [len(one.series["grad_norm"]) for one in recordings(view)] == [2, 3]
    assert [layer.layer for layer in gradient_layers(view)] == ["a", "b", "c"]


def test_a_share_that_hovers_about_the_bound_is_high_since_it_first_was() -> None:
    shares = " ".join(["0.2"] * 5 + ["0.56", "0.49", "0.53", "0.48", "0.54"] * 3)
    example = f"probe act_saturated/a: {shares} ; probe act_mean/b: 0*20 ; train/loss: 2~0.01*60"
    (found,) = [f for f in diagnose(example_run(example)).findings if f.id == "saturated_units"]
    assert found.details["after"] == 5.0


VALUES = st.lists(
    st.floats() | st.sampled_from([0.0, 1.0, 1e-300, 1e308, math.nan, math.inf]),
    min_size=1, max_size=12,
)  # fmt: skip
KINDS = (
    "grad_norm", "weight_norm", "update_ratio", "act_mean", "act_std", "act_unit_std", "act_zero",
    "act_dead", "act_saturated",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(KINDS), st.sampled_from(["0", "time", "norm", "a b", ""])),
        VALUES,
        min_size=1,
        max_size=14,
    )
)
def test_no_values_break_a_rule(columns: dict[tuple[str, str], list[float]]) -> None:
    run = example_run("train/loss: 2>1~0.1*40")
    file = run.add_file(SourceFile("x.probe.jsonl", format="probe"))
    made = [
        Column(
            ColumnKey(f"{kind}/{layer}" if layer else kind, layer=layer),
            np.arange(len(values), dtype=np.int64), np.array(values),
        )
        for (kind, layer), values in columns.items()
    ]  # fmt: skip
    rows = np.arange(12, dtype=np.int64)
    axes = {"step": (3.0 * rows).astype(np.float64)}
    run.append(file, Harvest(line=rows + 1, axes=axes, columns=made, lines=12))
    assert diagnose(run).problems == ()


def twice(*sizes: float) -> Run:
    """Two recordings of a layer with these sizes; the first file was written last."""
    run = Run("made")
    for file, size in enumerate(sizes):
        run.add_file(SourceFile(f"mltd-probe-{file}.jsonl", format="probe"))
        rows = np.arange(4, dtype=np.int64)
        steps = rows.astype(np.float64)
        axes = {"step": steps, "time": steps + np.float64(100 * (2 - file))}
        column = Column(ColumnKey("act_dead/1", layer="1"), rows, np.ones(4))
        said = [Statement(StatementKind.LAYER, "1", size, "trained", 1)]
        harvest = Harvest(line=rows + 1, axes=axes, columns=[column], statements=said, lines=4)
        run.append(file, harvest)
    return run


def test_a_model_that_was_recorded_twice_is_told_about_once() -> None:
    view = RunView(twice(32.0, 32.0))
    assert len(recordings(view)) == 2
    assert [one.file for one in newest_recordings(view)] == [0]
    assert [share.layer for share in recorded_shares(view, "act_dead", 0.9)] == ["1"]


def test_two_models_are_told_about_both() -> None:
    view = RunView(twice(32.0, 64.0))
    assert [one.file for one in newest_recordings(view)] == [0, 1]
