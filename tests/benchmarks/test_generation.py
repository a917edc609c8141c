"""A dozen small runs are really trained, labelled, written and scored."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the bench trains models; install the torch extra")

from benchmarks.faults import families, score
from benchmarks.faults.__main__ import main
from benchmarks.faults.dialects import DIALECTS
from benchmarks.faults.dialects import TEST_ONLY as TEST_DIALECTS
from benchmarks.faults.faults import FAULTS, Fault
from benchmarks.faults.faults.numerics import Overflow
from benchmarks.faults.gate import has_effect
from benchmarks.faults.healthy import TRAPS
from benchmarks.faults.plan import all_runs, small_slice, voice_of
from benchmarks.faults.recipe import Recipe
from benchmarks.faults.score import judge_all
from benchmarks.faults.scripts import SCRIPTS
from benchmarks.faults.scripts.crash import Crash
from benchmarks.faults.trace import Entry, Trace
from benchmarks.faults.training import train
from benchmarks.faults.truth import read_truths
from benchmarks.faults.voice import Voice, write_down


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    assert main(["generate", "--out", str(folder), "--slice", "small", "--jobs", "2"]) == 0
    return folder


def test_every_run_has_files_and_a_label_that_stays_outside(bench: Path) -> None:
    truths = read_truths(bench)
    assert {truth.run_id for truth in truths} == {one.run_id for one in small_slice()}
    for truth in truths:
        files = list((bench / "runs" / truth.run_id).iterdir())
        assert files
        for path in files:
            assert truth.kind not in path.name
            assert truth.kind not in path.read_text("utf-8")


def test_the_gate_keeps_real_faults_and_labels_hidden_ones(bench: Path) -> None:
    verdicts = {truth.kind: truth.verdict for truth in read_truths(bench)}
    expected = {
        "lr_jump": "fault",
        "nan_log_zero": "fault",
        "frozen_all": "fault",
        "overfitting": "fault",
        "stall": "fault",
        "index_out_of_range": "fault",
        "leakage": "unobservable",
        "plain": "healthy",
        "resumed_well": "healthy",
        "script_finishes": "healthy",
    }
    assert {kind: verdicts.get(kind) for kind in expected} == expected


def test_onsets_are_logged_steps_at_which_the_fault_shows(bench: Path) -> None:
    (truth,) = [one for one in read_truths(bench) if one.kind == "nan_log_zero"]
    (log,) = (bench / "runs" / truth.run_id).glob("metrics.csv")
    header, *rows = [line.split(",") for line in log.read_text("utf-8").splitlines()]
    loss = next(place for place, name in enumerate(header) if "loss" in name)
    bad = [int(row[0]) for row in rows if row[loss] == "nan"]
    assert truth.onset == bad[0]


def test_what_was_done_is_among_the_acceptable_causes() -> None:
    declared: list[Fault | Crash] = [*FAULTS.values(), *SCRIPTS.values()]
    for fault in declared:
        assert set(fault.named) <= set(fault.causes), fault.id
        assert bool(fault.named) == bool(fault.causes), fault.id


def test_overflows_that_come_and_go_begin_with_the_first_one() -> None:
    recipe = families.recipe_of("mlp", 4)
    hook = Overflow(recipe.steps // 3, 0.12)
    first = hook.first(recipe)
    before = range(hook.onset, first)
    assert hook.strikes(recipe.seed, first)
    assert not any(hook.strikes(recipe.seed, step) for step in before)


def test_finished_runs_are_not_made_again(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--out", str(bench), "--slice", "small"]) == 0
    assert capsys.readouterr().out == ""


def test_scoring_reads_every_run(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = judge_all(read_truths(bench), bench, jobs=1)
    assert [one.problem for one in judged if one.problem] == []
    assert {problem for one in judged for problem in one.broken} == set()
    assert [one.truth.dialect for one in judged if one.runs != 1] == []
    crash = next(one for one in judged if one.truth.kind == "index_out_of_range")
    assert crash.is_found
    capsys.readouterr()
    assert main(["score", "--data", str(bench), "--split", "all", "--jobs", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["runs"]) == len(judged)
    assert main(["score", "--data", str(bench), "--explain", crash.truth.run_id]) == 0
    assert "+ critical index_out_of_range" in capsys.readouterr().out


def test_freshly_trained_runs_are_diagnosed(bench: Path) -> None:
    judged = judge_all(read_truths(bench), bench, jobs=1)
    # This slice's silent log names no plan, so it may simply be over: that is information.
    faulty = [one for one in judged if one.truth.verdict == "fault" and one.truth.kind != "stall"]
    assert [one.truth.kind for one in faulty if not one.is_found] == []
    assert [one.truth.kind for one in faulty if not one.names_cause(3)] == []
    silent = [one for one in judged if one.truth.verdict in ("healthy", "inert")]
    assert [(one.truth.kind, one.findings) for one in silent if one.findings] == []


def test_figures_of_a_broken_program_are_not_published(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "accuracy.md"
    command = ["score", "--data", str(bench), "--split", "all", "--jobs", "1"]
    document = {"findings": [], "root_causes": [], "broken": ["analyzer 'plateau' failed: boom"]}
    monkeypatch.setattr(score, "read_document", lambda folder: (document, 1))
    assert main([*command, "--report", str(page)]) == 1
    assert not page.exists()
    document["broken"] = []
    assert main([*command, "--report", str(page)]) == 0
    assert "macro recall" in page.read_text("utf-8")


def test_the_plan_covers_classes_traps_and_keeps_the_splits_apart() -> None:
    runs = all_runs()
    assert len({one.run_id for one in runs}) == len(runs)
    counts = Counter(one.source for one in runs)
    assert len(FAULTS) + len(SCRIPTS) >= 60
    assert counts["fault"] >= 350
    assert counts["trap"] >= 120
    assert set(range(1, 23)) <= {trap.number for trap in TRAPS.values()}
    dev = [one for one in runs if one.split == "dev"]
    test = {(one.kind, one.family, one.seed) for one in runs if one.split == "test"}
    assert {one.family for one in dev}.isdisjoint(families.TEST_ONLY)
    assert {(one.kind, one.family, one.seed) for one in dev}.isdisjoint(test)
    for one in dev:
        if one.source == "fault":
            recipe = families.recipe_of(one.family, one.seed)
            voice = voice_of(one, recipe, FAULTS[one.kind].needs)
            assert voice.dialect not in TEST_DIALECTS
            assert FAULTS[one.kind].needs <= voice.signals


def test_a_training_is_repeatable() -> None:
    recipe = families.recipe_of("vae", 3)
    recipe.steps = 20
    first, second = train(recipe), train(recipe)
    assert first.series("loss") == second.series("loss")
    recipe.seed = 4
    assert train(recipe).series("loss") != first.series("loss")


def test_changed_expectations_reach_runs_that_are_already_made(bench: Path) -> None:
    (truth,) = [one for one in read_truths(bench) if one.kind == "stall"]
    wanted = list(truth.findings)
    truth.findings = ["outdated"]
    truth.write(bench / "truth")
    assert main(["generate", "--out", str(bench), "--slice", "small"]) == 0
    (truth,) = [one for one in read_truths(bench) if one.kind == "stall"]
    assert truth.findings == wanted == ["stall"]


def noisy(seed: int, jump: float = 0.0) -> Trace:
    trace = Trace(80, 80)
    for step in range(80):
        value = 2.0 - step / 80 + 0.05 * math.sin(step * (seed + 2) * 1.7)
        trace.entries.append(Entry("train", step, {"loss": value + (jump if step == 50 else 0.0)}))
    return trace


def test_the_gate_sees_a_spike_and_ignores_what_healthy_seeds_do() -> None:
    voice = Voice("csv", frozenset({"loss"}))
    healthy = [noisy(seed) for seed in range(5)]
    assert has_effect(noisy(0, jump=5.0), healthy[0], healthy, voice)[0]
    assert has_effect(noisy(0, jump=math.nan), healthy[0], healthy, voice)[0]
    assert not has_effect(noisy(7), healthy[0], healthy, voice)[0]
    # What is not logged cannot be seen.
    assert not has_effect(noisy(0, 5.0), healthy[0], healthy, Voice("csv", frozenset({"lr"})))[0]


def test_a_voice_logs_at_its_interval_and_averages_if_it_says_so() -> None:
    trace = Trace(6, 6)
    for step in range(6):
        trace.entries.append(Entry("train", step, {"loss": float(step), "lr": 0.1}))
    last = write_down(trace, Voice("csv", frozenset({"loss"}), interval=3, base=1))
    assert [(one.step, one.values) for one in last] == [(3, {"loss": 2.0}), (6, {"loss": 5.0})]
    mean = write_down(trace, Voice("csv", frozenset({"loss"}), interval=3, base=1, is_mean=True))
    assert [one.values["loss"] for one in mean] == [1.0, 4.0]


def test_schedules_warm_up_decay_and_restart() -> None:
    recipe = Recipe("mlp", 0, 100, 8, 1.0, warmup=10, schedule="cosine")
    assert recipe.lr_at(0) == pytest.approx(0.1)
    assert recipe.lr_at(10) == pytest.approx(1.0)
    assert recipe.lr_at(99) < 0.05
    cyclic = Recipe("mlp", 0, 100, 8, 1.0, schedule="cycles")
    peaks = [step for step in range(1, 99) if cyclic.lr_at(step) > 5 * cyclic.lr_at(step - 1)]
    assert peaks == [25, 50, 75]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_each_dialect_is_readable_by_our_own_formats(dialect: str, tmp_path: Path) -> None:
    from benchmarks.faults.recipe import config_of
    from benchmarks.faults.voice import Log
    from mltd.runs.discovery import discover
    from mltd.runs.ingest import load

    recipe = families.recipe_of("mlp", 0)
    recipe.steps = 80
    is_epochs = dialect == "epochs"
    voice = Voice(dialect, frozenset({"loss", "lr"}), interval=2, base=1, per_epoch=is_epochs)
    trace = noisy(0)
    trace.steps_per_epoch = 4 if is_epochs else 20
    entries = write_down(trace, voice)
    log = Log("rtest", voice, recipe, config_of(recipe), entries, trace.steps_per_epoch, 80)
    for name, content in DIALECTS[dialect](log).items():
        (tmp_path / name).write_text(content, "utf-8")
    (files,) = discover(str(tmp_path))
    run = load(files).run
    losses = [series for series in run.series if series.role == "train/loss"]
    # A redrawn bar may also be read as one value per epoch.
    assert max(len(series) for series in losses) == (20 if is_epochs else 40)
