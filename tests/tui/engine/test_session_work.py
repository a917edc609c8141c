"""What the engine does for sessions: facts about runs, a name to find them by, reports."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from mltd.runs.discovery import explore
from mltd.sessions.facts.gathered import Gathered
from mltd.sessions.model.constraints import Topic
from mltd.sessions.model.criterion import parse_criteria
from mltd.sessions.model.run_ref import FilePrint, RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.prints import is_same_file
from mltd.tui.engine.curve_protocol import CompareRequest, Comparison
from mltd.tui.engine.protocol import (
    Diagnosed,
    Facts,
    FactsRequest,
    Open,
    Reported,
    ReportRequest,
    Trouble,
)
from mltd.tui.engine.session_work import location_of
from tests.sessions.made_sessions import AT, an_experiment
from tests.tui.app_scene import diverging, healthy, write_log
from tests.tui.engine.test_service import Desk, write_steps


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.watcher.close()


def facts_about(desk: Desk, *names: Path, run: int = 0) -> Facts:
    desk.inbox.wish(Open(tuple(map(str, names))))
    desk.until(lambda: desk.of(Diagnosed))
    desk.inbox.wish(FactsRequest(run))
    desk.until(lambda: desk.of(Facts))
    return desk.of(Facts)[-1]


def gathered(facts: Facts) -> Gathered:
    return Gathered.model_validate_json(facts.gathered)


def prints(facts: Facts) -> tuple[FilePrint, ...]:
    return TypeAdapter(tuple[FilePrint, ...]).validate_json(facts.prints)


# -- facts -------------------------------------------------------------------------------------


def test_facts_say_what_the_log_says_and_where_the_run_is(desk: Desk, tmp_path: Path) -> None:
    lines = ["torch 2.4.1", "GPU 0: NVIDIA A100-SXM4-80GB", "seed: 42", *diverging()]
    log = write_log(tmp_path / "train.log", lines)
    facts = facts_about(desk, log)
    assert facts.location == str(log)
    known = gathered(facts)
    assert "A100" in known.facts[Topic.HARDWARE].value
    assert known.facts[Topic.HARDWARE].source == "log"
    # The incident is what the diagnosis says it is.
    assert known.facts[Topic.INCIDENT_START].value.startswith("step 264")
    assert known.seen.lines == len(lines)
    (known_file,) = prints(facts)
    assert known_file.path == str(log)
    assert is_same_file(known_file, str(log))


def test_facts_are_about_the_whole_log_even_while_it_is_being_read(
    desk: Desk, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    with log.open("w") as file:
        for step in range(60_000):
            file.write(f"step {step} loss {3.0 + step % 7 / 10:.4f} {'padding ' * 8}\n")
    desk.inbox.wish(Open((str(log),)))
    desk.inbox.wish(FactsRequest(0))
    desk.until(lambda: desk.of(Facts))
    assert gathered(desk.of(Facts)[0]).seen.lines == 60_000


def test_a_run_that_nobody_knows_has_no_facts(desk: Desk, tmp_path: Path) -> None:
    write_steps(tmp_path / "train.log", 0, 30)
    desk.inbox.wish(Open((str(tmp_path / "train.log"),)))
    desk.inbox.wish(FactsRequest(7))
    desk.until(lambda: desk.of(Diagnosed))
    assert not desk.of(Facts)
    assert not desk.of(Trouble)


def test_a_name_that_is_no_text_is_told_in_a_way_that_can_be_written(
    desk: Desk, tmp_path: Path
) -> None:
    name = os.path.join(os.fsencode(tmp_path), b"caf\xe9.log")
    with open(name, "wb") as file:
        file.writelines(b"step %d loss 2.0\n" % step for step in range(40))
    facts = facts_about(desk, Path(os.fsdecode(name)))
    for text in (facts.location, facts.gathered, facts.prints):
        text.encode()
    assert not desk.of(Trouble)


# -- locations ---------------------------------------------------------------------------------


def test_a_run_with_one_log_is_known_by_it(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        write_steps(tmp_path / name, 0, 30)
    runs = explore(str(tmp_path)).runs
    found = {location_of(files) for files in runs}
    assert found == {str(tmp_path / "a.log"), str(tmp_path / "b.log")}


def test_a_run_of_several_files_that_is_alone_is_known_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    write_steps(folder / "job.out", 0, 30)
    (folder / "job.err").write_text("RuntimeError: boom\n")
    (files,) = explore(str(folder)).runs
    assert location_of(files) == str(folder)


@pytest.mark.parametrize("name", ["alone/job.out", "alone", "a.log"])
def test_a_location_leads_back_to_exactly_that_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "alone").mkdir()
    write_steps(tmp_path / "alone" / "job.out", 0, 30)
    (tmp_path / "alone" / "job.err").write_text("RuntimeError: boom\n")
    for other in ("a.log", "b.log"):
        write_steps(tmp_path / other, 0, 30)
    for files in explore(str(tmp_path / name)).runs:
        again = explore(location_of(files)).runs
        assert [one.root for one in again] == [files.root]
        assert location_of(again[0]) == location_of(files)


# -- reports -----------------------------------------------------------------------------------


def session_about(log: Path) -> Session:
    run = RunRef(id="R1", location=str(log), name=log.name, added=AT)
    return Session(id="s-1", title="loss rose", created=AT, runs=(run,))


def reported(desk: Desk, wish: ReportRequest) -> Reported:
    count = len(desk.of(Reported))
    desk.inbox.wish(wish)
    desk.until(lambda: len(desk.of(Reported)) > count)
    return desk.of(Reported)[-1]


def test_a_report_has_the_curves_of_the_runs_as_they_are_now(desk: Desk, tmp_path: Path) -> None:
    log = write_log(tmp_path / "train.log", diverging())
    facts_about(desk, log)
    target = tmp_path / "report.md"
    session = session_about(log).model_dump_json()
    told = reported(desk, ReportRequest(9, session, (("R1", 0),), str(target)))
    assert (told.ticket, told.path, told.problem) == (9, str(target), "")
    assert told.pictures
    assert all(Path(picture).is_file() for picture in told.pictures)
    text = target.read_text()
    assert text.startswith("# ")
    assert "nan_loss" in text
    assert all(Path(picture).name in text for picture in told.pictures)


def test_a_report_is_written_without_runs_that_are_gone(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    session = session_about(tmp_path / "gone.log").model_dump_json()
    told = reported(desk, ReportRequest(1, session, (("R1", 3),), str(target)))
    assert told.problem == ""
    assert "loss rose" in target.read_text()


def test_forms_of_a_report(desk: Desk, tmp_path: Path) -> None:
    log = write_log(tmp_path / "train.log", diverging())
    facts_about(desk, log)
    session = session_about(log).model_dump_json()
    brief, plain = tmp_path / "brief.md", tmp_path / "report.json"
    told = reported(desk, ReportRequest(1, session, (("R1", 0),), str(brief), form="brief"))
    assert told.pictures == ()
    assert len(brief.read_text()) < 5000
    reported(desk, ReportRequest(2, session, (("R1", 0),), str(plain), form="json"))
    assert json.loads(plain.read_text())["status"]


def test_paths_are_hidden_where_that_is_wished(desk: Desk, tmp_path: Path) -> None:
    log = write_log(tmp_path / "train.log", diverging())
    facts_about(desk, log)
    session = session_about(log).model_dump_json()
    open_one, hidden = tmp_path / "open.md", tmp_path / "hidden.md"
    reported(desk, ReportRequest(1, session, (("R1", 0),), str(open_one)))
    reported(desk, ReportRequest(2, session, (("R1", 0),), str(hidden), is_redacted=True))
    assert str(tmp_path) in open_one.read_text()
    assert str(tmp_path) not in hidden.read_text()


def test_nothing_is_overwritten_unless_that_is_wished(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.write_text("mine")
    session = session_about(tmp_path / "gone.log").model_dump_json()
    told = reported(desk, ReportRequest(1, session, (), str(target)))
    assert str(target) in told.problem
    assert target.read_text() == "mine"
    told = reported(desk, ReportRequest(2, session, (), str(target), may_overwrite=True))
    assert told.problem == ""
    assert target.read_text() != "mine"


def test_a_report_that_cannot_be_written_says_why(desk: Desk, tmp_path: Path) -> None:
    session = session_about(tmp_path / "gone.log").model_dump_json()
    told = reported(desk, ReportRequest(1, session, (), str(tmp_path / "no" / "report.md")))
    assert "no" in told.problem
    assert told.path == ""
    assert not desk.of(Trouble)


# -- verdicts ----------------------------------------------------------------------------------


def test_an_experiment_is_judged_by_its_own_criteria(desk: Desk, tmp_path: Path) -> None:
    before = write_log(tmp_path / "before.log", healthy(floor=0.9))
    after = write_log(tmp_path / "after.log", healthy(floor=0.3))
    facts_about(desk, before, after)
    for text, outcome in (("is below 2", "passed"), ("is below 0.1", "failed")):
        experiment = an_experiment(success=parse_criteria(f"train/loss {text}"))
        desk.inbox.wish(CompareRequest(5, 0, 1, experiment=experiment.model_dump_json()))
        count = len(desk.of(Comparison))
        desk.until(lambda count=count: len(desk.of(Comparison)) > count)  # type: ignore[misc]
        verdict = json.loads(desk.of(Comparison)[-1].verdict)
        assert verdict["outcome"] == outcome, verdict["summary"]
