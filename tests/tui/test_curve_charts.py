"""Charts without a terminal: which there are, how they are drawn, laid out and read."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.tui.curves.chart_list import charts_of
from mltd.tui.curves.cursor import Cursor, moved, to_mark
from mltd.tui.curves.drawing import FAINT, Canvas, Look, column_of, draw
from mltd.tui.curves.face import Pointer, Sheet, rows_of
from mltd.tui.curves.layout import LEAST_HEIGHT, LEAST_WIDTH, arrange, capacity, first_shown
from mltd.tui.curves.legend import title_row
from mltd.tui.curves.readout import reading_at
from mltd.tui.curves.rows import width_of
from mltd.tui.curves.status import strip_row
from mltd.tui.engine.curve_protocol import Curve, CurvePass, Mark, MarkKind
from mltd.tui.engine.protocol import SeriesInfo

NAN = math.nan
finite = st.floats(allow_nan=False, allow_infinity=False)


def one_pass(points: Sequence[tuple[float, float]]) -> CurvePass:
    """Every point a bucket of its own."""
    is_good = [math.isfinite(y) for _, y in points]
    values = array("d", [y if good else NAN for (_, y), good in zip(points, is_good, strict=True)])
    return CurvePass(
        array("d", [x for x, _ in points]),
        values,
        values[:],
        values[:],
        array("q", [int(good) for good in is_good]),
        array("q", [int(not good) for good in is_good]),
    )


def curve(*passes: Sequence[tuple[float, float]], key: str = "loss") -> Curve:
    return Curve(0, key, key, None, tuple(map(one_pass, passes)), sum(map(len, passes)))


def info(key: str, group: str = "other", role: str | None = None, **more: object) -> SeriesInfo:
    values: dict[str, object] = {
        "axes": ("step",), "points": 10, "last": 1.0, "low": 0.5, "high": 2.0
    }  # fmt: skip
    return SeriesInfo(key, key, role, group, **(values | more))  # type: ignore[arg-type]


def plain(row: Sequence[tuple[str, str]]) -> str:
    return "".join(text for text, _ in row)


# -- drawing -------------------------------------------------------------------------------


def drawn(*curves: Curve, **look: object) -> Canvas:
    pairs = [(c, number) for number, c in enumerate(curves, 1)]
    return draw(pairs, Look(0, 100, **look), 50, 10)  # type: ignore[arg-type]


def test_a_single_spike_reaches_the_top() -> None:
    steady = [(float(x), 1.0) for x in range(101)]
    one = one_pass(steady)
    one.high[40] = 9.0
    canvas = draw([(Curve(0, "k", "k", None, (one,), 101), 1)], Look(0, 100), 50, 10)
    assert canvas.picture.rows[0][20].strip()


def test_values_that_are_no_numbers_leave_a_marked_gap_and_are_counted() -> None:
    points = [(float(x), NAN if 40 <= x < 60 else 2.0 + x / 50) for x in range(101)]
    canvas = drawn(curve(points))
    assert canvas.bad == 20
    assert set(canvas.gaps) == set(range(20, 30))
    assert all(not row[21:29].strip() for row in canvas.picture.rows)


def test_what_a_logarithmic_axis_cannot_show_is_a_marked_gap_too() -> None:
    canvas = drawn(curve([(0.0, -1.0), (50.0, 10.0), (100.0, 100.0)]), is_log=True)
    assert (canvas.nonpositive, canvas.gaps) == (1, {0: "nonpositive"})


def test_a_positive_curve_over_two_decades_suggests_a_logarithmic_axis() -> None:
    assert drawn(curve([(0, 1.0), (100, 100.0)])).has_decades
    assert not drawn(curve([(0, 1.0), (100, 99.0)])).has_decades
    assert not drawn(curve([(0, -1.0), (100, 100.0)])).has_decades


def layers(canvas: Canvas) -> set[int]:
    return {layer for row in canvas.picture.layers for layer in row} - {0}


def test_passes_before_the_last_are_faint() -> None:
    both = curve([(x, 1.0) for x in range(50)], [(x, 2.0) for x in range(30, 100)])
    canvas = drawn(both)
    assert layers(canvas) == {1, FAINT}
    assert FAINT not in canvas.picture.layers[0]


def test_smoothing_keeps_the_raw_curve_faint_below() -> None:
    noisy = curve([(float(x), 1.0 + (x % 2)) for x in range(101)])
    assert layers(drawn(noisy)) == {1}
    assert layers(drawn(noisy, smoothing=0.1)) == {1, FAINT}


def test_a_curve_of_few_points_shows_them_as_points() -> None:
    assert "•" in "".join(drawn(curve([(10.0, 1.0), (80.0, 2.0)])).picture.rows)


def test_without_braille_only_ascii_is_drawn() -> None:
    points = [(float(x), math.sin(x / 9)) for x in range(101)]
    text = "".join(drawn(curve(points), is_ascii=True).picture.rows)
    assert set(text) == {" ", "*"}


values = st.one_of(finite, st.sampled_from([NAN, math.inf, -math.inf, 0.0, 1e30, 1e-12]))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(-10, 110), values), max_size=40), st.booleans(),
       st.sampled_from([0.0, 0.1]), st.integers(1, 60), st.integers(1, 12))  # fmt: skip
def test_any_curve_can_be_drawn_and_nothing_is_dropped_silently(
    points: list[tuple[float, float]], is_log: bool, share: float, width: int, height: int
) -> None:
    points.sort(key=lambda point: point[0])
    one = curve(points)
    look = Look(0, 100, is_log, share)
    canvas = draw([(one, 1)], look, width, height)
    seen = [y for x, y in points if 0 <= x <= 100]
    assert canvas.bad == sum(not math.isfinite(y) for y in seen)
    if is_log:
        assert canvas.nonpositive == sum(math.isfinite(y) and y <= 0 for y in seen)
    shown = [y for y in seen if math.isfinite(y) and (y > 0 or not is_log)]
    assert (canvas.scale is not None) == bool(shown)
    assert bool("".join(canvas.picture.rows).strip()) >= bool(shown)


@given(st.floats(0, 100), st.integers(1, 200))
def test_every_place_in_sight_has_a_column(x: float, columns: int) -> None:
    assert 0 <= column_of(x, 0, 100, columns) < columns


# -- charts, layout, legend ----------------------------------------------------------------


def test_training_and_validation_loss_share_the_first_chart() -> None:
    series = (
        info("val_loss", "loss", "val/loss", is_primary=True, high=900.0),
        info("lr", "rate", "lr", is_primary=True),
        info("aux", "loss"),
        info("noise"),
    )
    charts = charts_of((0, "run", series))
    assert [c.title for c in charts] == ["loss", "lr"]
    assert [n.label for n in charts[0].lines] == ["val"]
    train = info("train_loss", "loss", "train/loss", is_primary=True)
    charts = charts_of((0, "run", (train, *series)))
    assert [(n.label, n.colour) for n in charts[0].lines] == [("loss", 1), ("val", 2)]


def test_a_chosen_metric_joins_its_chart_or_gets_one_and_a_dropped_one_leaves() -> None:
    series = (
        info("train_loss", "loss", "train/loss", is_primary=True),
        info("aux", "loss"),
        info("sum", "loss", high=1e6),
        info("noise"),
    )
    chosen = {"aux": True, "sum": True, "noise": True, "train_loss": False}
    assert [[n.key for n in c.lines] for c in charts_of((0, "r", series), chosen=chosen)] == [
        ["aux"], ["sum"], ["noise"]
    ]  # fmt: skip


def test_metrics_of_another_unit_do_not_share_an_axis() -> None:
    series = (
        info("tokens/s", "throughput", "throughput", is_primary=True, high=1e5),
        info("it/s", "throughput", "speed", is_primary=True, high=2.0),
    )
    assert [n.key for n in charts_of((0, "r", series))[0].lines] == ["tokens/s"]


def test_a_run_without_known_metrics_still_has_charts() -> None:
    assert [c.title for c in charts_of((0, "r", (info("a"), info("b"))))] == ["a", "b"]


def test_other_runs_match_by_role_and_keep_their_colour_in_every_chart() -> None:
    mine = (
        info("train_loss", "loss", "train/loss", is_primary=True),
        info("val_loss", "loss", "val/loss", is_primary=True),
        info("lr", "rate", "lr", is_primary=True),
    )
    theirs = (
        info("lm loss", "loss", "train/loss", is_primary=True),
        info("lr", "other"),
    )
    charts = charts_of((0, "base", mine), [(5, "new", theirs)])
    assert [(n.run, n.key) for n in charts[0].lines] == [
        (0, "train_loss"), (0, "val_loss"), (5, "lm loss")
    ]  # fmt: skip
    assert [n.key for n in charts[1].lines] == ["lr", "lr"]
    assert {n.colour for c in charts for n in c.lines if n.run == 5} == {2}


@given(st.integers(1, 30), st.integers(1, 300), st.integers(1, 100))
def test_charts_fill_the_pane_without_overlap(count: int, width: int, height: int) -> None:
    count = min(count, capacity(width, height))
    boxes = arrange(count, width, height)
    assert len(boxes) == count
    cells = [
        (x, y) for b in boxes for y in (b.y, b.y + b.height - 1) for x in (b.x, b.x + b.width - 1)
    ]
    assert all(0 <= x < width and 0 <= y < height for x, y in cells)
    rows = {b.y: [c for c in boxes if c.y == b.y] for b in boxes}
    for row in rows.values():
        assert row[-1].x + row[-1].width == width
        assert sum(b.width for b in row) + len(row) - 1 == width
    assert sum(row[0].height for row in rows.values()) == height
    if count > 1:
        assert all(b.width >= LEAST_WIDTH and b.height >= LEAST_HEIGHT for b in boxes)


@pytest.mark.parametrize(
    ("size", "room"), [((42, 8), 1), ((77, 17), 4), ((117, 27), 9), ((155, 41), 20)]
)
def test_a_larger_pane_has_room_for_more_charts(size: tuple[int, int], room: int) -> None:
    assert capacity(*size) == room


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 19), st.integers(0, 19))
def test_the_selected_chart_is_always_in_sight(
    count: int, room: int, selected: int, first: int
) -> None:
    room, selected = min(room, count), min(selected, count - 1)
    start = first_shown(count, room, selected, first)
    assert 0 <= start <= selected < start + room <= max(count, room)


def test_a_legend_that_is_too_long_loses_names_before_notes() -> None:
    names = ("alpha_metric_with_a_long_name", "beta_metric_with_a_long_name")
    chart = charts_of((0, "r", tuple(info(n, "loss", is_primary=True) for n in names)))[0]
    notes = [("3 NaN/Inf", "severity-critical")]
    wide = plain(title_row(chart, ["1.5", "2.5"], notes, "y: log?", 120, False))
    assert "1.5" in wide
    assert wide.endswith("3 NaN/Inf y: log?")
    for width in (60, 40, 24):
        row = title_row(chart, ["1.5", "2.5"], notes, "y: log?", width, True)
        assert width_of(row) == width
        assert plain(row).endswith("3 NaN/Inf")


def test_the_strip_names_the_selected_chart_whatever_the_width() -> None:
    titles = ["loss", "gradients", "lr", "throughput", "memory", "accuracy"]
    assert plain(strip_row(titles, 2, False, [], 70)).rstrip() == (
        "loss · gradients · ▸lr · throughput · memory · accuracy · 3/6"
    )
    for width in range(18, 70):
        row = strip_row(titles, 4, False, ["x step"], width)
        assert width_of(row) == width
        assert "▸memory" in plain(row)
        assert "5/6" in plain(row)


# -- faces ---------------------------------------------------------------------------------


def face(marks: tuple[Mark, ...] = (), pointer: Pointer | None = None, **look: object) -> list[str]:
    chart = charts_of((0, "r", (info("train_loss", "loss", "train/loss", is_primary=True),)))[0]
    looked = Look(0, 100, **look)  # type: ignore[arg-type]
    canvas = draw([(curve([(0.0, 1.0), (50.0, 4.0), (100.0, 9.0)]), 1)], looked, 43, 7)
    sheet = Sheet(chart, "step", looked, canvas, ("9",), marks, pointer)
    return [plain(row) for row in rows_of(sheet, 50, 10)]


def test_a_face_has_title_ticks_and_labels_in_its_exact_size() -> None:
    rows = face()
    assert len(rows) == 10
    assert {len(row) for row in rows} == {50}
    assert rows[0].startswith(" loss  ━ 9 ─")
    assert rows[-1].split() == ["0", "20", "40", "60", "80", "100"]
    assert sum(row[6] == "┤" for row in rows) >= 2


def test_marks_are_on_the_rail_at_their_column_and_findings_reach_into_the_plot() -> None:
    marks = (
        Mark(50, MarkKind.FINDING, "rises", "critical"),
        Mark(50, MarkKind.CHECKPOINT, "saved", "info"),
        Mark(75, MarkKind.RESTART, "again", "info"),
        Mark(25, MarkKind.FINDING, "slow", "warning"),
        Mark(900, MarkKind.ERROR, "out of sight", "critical"),
    )
    rows = face(marks)
    rail = rows[-2]
    assert [(c, i - 7) for i, c in enumerate(rail) if c in "✖▲↻●~"] == [
        ("▲", column_of(25, 0, 100, 43)),
        ("✖", column_of(50, 0, 100, 43)),
        ("↻", column_of(75, 0, 100, 43)),
    ]
    assert "┊" in "".join(row[7 + column_of(50, 0, 100, 43)] for row in rows)
    assert "┊" not in "".join(row[7 + column_of(75, 0, 100, 43)] for row in rows)


def test_the_cursor_is_a_line_with_a_dot_on_the_curve() -> None:
    rows = face(pointer=Pointer(50, ((1, 4.0),)))
    column = 7 + column_of(50, 0, 100, 43)
    drawn_column = [row[column] for row in rows[1:8]]
    assert drawn_column.count("●") == 1
    assert drawn_column.count("│") == 6


# -- cursor and read-out -------------------------------------------------------------------


def test_the_cursor_goes_from_column_to_column_and_stops_at_the_ends() -> None:
    places = [0.0, 1.0, 30.0, 31.0, 99.0]
    at = moved(None, places, (0, 100), 10, -1)
    visited = []
    while at is not None and at.x not in visited:
        visited.append(at.x)
        at = moved(at, places, (0, 100), 10, -1)
    assert visited == [99.0, 31.0, 1.0, 0.0]
    assert moved(Cursor(99.0), places, (0, 100), 10, 1) == Cursor(99.0)
    assert moved(None, [], (0, 100), 10, 1) is None


def test_marks_are_visited_one_by_one_even_at_the_same_place() -> None:
    marks = [Mark(x, MarkKind.FINDING, str(x)) for x in (10, 20, 20, 30)]
    at = None
    visited = []
    for _ in range(5):
        at = to_mark(at, marks, 1)
        assert at is not None
        visited.append((at.x, at.mark))
    assert visited == [(10, 0), (20, 1), (20, 2), (30, 3), (30, 3)]
    assert to_mark(Cursor(25), marks, -1) == Cursor(20, 2)
    assert to_mark(Cursor(25), marks, 1) == Cursor(30, 3)
    assert to_mark(None, [], 1) is None


def test_a_reading_is_of_the_newest_pass_there_or_the_last_point_before() -> None:
    both = curve([(0, 1.0), (10, 2.0), (20, 3.0)], [(10, 5.0), (15, 6.0)])
    here = reading_at(both, 10.4, 1.0)
    assert here is not None
    assert (here.value, here.is_here) == (5.0, True)
    older = reading_at(both, 20, 1.0)
    assert older is not None
    assert (older.value, older.is_here) == (3.0, True)
    before = reading_at(both, 60, 1.0)
    assert before is not None
    assert (before.value, before.is_here) == (6.0, False)
    assert reading_at(both, -5, 1.0) is None
