"""The map that calibration ships: never falling, and resting on enough answers."""

from __future__ import annotations

from benchmarks.faults.calibrate import (
    FIRST_LOOK,
    LEAST,
    Answer,
    Verdict,
    first_look,
    fit,
    fit_causes,
    isotonic,
    reputes,
)

VERDICTS = [
    Verdict(
        name,
        belief / 10,
        rival,
        is_stated=False,
        credit=float(belief - 4 * rival + 3 * (name == "good") > 3),
    )
    for name in ("good", "poor")
    for belief in range(1, 10)
    for rival in (0.0, 1.0)
]


def test_shares_never_fall_though_the_answers_do() -> None:
    pairs = [(0.3, True)] * 50 + [(0.5, False)] * 50 + [(0.9, True)] * 50
    raw, right = isotonic(pairs)
    assert raw == sorted(raw)
    assert right == sorted(right)
    assert right[-1] > 0.9


def test_equal_scores_have_one_share() -> None:
    raw, right = isotonic([(0.9, n % 4 != 0) for n in range(200)])
    assert raw == [0.9]
    assert 0.74 < right[0] < 0.78


def test_few_answers_change_little() -> None:
    raw, right = isotonic([(0.5, True)] * 3)
    assert raw == [0.5]
    assert 0.5 < right[0] < 0.75


def test_each_level_rests_on_enough_answers() -> None:
    raw, _ = isotonic([(n / 100, n % 2 == 0) for n in range(100)])
    assert len(raw) <= 100 // LEAST


def test_few_answers_move_the_repute_of_a_cause_little() -> None:
    answers = [Answer(0.5, False, "one", False)]
    answers += [Answer(0.5, False, "many", False), Answer(0.5, True, "right", False)] * 30
    found = reputes(answers, [0.5] * len(answers))
    assert -0.3 < found["one"] < 0
    assert found["many"] < -1.0
    assert found["right"] > 1.0


def test_a_cause_as_reliable_as_its_scores_has_no_repute() -> None:
    answers = [Answer(0.5, n % 2 == 0, "even", False) for n in range(40)]
    assert reputes(answers, [0.5] * 40)["even"] == 0.0


def test_what_messages_say_changes_no_repute() -> None:
    said = [Answer(0.9, True, "cuda_oom", True)] * 60
    seen = [Answer(0.9, n % 2 == 0, "oscillating_loss", False) for n in range(60)]
    fitted = fit({"finding/observation": [*said, *seen]}, VERDICTS)
    assert set(fitted["repute"]["findings"]) == {"oscillating_loss"}
    assert fitted["repute"]["findings"]["oscillating_loss"] < -0.5


def test_belief_counts_for_a_cause_and_a_close_rival_against_it() -> None:
    curves, repute = fit_causes(VERDICTS)
    assert curves["measured"]["belief"] > 0.3
    assert curves["measured"]["rival"] < -0.3
    assert repute["good"] > 0.2 > repute["poor"]
    assert "stated" not in curves


def test_what_messages_state_has_a_curve_once_there_are_enough() -> None:
    said = [Verdict("x", n % 10 / 10, 0.0, True, float(n % 10 > 3)) for n in range(LEAST)]
    curves, repute = fit_causes([*VERDICTS, *said])
    assert curves["stated"]["belief"] > 0.3
    assert "x" not in repute


def test_the_first_look_is_kept() -> None:
    verdicts = first_look(FIRST_LOOK)
    assert len(verdicts) > 30
    assert all(one.is_stated and 0 <= one.credit <= 1 for one in verdicts)
