"""Envelopes: nothing is left out, whatever the points, and however many there are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs import envelope as envelope_module
from mltd.runs import passes as passes_module
from mltd.runs import pyramid as pyramid_module
from mltd.runs.envelope import MOST_PASSES, Buckets, Envelope, Envelopes
from mltd.runs.harvest import Column, ColumnKey, Floats, Harvest, Ints
from mltd.runs.run import Run, SourceFile
from mltd.runs.series import Series
from mltd.runs.thinning import thin

NAN = float("nan")
INF = float("inf")


def extend(run: Run, values: Sequence[float], x: Sequence[float], axis: str = "step") -> None:
    count = len(values)
    column = Column(ColumnKey("loss"), np.arange(count), np.asarray(values, dtype=np.float64))
    axes = {axis: np.asarray(x, dtype=np.float64)} if axis != "index" else {}
    run.append(0, Harvest(line=np.arange(1, count + 1), axes=axes, columns=[column], lines=count))


def series_of(values: Sequence[float], x: Sequence[float] | None = None) -> Series:
    run = Run("made")
    run.add_file(SourceFile("made.log"))
    extend(run, values, np.arange(len(values)).tolist() if x is None else x)
    found = run.find(0, "loss")  # `series` lists none without a point
    assert found is not None
    return found


Row = tuple[float, float, float, int, int]


def rows_of(passes: list[Buckets]) -> list[list[Row]]:
    return [
        list(
            zip(
                one.x.tolist(),
                one.low.tolist(),
                one.high.tolist(),
                one.count.tolist(),
                one.bad.tolist(),
                strict=True,
            )
        )
        for one in passes
    ]


def naive(
    points: list[tuple[float, float]], low: float | None, high: float | None, number: int
) -> list[list[Row]]:
    """The same by looking at every point; `points` are places and values."""
    known = [(x, y) for x, y in points if math.isfinite(x)]
    if not known:
        return []
    extent = min(x for x, _ in known), max(x for x, _ in known)
    left = extent[0] if low is None else low
    right = extent[1] if high is None else high
    stretches: list[list[tuple[float, float]]] = []
    falls, before = 0, NAN
    for x, y in points:
        if math.isfinite(x):
            falls += x < before
            if not x >= before:
                stretches.append([])
            stretches[-1].append((x, y))
        before = x if math.isfinite(x) else NAN
    if (falls > MOST_PASSES and falls > 0.02 * len(points)) or len(stretches) > 256:
        last = max(1, len(points) - 1)
        spread = [
            min(extent[0] + (extent[1] - extent[0]) * (i / last), extent[1])
            for i in range(len(points))
        ]
        stretches = [[(x, y) for x, (_, y) in zip(spread, points, strict=True)]]
    if len(stretches) > MOST_PASSES:
        old = len(stretches) - MOST_PASSES + 1
        stretches = [[point for one in stretches[:old] for point in one], *stretches[old:]]
    chosen = [[(x, y) for x, y in one if left <= x <= right] for one in stretches]
    share = np.arange(number + 1) / number
    edges = np.maximum.accumulate(left * (1.0 - share) + right * share)
    return [naive_pass(one, edges.tolist()) for one in chosen if one]


def naive_pass(points: list[tuple[float, float]], edges: list[float]) -> list[Row]:
    points = sorted(points, key=lambda point: point[0])
    groups: dict[int, list[tuple[float, float]]] = {}
    for number, (x, y) in enumerate(points):
        bucket = sum(x >= edge for edge in edges[1:-1])
        groups.setdefault(number if len(points) < len(edges) else bucket, []).append((x, y))
    return [naive_bucket(group) for group in groups.values()]


def naive_bucket(points: list[tuple[float, float]]) -> Row:
    finite = [y for _, y in points if math.isfinite(y)]
    return (
        points[0][0] / 2 + points[-1][0] / 2,
        min(finite, default=NAN),
        max(finite, default=NAN),
        len(points),
        len(points) - len(finite),
    )


def assert_same(found: list[Buckets], expected: list[list[Row]]) -> None:
    np.testing.assert_equal(rows_of(found), expected)
    for one in found:
        assert len(one) == len(one.mean)
        has_finite = one.count > one.bad
        assert (one.low[has_finite] <= one.mean[has_finite]).all()
        assert (one.mean[has_finite] <= one.high[has_finite]).all()
        assert np.isnan(one.mean[~has_finite]).all()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks so small that a few dozen points need several levels."""
    with monkeypatch.context() as patch:
        patch.setattr(pyramid_module, "BASE", 4)
        patch.setattr(pyramid_module, "FACTOR", 2)
        patch.setattr(pyramid_module, "_SLICE", 16)
        patch.setattr(passes_module, "_SLICE", 16)
        yield


