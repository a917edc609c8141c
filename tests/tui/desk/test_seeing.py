"""What a desk sees by itself: runs, facts and diagnoses, each written down once."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.sessions.actions.checks import MarkCheck
from mltd.sessions.actions.records import SetFact
from mltd.sessions.facts.gathered import Gathered
from mltd.sessions.model.checklist import CHECKS, MarkState
from mltd.sessions.model.constraints import Fact, TimelineEntry, Topic
from mltd.sessions.model.run_ref import FilePrint, RunPart
from mltd.sessions.prints import print_of
from mltd.sessions.storage.store import SessionStore
from mltd.tui.desk.desk import Desk
from tests.sessions.made_sessions import some_seen
from tests.tui.verdicts import finding, verdict_of

SEEN = Gathered(
    facts={
        Topic.HARDWARE: Fact(value="8x A100", source="log"),
        Topic.INCIDENT_START: Fact(value="step 264: it rose from 1 to 9", source="series"),
    },
    timeline=(
        TimelineEntry(text="loss_spike: loss rose from 1 to 9 (9x)", step=264.0, source="series"),
        TimelineEntry(text="the run goes on (at step 300)", step=300.0, source="log"),
    ),
    seen=some_seen(),
)


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


def log(folder: Path, name: str = "train.log", text: str = "step 1 loss 2.0\n") -> Path:
    path = folder / name
    path.write_text(text * 20)
    return path


def met(desk: Desk, path: Path, part: RunPart = RunPart.INCIDENT) -> str:
    return desk.meet(str(path), path.name, (print_of(str(path)),), part).id


def ops(desk: Desk) -> list[str]:
    return [entry.action.op if entry.action else entry.kind for entry in desk.triage.entries]


# -- runs --------------------------------------------------------------------------------------


def test_a_run_is_taken_in_once(store: SessionStore, tmp_path: Path) -> None:
    desk, path = Desk(store), log(tmp_path)
    assert met(desk, path) == met(desk, path) == "R1"
    known = desk.run_of("another name", (FilePrint(path=str(path)),))
    assert known is not None
    assert (known.id, known.part) == ("R1", RunPart.INCIDENT)
    other = log(tmp_path, "other.log", "step 1 loss 3.0\n")
    assert met(desk, other, RunPart.EXPERIMENT) == "R2"
    assert [run.part for run in desk.session.runs] == [RunPart.INCIDENT, RunPart.EXPERIMENT]
    assert ops(desk) == ["add_run", "add_run"]


def test_a_run_whose_files_are_known_later_stays_the_same(
    store: SessionStore, tmp_path: Path
) -> None:
    desk, path = Desk(store), log(tmp_path)
    desk.meet(str(path), "train.log", ())
    assert met(desk, path, RunPart.EXPERIMENT) == "R1"
    (run,) = desk.session.runs
    assert run.files
    assert run.part is RunPart.INCIDENT


def test_a_log_that_was_moved_keeps_its_place_in_the_session(
    store: SessionStore, tmp_path: Path
) -> None:
    desk, path = Desk(store), log(tmp_path)
    met(desk, path)
    moved = path.rename(tmp_path / "moved.log")
    with moved.open("a") as file:
        file.write("step 2 loss 1.9\n")
    assert met(desk, moved) == "R1"
    assert [run.location for run in desk.session.runs] == [str(moved)]


def test_a_copy_of_a_log_is_another_run(store: SessionStore, tmp_path: Path) -> None:
    desk, path = Desk(store), log(tmp_path)
    met(desk, path)
    assert met(desk, log(tmp_path, "copy.log")) == "R2"


# -- what is seen ------------------------------------------------------------------------------


def test_only_the_run_of_the_incident_answers_questions(store: SessionStore) -> None:
    desk = Desk(store)
    first = desk.meet("/runs/a.log", "a.log", ())
    second = desk.meet("/runs/b.log", "b.log", (), RunPart.EXPERIMENT)
    desk.see(second, SEEN, verdict_of(finding()))
    assert desk.session.constraints.facts == {}
    assert desk.session.diagnosis_of("R2") is not None
    assert "logs" not in desk.session.marks
    desk.see(first, SEEN, None)
    assert desk.session.constraints.facts.keys() == {Topic.HARDWARE, Topic.INCIDENT_START}
    assert desk.session.marks["logs"].by == "app"


def test_an_answer_of_a_person_is_never_overruled(store: SessionStore) -> None:
    desk = Desk(store)
    run = desk.meet("/runs/a.log", "a.log", ())
    desk.see(run, SEEN, None)
    desk.do(SetFact(topic=Topic.HARDWARE, fact=Fact(value="one abacus")))
    desk.do(MarkCheck(item="seeds", state=MarkState.DONE))
    other = Fact(value="16x H100", source="log")
    desk.see(run, SEEN.model_copy(update={"facts": {Topic.HARDWARE: other}}), None)
    assert desk.session.constraints.facts[Topic.HARDWARE].value == "one abacus"
    assert desk.session.marks["seeds"].by == "person"
    desk.close()


def grown(by: float) -> Gathered:
    """The same run, some steps later."""
    return SEEN.model_copy(
        update={
            "facts": {
                **SEEN.facts,
                Topic.INCIDENT_START: Fact(
                    value=f"step 264: it rose from 1 to {9 + by}", source="series"
                ),
            },
            "timeline": (
                TimelineEntry(
                    text=f"loss_spike: loss rose from 1 to {9 + by:,} ({9 + by}x)",
                    step=264.0,
                    source="series",
                ),
                TimelineEntry(
                    text=f"the run goes on (at step {300 + by})", step=300.0 + by, source="log"
                ),
            ),
            "seen": some_seen(points=210 + int(by)),
        }
    )


def test_a_growing_log_is_no_news(store: SessionStore) -> None:
    desk = Desk(store)
    run = desk.meet("/runs/a.log", "a.log", ())
    for by in range(5):
        title = f"loss jumped to {9 + by}"
        desk.see(run, grown(by), verdict_of(finding(title=title, confidence=0.9 - by / 50)))
    assert ops(desk) == ["add_run", "prefill", "record_diagnosis", "observe_checks"]
    assert desk.gathered["R1"].seen.points == 214


@pytest.mark.parametrize(
    ("change", "op"),
    [
        ({"facts": {Topic.HARDWARE: Fact(value="7x A100", source="log")}}, "prefill"),
        (
            {"facts": {**SEEN.facts, Topic.INCIDENT_START: Fact(value="step 9: x", source="log")}},
            "prefill",
        ),
        ({"timeline": (TimelineEntry(text="the log ends: failed", source="log"),)}, "prefill"),
        ({"seen": some_seen(seeds=("seed = 4",))}, "observe_checks"),
    ],
)
def test_what_differs_is_written_down(
    store: SessionStore, change: dict[str, object], op: str
) -> None:
    desk = Desk(store)
    run = desk.meet("/runs/a.log", "a.log", ())
    desk.see(run, SEEN, None)
    count = len(ops(desk))
    desk.see(run, SEEN.model_copy(update=change), None)
    assert op in ops(desk)[count:]


def test_another_finding_is_another_diagnosis(store: SessionStore) -> None:
    desk = Desk(store)
    run = desk.meet("/runs/a.log", "a.log", ())
    for name in ("loss_spike", "nan_loss", "nan_loss"):
        desk.see(run, SEEN, verdict_of(finding(name)))
    assert ops(desk).count("record_diagnosis") == 2


def test_what_no_longer_holds_is_taken_back(store: SessionStore) -> None:
    desk = Desk(store)
    run = desk.meet("/runs/a.log", "a.log", ())
    desk.see(run, SEEN, None)
    assert desk.session.marks["hardware"].state is MarkState.DONE
    desk.do(SetFact(topic=Topic.HARDWARE, fact=None))
    desk.observe()
    mark = desk.session.marks.get("hardware")
    assert mark is None or mark.state is not MarkState.DONE
    desk.close()


def test_every_item_that_is_open_says_what_it_lacks(store: SessionStore) -> None:
    desk = Desk(store, "bad run")
    missing = desk.missing()
    assert missing.keys() == {check.id for check in CHECKS}
    assert all(missing.values())
    assert desk.suggested == CHECKS[0].id
    desk.see(desk.meet("/runs/a.log", "a.log", ()), SEEN, None)
    assert desk.missing()["logs"] == ""
    assert desk.suggested != CHECKS[0].id
