"""What a report makes of Claude's records: all of it told, as Claude's, whatever they hold."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mltd.analyzers.core.finding import Basis
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.hypothesis import Hypothesis
from mltd.sessions.model.records import DiagnosisRecord
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.report import Material, Options, RunMaterial, build

from .building import NOW
from .hostile import HOSTILE
from .opined import TOKEN, WHOLE, answered, checked, claudes, opinion, told

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def asked(*records: DiagnosisRecord, **more: Any) -> Session:
    runs = (RunRef(id="R1", location="/r/train.log", name="train.log", added=NOW),)
    return Session(id="s", title="t", created=NOW, runs=runs, diagnoses=records, **more)


def section(session: Session) -> str:
    text = build(session, Material(), Options()).markdown
    return text.partition("## Second opinion (Claude)\n")[2]


def root_cause_line(session: Session, *causes: dict[str, Any]) -> str:
    found = Material({"R1": RunMaterial(True, diagnosis={"root_causes": list(causes)})})
    return build(session, found, Options(brief=True)).markdown.splitlines()[1]


def test_a_report_on_a_session_that_never_asked_does_not_mention_claude() -> None:
    for options in (Options(), Options(brief=True), Options(as_json=True)):
        report = build(asked(), Material(), options)
        assert "laude" not in report.text
        assert "second_opinions" not in report.text


def test_all_that_was_said_asked_and_paid_is_told() -> None:
    text = section(opinion().session)
    for part in (
        "Its conclusions were not measured",
        "- **Model**: `claude-sonnet-4-5`, sent to `llm.proxy.example.org`",
        "- **Used**: 20,000 tokens in (and 9,000 cached), 1,500 out, cost unknown, 70.5 s",
        "confidence 0.70 (Claude said 0.90), by inference",
        "(confirmed; it is at line 415, not 9)",
        "- ~~`config:lr` `0.5`~~ ~~a high rate~~ (wrong: lr is 0.01)",
        "(not checked: no such run)",
        "- the seed is new",
        "**Careful: this deletes files (`rm -rf /home/mira/cache`).**",
        "- if it fails: shuffle by epoch",
        "- the order of the shards. a replay would show. log it",
        "- disagrees: `lr_too_high` the rate fell before step 400",
        "Claude looked 15 times into the artifacts:",
        "- and 3 more looks left out",
        "> Why not the rate?\\\n> It is high.",
        "> Because it fell.",
        "There was no answer: the service is overloaded (try later).",
        "Claude, until it was cut short (not checked):\n\n> The data",
        "It was cancelled before Claude had answered.",
    ):
        assert part in text, part


def test_a_question_is_no_diagnosis_of_its_own() -> None:
    text = build(opinion().session, Material(), Options()).markdown
    rows = text.partition("## Diagnoses received\n")[2].partition("##")[0]
    assert rows.count("second opinion (Claude)") == 2
    assert "replied" not in rows


def test_conversations_stand_in_the_order_of_time_each_with_its_questions() -> None:
    session = asked(
        claudes(40, "replied", **told(question="later?", text="yes")),
        claudes(30, "healthy", "R2", **told(text="fine")),
        claudes(10, "healthy", **told(text="well")),
    )
    text = section(session)
    places = [
        text.index(part) for part in ("> well", "#### Asked afterwards", "> later?", "> fine")
    ]
    assert places == sorted(places)


def test_a_question_whose_beginning_is_lost_is_still_told() -> None:
    text = section(asked(claudes(1, "replied", **told(question="and now?", text="wait"))))
    assert text.index("> and now?") < text.index("> wait")


def test_what_was_written_into_the_journal_by_hand_cannot_raise_a_confidence() -> None:
    cause = {"cause": {"issue": "x", "basis": "inference"}, "confidence": 40.0, "said": 1e300}
    session = asked(claudes(1, "", opinion={"causes": [cause]}, root_causes=[
        {"id": "a", "confidence": 40.0, "basis": "inference"}]))  # fmt: skip
    text = build(session, Material(), Options()).markdown
    assert "confidence 0.70 (Claude said 1.00), by inference" in text
    assert "| 0.70 (inference) |" in text


def test_long_texts_are_cut_and_the_note_says_by_how_much() -> None:
    long = "word " * 20_000
    text = section(asked(claudes(1, "replied", **told(question="why?", text=long))))
    assert "characters left out" in text
    assert len(text) < 8_000
    whole = {**WHOLE, "opinion": {"summary": long}, "causes": WHOLE["causes"] * 30}
    session = asked(claudes(1, "", **told(opinion=whole, text=long)))
    text = section(session)
    assert "and 52 more root causes left out" in text
    assert len(text) < 30_000
    (kept,) = json.loads(build(session, Material(), Options(as_json=True)).json)["second_opinions"]
    assert kept["text"].endswith("characters left out]")


def test_half_a_secret_at_the_cut_is_masked_as_a_whole_one() -> None:
    for pad in (5_985, 2_985, 1_485, 9_985):
        said = "x" * (pad - 1) + " " + TOKEN
        whole = {**WHOLE, "opinion": {"summary": said}}
        session = asked(claudes(1, "", **told(opinion=whole, text=said)))
        for options in (Options(), Options(as_json=True)):
            assert TOKEN[:8] not in build(session, Material(), options).text


@pytest.mark.parametrize(
    ("best", "said"),
    [
        ("lr_too_high", "disagrees; its best cause is the loader on gpu-17 replays shard 3"),
        ("replayed_data", "1 wrong, 1 could not be checked): agrees"),
        ("moon_phase", "holds it possible, but less likely than the loader"),
        ("bad_batch", "does not name it; its best cause is the loader"),
    ],
)
def test_the_short_form_says_whether_claude_agrees(best: str, said: str) -> None:
    cause = {"id": best, "issue": "it", "confidence": 0.6, "basis": "research"}
    line = root_cause_line(asked(answered()), cause)
    assert "second opinion (Claude, 3 of 5 citations confirmed" in line
    assert said in line


def test_the_short_form_says_that_claude_has_no_opinion() -> None:
    failed = claudes(1, "failed", **told(error={"message": "no key"}))
    assert root_cause_line(asked(failed)).endswith("Claude was asked and gave no opinion")
    assert "its best cause is" in root_cause_line(asked(answered(), failed))


def test_a_hypothesis_of_claudes_is_marked_wherever_it_is_believed() -> None:
    sure = Confidence(value=0.7, basis=Basis.INFERENCE)
    one = Hypothesis(id="H1", statement="a replay", confidence=sure, source="claude", created=NOW)
    session = asked(answered(), hypotheses=(one,))
    text = build(session, Material(), Options()).markdown
    assert "| a replay (Claude's) |" in text
    assert "Taken over from the second opinion of Claude" in text
    assert "- **Source**: second opinion (Claude)" in text
    assert "that H1, proposed by Claude, *a replay*" in text
    line = root_cause_line(session)
    assert "(unconfirmed, proposed by Claude; confidence 0.70" in line
    assert "this is Claude's own proposal" in line
    (cause,) = json.loads(build(session, Material(), Options(as_json=True)).json)["root_causes"]
    assert cause["source"] == "claude"


def test_programs_get_every_record_with_all_it_holds() -> None:
    content = json.loads(build(opinion().session, Material(), Options(as_json=True)).json)
    kept = content["second_opinions"]
    assert [one["status"] for one in kept] == [
        "needs_more_data", "replied", "failed", "cancelled",
    ]  # fmt: skip
    assert kept[0]["opinion"]["causes"][0]["evidence"][2]["verdict"] == "wrong"
    assert (kept[0]["run"], kept[0]["at"]) == ("R1", "2026-03-14T09:20:00+00:00")
    assert kept[2]["error"]["is_temporary"] is True


NAMES = sorted(
    {*told(), *WHOLE, *WHOLE["opinion"], *WHOLE["causes"][0], *WHOLE["causes"][0]["cause"],
     *WHOLE["recommended_fixes"][0]["fix"], *checked("", kind=""), "kind", "artifact", "path",
     "first_line", "last_line", "quote", "shows", "name", "key", "id", "ref", "what", "why",
     "stance", "reason", "match", "fix", "dangers", "message", "hint", "input", "cached",
     "output", "dollars", "seconds", "root_causes", "requests", "implementation", "destructive"}
)  # fmt: skip
WORDS = (
    *HOSTILE, TOKEN, f"key {TOKEN}", "confirmed", "wrong", "elsewhere", "log", "series", "config",
    "finding", "inference", "research", "agrees", "\ud800", "",
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([10**400, -(10**400)])
    | st.sampled_from(WORDS)
    | st.text(max_size=20)
)
ANY = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A whole body with some of it replaced by anything: the deeper parts are reached so."""
    body = told(opinion=WHOLE) if draw(st.booleans()) else {}

    def spoilt(value: Any) -> Any:
        if draw(st.integers(0, 11)) == 0:
            return draw(ANY)
        if isinstance(value, dict):
            return {key: spoilt(one) for key, one in value.items()}
        return [spoilt(one) for one in value] if isinstance(value, list) else value

    return {**spoilt_body(spoilt(body)), **draw(st.dictionaries(st.sampled_from(NAMES), ANY))}