VALUES = st.one_of(st.sampled_from([0.0, NAN, INF, -INF, 1e308, -1e308]), st.floats(-1e6, 1e6))
PLACES = st.one_of(st.integers(0, 12).map(float), st.just(NAN), st.floats(-1e9, 1e9))
RISING = st.lists(st.tuples(st.integers(0, 3), VALUES), max_size=150).map(
    lambda moves: [
        (float(x), y)
        for x, (_, y) in zip(np.cumsum([move for move, _ in moves]), moves, strict=True)
    ]
)
POINTS = st.one_of(st.lists(st.tuples(PLACES, VALUES), max_size=150), RISING)
RANGES = st.one_of(st.none(), st.floats(-20, 200), st.integers(0, 12).map(float))


@given(POINTS, RANGES, RANGES, st.integers(1, 30))
def test_the_buckets_are_those_of_someone_who_looks_at_every_point(
    points: list[tuple[float, float]], low: float | None, high: float | None, number: int
) -> None:
    series = series_of([y for _, y in points], [x for x, _ in points])
    filled = [(float(x), y) for x, (_, y) in zip(series.axis("step"), points, strict=True)]
    assert_same(
        Envelope(series).buckets("step", low, high, number), naive(filled, low, high, number)
    )


@given(RISING, st.integers(1, 40))
def test_extremes_and_counts_of_the_whole_are_always_in_the_answer(
    points: list[tuple[float, float]], number: int
) -> None:
    values = [y for _, y in points]
    envelope = Envelope(series_of(values, [x for x, _ in points]))
    found = envelope.buckets("step", None, None, number)
    finite = [y for y in values if math.isfinite(y)]
    assert sum(int(one.count.sum()) for one in found) == len(values)
    assert sum(int(one.bad.sum()) for one in found) == len(values) - len(finite)
    assert envelope.bad == len(values) - len(finite)
    assert all(len(one) <= number for one in found)
    if finite:
        assert min(np.nanmin(one.low) for one in found) == min(finite) == envelope.low
        assert max(np.nanmax(one.high) for one in found) == max(finite) == envelope.high
    else:
        assert math.isnan(envelope.low)


@given(st.lists(POINTS, max_size=6), st.integers(1, 30))
def test_an_envelope_that_followed_is_the_same_as_a_new_one(
    parts: list[list[tuple[float, float]]], number: int
) -> None:
    run = Run("made")
    run.add_file(SourceFile("made.log"))
    extend(run, [1.0], [0.0])
    series = run.series[0]
    followed = Envelope(series)
    for part in parts:
        extend(run, [y for _, y in part], [x for x, _ in part])
        for axis in ("step", "index"):
            found = followed.buckets(axis, None, None, number)
            expected = Envelope(series).buckets(axis, None, None, number)
            np.testing.assert_equal(rows_of(found), rows_of(expected))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one.mean, other.mean)
    new = Envelope(series)
    new.update()
    followed.update()
    assert followed.axes == new.axes


def test_few_points_are_left_as_they_are() -> None:
    envelope = Envelope(series_of([3.0, NAN, -INF, 2.0], [1.0, 2.5, 2.5, 9.0]))
    (found,) = envelope.buckets("step", None, None, 4)
    assert found.x.tolist() == [1.0, 2.5, 2.5, 9.0]
    np.testing.assert_equal(found.low.tolist(), [3.0, NAN, NAN, 2.0])
    assert found.bad.tolist() == [0, 1, 1, 0]


def test_an_empty_series_and_an_unknown_axis_have_no_passes() -> None:
    envelope = Envelope(series_of([1.0]))
    assert envelope.buckets("tokens", None, None, 10) == []
    assert envelope.extent("tokens") is None
    assert envelope.nearest("tokens", 1.0) is None
    assert envelope.at_or_after("tokens", 1.0) is None
    assert envelope.buckets("step", 5.0, 9.0, 10) == []


def test_a_run_that_was_resumed_has_two_passes() -> None:
    x = [*range(10), *range(4, 9)]
    found = Envelope(series_of([float(i) for i in range(15)], x)).buckets("step", None, None, 20)
    assert [one.x.tolist() for one in found] == [list(range(10)), list(range(4, 9))]


def test_the_oldest_of_very_many_passes_are_put_together() -> None:
    x = list(range(60)) * 20
    envelope = Envelope(series_of(np.arange(1200.0).tolist(), x))
    found = envelope.buckets("step", None, None, 100)
    assert len(found) == MOST_PASSES
    assert found[-1].x.tolist() == list(range(60))
    assert int(found[0].count.sum()) == 60 * 5
    assert (np.diff(found[0].x) >= 0).all()


