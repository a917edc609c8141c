"""Forms of a session: what they ask, what they refuse, and the actions they become."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis
from mltd.sessions.model.checklist import CHECKS, MarkState
from mltd.sessions.model.confidence import Confidence, ConfidenceChange
from mltd.sessions.model.constraints import Fact, Topic
from mltd.sessions.model.criterion import parse_criteria
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import Experiment, ExperimentStatus, Purpose, Variable
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus
from mltd.sessions.model.records import Decision, Note, Prevention, PreventionKind
from mltd.sessions.model.session import Session
from mltd.tui.forms.causes import catalogue_causes
from mltd.tui.forms.circumstances import fact_form, timeline_form, waive_form
from mltd.tui.forms.confidence import confidence_form
from mltd.tui.forms.evidence import evidence_form
from mltd.tui.forms.experiment import edit_experiment_form, plan_experiment_form
from mltd.tui.forms.field import Kind
from mltd.tui.forms.form import NEEDED, Form, problems_of
from mltd.tui.forms.hypothesis import edit_hypothesis_form, hypothesis_form, status_form
from mltd.tui.forms.records import decision_form, note_form, prevention_form
from mltd.tui.forms.report import ReportKind, ReportWish, look_at_target, report_form
from mltd.tui.forms.session import owner_form, rename_form, save_elsewhere_form

AT = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
HELD = Confidence(value=0.68, basis=Basis.INFERENCE)
BELIEF = Hypothesis(
    id="H1",
    statement="the rate is too high",
    cause="lr_too_high",
    confidence=HELD,
    created=AT,
    history=tuple(ConfidenceChange(at=AT, confidence=HELD, reason=f"reason {n}") for n in range(5)),
)
PLAN = Experiment(
    id="E1",
    hypothesis="H1",
    change="lr from 3e-3 to 1e-3",
    variable=Variable.OPTIMISER,
    command="python train.py \\\n  --lr 1e-3",
    success=parse_criteria("val/loss improves by 12.5%\ngrad_norm stays finite"),
    guards=parse_criteria("throughput regresses by less than 5%"),
    rollback="git revert",
    verify="look at val/loss",
    created=AT,
)
SESSION = Session(id="s", title="t", created=AT, hypotheses=(BELIEF,), experiments=(PLAN,))


def filled(form: Form[object], **answers: str) -> dict[str, str]:
    """The form as it begins, with these answers."""
    assert set(answers) <= {field.key for field in form.fields}
    return {field.key: field.first_value for field in form.fields} | answers


FORMS: dict[str, Callable[[], Form[object]]] = {
    "hypothesis": lambda: hypothesis_form("H2", AT, catalogue_causes()),
    "edit hypothesis": lambda: edit_hypothesis_form(BELIEF),
    "refute": lambda: status_form(BELIEF, HypothesisStatus.REFUTED),
    "reopen": lambda: status_form(BELIEF, HypothesisStatus.OPEN),
    "confidence": lambda: confidence_form(BELIEF, 0.05),
    "evidence": lambda: evidence_form("H1", runs=(("R1", "a"), ("R2", "b"))),
    "plan": lambda: plan_experiment_form(PLAN, BELIEF.statement),
    "experiment": lambda: edit_experiment_form(PLAN),
    "note": lambda: note_form("N1"),
    "decision": lambda: decision_form("D1"),
    "prevention": lambda: prevention_form("P1"),
    "fact": lambda: fact_form(Topic.DATA),
    "waive": lambda: waive_form(CHECKS[0]),
    "timeline": lambda: timeline_form(AT),
    "rename": lambda: rename_form("t"),
    "owner": lambda: owner_form("ann"),
    "elsewhere": lambda: save_elsewhere_form("/tmp"),
    "report": lambda: report_form("r.md", "/tmp"),
}


@pytest.mark.parametrize("name", FORMS)
def test_whatever_is_missing_is_said_beside_its_field(name: str) -> None:
    form = FORMS[name]()
    empty = filled(form, **{f.key: "" for f in form.fields if f.kind is not Kind.CHOICE})
    needed = {field.key for field in form.fields if field.is_required}
    problems = problems_of(form, empty)
    assert {key for key, said in problems.items() if said == NEEDED} >= needed - {"confidence"}
    assert needed <= set(problems)
    assert all(field.hinted(empty) for field in form.fields if field.key != "run")


@given(st.data())
@pytest.mark.parametrize("name", FORMS)
def test_no_answer_breaks_a_form(name: str, data: st.DataObject) -> None:
    form = FORMS[name]()
    answers = {
        field.key: data.draw(st.sampled_from([value for value, _ in field.choices]))
        if field.kind is Kind.CHOICE
        else data.draw(st.text(max_size=12))
        for field in form.fields
    }
    problems = problems_of(form, answers)
    assert set(problems) <= {"", *answers}
    assert all(problems.values())
    if not problems:
        form.read(answers)


def test_forms_need_no_numbers_library_and_the_screen_no_models() -> None:
    check = (
        "import sys, mltd.tui.screens.form, mltd.tui.screens.confirm, "
        "mltd.tui.screens.session_list\n"
        "assert not {'numpy', 'pydantic'} & set(sys.modules)\n"
        "import mltd.tui.forms.report, mltd.tui.forms.session, mltd.tui.forms.records\n"
        "import mltd.tui.forms.experiment, mltd.tui.forms.hypothesis\n"
        "import mltd.tui.forms.circumstances\n"
        "from mltd.tui.forms.causes import catalogue_causes\n"
        "assert 'lr_too_high' in catalogue_causes()\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


# -- hypotheses -------------------------------------------------------------------------------


def test_a_hypothesis_by_hand() -> None:
    form = hypothesis_form("H2", AT, ("lr_too_high",), run="R1")
    answers = filled(
        form, statement=" the  data is bad ", cause="bad_batch", confidence="60%",
        kind="log", ref="train.err:812", quote="bad shard",
    )  # fmt: skip
    new = form.read(answers).hypothesis
    assert (new.id, new.statement, new.cause, new.run) == (
        "H2",
        "the data is bad",
        "bad_batch",
        "R1",
    )
    assert new.confidence == Confidence(value=0.6, basis=Basis.INFERENCE)
    shown = EvidenceRef(kind=RefKind.LOG, ref="train.err:812", quote="bad shard", run="R1")
    assert new.evidence == (shown,)
    assert form.read(filled(form, statement="x")).hypothesis.evidence == ()


@pytest.mark.parametrize(
    ("answers", "key", "said"),
    [
        ({"confidence": "0.8"}, "confidence", "0.8 is more than inference can bear"),
        ({"confidence": "much"}, "confidence", "'much' is no number: say e.g. 0.6 or 60%"),
        ({"confidence": "7"}, "confidence", "7 is no confidence"),
        ({"kind": "log", "ref": "train.err"}, "ref", "say e.g. train.err:812"),
        ({"quote": "nan"}, "ref", "where does it stand?"),
        ({"basis": "observation"}, "ref", "an observation needs the place"),
    ],
)
def test_a_hypothesis_that_cannot_be_is_explained(
    answers: dict[str, str], key: str, said: str
) -> None:
    form = hypothesis_form("H2", AT)
    problems = problems_of(form, filled(form, statement="x", **answers))
    assert said in problems.pop(key)
    assert problems == {}


def test_all_that_is_wrong_is_said_at_once() -> None:
    form = hypothesis_form("H2", AT)
    problems = problems_of(form, filled(form, confidence="0.99", quote="x"))
    assert set(problems) == {"statement", "confidence", "ref"}


def test_the_rules_of_the_session_are_asked_too() -> None:
    form = hypothesis_form("H2", AT)
    answers = filled(form, statement="The rate is TOO high")
    assert problems_of(form, answers) == {}
    problems = problems_of(form, answers, lambda action: action.apply(SESSION, AT))
    assert problems == {"": "that is H1 already: the rate is too high"}


def test_the_ceiling_is_that_of_the_chosen_basis() -> None:
    confidence = next(f for f in hypothesis_form("H2", AT).fields if f.key == "confidence")
    assert confidence.hinted({"basis": "research"}) == "from 0 to 0.85, the ceiling of research"


def test_a_hypothesis_is_reworded() -> None:
    form = edit_hypothesis_form(BELIEF, catalogue_causes())
    action = form.read(filled(form, statement="it is too high"))
    changed = action.apply(SESSION, AT).hypotheses[0]
    assert (changed.statement, changed.cause) == ("it is too high", "lr_too_high")
    assert changed.history == BELIEF.history


def test_a_verdict_needs_a_reason_and_opening_again_does_not() -> None:
    form = status_form(BELIEF, HypothesisStatus.REFUTED)
    assert problems_of(form, filled(form)) == {"reason": NEEDED}
    action = form.read(filled(form, reason="no"))
    assert (action.id, action.status, action.reason) == ("H1", HypothesisStatus.REFUTED, "no")
    assert problems_of(status_form(BELIEF, HypothesisStatus.OPEN), {"reason": ""}) == {}


@pytest.mark.parametrize(("by", "value"), [(0.05, "0.70"), (-0.05, "0.63"), (-2.0, "0.00")])
def test_confidence_moves_within_its_ceiling(by: float, value: str) -> None:
    form = confidence_form(BELIEF, by)
    assert filled(form)["confidence"] == value
    assert [aside.rpartition("  ")[2] for aside in form.asides] == [
        "reason 4",
        "reason 3",
        "reason 2",
    ]
    assert problems_of(form, filled(form)) == {"reason": NEEDED}
    action = form.read(filled(form, reason="saw it", basis="observation", confidence=".9"))
    assert str(action.confidence) == "0.90 (observation, ceiling 0.95)"
    assert (action.id, action.reason) == ("H1", "saw it")


@pytest.mark.parametrize(
    ("kind", "good", "kept", "bad"),
    [
        ("series", "train/loss@24,590..25010", "train/loss@24,590..25010", "train/loss@late"),
        ("log", "train.err:812", "train.err:812", "train.err"),
        ("config", "config:optimizer.lr", "config:optimizer.lr", ""),
        ("checkpoint", "s.pt:blocks.0.weight", "s.pt:blocks.0.weight", "s.pt"),
        ("job", "48213", "job:48213", "the big one"),
        ("experiment", "e2", "E2", "2"),
    ],
)
def test_evidence_stands_somewhere(kind: str, good: str, kept: str, bad: str) -> None:
    form = evidence_form("H1", is_against=True, run="R1")
    action = form.read(filled(form, kind=kind, ref=good, quote="q"))
    assert (action.id, action.is_against) == ("H1", True)
    assert action.evidence == EvidenceRef(kind=RefKind(kind), ref=kept, quote="q", run="R1")
    assert set(problems_of(form, filled(form, kind=kind, ref=bad))) == {"ref"}
    place = next(field for field in form.fields if field.key == "ref")
    assert "e.g." in place.hinted({"kind": kind})


def test_evidence_says_which_of_several_runs_it_is_about() -> None:
    form = evidence_form("H1", run="R2", runs=(("R1", "before"), ("R2", "after")))
    assert form.read(filled(form, ref="loss")).evidence.run == "R2"
    assert form.read(filled(form, ref="loss", run="R1", side="against")).is_against


# -- experiments ------------------------------------------------------------------------------


def test_a_plan_begins_with_what_was_suggested() -> None:
    form = plan_experiment_form(PLAN, "because")
    assert form.note == "because"
    assert form.read(filled(form)).experiment == PLAN
    new = form.read(
        filled(form, change="bs 32", variable="data", purpose="reproduction",
               success="train/loss is below 2.5; val/loss improves", failure="x is above 3",
               guards="", expected_impact="less")
    ).experiment  # fmt: skip
    assert (new.change, new.variable, new.purpose) == (
        "bs 32",
        Variable.DATA,
        Purpose.REPRODUCTION,
    )
    assert list(map(str, new.success)) == ["train/loss is below 2.5", "val/loss improves by 10%"]
    assert (new.guards, new.verify, new.command) == ((), PLAN.verify, PLAN.command)


def test_every_line_that_is_no_criterion_is_named() -> None:
    form = plan_experiment_form(PLAN)
    problems = problems_of(
        form, filled(form, success="better\nval/loss improves by 10%\ngood", guards="hm")
    )
    assert problems["success"].startswith("'better' is no criterion; 'good' is no criterion; say")
    assert problems["guards"].startswith("'hm' is no criterion")
    assert set(problems) == {"success", "guards"}


def test_what_decides_an_experiment_is_locked_once_it_has_started() -> None:
    running = PLAN.model_copy(update={"status": ExperimentStatus.RUNNING})
    session = SESSION.model_copy(update={"experiments": (running,)})
    form = edit_experiment_form(running)
    locked = {field.key for field in form.fields if field.is_locked}
    assert locked == {"change", "purpose", "success", "failure", "guards"}
    assert "E1 is running" in form.note
    action = form.read(filled(form, rollback="lr back to 3e-3", success="anything"))
    changed = action.apply(session, AT).experiments[0]
    assert changed == running.model_copy(update={"rollback": "lr back to 3e-3"})
    assert not any(field.is_locked for field in edit_experiment_form(PLAN).fields)


# -- records and circumstances ----------------------------------------------------------------


def test_notes_and_decisions_are_written_and_removed() -> None:
    assert note_form("N1").read({"text": "a\nb "}).text == "a\nb"
    old = note_form("N9", Note(id="N1", at=AT, text="old"))
    assert filled(old) == {"text": "old"}
    assert problems_of(old, {"text": ""}) == {}
    assert old.read({"text": ""}).id == "N1"
    decided = decision_form("D1").read({"text": "stop", "because": "it burns"})
    assert (decided.id, decided.text, decided.because) == ("D1", "stop", "it burns")
    again = decision_form("D9", Decision(id="D1", at=AT, text="a\nb", because="c"))
    assert (again.fields[0].kind, filled(again)) == (Kind.TEXT, {"text": "a\nb", "because": "c"})


def test_prevention_has_a_kind_and_an_owner() -> None:
    form = prevention_form("P1", owner="ann")
    action = form.read(filled(form, text="alert", kind="test"))
    assert action.prevention == Prevention(
        id="P1", text="alert", kind=PreventionKind.TEST, owner="ann"
    )
    old = Prevention(id="P1", text="alert", owner="bob", is_done=True)
    form = prevention_form("P9", old, owner="ann")
    assert form.read(filled(form)).prevention == old


def test_a_fact_is_confirmed_changed_or_taken_back() -> None:
    seen = Fact(
        value="8x A100", source="log", evidence=(EvidenceRef(kind=RefKind.LOG, ref="a.log:3"),)
    )
    form = fact_form(Topic.HARDWARE, seen)
    assert form.note == "Read from the log, a.log:3: saving confirms it."
    assert form.fields[0].hint == Topic.HARDWARE.question
    assert form.read(filled(form)).fact == Fact(value="8x A100")
    assert form.read({"value": " "}).fact is None


def test_an_item_is_waived_for_a_reason() -> None:
    form = waive_form(CHECKS[2])
    action = form.read({"reason": "no config"})
    assert (action.item, action.state, action.reason) == (
        CHECKS[2].id,
        MarkState.WAIVED,
        "no config",
    )


def test_the_timeline_takes_moments_and_steps() -> None:
    form = timeline_form(AT)
    entry = form.read(filled(form, text="drained", step="step 24,590")).entry
    assert (entry.text, entry.at, entry.step) == ("drained", AT, 24590.0)
    clock = AT.astimezone().replace(hour=9, minute=30)
    assert form.read(filled(form, text="x", at="09:30")).entry.at == clock
    assert form.read(filled(form, text="x", at="2026-07-01T12:00:00Z")).entry.at == AT
    assert form.read(filled(form, text="x", at="")).entry.at is None
    problems = problems_of(form, filled(form, text="x", at="yesterday", step="late"))
    assert "'yesterday' is no moment" in problems["at"]
    assert problems["step"] == "'late' is no step: say e.g. 24,590"


# -- the session itself, and reports ------------------------------------------------------------


def test_a_session_is_renamed_and_owned() -> None:
    assert rename_form("old").read({"title": " new "}).title == "new"
    assert owner_form("ann").read({"owner": ""}).owner == ""


def test_a_folder_to_save_in_is_a_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    form = save_elsewhere_form("~/triage", "the disk is full")
    assert form.note == "the disk is full"
    assert form.read(filled(form)) == Path("/home/ann/triage")
    assert problems_of(form, {"folder": "triage"}) == {
        "folder": "give the whole path, beginning with / or ~"
    }


def test_a_report_goes_where_it_can_be_written(tmp_path: Path) -> None:
    form = report_form("r.md", str(tmp_path))
    wish = form.read(filled(form, kind="brief", redact="yes"))
    assert wish == ReportWish(tmp_path / "r.md", ReportKind.BRIEF, is_redacted=True)
    assert problems_of(form, filled(form), look_at_target) == {}
    (tmp_path / "r.md").write_text("old", encoding="utf-8")
    told = {
        answers: problems_of(form, filled(form, path=answers[0], overwrite=answers[1]),
                             look_at_target).get("path", "")
        for answers in (("r.md", "no"), ("r.md", "yes"), (".", "yes"), ("no/r.md", "no"))
    }  # fmt: skip
    assert [said.partition(":")[0] for said in told.values()] == [
        "there is such a file",
        "",
        f"{tmp_path} is a folder",
        f"there is no folder {tmp_path / 'no'}",
    ]
    assert (tmp_path / "r.md").read_text(encoding="utf-8") == "old"
