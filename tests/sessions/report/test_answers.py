"""What a report may claim: no guess as a cause, no zone for a log's clock, no remark as a fact."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mltd.analyzers.core.finding import Basis
from mltd.analyzers.describing import describe_diagnosis
from mltd.sessions.actions.hypotheses import AddHypothesis, SetHypothesisStatus
from mltd.sessions.adopting import by_hand, from_cause
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.constraints import Constraints, Fact, TimelineEntry, Topic
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import Experiment, ExperimentStatus
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.report import Material, Options, RunMaterial, build
from mltd.sessions.report.neutral import cut_at_word
from mltd.sessions.report.pieces import pieces_about

from .building import NOW, triaged
from .divergence import divergence_diagnosis

HEALTHY: dict[str, object] = {"status": "healthy", "findings": [], "root_causes": [],
                              "requests": ["log grad_norm"]}  # fmt: skip


def believed(id: str, statement: str, value: float, **more: Any) -> Hypothesis:  # noqa: A002
    confidence = Confidence(value=value, basis=Basis.INFERENCE)
    return Hypothesis(id=id, statement=statement, confidence=confidence, created=NOW, **more)


def refuted(id: str = "H1", statement: str = "the rate is too high") -> Hypothesis:  # noqa: A002
    shown = EvidenceRef(kind=RefKind.EXPERIMENT, ref="E1", quote="no change")
    return believed(id, statement, 0.1, status=HypothesisStatus.REFUTED, against=(shown,))


def a_session(*hypotheses: Hypothesis, **more: Any) -> Session:
    tried = Experiment(id="E1", hypothesis="H1", change="lr 0.1 -> 0.03", created=NOW,
                       status=ExperimentStatus.FAILED)  # fmt: skip
    return Session(id="s", title="t", created=NOW, hypotheses=hypotheses,
                   experiments=(tried,), **more)  # fmt: skip


def brief_cause(session: Session) -> str:
    text = build(session, Material(), Options(brief=True)).markdown
    return text.splitlines()[1].removeprefix("2. **Root cause**: ")


def section(markdown: str, heading: str) -> str:
    return markdown.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def whole(session: Session, material: Material | None = None) -> str:
    return build(session, material or Material(), Options()).markdown


def test_after_a_refutation_the_rest_is_not_called_the_root_cause() -> None:
    session = a_session(refuted(), believed("H2", "a broken batch", 0.14))
    said = brief_cause(session)
    assert said == (
        "not known: H1 (the rate is too high) was refuted by E1; the best remaining is "
        "a broken batch (0.14, unconfirmed; basis inference, ceiling 0.70)"
    )
    text = whole(session)
    assert f"The root cause is {said}." in section(text, "Root causes")
    assert "The root cause is not known." in section(text, "Confidence statement")


def test_if_everything_is_refuted_that_is_the_answer() -> None:
    assert brief_cause(a_session(refuted())) == (
        "not known: H1 (the rate is too high) was refuted by E1; nothing else is open"
    )
    by_a_person = triaged("s", "t", [
        AddHypothesis(hypothesis=by_hand("H1", "the rate", NOW)),
        SetHypothesisStatus(id="H1", status=HypothesisStatus.REFUTED, reason="it was the old one"),
    ])  # fmt: skip
    assert brief_cause(by_a_person).startswith("not known: H1 (the rate) was refuted; nothing")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.49, "not known; best guess: a broken batch (0.49, unconfirmed; basis"),
        (0.50, "a broken batch (unconfirmed; confidence 0.50, basis inference, ceiling 0.70)"),
    ],
)
def test_below_one_half_it_is_a_guess(value: float, said: str) -> None:
    session = a_session(believed("H2", "a broken batch", value))
    assert brief_cause(session).startswith(said)
    is_guess = "The root cause is not known" in section(whole(session), "Root causes")
    assert is_guess is (value < 0.5)


def test_a_confirmed_cause_stays_the_cause_whatever_else_was_refuted() -> None:
    sure = believed("H2", "a broken batch", 0.6, status=HypothesisStatus.CONFIRMED)
    assert brief_cause(a_session(refuted(), sure)).startswith("a broken batch (confirmed; ")


def test_a_guess_is_not_backed_by_its_own_evidence_but_by_what_was_seen() -> None:
    ref = EvidenceRef(kind=RefKind.LOG, ref="train.log:9", quote="a rumour")
    session = a_session(believed("H2", "a rumour", 0.2, evidence=(ref,), run="R1"),
                        runs=(RunRef(id="R1", location="/r", added=NOW),))  # fmt: skip
    diagnosis: dict[str, object] = {"findings": [
        {"id": "nan_loss", "title": "loss is nan", "severity": "critical",
         "evidence": [{"kind": "series", "ref": "loss@9", "quote": "nan"}]}]}  # fmt: skip
    material = Material({"R1": RunMaterial(True, diagnosis=diagnosis)})
    text = build(session, material, Options(brief=True)).markdown
    assert text.splitlines()[2] == "3. **Evidence**: `loss@9`: `nan`"


def test_a_healthy_run_asks_for_nothing() -> None:
    session = Session(id="s", title="t", created=NOW,
                      runs=(RunRef(id="R1", location="/r", added=NOW),))  # fmt: skip
    text = whole(session, Material({"R1": RunMaterial(True, diagnosis=HEALTHY)}))
    assert "There is nothing to explain" in section(text, "Root causes")
    assert "What would decide" not in text
    assert "log grad" not in text
    assert "What would change our mind" not in text


def test_a_log_that_states_no_zone_is_given_none() -> None:
    entries = (
        TimelineEntry(text="began", at=NOW, source="log"),
        TimelineEntry(text="rose", at=NOW + timedelta(hours=1), source="series"),
    )
    told = TimelineEntry(text="somebody looked", at=NOW + timedelta(hours=2))
    text = section(whole(a_session(constraints=Constraints(timeline=entries))), "Timeline")
    assert "| 2026-03-14 09:00:00 |" in text
    assert "| 2026-03-14 10:00:00 |" in text
    assert "Times are the log's own" in text
    both = Constraints(timeline=(*entries, told))
    text = section(whole(a_session(constraints=both)), "Timeline")
    assert "| 2026-03-14 10:00:00  |" in text
    assert "| 2026-03-14 11:00:00Z |" in text
    assert "Times with Z are UTC; those without are the log's own" in text
    text = section(whole(a_session(constraints=Constraints(timeline=(told,)))), "Timeline")
    assert "Times" not in text


def test_what_is_only_around_the_answer_is_not_known() -> None:
    around = Fact(value="no target stated; val/loss was 2.1 at best", source="series",
                  is_complete=False)  # fmt: skip
    facts = {Topic.TARGETS: around, Topic.DATA: around.model_copy(update={"value": "a path"})}
    text = whole(a_session(constraints=Constraints(facts=facts)))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    said = "*not known* (no target stated; val/loss was 2.1 at best)"
    assert f"| metric targets | {said} | pre-filled from metric |" in rows
    assert "3. Data: *not known* (a path)." in rows


def test_the_error_summary_is_short_and_ends_with_a_word() -> None:
    session = Session(id="s", title="the loss rose and " * 30, created=NOW)
    for options in (Options(), Options(brief=True)):
        text = build(session, Material(), options).markdown
        line = next(line for line in text.splitlines() if "the loss rose" in line and "**" in line)
        said = line.removeprefix("1. **Error summary**: ").strip("*")
        assert 120 < len(said) <= 160
        assert said.endswith(("the…", "loss…", "rose…", "and…"))


def test_a_cut_is_made_between_words_where_there_are_any() -> None:
    assert cut_at_word("one two", 7) == "one two"
    assert cut_at_word("one two, three", 10) == "one two…"
    assert cut_at_word("the whole run failed at train.py:201", 28) == "the whole run failed…"
    assert cut_at_word("it failed (a very long story)", 20) == "it failed (a very…"
    assert cut_at_word("x" * 50, 10) == "x" * 9 + "…"


def test_a_proposal_of_the_analyzers_says_once_what_it_explains() -> None:
    cause = divergence_diagnosis().root_causes[0]
    text = section(whole(a_session(from_cause("H1", cause, NOW))), "Hypotheses and experiments")
    assert "by analyzers: explains exploding" in text
    assert "analyzers: analyzers" not in text
    assert "Explains" not in text


def test_the_order_of_the_findings_is_the_order_of_the_evidence() -> None:
    old = EvidenceRef(kind=RefKind.LOG, ref="train.log:3", quote="KeyError: 'x'")
    best = EvidenceRef(kind=RefKind.LOG, ref="train.log:50", quote="resumed")
    same = EvidenceRef(kind=RefKind.SERIES, ref="grad_norm@80..99")
    session = a_session(
        refuted().model_copy(update={"evidence": (old,)}),
        believed("H2", "less likely", 0.2, evidence=(best.model_copy(update={"ref": "a:1"}),)),
        believed("H3", "likely", 0.6, evidence=(best, same)),
        runs=(RunRef(id="R1", location="/r", added=NOW),),
        constraints=Constraints(timeline=(
            TimelineEntry(text="crashed", evidence=old.model_copy(update={"ref": "train.log:2"})),
        )),
    )  # fmt: skip
    pieces = pieces_about(session, "R1", describe_diagnosis(divergence_diagnosis()))
    assert [(piece.ref, piece.why) for piece in pieces] == [
        ("grad_norm@80..99", "exploding_gradients, H3"),
        ("loss@79..99", "exploding_gradients"),
        ("loss@99..100", "nan_loss"),
        ("train.log:107", "nan_loss"),
        ("config:lr", "lr_too_high"),
        ("train.log:50", "H3"),
        ("a:1", "H2"),
        ("train.log:3", "H1"),
        ("E1", "H1"),
        ("train.log:2", "timeline"),
    ]
