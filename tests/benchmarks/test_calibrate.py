"""The map that calibration ships: never falling, and resting on enough answers."""

from __future__ import annotations

from benchmarks.faults.calibrate import LEAST, isotonic


def test_shares_never_fall_though_the_answers_do() -> None:
    pairs = [(0.3, True)] * 50 + [(0.5, False)] * 25 + [(0.9, True)] * 50
    raw, right = isotonic(pairs)
    assert raw == sorted(raw)
    assert right == sorted(right)
    assert right[-1] > 0.9


def test_few_answers_change_little() -> None:
    raw, right = isotonic([(0.5, True)] * 3)
    assert raw == [0.5]
    assert 0.5 < right[0] < 0.75


def test_each_level_rests_on_enough_answers() -> None:
    raw, _ = isotonic([(n / 100, n % 2 == 0) for n in range(100)])
    assert len(raw) <= 100 // LEAST