def spoilt_body(body: Any) -> dict[str, Any]:
    return body if isinstance(body, dict) else {}


@settings(max_examples=max(20, settings().max_examples // 2), deadline=None)
@given(bodies(), st.sampled_from(["", "replied", "failed", "cancelled", "healthy"]))
@example({"opinion": {"causes": [{"evidence": [{"verdict": "wrong"}]}]}}, "")
@example({"usage": {"input": 10**400, "seconds": float("nan"), "dollars": -1}}, "failed")
@example({"opinion": [], "root_causes": [None, 7, {"evidence": [[]]}]}, "healthy")
def test_no_body_whatsoever_breaks_a_report_or_gets_through_it(
    body: dict[str, Any], status: str
) -> None:
    session = asked(claudes(1, status, **body), DiagnosisRecord(at=NOW, source="claude", body=body))
    for options in (Options(), Options(brief=True), Options(as_json=True), Options(redact=True)):
        report = build(session, Material(), options)
        assert TOKEN not in report.text
        assert TOKEN not in report.markdown
        kinds = {unicodedata.category(c) for c in report.text if c not in "\n\u200c\u200d"}
        assert not kinds & {"Cc", "Cs", "Cf"}
        if options.as_json:
            assert len(json.loads(report.json)["second_opinions"]) == 2
            continue
        tokens = PARSER.parse(report.markdown)
        inner = {child.type for token in tokens for child in (token.children or [token])}
        blocks = {token.type for token in tokens}
        assert not {"link_open", "image", "html_inline"} & inner
        assert not {"hr", "html_block", "code_block"} & blocks
