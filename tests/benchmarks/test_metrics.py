"""The scorer computes known figures from hand-made documents."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.metrics import (
    Judged,
    brier,
    calibration_error,
    cause_share,
    claims,
    error_within_ceilings,
    false_alarm_share,
    figures,
    macro_recall,
    onset_points,
    onset_quantile,
    overclaim_share,
    recall_by_class,
)
from benchmarks.faults.report import BEGIN, END, explain, markdown, text, update_file
from benchmarks.faults.truth import Truth, read_truths


def label(kind: str = "lr_jump", verdict: str = "fault", **more: Any) -> Truth:
    known: dict[str, Any] = {
        "findings": ["loss_spike"],
        "causes": ["lr_schedule", "lr_too_high"],
        "done": ["lr_schedule"],
    }
    if verdict in ("healthy", "inert"):
        known = {}
    return Truth(f"r-{kind}", kind, verdict, "dev", "mlp", 0, "csv", **{**known, **more})


def finding(name: str, confidence: float = 0.8, **more: Any) -> dict[str, Any]:
    usual = {"severity": "warning", "first_step": None, "title": name}
    return {"id": name, "confidence": confidence, **usual, **more}


def judged(truth: Truth, findings: list[Any], causes: list[str] | None = None) -> Judged:
    hypotheses = [{"id": name, "confidence": 0.6, "issue": name} for name in causes or []]
    return Judged.from_document(truth, {"findings": findings, "root_causes": hypotheses})


def test_only_warnings_and_worse_are_alarms() -> None:
    calm = judged(label(verdict="healthy"), [finding("plateau", severity="info")])
    loud = judged(label(verdict="healthy"), [finding("plateau")])
    assert false_alarm_share([calm]) == 0.0
    assert false_alarm_share([calm, loud]) == 0.5


def test_a_run_that_raises_is_an_alarm_on_a_healthy_run_and_a_miss_on_a_faulty_one() -> None:
    assert false_alarm_share([Judged(label(verdict="healthy"), problem="boom")]) == 1.0
    assert macro_recall([Judged(label(), problem="boom")]) == 0.0


def test_inert_faults_must_stay_silent_and_ambiguous_ones_are_not_scored() -> None:
    noise = [finding("loss_spike")]
    assert false_alarm_share([judged(label(verdict="inert"), noise)]) == 1.0
    ambiguous = judged(label(verdict="ambiguous"), noise, ["code_bug"])
    assert math.isnan(false_alarm_share([ambiguous]))
    assert recall_by_class([ambiguous]) == {}
    assert claims([ambiguous]) == []


def test_recall_is_the_mean_over_classes_not_over_runs() -> None:
    hits = [judged(label("lr_jump"), [finding("loss_spike")]) for _ in range(3)]
    miss = judged(label("overfitting"), [finding("loss_spike")])
    miss.truth.findings = ["overfitting"]
    assert recall_by_class([*hits, miss]) == {"lr_jump": 1.0, "overfitting": 0.0}
    assert macro_recall([*hits, miss]) == 0.5


def test_causes_count_among_the_first_and_the_first_three() -> None:
    best = judged(label(), [], ["lr_too_high", "bad_batch"])
    third = judged(label(), [], ["bad_batch", "code_bug", "lr_schedule"])
    fourth = judged(label(), [], ["bad_batch", "code_bug", "poor_init", "lr_schedule"])
    assert cause_share([best, third, fourth], 1) == pytest.approx(1 / 3)
    assert cause_share([best, third, fourth], 3) == pytest.approx(2 / 3)


def test_the_onset_is_read_from_the_gravest_matching_alarm() -> None:
    truth = label(onset=100, interval=10)
    run = judged(
        truth,
        [
            finding("loss_spike", 0.9, first_step=300),
            finding("loss_spike", 0.5, first_step=90, severity="critical"),
            finding("plateau", 0.9, first_step=100, severity="critical"),
        ],
    )
    assert run.onset_error == 10
    assert onset_quantile([run], 0.5) == 10
    assert onset_points([run]) == 1
    assert judged(label(), [finding("loss_spike", first_step=5)]).onset_error is None


def test_calibration_of_a_known_set_of_claims() -> None:
    # Two bins: said 0.95 and right half of the time, said 0.55 and right always.
    pairs = [(0.95, True), (0.95, False), (0.55, True), (0.55, True)]
    assert calibration_error(pairs) == pytest.approx(0.5 * 0.45 + 0.5 * 0.45)
    assert brier(pairs) == pytest.approx((0.05**2 + 0.95**2 + 2 * 0.45**2) / 4)
    assert calibration_error([(1.0, True)]) == 0.0


def test_claims_are_alarms_and_the_best_cause() -> None:
    run = judged(
        label(), [finding("loss_spike", 0.9), finding("plateau", 0.7)], ["lr_schedule", "x"]
    )
    assert claims([run]) == [(0.9, True), (0.7, False), (0.6, True)]
    run.truth.also = ["plateau"]
    assert claims([run])[1] == (0.7, True)


def test_confidence_is_held_against_what_was_done_not_against_what_is_acceptable() -> None:
    run = judged(label(), [], ["lr_too_high"])
    assert cause_share([run], 1) == 1.0
    assert claims([run]) == [(0.6, False)]
    assert claims([run], lenient=True) == [(0.6, True)]


def test_what_a_ceiling_forbids_to_say_is_no_error() -> None:
    runs = [judged(label(), [finding("loss_spike", 0.85, ceiling=0.85)]) for _ in range(4)]
    assert calibration_error(claims(runs)) == pytest.approx(0.15)
    assert error_within_ceilings(runs) == pytest.approx(0.0)
    doubtful = [judged(label(), [finding("loss_spike", 0.55, ceiling=0.85)]) for _ in range(4)]
    assert error_within_ceilings(doubtful) == pytest.approx(0.3)


def test_a_sure_but_wrong_cause_of_what_cannot_be_seen_is_an_overclaim() -> None:
    hidden = label("leakage", "unobservable", causes=["data_leakage"])
    assert overclaim_share([judged(hidden, [], ["code_bug"])]) == 1.0
    assert overclaim_share([judged(hidden, [], ["data_leakage"])]) == 0.0
    assert overclaim_share([judged(hidden, [])]) == 0.0


def test_figures_carry_their_bars_and_intervals() -> None:
    runs = [judged(label(), [finding("loss_spike")], ["lr_schedule"]) for _ in range(4)]
    runs += [judged(label("plain", "healthy"), []) for _ in range(4)]
    by_name = {one.name: one for one in figures(runs, resamples=50)}
    recall = by_name["macro recall, observable faults"]
    assert (recall.value, recall.low, recall.high, recall.is_met) == (1.0, 1.0, 1.0, True)
    assert by_name["healthy runs alarmed"].is_met
    assert by_name["calibration error"].is_met is False
    assert by_name["onset error, median (steps)"].is_met is None


def test_reports_name_misses_false_alarms_and_truth() -> None:
    missed = judged(label(), [finding("plateau")], ["code_bug"])
    alarmed = judged(label("plain", "healthy"), [finding("overfitting")])
    shown = text([missed, alarmed], "dev", misses=True)
    assert "missed   r-lr_jump lr_jump (mlp, csv): said plateau 0.80; causes code_bug" in shown
    assert "overfitting" in shown
    assert "r-plain (plain)" in shown
    written = markdown([missed, alarmed], "test")
    assert "| lr_jump | 1 | 0.00 | 0.00 | 0.00 |" in written
    assert "missed   r-lr_jump" in written
    content = {"findings": [finding("loss_spike", first_step=7)], "root_causes": []}
    assert "+ warning  loss_spike 0.80 from 7" in explain(label(), content)


def test_a_failed_analyzer_is_announced_above_the_figures() -> None:
    content = {"findings": [], "root_causes": [], "broken": ["analyzer 'plateau' failed: boom"]}
    run = Judged.from_document(label(), content)
    shown = text([run, judged(label(), [])], "dev", misses=False)
    assert "ANALYZERS FAILED" in shown.splitlines()[1]
    assert "  1 runs: analyzer 'plateau' failed: boom" in shown
    assert "ANALYZERS FAILED" not in text([judged(label(), [])], "dev", misses=False)


def test_the_documentation_changes_between_its_markers_alone(tmp_path: Path) -> None:
    page = tmp_path / "accuracy.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    update_file(page, "new")
    assert page.read_text("utf-8") == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    fresh = tmp_path / "fresh.md"
    update_file(fresh, "new")
    assert fresh.read_text("utf-8").endswith(f"{BEGIN}\nnew\n{END}\n")


def test_labels_survive_the_disk(tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    truth = label(onset=3, effect=[5.0, 2.0])
    truth.write(tmp_path / "truth")
    assert read_truths(tmp_path) == [truth]
    assert read_truths(tmp_path, "test") == []
