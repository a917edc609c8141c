"""The parts of a chart, without a terminal."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.tui.curves.numbers import compact, exact, place
from mltd.tui.curves.raster import Stroke, braille, trace
from mltd.tui.curves.rows import changed_columns, fitted, row_of, width_of
from mltd.tui.curves.scale import LABEL, scale_for
from mltd.tui.curves.smoothing import smooth
from mltd.tui.curves.ticks import place_ticks, value_ticks
from mltd.tui.curves.window import Window, rounded

NAN = math.nan
finite = st.floats(allow_nan=False, allow_infinity=False)


# -- numbers and ticks ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.31449, "2.314"), (24_590, "24.59k"), (9999.7, "10k"), (3e-5, "3e-5"), (0.0, "0"),
        (1e30, "1e30"), (-1.5e6, "-1.5M"), (NAN, "NaN"), (-math.inf, "-Inf"), (0.012345, "0.01235"),
    ],
)  # fmt: skip
def test_a_last_value_has_four_digits(value: float, text: str) -> None:
    assert compact(value) == text


def test_a_read_out_is_exact() -> None:
    assert (exact(24590.0), exact(2.314), exact(1e-12)) == ("24,590", "2.314", "1e-12")
    assert place("step", 24590.0) == "step 24,590"
    assert place("time", 3723.0) == "+1:02:03"


@given(st.floats(-1e300, 1e300))
def test_last_values_are_short_and_true(value: float) -> None:
    text = compact(value)
    assert len(text) <= 10
    scales = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    number = float(text.rstrip("kMGT")) * scales.get(text[-1], 1.0)
    assert math.isclose(number, value, rel_tol=6e-3, abs_tol=1e-320)


@given(finite, finite, st.integers(1, 8))
def test_ticks_are_inside_in_order_few_and_told_apart(a: float, b: float, most: int) -> None:
    low, high = min(a, b), max(a, b)
    ticks = value_ticks(low, high, most, LABEL)
    places = [t.at for t in ticks]
    slack = (high / 2 - low / 2) * 1e-4
    assert places == sorted(places)
    assert all(low - slack <= p <= high + slack for p in places)
    assert len(places) <= 2 * most + 3
    labels = [t.label for t in ticks if t.label]
    assert len(set(labels)) == len(labels)
    assert all(len(label) <= LABEL for label in labels)


def test_steps_have_suffixes_and_a_close_look_has_digits() -> None:
    assert [t.label for t in place_ticks("step", 0, 40_000, 4)] == ["0", "10k", "20k", "30k", "40k"]
    assert [t.label for t in place_ticks("step", 24_580, 24_600, 2)] == [
        "24,580", "24,590", "24,600"
    ]  # fmt: skip


def test_wall_time_ticks_are_round_times_of_the_day() -> None:
    labels = [t.label for t in place_ticks("time", 1_763_300_000, 1_763_300_000 + 3600, 4)]
    assert labels
    assert all(label[2] == ":" and label[3:] in ("00", "15", "30", "45") for label in labels)
    assert [t.label for t in place_ticks("time", 0, 7200, 4)] == [
        "0:00", "30:00", "1:00:00", "1:30:00", "2:00:00"
    ]  # fmt: skip


@given(finite, finite)
def test_a_scale_holds_all_values_and_has_ticks_within(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    scale = scale_for(low, high, is_log=False)
    assert -1e-6 <= scale.fraction(low) <= scale.fraction(high) <= 1 + 1e-6
    assert all(-1e-3 <= t.at <= 1 + 1e-3 for t in scale.ticks(5))


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_a_logarithmic_scale_holds_all_values(a: float, b: float) -> None:
    scale = scale_for(min(a, b), max(a, b), is_log=True)
    assert -1e-6 <= scale.fraction(min(a, b)) <= scale.fraction(max(a, b)) <= 1 + 1e-6
    assert len(scale.ticks(5)) >= 1


def test_a_constant_lies_in_the_middle() -> None:
    for value in (3.7, 0.0, -1e30, 1e-12):
        assert scale_for(value, value, is_log=False).fraction(value) == pytest.approx(0.5)


# -- smoothing -----------------------------------------------------------------------------


def test_smoothing_skips_gaps_and_weighs_buckets_by_their_points() -> None:
    smoothed = smooth([0, 1, 2], [1.0, NAN, 3.0], [1, 0, 3], memory=1e9)
    assert smoothed[0] == 1.0
    assert math.isnan(smoothed[1])
    assert smoothed[2] == pytest.approx((1 + 3 * 3) / 4)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 50)), min_size=1, max_size=40),
       st.floats(0.01, 100))  # fmt: skip
def test_a_smoothed_curve_stays_between_the_extremes(
    points: list[tuple[float, int]], memory: float
) -> None:
    values = [value for value, _ in points]
    smoothed = smooth(range(len(points)), values, [count for _, count in points], memory)
    assert all(min(values) - 1e-6 <= s <= max(values) + 1e-6 for s in smoothed)


# -- window --------------------------------------------------------------------------------

extents = st.tuples(st.floats(-1e9, 1e9), st.floats(0.01, 1e9)).map(lambda e: (e[0], e[0] + e[1]))


@given(extents, st.lists(st.sampled_from(["in", "out", "left", "right"]), max_size=12),
       st.floats(0, 1))  # fmt: skip
def test_no_zoom_or_pan_leaves_the_axis(
    extent: tuple[float, float], moves: list[str], share: float
) -> None:
    centre = extent[0] + share * (extent[1] - extent[0])
    window = Window()
    whole = rounded(extent)
    slack = (whole[1] - whole[0]) * 0.05
    for move in moves:
        window = {
            "in": lambda w: w.zoomed(extent, 2.0, centre),
            "out": lambda w: w.zoomed(extent, 0.5),
            "left": lambda w: w.panned(extent, -0.25),
            "right": lambda w: w.panned(extent, 0.25),
        }[move](window)
        low, high = window.seen(extent)
        assert whole[0] - slack <= low < high <= whole[1] + slack


def test_zooming_keeps_the_cursor_in_sight_and_out_again_shows_everything() -> None:
    window = Window().zoomed((0, 1000), 4.0, 300.0)
    low, high = window.seen((0, 1000))
    assert low <= 300 <= high
    assert high - low == pytest.approx(250)
    assert window.zoomed((0, 1000), 0.25).is_whole


def test_a_window_at_the_right_end_follows_it_and_another_stays() -> None:
    at_end = Window().zoomed((0, 1000), 4.0)
    assert at_end.is_following
    low, high = at_end.seen((0, 2000))
    assert low == pytest.approx(high - 250)
    assert high >= 2000
    elsewhere = at_end.panned((0, 1000), -1.0)
    assert elsewhere.seen((0, 1000)) == elsewhere.seen((0, 2000))


def test_the_whole_axis_does_not_move_for_every_new_point() -> None:
    assert rounded((3, 10_010)) == rounded((3, 10_150))


def test_a_place_out_of_sight_is_reached_by_moving_the_window() -> None:
    window = Window(100, 50).reaching((0, 1000), 700)
    low, high = window.seen((0, 1000))
    assert low <= 700 <= high
    assert high - low == pytest.approx(50)


# -- dots ----------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(-20, 60), st.integers(-9, 40))),
                max_size=30))  # fmt: skip
def test_every_stroke_in_sight_is_drawn_and_lines_have_no_holes(
    points: list[tuple[int, int] | None],
) -> None:
    columns, rows = 40, 32
    ordered = sorted(p for p in points if p is not None)
    strokes = [Stroke(column, row, row, float(row)) for column, row in ordered]
    bits = trace(strokes, columns, rows)
    for column, row in ordered:
        if 0 <= column < columns and 0 <= row < rows:
            assert bits[column] >> row & 1
    inside = [s for s in strokes if 0 <= s.low < rows and 0 <= s.column < columns]
    if len(inside) == len(strokes) > 1:
        span = range(strokes[0].column, strokes[-1].column + 1)
        assert all(bits[column] for column in span)
    assert all(0 <= dots < 1 << rows for dots in bits)


def test_a_gap_is_not_bridged() -> None:
    bits = trace([Stroke(0, 1, 1, 1.0), None, Stroke(5, 1, 1, 1.0)], 6, 4)
    assert [bool(dots) for dots in bits] == [True, False, False, False, False, True]


def test_dots_become_braille_from_the_bottom_up() -> None:
    assert braille([0b1, 0b1000], 1) == {(0, 0): 0x40 | 0x08}
    assert braille([0b10000, 0], 2) == {(0, 1): 0x40}


# -- rows ----------------------------------------------------------------------------------

bits = st.lists(
    st.tuples(st.text("ab ─é漢", max_size=6), st.sampled_from(["", "quiet"])), max_size=8
)


@given(bits, st.integers(0, 30))
def test_a_fitted_row_has_exactly_its_width(row: list[tuple[str, str]], width: int) -> None:
    assert width_of(fitted(row, width)) == width


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=20), st.data())
def test_only_columns_that_differ_are_repainted(old: list[str], data: st.DataObject) -> None:
    new = data.draw(st.lists(st.sampled_from("ab"), min_size=len(old), max_size=len(old)))
    changed = changed_columns(row_of(old, old), row_of(new, new))
    differing = [i for i in range(len(old)) if old[i] != new[i]]
    if not differing:
        assert changed is None
    else:
        assert changed is not None
        assert changed[0] <= differing[0]
        assert differing[-1] < changed[1] <= len(old)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-12, 1e12), st.booleans())
def test_labels_of_the_y_axis_fit_their_gutter(low: float, span: float, is_log: bool) -> None:
    if is_log:
        low = abs(low) or 1.0
    if not math.isfinite(low + span):
        return
    scale = scale_for(low, low + span, is_log=is_log)
    assert all(len(tick.label) <= LABEL for tick in scale.ticks(4))