def test_a_counter_that_falls_all_the_time_is_no_axis() -> None:
    x = [float(step) for step in range(200) for _ in range(2)]
    x = [step + (3 if i % 2 else 0) for i, step in enumerate(x)]
    envelope = Envelope(series_of(np.arange(400.0).tolist(), x))
    assert envelope.passes_over("step").is_in_order
    (found,) = envelope.buckets("step", None, None, 1000)
    assert found.low.tolist() == list(range(400))
    assert (found.x[0], found.x[-1]) == envelope.extent("step") == (0.0, 202.0)


def test_one_spike_among_very_many_points_is_seen_without_looking_at_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pyramid_module, "BASE", 64)
    monkeypatch.setattr(pyramid_module, "FACTOR", 8)
    monkeypatch.setattr(pyramid_module, "_SLICE", 1 << 18)
    monkeypatch.setattr(passes_module, "_SLICE", 1 << 18)
    touched = 0
    original = pyramid_module.spread

    def counting(starts: Ints, lengths: Ints) -> Ints:
        nonlocal touched
        touched += int(lengths.sum())
        return original(starts, lengths)

    monkeypatch.setattr(pyramid_module, "spread", counting)
    monkeypatch.setattr(envelope_module, "spread", counting)
    costs = {}
    for count in (1000, 30_000, 1_000_000):
        values = np.zeros(count)
        values[count // 3] = 1e6
        envelope = Envelope(series_of(values.tolist()))
        envelope.update()
        touched = 0
        (found,) = envelope.buckets("step", None, None, 200)
        assert np.count_nonzero(found.high == 1e6) == 1
        assert int(found.count.sum()) == count
        costs[count] = touched
        assert envelope.nbytes < 0.06 * envelope.series.nbytes + 4096
    # Two ragged ends for each bucket, at most a block each, on every level.
    assert max(costs.values()) <= 200 * (2 * 63 + 3 * 2 * 7 + 8)
    assert costs[1_000_000] < 2 * costs[30_000]


def test_new_points_cost_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("made")
    run.add_file(SourceFile("made.log"))
    extend(run, [1.0] * 10_000, range(10_000))
    envelope = Envelope(run.series[0])
    envelope.extent("step")
    looked_at = []
    original = pyramid_module.of_values

    def counting(values: Floats) -> pyramid_module.Summary:
        looked_at.append(len(values))
        return original(values)

    monkeypatch.setattr(pyramid_module, "of_values", counting)
    extend(run, [2.0] * 10, range(10_000, 10_010))
    assert envelope.update()
    assert not envelope.update()
    assert sum(looked_at) <= 10 + pyramid_module.BASE


@given(POINTS.filter(lambda p: any(math.isfinite(x) for x, _ in p)), st.floats(-20, 20))
def test_the_nearest_point_is_as_near_as_any(points: list[tuple[float, float]], x: float) -> None:
    series = series_of([y for _, y in points], [x for x, _ in points])
    envelope = Envelope(series)
    point = envelope.nearest("step", x)
    passes = envelope.passes_over("step")
    places = passes.x(np.arange(len(series)))
    distance = np.abs(places - x)
    assert point is not None
    assert distance[point] == np.nanmin(distance)
    assert envelope.place("step", point) == places[point]


def test_the_newest_pass_that_covers_a_place_is_asked_first() -> None:
    envelope = Envelope(series_of([0.0] * 15, [*range(0, 20, 2), *range(4, 14, 2)]))
    assert envelope.at_or_after("step", 5.0) == 11
    assert envelope.at_or_after("step", 17.0) == 9
    assert envelope.at_or_after("step", -3.0) == 0
    assert envelope.at_or_after("step", 99.0) == 14
    assert envelope.nearest("step", 4.9) == 10


def test_an_envelope_notices_that_its_series_was_thinned() -> None:
    run = Run("made")
    run.add_file(SourceFile("made.log"))
    values = np.sin(np.arange(20_000.0))
    values[777] = 50.0
    extend(run, values.tolist(), range(20_000))
    envelope = Envelope(run.series[0])
    envelope.buckets("step", None, None, 50)
    assert thin(run)
    (found,) = envelope.buckets("step", None, None, 50)
    assert int(found.count.sum()) == len(run.series[0]) < 20_000
    assert found.high.max() == 50.0


def test_envelopes_are_kept_as_long_as_their_series() -> None:
    series, book = series_of([1.0, 2.0]), Envelopes()
    envelope = book.of(0, series)
    assert book.of(0, series) is envelope
    assert book.of(0, series_of([1.0])) is not envelope
    book.of(1, series)
    book.forget(1)
    assert len(book) == 1
