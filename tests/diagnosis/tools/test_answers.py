"""What each tool says when all is well."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.artifacts.searching import search
from mltd.diagnosis.tools import ToolBox
from mltd.runs.run import Run
from tests.analyzers.made import make_run

from ..artifacts.making import STEPS, TRACEBACK, run_in, safetensors, write
from .boxing import answer, box_for, box_of, refusal


def series_box(run: Run) -> ToolBox:
    return box_for({"run1": run})


def rows_of(text: str) -> list[str]:
    return text.partition(">\n")[2].partition("\n</data>")[0].split("\n")


def test_list_artifacts_tells_kind_size_and_lines_run_by_run(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"train.log": STEPS, "config.json": '{"lr": 1}'}
    runs = {name: run_in(tmp_path / name, files) for name in ("run1", "run2")}
    code = write(tmp_path / "code", {"a.py": "x\n"})
    box = box_for(runs, source_roots=[code])
    rows = rows_of(answer(box, "list_artifacts"))
    assert rows[0].startswith('run run1 "run1": 2 files, 1 series')
    assert rows[1] == "  run1/train.log  log, text, 1.9 kB, 100 lines"
    assert rows[2] == "  run1/config.json  config, 9 bytes"
    assert rows[-1] == "  code/a.py"
    alone = answer(box, "list_artifacts", run="run2")
    assert "run1/" not in alone
    assert box.call("list_artifacts", {"run": "run2"}).brief == "list the files of run2: 2 files"


def test_of_a_log_that_grows_all_tools_tell_the_same_number_of_lines(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", {"train.log": STEPS})
    box = box_for({"run1": run})
    with (tmp_path / "run/train.log").open("a") as file:
        file.write("step 100 loss 2.0\n" * 48)
    assert rows_of(answer(box, "list_artifacts"))[1].endswith(", 100 lines so far")
    assert "of 148 (the end" in answer(box, "read_lines", artifact="train.log", first=-1)
    assert rows_of(answer(box, "list_artifacts"))[1].endswith(", 148 lines")
    run.files[0].lines, run.files[0].bytes = 150, (tmp_path / "run/train.log").stat().st_size
    assert rows_of(answer(box, "list_artifacts"))[1].endswith(", 150 lines"), "the run is ahead"
    (tmp_path / "run/train.log").write_text("begun anew\n")
    run.files[0].lines, run.files[0].bytes = 1, 11
    assert rows_of(answer(box, "list_artifacts"))[1].endswith(", 1 line")


def test_read_lines_takes_numbers_ends_and_places(tmp_path: Path) -> None:
    box = box_of(tmp_path, {"train.log": STEPS + TRACEBACK})
    text = answer(box, "read_lines", artifact="run1/train.log", first=-1)
    assert rows_of(text) == ["104: ValueError: boom"]
    assert "run1/train.log, lines 104-104 of 104 (the end of the file)" in text
    assert len(rows_of(answer(box, "read_lines", artifact="train.log"))) == 60
    assert rows_of(answer(box, "read_lines", artifact="train.log:103"))[0] == "103:     main()"
    assert len(rows_of(answer(box, "read_lines", artifact="train.log:5-9"))) == 5
    result = box.call("read_lines", {"artifact": "train.log", "first": 2, "last": 3})
    assert result.brief == "read run1/train.log lines 2-3: 2 lines"


def test_grep_tells_the_count_and_how_to_go_on(tmp_path: Path) -> None:
    box = box_of(tmp_path, {"train.log": STEPS + TRACEBACK})
    result = box.call("grep", {"artifact": "train.log", "pattern": "loss", "most": 3})
    assert result.brief == 'grep "loss" in run1/train.log: 100 lines'
    assert "100 lines of run1/train.log match; the first 3 are here." in result.text
    assert "go on with first=4" in result.text
    beside = answer(box, "grep", artifact="train.log", pattern="boom", context=1)
    assert rows_of(beside) == ["103-     main()", "104: ValueError: boom"]
    none = answer(box, "grep", artifact="train.log", pattern="xyzzy")
    assert none == "0 lines of run1/train.log match."


def test_grep_does_not_claim_to_have_searched_what_it_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = box_of(tmp_path, {"train.log": STEPS})
    monkeypatch.setattr(
        "mltd.diagnosis.artifacts.book.search",
        lambda artifact, pattern, **more: search(artifact, pattern, **{**more, "seconds": 0.0}),
    )
    result = box.call("grep", {"artifact": "train.log", "pattern": "xyzzy"})
    assert result.brief.endswith("0 lines so far, not all was searched")
    assert "0 matching lines found in a part of run1/train.log" in result.text
    assert "the time for a search was over after line 0; go on with first=1" in result.text


def test_query_series_gives_exact_statistics_and_the_first_nan() -> None:
    values = [float(n) for n in range(1000)]
    values[500] = math.nan
    values[700] = math.inf
    values[300] = -50.0
    text = answer(series_box(make_run({"train/loss": values})), "query_series", name="train/loss")
    for told in (
        "1,000 points, step 0..999",
        "min -50 at step 300 (line 301), max 999 at step 999 (line 1000)",
        "first 0 at step 0 (line 1), last 999 at step 999 (line 1000)",
        "1 NaN, the first nan at step 500 (line 501)",
        "1 infinite, the first inf at step 700 (line 701)",
    ):
        assert told in rows_of(text)
    assert "300..324 | -50 |" in text
    assert "500..524 | 501 | 512.5 | 524 | 25 | 1 not finite" in text


@given(values=st.lists(st.floats(width=32), min_size=1, max_size=300), most=st.integers(2, 50))
def test_the_table_keeps_every_extreme(values: list[float], most: int) -> None:
    box = series_box(make_run({"train/loss": values}))
    text = answer(box, "query_series", name="train/loss", most_points=most)
    finite = [value for value in values if math.isfinite(value)]
    table = text.partition("step | ")[2].split("\n")[1:]
    cells = {cell.strip() for row in table for cell in row.split("|")[1:]}
    for extreme in [min(finite), max(finite)] if finite else []:
        assert any(_is(cell, extreme) for cell in cells)
    assert len([row for row in table if "|" in row]) <= most


def _is(cell: str, value: float) -> bool:
    try:
        return math.isclose(float(cell), value, rel_tol=1e-5, abs_tol=1e-300)
    except ValueError:
        return False


def test_query_series_shows_single_points_around_a_step_or_in_a_range() -> None:
    run = make_run(
        {"train/loss": [n / 3 for n in range(1000)]}, steps=[10 * n for n in range(1000)]
    )
    box = series_box(run)
    around = answer(box, "query_series", name="train/loss", around=5003, most_points=5)
    assert "5000 | 166.667 | 501" in rows_of(around)
    assert len([row for row in rows_of(around) if row.count("|") == 2]) == 6
    ranged = answer(box, "query_series", name="train/loss", first_step=100, last_step=120)
    assert "3 points, step 100..120" in ranged
    told = refusal(box, "query_series", name="train/loss", first_step=1e6)
    assert "no point in that range; it was logged at step 0..9990" in told


def test_query_series_finds_roles_and_lists_what_there_is() -> None:
    run = make_run({"loss": [3.0, 2.0, 1.0] * 5, "grad_norm": [1.0, 2.0] * 7 + [1.0]})
    box = series_box(run)
    assert "loss [train/loss] of run1" in answer(box, "query_series", name="train/loss")
    listed = answer(box, "query_series")
    assert "grad_norm [grad_norm]: 15 points, step 0..14, values 1 .. 1, from made.csv" in listed
    told = refusal(box, "query_series", name="grad norms")
    assert "run1 logs no 'grad norms'; the closest names: grad_norm" in told
    assert "loss [train/loss]" in told


def test_a_series_of_two_files_can_be_told_apart(tmp_path: Path) -> None:
    table = "step,loss\n" + "".join(f"{n},{n}\n" for n in range(50))
    box = box_of(tmp_path, {"train.log": STEPS, "metrics.csv": table})
    assert "also meant may be: loss" in answer(box, "query_series", name="loss")
    text = answer(box, "query_series", name="loss", artifact="run1/metrics.csv")
    assert "from metrics.csv" in text
    assert "50 points" in text


def test_read_config_takes_a_key_a_beginning_or_a_word(tmp_path: Path) -> None:
    config = {"optimizer": {"lr": 0.1, "betas": [0.9, 0.95]}, "warmup_steps": 10, "name": "a b"}
    box = box_of(tmp_path, {"train.log": STEPS, "config.json": json.dumps(config)})
    assert rows_of(answer(box, "read_config", key="optimizer.lr")) == ["optimizer.lr = 0.1"]
    assert rows_of(answer(box, "read_config", key="config:lr")) == ["optimizer.lr = 0.1"]
    assert len(rows_of(answer(box, "read_config", key="optimizer"))) == 2
    assert rows_of(answer(box, "read_config", key="Warmup")) == ["warmup_steps = 10"]
    assert "optimizer.betas = [0.9, 0.95]" in answer(box, "read_config")
    assert "the closest keys: optimizer.lr" in refusal(box, "read_config", key="optimizer.rl")
    assert box.call("read_config", {"key": "lr"}).brief == "settings lr of run1: 1 key"
    empty = box_for({"run1": make_run({"loss": [1.0]})})
    assert "no settings of run1 are known" in refusal(empty, "read_config")


def test_read_source_shows_the_lines_around_the_failure(tmp_path: Path) -> None:
    code = "".join(f"line_{n} = {n}\n" for n in range(1, 101))
    text = STEPS + TRACEBACK.replace("line 3", "line 50")
    box = box_of(tmp_path, {"train.log": text, "train.py": code})
    rows = rows_of(answer(box, "read_source", path="train.py:50"))
    assert rows[0] == "30: line_30 = 30"
    assert "50: line_50 = 50" in rows
    assert len(rows_of(answer(box, "read_source", path="run1/train.py", first=1, last=5))) == 5
    assert "is a log file; use read_lines" in refusal(box, "read_source", path="train.log")


def test_read_source_falls_back_on_what_the_run_has_kept(tmp_path: Path) -> None:
    code = write(tmp_path / "proj", {"train.py": "a = 1\nb = 2\nmain()\n"})
    text = STEPS + TRACEBACK.replace("train.py", f"{code}/train.py")
    box = box_of(tmp_path, {"train.log": text})
    told = answer(box, "read_source", path=f"{code}/train.py")
    assert "Only these lines" in told
    assert "main()" in told
    refused = refusal(box, "read_source", path="other.py")
    assert "only files that a traceback names" in refused


def test_checkpoint_summary_tells_modules_and_tensors(tmp_path: Path) -> None:
    shapes = {
        "model.embed.weight": (1000, 8),
        "model.layers.0.mlp.weight": (8, 8),
        "model.layers.1.mlp.weight": (8, 8),
        "model.head.weight": (8, 2),
    }
    box = box_of(tmp_path, {"train.log": STEPS, "model.safetensors": safetensors(shapes)})
    text = answer(box, "checkpoint_summary", artifact="model.safetensors")
    assert "4 tensors with 8,144 numbers" in text
    assert rows_of(text)[0] == "model.embed: 8,000 numbers (98.2%) in 1 tensor"
    below = answer(box, "checkpoint_summary", artifact="model.safetensors", module="model.layers.1")
    assert rows_of(below) == ["model.layers.1.mlp.weight: 8x8 f32, 64 numbers"]
    wrong = refusal(box, "checkpoint_summary", artifact="model.safetensors", module="model.lay")
    assert "has nothing below 'model.lay'; it has model.embed" in wrong
    write(tmp_path / "run", {"model.safetensors": b"broken"})
    told = refusal(box, "checkpoint_summary", artifact="model.safetensors")
    assert "model.safetensors is in no checkpoint format" in told


def test_compare_runs_tells_the_change_and_the_settings_that_differ() -> None:
    runs = {
        "run1": make_run(
            {"train/loss": [2.0 + n % 3 / 10 for n in range(200)]}, config={"lr": 0.1}
        ),
        "run2": make_run(
            {"train/loss": [1.0 + n % 3 / 10 for n in range(200)]}, config={"lr": 0.01, "clip": 1}
        ),
    }
    box = box_for(runs)
    text = answer(box, "compare_runs", before="run1", after="run2")
    assert "metric train/loss 2.095 -> 1.095 (-47" in text
    assert "setting lr: 0.1 -> 0.01" in text
    assert "setting clip: (not stated) -> 1" in text
    assert "cannot be compared with itself" in refusal(
        box, "compare_runs", before="run1", after="run1"
    )


def test_runs_that_are_too_large_to_compare_in_time_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mltd.diagnosis.tools import compare_runs

    monkeypatch.setattr(compare_runs, "MOST_POINTS", 10)
    runs = {name: make_run({"train/loss": [1.0] * 8}) for name in ("run1", "run2")}
    told = refusal(box_for(runs), "compare_runs", before="run1", after="run2")
    assert "16 points, too many to compare in the time of a call; use query_series" in told


def test_findings_come_with_evidence_under_the_names_of_the_tools(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"train.log": STEPS + TRACEBACK}
    box = box_for({name: run_in(tmp_path / name, files) for name in ("run1", "run2")})
    text = answer(box, "findings", run="run2")
    assert "finding exception [critical] ValueError: boom" in text
    assert "  log run2/train.log:104: ValueError: boom" in text
    assert "root cause code_bug" in text
    one = answer(box, "findings", run="run2", id="code_bug")
    assert "finding exception" not in one
    told = refusal(box, "findings", run="run2", id="nan_loss")
    assert "no 'nan_loss' for run2; there is exception" in told
