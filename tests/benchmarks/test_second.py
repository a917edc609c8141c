"""The second bench: a few runs of it are really trained, labelled, written and scored."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the bench trains models; install the torch extra")

from benchmarks.faults.score import judge_all
from benchmarks.faults.truth import read_truths
from benchmarks.second.__main__ import main
from benchmarks.second.crashes import Crash
from benchmarks.second.generate import Run, all_runs, generate, kind_of
from benchmarks.second.job import Job, Row
from benchmarks.second.plan import Kind, trained_runs
from benchmarks.second.shows import loss_jumps, reward_is_lost, validation_turns
from benchmarks.second.styles import STYLES
from mltd.analyzers.core.registry import registry

QUICK = {
    ("embedding_collapse", "csv"): "fault",
    ("growing_memory", "csv"): "fault",
    ("slow_rank", "slurm"): "fault",
    ("ends_preempted", "slurm"): "fault",
    ("crash_of_a_label", "dict"): "fault",
    ("leakage", "epochs"): "unobservable",
    ("several_losses", "csv"): "healthy",
    ("only_a_loss", "loguru"): "healthy",
}
"""Kinds and styles of runs that take a second or two each, and their verdicts."""


def style_of(run: Run) -> str:
    return run.line if isinstance(run, Crash) else run.style


def quick_runs() -> list[Run]:
    found = [one for one in all_runs() if (kind_of(one), style_of(one)) in QUICK]
    return [one for one in found if one.family in ("moe", "triplet", "lstm")]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("second")
    assert generate(quick_runs(), folder) == []
    return folder


def test_every_run_has_files_that_do_not_tell_its_label(bench: Path) -> None:
    truths = read_truths(bench, "second")
    assert {truth.run_id for truth in truths} == {one.run_id for one in quick_runs()}
    for truth in truths:
        files = list((bench / "runs" / truth.run_id).iterdir())
        assert files
        assert truth.kind not in truth.run_id
        for path in files:
            assert truth.kind not in path.name
            assert truth.kind not in path.read_text("utf-8")


def test_the_labels_say_what_was_done(bench: Path) -> None:
    verdicts = {(one.kind, one.dialect): one.verdict for one in read_truths(bench)}
    assert verdicts == QUICK
    (slow,) = [one for one in read_truths(bench) if one.kind == "slow_rank"]
    assert (slow.onset, slow.interval) == (125, 5)


def test_the_scorer_reads_every_run(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = judge_all(read_truths(bench), bench, jobs=1)
    assert [one.problem for one in judged if one.problem] == []
    assert {problem for one in judged for problem in one.broken} == set()
    assert [one.truth.dialect for one in judged if one.runs != 1] == []
    assert main(["score", "--data", str(bench), "--jobs", "1", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == len(judged)


def test_finished_runs_are_not_made_again(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(quick_runs(), bench) == []
    assert capsys.readouterr().out == ""


def test_changed_answers_reach_runs_that_are_already_made(bench: Path) -> None:
    before = read_truths(bench)
    for truth in before:
        replace(truth, findings=["outdated"], done=["outdated"]).write(bench / "truth")
    assert generate(quick_runs(), bench) == []
    assert read_truths(bench) == before


def test_a_job_that_may_still_run_was_last_heard_of_when_its_label_says() -> None:
    live = [one for one in trained_runs(5000) if one.is_live]
    assert {one.kind.id for one in live} == {"job_hangs", "still_running"}
    for one in live:
        silent = (datetime.now(UTC) - one.start(100.0)).total_seconds() - 100.0
        assert silent == pytest.approx(one.silent_seconds, abs=5.0)


def test_only_known_arguments_are_taken(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["generate", "--out", str(tmp_path), "--misses"])


def test_all_answers_are_known_to_the_contract() -> None:
    findings, causes = set(registry().analyzers), set(registry().causes)
    for run in all_runs():
        kind = run if isinstance(run, Crash) else run.kind
        also = kind.if_loss_jumps if isinstance(kind, Kind) else ()
        assert {*kind.findings, *kind.also, *also} <= findings, kind.id
        assert set(kind.causes) <= causes, kind.id
        assert set(kind.done) <= set(kind.causes), kind.id


def test_the_plan_has_every_style_and_names_that_tell_nothing() -> None:
    runs = all_runs()
    assert len({one.run_id for one in runs}) == len(runs)
    assert {one.run_id for one in runs}.isdisjoint(one.run_id for one in all_runs(7000))
    trained = [one for one in runs if not isinstance(one, Crash)]
    assert {one.style for one in trained} == set(STYLES)
    for one in trained:
        is_fault = one.kind.verdict == "fault"
        for answers in (one.kind.findings, one.kind.causes, one.kind.named):
            assert bool(answers) == (one.kind.verdict != "healthy"), one.kind.id
        if is_fault and one.kind.is_gated:
            assert one.job.fault or one.twin, f"{one.kind.id} has no clean twin"


def rows_of(name: str, values: list[float]) -> list[Row]:
    return [Row("train", step, float(step), {name: value}) for step, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "is_lost"), [([20.0] * 20, True), (list(range(20, 200, 9)), False)]
)
def test_a_policy_that_keeps_its_reward_has_not_collapsed(
    values: list[float], is_lost: bool
) -> None:
    clean = rows_of("ep_rew_mean", list(range(20, 200, 9)))
    assert reward_is_lost(rows_of("ep_rew_mean", values), clean) is is_lost


def test_a_fit_has_turned_only_if_it_ends_above_its_best() -> None:
    falling = [2.0 - 0.1 * place for place in range(10)]
    assert not validation_turns(rows_of("val_loss", falling), [])
    assert validation_turns(rows_of("val_loss", [*falling, 1.3, 1.4, 1.5]), [])


def test_a_loss_jumps_only_beyond_what_it_did_before() -> None:
    before = [1.0 + 0.05 * (place % 3) for place in range(30)]
    assert loss_jumps(rows_of("loss", [*before, 1.9, 1.8, 1.7, 1.6, 1.5]), 30)
    assert not loss_jumps(rows_of("loss", [*before, *before[:5]]), 30)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [("cosine", 0.05), ("linear", 0.0), ("step", 0.2**3), ("constant", 1.0)],
)
def test_schedules_warm_up_and_end_where_they_should(schedule: str, expected: float) -> None:
    job = Job("lm", steps=100, lr=1.0, warmup=10, schedule=schedule)
    assert job.lr_at(5) == pytest.approx(0.5)
    assert job.lr_at(100) == pytest.approx(expected, abs=1e-9)
