"""A run: names told apart where they collide, coordinates filled in, columns that grow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.columns import GrowingColumn
from mltd.runs.coordinates import fill_forward
from mltd.runs.harvest import Column, ColumnKey, Harvest
from mltd.runs.run import Run, SourceFile


def harvest(keys: list[ColumnKey], **axes: list[float]) -> Harvest:
    """One row per key, with the row's number as its value."""
    count = len(keys)
    columns = [Column(key, np.array([row]), np.array([float(row)])) for row, key in enumerate(keys)]
    arrays = {axis.replace("_", " "): np.array(v, dtype=float) for axis, v in axes.items()}
    return Harvest(line=np.arange(1, count + 1), axes=arrays, columns=columns, lines=count)


def run_of(*harvests: Harvest) -> Run:
    run = Run("test")
    file = run.add_file(SourceFile("a.log"))
    for one in harvests:
        run.append(file, one)
    return run


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ([ColumnKey("loss"), ColumnKey("loss")], ["loss"]),
        (
            [ColumnKey("loss", level="step"), ColumnKey("loss", level="epoch")],
            ["loss", "loss (epoch)"],
        ),
        ([ColumnKey("loss"), ColumnKey("loss", level="epoch")], ["loss"]),
        ([ColumnKey("time", split="train"), ColumnKey("time", split="val")], ["time", "val/time"]),
        ([ColumnKey("loss"), ColumnKey("loss", split="train")], ["loss"]),
        ([ColumnKey("loss", rank=0), ColumnKey("loss", rank=3)], ["loss", "loss [rank 3]"]),
        ([ColumnKey("mem", unit="GB"), ColumnKey("mem", unit="%")], ["mem", "mem [%]"]),
    ],
)
def test_names_are_told_apart_only_where_they_collide(
    keys: list[ColumnKey], names: list[str]
) -> None:
    assert [series.name for series in run_of(harvest(keys)).series] == names


def test_units_of_one_dimension_are_converted_to_the_first() -> None:
    keys = [ColumnKey("time", unit="ms"), ColumnKey("time", unit="s")]
    (series,) = run_of(harvest(keys)).series
    assert series.values.tolist() == [0.0, 1000.0]
    assert series.unit == "ms"


def test_coordinates_are_carried_over_feeds() -> None:
    key = ColumnKey("loss")
    run = run_of(
        harvest([key, key], step=[5, np.nan]), harvest([key, key], step=[np.nan, 9], epoch=[1, 2])
    )
    (series,) = run.series
    assert series.axis("step").tolist() == [5, 5, 5, 9]
    assert np.isnan(series.axis("epoch")[:2]).all()
    assert series.lines.tolist() == [1, 2, 3, 4]


def test_iterations_inside_epochs_without_totals_are_counted_on() -> None:
    key = ColumnKey("loss")
    run = run_of(
        harvest([key] * 3, epoch=[0, 0, 0], inner=[49, 99, 149]),
        harvest([key] * 2, epoch=[1, 1], inner=[49, 99]),
    )
    assert run.series[0].axis("step").tolist() == [49, 99, 149, 199, 249]


def test_printed_steps_end_the_derived_ones() -> None:
    key = ColumnKey("loss")
    run = run_of(harvest([key] * 3, step=[np.nan, 7, np.nan], inner=[1, 2, 3]))
    assert run.series[0].axis("step").tolist() == [1, 7, 7]


def test_an_unknown_lone_number_is_no_metric_until_it_moves() -> None:
    key = ColumnKey("frobnication")
    once = harvest([key], step=[1])
    once.columns[0].is_certain = False
    run = run_of(once)
    assert run.series == []
    for step in (2, 3):
        more = harvest([key], step=[step])
        more.columns[0].is_certain = False
        more.columns[0].values[:] = step
        run.append(0, more)
    assert [series.name for series in run.series] == ["frobnication"]


@given(st.lists(st.lists(st.floats(allow_nan=False), max_size=80), max_size=12))
def test_a_growing_column_is_the_list_of_all_values(parts: list[list[float]]) -> None:
    column: GrowingColumn[np.float64] = GrowingColumn(np.float64)
    views = []
    expected: list[float] = []
    for part in parts:
        column.extend(np.array(part, dtype=np.float64))
        expected += part
        views.append((column.view(), list(expected)))
    for view, content in views:
        assert view.tolist() == content  # older views stay valid


@given(
    st.lists(st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6)), max_size=50), st.floats(0, 9)
)
def test_filling_forward_repeats_the_last_number(values: list[float], carry: float) -> None:
    filled = fill_forward(np.array(values, dtype=np.float64), carry)
    last = carry
    for value, found in zip(values, filled.tolist(), strict=True):
        last = last if np.isnan(value) else value
        assert found == last


def test_steps_that_begin_again_with_every_epoch_are_counted_on() -> None:
    key = ColumnKey("loss")
    run = run_of(
        harvest([key] * 4, epoch=[1, 1, 2, 2], step=[25, 50, 25, 50]),
        harvest([key] * 3, epoch=[3, 3, 4], step=[25, 50, 25]),
    )
    assert run.series[0].axis("step").tolist() == [25, 50, 75, 100, 125, 150, 175]


def test_steps_of_epochs_may_begin_at_zero() -> None:
    key = ColumnKey("loss")
    run = run_of(harvest([key] * 4, epoch=[0, 0, 1, 1], step=[0, 1, 0, 1]))
    assert run.series[0].axis("step").tolist() == [0, 1, 2, 3]


