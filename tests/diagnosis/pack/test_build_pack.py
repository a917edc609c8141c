"""What is in a pack, under which names, and in which order."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mltd.diagnosis.pack import PackConstraints, build_pack, tokens_of
from mltd.runs.schedulers.job import Job, JobState
from mltd.sessions.masking import Masker
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.run_ref import RunRef
from tests.sessions.made_sessions import AT, a_hypothesis, a_result, a_session, an_experiment

from .made_packs import SOURCE, TRACEBACK, diverging, material, packed, section


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(diverging("seed: 42", TRACEBACK))
    (tmp_path / "train.py").write_text(SOURCE)
    (tmp_path / "config.yaml").write_text("zebra: 1\noptimizer:\n  lr: 0.003\nseed: 42\n")
    return tmp_path


def test_the_first_line_says_what_it_is(log: Path) -> None:
    first = packed(log).text.split("\n")[0]
    assert first == "# Evidence pack: what mltd-tui knows about 1 training run, to be diagnosed"


def test_sections_come_in_the_order_of_what_they_tell(log: Path) -> None:
    titles = [one.title for one in packed(log).sections]
    assert titles == [
        "Task and constraints", "Runs and files", "Symptoms and causes considered", "Tracebacks",
        "Log excerpts", "Curves", "Configuration", "Environment and hardware", "What is missing",
    ]  # fmt: skip
    priorities = [one.priority for one in packed(log).sections]
    assert priorities == sorted(priorities)


def test_the_estimate_is_that_of_the_sections(log: Path) -> None:
    pack = packed(log)
    assert [one.tokens for one in pack.sections] == [tokens_of(one.text) for one in pack.sections]
    assert pack.tokens == sum(one.tokens for one in pack.sections)
    assert [tokens_of("x" * n) for n in (0, 1, 3, 4, 7, 8)] == [0, 1, 1, 2, 2, 3]


def test_the_limits_and_the_question_are_told(log: Path) -> None:
    limits = PackConstraints(seconds=300, tokens=50_000, task="is it the data?")
    made = material(log, constraints=limits)
    told = section(build_pack(made, masker=Masker()), "Task and constraints")
    assert "Time budget: 5 minutes; token budget: 50,000." in told
    assert '<data what="question">\nis it the data?\n</data>' in told


def test_findings_have_confidence_and_causes_what_speaks_against(log: Path) -> None:
    told = section(packed(log), "Symptoms and causes considered")
    assert "nan_loss [critical]" in told
    assert re.search(r"confidence 0\.\d\d \(observation\)", told)
    assert "  for: " in told
    assert "  against: " in told


def test_every_excerpt_stands_in_its_file_at_the_lines_it_names(log: Path) -> None:
    lines = (log / "train.log").read_text().split("\n")
    told = section(packed(log), "Log excerpts")
    blocks = re.findall(r'<data artifact="R1/train.log" lines="(\d+)-(\d+)">\n(.*?)\n</data>', told,
                        re.DOTALL)  # fmt: skip
    assert blocks
    for first, last, text in blocks:
        shown = [row.partition(": ") for row in text.split("\n")]
        assert [int(number) for number, _, _ in shown] == list(range(int(first), int(last) + 1))
        assert all(lines[int(number) - 1] == quote for number, _, quote in shown)
    assert any(int(first) <= 301 <= int(last) for first, last, _ in blocks)


def test_a_traceback_comes_with_its_source_lines(log: Path) -> None:
    told = section(packed(log), "Tracebacks")
    assert "ValueError: labels are out of range" in told
    assert "raise ValueError('labels are out of range')" in told
    assert '<data artifact="R1/train.py"' in told


def test_source_outside_of_the_run_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    elsewhere = tmp_path / "private.py"
    elsewhere.write_text("a_private_line = 1\n" * 5)
    text = TRACEBACK.replace('"train.py"', f'"{elsewhere}"')
    (tmp_path / "run" / "train.log").write_text(diverging(tail=text))
    assert "a_private_line" not in packed(tmp_path / "run").text


def test_curves_keep_extremes_and_the_steps_that_are_not_finite(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    text = diverging(steps=5000).replace("step 150 loss 1.7500", "step 150 loss 77.7500")
    path.write_text(text)
    told = section(packed(path), "Curves")
    assert "max 77.75 at step 150 (line 150)" in told
    assert "not finite at step 300..5000" in told
    assert "299 | 1.005 | 299" in told, "single points around the onset"
    assert told.count("\n") < 400


def test_settings_that_matter_come_first(log: Path) -> None:
    told = section(packed(log), "Configuration")
    assert told.index("optimizer.lr = 0.003") < told.index("seed = 42") < told.index("zebra = 1")


def test_the_job_is_quoted(log: Path) -> None:
    made = material(log)
    made.runs["R1"].job = Job(id="48213", state=JobState.TIMEOUT, name="train")
    told = section(build_pack(made, masker=Masker()), "Job")
    assert "job 48213 (train): TIMEOUT" in told


def test_hypotheses_and_experiments_so_far_are_told(log: Path) -> None:
    session = a_session(
        runs=(RunRef(id="R1", location=str(log), added=AT),),
        hypotheses=(a_hypothesis(statement="bad labels", status=HypothesisStatus.TESTING),),
        experiments=(an_experiment(result=a_result()),),
    )
    told = section(packed(log, session=session), "Hypotheses and experiments so far")
    assert "H1 [testing] bad labels" in told
    assert "E1 [planned] tests H1: lr 0.1 -> 0.03" in told
    assert "result (passed): val/loss 3.1 -> 2.2" in told


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1 loss 2\nstep 2 loss 1.9\nstep 3 loss 1.8\n")
    session = a_session(
        runs=tuple(RunRef(id=id_, location="/gone", name="old", added=AT) for id_ in ("R1", "R9"))
    )
    told = section(packed(path, session=session), "What is missing")
    assert "R1: no gradient norm is logged" in told
    assert "the session's run R9 (old) was not read" in told


def test_the_same_material_gives_the_same_pack(log: Path) -> None:
    assert packed(log).text == packed(log).text
    made = material(log)
    run = made.runs["R1"]
    first = build_pack(made, masker=Masker()).text
    run.config = dict(reversed(run.config.items()))
    turned = replace(made, diagnoses=dict(reversed(list(made.diagnoses.items()))))
    assert build_pack(turned, masker=Masker()).text == first


def test_a_second_run_gets_its_part_where_room_is_short(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_text(diverging(steps=3000))
    told = section(packed(log / "train.log", other, tokens=4000), "Curves")
    assert 'run="R1"' in told
    assert 'run="R2"' in told
