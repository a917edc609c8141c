"""The map that calibration ships: never falling, and resting on enough answers."""

from __future__ import annotations

from benchmarks.faults.calibrate import LEAST, isotonic, reputes


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


def test_few_answers_move_the_repute_of_a_cause_little() -> None:
    answers = [(0.5, False, "one")] + [(0.5, False, "many")] * 30 + [(0.5, True, "right")] * 30
    found = reputes(answers, [0.5] * len(answers))
    assert -0.5 < found["one"] < 0
    assert found["many"] < -1.5
    assert found["right"] > 1.5


def test_a_cause_as_reliable_as_its_scores_has_no_repute() -> None:
    answers = [(0.5, n % 2 == 0, "even") for n in range(40)]
    assert reputes(answers, [0.5] * 40)["even"] == 0.0