def test_a_restart_is_not_counted_on() -> None:
    key = ColumnKey("loss")
    run = run_of(harvest([key] * 5, epoch=[1, 2, 2, 1, 2], step=[10, 20, 30, 10, 20]))
    assert run.series[0].axis("step").tolist() == [10, 20, 30, 10, 20]


def test_a_bar_of_the_whole_run_beside_fractions_of_epochs_counts_steps() -> None:
    positions = [10.0, 20.0, 30.0, 40.0]
    one = harvest(
        [ColumnKey("loss")] * 4,
        epoch=[0.5, 1.0, 1.5, 2.0],
        inner=positions,
        inner_total=[60.0] * 4,
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == positions


def test_positions_that_agree_with_the_fraction_are_inside_their_epoch() -> None:
    one = harvest(
        [ColumnKey("loss")] * 4,
        epoch=[0.25, 0.5, 1.25, 1.5],
        inner=[5.0, 10.0, 5.0, 10.0],
        inner_total=[20.0] * 4,
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == [5.0, 10.0, 25.0, 30.0]


def test_a_resume_beside_fractions_of_epochs_goes_back() -> None:
    one = harvest(
        [ColumnKey("loss")] * 6,
        epoch=[1.67, np.nan, 1.68, np.nan, 1.63, np.nan],
        inner=[502.0, 503.0, np.nan, 489.0, np.nan, 490.0],
        inner_total=[800.0] * 6,
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == [502.0, 503.0, 503.0, 489.0, 489.0, 490.0]


def test_a_count_that_goes_on_with_the_next_epoch_is_of_the_whole_run() -> None:
    one = harvest(
        [ColumnKey("loss")] * 4,
        epoch=[1.0, 1.0, 2.0, 2.0],
        inner=[20.0, 40.0, 60.0, 80.0],
        inner_total=[100.0] * 4,
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == [20.0, 40.0, 60.0, 80.0]


def test_a_loop_inside_that_of_the_training_leaves_the_step_alone() -> None:
    key = ColumnKey("loss")
    first = harvest([key] * 3, inner=[10.0, 20.0, 3.0], inner_total=[80.0, 80.0, 9.0])
    later = harvest([key] * 4, inner=[9.0, 30.0, 4.0, 40.0], inner_total=[9.0, 80.0, 9.0, 80.0])
    (series,) = run_of(first, later).series
    assert series.axis("step").tolist() == [10.0, 20.0, 20.0, 20.0, 30.0, 30.0, 40.0]


def test_a_loop_behind_that_of_an_epoch_leaves_the_step_alone() -> None:
    one = harvest(
        [ColumnKey("loss")] * 6,
        epoch=[1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
        inner=[50.0, 100.0, 9.0, 50.0, 100.0, 9.0],
        inner_total=[100.0, 100.0, 9.0, 100.0, 100.0, 9.0],
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == [50.0, 100.0, 100.0, 150.0, 200.0, 200.0]


def test_loops_of_epochs_may_differ_in_length() -> None:
    one = harvest(
        [ColumnKey("loss")] * 4,
        epoch=[1.0, 1.0, 2.0, 2.0],
        inner=[50.0, 90.0, 40.0, 80.0],
        inner_total=[100.0, 100.0, 90.0, 90.0],
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == [50.0, 90.0, 130.0, 170.0]


def test_a_loop_that_never_goes_on_was_not_that_of_the_training() -> None:
    key = ColumnKey("loss")
    parts = [harvest([key], inner=[5.0], inner_total=[90.0])]
    parts += [harvest([key] * 2, inner=[3.0, 6.0], inner_total=[8.0] * 2) for _ in range(6)]
    (series,) = run_of(*parts).series
    assert series.axis("step")[-1] > 5.0


def test_an_epoch_that_is_named_at_its_end_is_not_that_of_the_next_loop() -> None:
    nan = np.nan
    key = ColumnKey("loss")
    first = harvest(
        [key] * 3, epoch=[nan, nan, 1.0], inner=[5.0, 10.0, nan], inner_total=[10.0] * 3
    )
    later = harvest(
        [key] * 3, epoch=[nan, nan, 2.0], inner=[5.0, 10.0, nan], inner_total=[10.0] * 3
    )
    (series,) = run_of(first, later, later).series
    assert series.axis("step").tolist() == [5, 10, 10, 15, 20, 20, 25, 30, 30]


def test_a_loop_of_another_length_before_the_first_epoch_does_not_count() -> None:
    one = harvest(
        [ColumnKey("loss")] * 3,
        epoch=[np.nan, 1.0, 2.0],
        inner=[7.0, 5.0, 5.0],
        inner_total=[7.0, 10.0, 10.0],
    )
    (series,) = run_of(one).series
    assert series.axis("step").tolist() == [7, 5, 15]


def test_a_plan_before_the_first_epoch_shifts_no_step() -> None:
    run = run_of(
        harvest([ColumnKey("x")], epoch=[100]),
        harvest([ColumnKey("x")] * 3, epoch=[0, 0, 1], inner=[0, 10, 0], inner_total=[20] * 3),
    )
    assert run.series[0].axis("step").tolist()[1:] == [0, 10, 20]


def test_steps_of_the_whole_training_that_begin_again_are_another_training() -> None:
    """The epoch of the first one is still current where the second one begins."""
    key = ColumnKey("loss")
    once = [100.0, 200, 300, 400, 500, 600, 700, 800]
    epochs = [1.0, 1, 2, 2, 3, 3, 4, 4]
    again = run_of(
        harvest([key] * 8, step=once, epoch=epochs),
        harvest([key] * 8, step=[*once], epoch=[5, 5, 1, 1, 2, 2, 3, 3]),
    )
    assert again.series[0].axis("step").tolist() == once * 2
