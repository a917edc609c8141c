"""Norms per layer, in the columns that were asked for."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.catalogue.examples import example_run
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.tui.engine.curve_protocol import Heat, HeatRequest
from mltd.tui.engine.heat import has_layers, make_heat
from tests.analyzers.made import extend, make_run


def heat_of(series: dict[str, list[float]], columns: int = 10, **more: object) -> Heat:
    steps = more.pop("steps", None)
    run = make_run(series, steps=steps)  # type: ignore[arg-type]
    return make_heat(HeatRequest(7, 0, columns, **more), run)  # type: ignore[arg-type]


def test_a_run_without_layers_has_an_empty_map() -> None:
    heat = heat_of({"loss": [1.0, 2.0], "grad_norm": [1.0, 1.5]})
    assert (heat.ticket, heat.layers, heat.cells) == (7, (), ())
    assert not has_layers(make_run({"loss": [1.0, 2.0]}))
    assert has_layers(make_run({"grad_norm/0": [1.0, 2.0], "grad_norm/1": [1.0, 2.0]}))


def test_layers_stand_in_the_order_of_the_model() -> None:
    names = [f"grad_norm/layers.{k}.attn" for k in (10, 2, 0)]
    heat = heat_of({name: [1.0, 2.0, 3.0] for name in names})
    assert heat.layers == ("layers.0.attn", "layers.2.attn", "layers.10.attn")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("grad_2.0_norm/0.weight", "grad_2.0_norm/2.weight"), ("0.weight", "2.weight")),
        (("layers.0.fc.grad_norm", "layers.1.fc.grad_norm"), ("layers.0.fc", "layers.1.fc")),
        (("gradients/encoder.block.3", "gradients/encoder.block.4"),
         ("encoder.block.3", "encoder.block.4")),
        (("grad_norm/3", "grad_norm/4"), ("layer 3", "layer 4")),
        (("grad_norm/model.blocks.1.norm.weight", "grad_norm/model.blocks.2.norm.weight"),
         ("blocks.1.norm.weight", "blocks.2.norm.weight")),
    ],
)  # fmt: skip
def test_a_layer_is_named_as_it_was_logged(
    names: tuple[str, str], expected: tuple[str, str]
) -> None:
    assert heat_of({name: [1.0, 2.0, 3.0] for name in names}).layers == expected


def test_where_there_is_room_each_step_has_its_column() -> None:
    heat = heat_of({"grad/fc1": [1.0, 2.0, 3.0], "grad/fc2": [4.0, 5.0, 6.0]}, steps=[10, 20, 50])
    assert list(heat.columns) == [10.0, 20.0, 50.0]
    assert [list(row) for row in heat.cells] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_where_there_is_not_columns_hold_means() -> None:
    heat = heat_of({"grad/fc1": list(np.arange(100.0)), "grad/fc2": [1.0] * 100}, columns=4)
    assert len(heat.columns) == 4
    assert list(heat.cells[0]) == [12.0, 37.0, 62.0, 87.0]
    assert list(heat.cells[1]) == [1.0] * 4
    assert heat.bad == ()


def test_a_bad_norm_is_marked_and_leaves_the_mean_of_the_others() -> None:
    first = [1.0, math.inf, 3.0, math.nan]
    heat = heat_of({"grad/fc1": first, "grad/fc2": [1.0] * 4}, columns=2)
    assert heat.bad == ((0, 0), (0, 1))
    assert list(heat.cells[0]) == [1.0, 3.0]


def test_a_stretch_can_be_asked_for() -> None:
    series = {"grad/fc1": list(np.arange(100.0)), "grad/fc2": [1.0] * 100}
    heat = heat_of(series, columns=5, low=40.0, high=44.0)
    assert list(heat.columns) == [40.0, 41.0, 42.0, 43.0, 44.0]
    assert list(heat.cells[0]) == [40.0, 41.0, 42.0, 43.0, 44.0]
    assert heat_of(series, low=500.0, high=600.0).layers == ()


def test_a_layer_that_is_logged_more_seldom_has_gaps() -> None:
    run = make_run({"grad/fc1": [1.0, 2.0], "grad/fc2": [1.0, 2.0]}, steps=[0, 1])
    extend(run, {"grad/fc1": [3.0, 4.0]}, steps=[2, 3])
    heat = make_heat(HeatRequest(1, 0, 10), run)
    assert list(heat.cells[1])[:2] == [1.0, 2.0]
    assert all(map(math.isnan, heat.cells[1][2:]))


def test_what_a_resumed_run_wrote_again_counts_as_it_is_now() -> None:
    steps = [0, 1, 2, 3, 4, 2, 3, 4, 5]
    old = [1.0, 1.0, 9.0, 9.0, 9.0, 2.0, 2.0, 2.0, 2.0]
    heat = heat_of({"grad/fc1": old, "grad/fc2": old}, steps=steps)
    assert list(heat.columns) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert list(heat.cells[0]) == [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]


def test_a_probe_file_of_lines_of_json_is_a_map(tmp_path: Path) -> None:
    names = ("grad_norm/layers.0.attn", "grad_norm/layers.1.attn")
    records = [{"step": k, names[0]: 0.1 * k, names[1]: 2.5 / k} for k in range(1, 6)]
    (tmp_path / "probe.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (files,) = discover(str(tmp_path))
    heat = make_heat(HeatRequest(1, 0, 80), load(files).run)
    assert heat.layers == ("layers.0.attn", "layers.1.attn")
    assert (heat.axis, list(heat.columns)) == ("step", [1.0, 2.0, 3.0, 4.0, 5.0])


def test_an_answer_holds_no_numpy_values() -> None:
    heat = heat_of({"grad/fc1": [1.0, math.nan], "grad/fc2": [4.0, 5.0]})
    assert b"numpy" not in pickle.dumps(heat)


norms = st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(st.tuples(st.integers(0, 30), norms, norms), min_size=3, max_size=60),
    st.integers(1, 40),
)
def test_any_norms_at_any_steps_make_a_map(
    points: list[tuple[int, float, float]], columns: int
) -> None:
    steps = [float(step) for step, _, _ in points]
    series = {"grad/fc1": [a for _, a, _ in points], "grad/fc2": [b for _, _, b in points]}
    heat = heat_of(series, columns, steps=steps)
    assert len(heat.columns) <= columns
    assert all(len(row) == len(heat.columns) for row in heat.cells)
    assert all(math.isfinite(norm) or math.isnan(norm) for row in heat.cells for norm in row)
    assert all(0 <= column < len(heat.columns) for _, column in heat.bad)


RECORDED = (
    "probe grad_norm/time: 1*5 ; probe grad_norm/norm: 2*5 ; probe weight_norm/time: 3*5 ; "
    "probe weight_norm/norm: 4 ; probe update_ratio/time: 0.001*5 ; probe act_dead/relu: 0.25*5"
)


def test_a_recording_has_several_quantities() -> None:
    run = example_run(RECORDED)
    heat = make_heat(HeatRequest(1, 0, 10), run)
    assert heat.quantities == ("grad_norm", "weight_norm", "update_ratio", "act_dead")
    assert (heat.quantity, heat.layers) == ("grad_norm", ("time", "norm"))
    dead = make_heat(HeatRequest(1, 0, 10, quantity="act_dead"), run)
    assert (dead.quantity, dead.layers, dead.cells[0][0]) == ("act_dead", ("relu",), 0.25)
    assert dead.quantities == heat.quantities


def test_a_quantity_that_the_run_does_not_have_gives_its_gradients() -> None:
    run = make_run({"grad_norm/0": [1.0, 2.0], "grad_norm/1": [1.0, 2.0]})
    heat = make_heat(HeatRequest(1, 0, 10, quantity="act_saturated"), run)
    assert (heat.quantity, heat.quantities) == ("grad_norm", ("grad_norm",))
