"""The report as a real Markdown parser sees it, whatever logs and people wrote."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mltd.sessions.model.constraints import Fact, TimelineEntry, Topic
from mltd.sessions.model.session import Session
from mltd.sessions.report import Material, Options, RunMaterial, build
from mltd.sessions.report.chart import Chart, Mark, Trace
from mltd.sessions.report.markdown import code, code_cell, escaped, fence, table
from mltd.sessions.report.material import Excerpt, ExcerptLine, ValueTable
from mltd.sessions.report.neutral import middle_cut, neutral

from .building import NOW
from .cases import CASES
from .divergence import divergence_diagnosis
from .hostile import HOSTILE, session_of

# Bare addresses become links on GitHub too, and may.
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HEADINGS = [
    "Error summary",
    "Incident summary and constraints",
    "Timeline",
    "Root causes",
    "Evidence",
    "Hypotheses and experiments",
    "Fixes",
    "Reproduction",
    "Validation checklist",
    "Prevention plan and owners",
    "Confidence statement",
    "Decisions and notes",
    "Diagnoses received",
]

any_text = st.text(max_size=60) | st.sampled_from(HOSTILE)
lines_of_text = st.lists(any_text, min_size=1, max_size=4).map("\n".join)


def spread(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from spread(token.children or [])


def shape(markdown: str) -> list[str]:
    """All that is structure, in its order: nothing of it may depend on what a text says."""
    plain = ("text", "softbreak", "hardbreak", "code_inline", "text_special", "inline")
    return [
        f"{token.type} {token.tag}"
        for token in spread(PARSER.parse(markdown))
        if token.type not in plain
    ]


def headings(markdown: str, level: str = "h2") -> list[str]:
    tokens = PARSER.parse(markdown)
    return [
        tokens[n + 1].content
        for n, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == level
    ]


@pytest.fixture(params=list(CASES))
def markdown(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.chdir(tmp_path)
    case = CASES[request.param]()
    return build(case.session, case.material, Options(folder="report-files")).markdown


def test_the_headings_stand_in_their_order(markdown: str) -> None:
    assert headings(markdown) in (HEADINGS, [*HEADINGS, "Second opinion (Claude)"])
    assert len(headings(markdown, "h1")) == 1


def test_every_table_parses_with_as_many_cells_as_its_head(markdown: str) -> None:
    tokens = PARSER.parse(markdown)
    rules = [line for line in markdown.splitlines() if line.startswith("| --")]
    tables = [n for n, token in enumerate(tokens) if token.type == "table_open"]
    assert len(tables) == len(rules)
    for start, rule in zip(tables, rules, strict=True):
        counts, cells = set(), 0
        for token in tokens[start:]:
            cells += token.type in ("th_open", "td_open")
            if token.type == "tr_close":
                counts.add(cells)
                cells = 0
            if token.type == "table_close":
                break
        assert counts == {rule.count("|") - 1}


def test_every_check_is_an_item_of_a_task_list(markdown: str) -> None:
    tokens = PARSER.parse(markdown)
    items = [
        tokens[n + 2].content for n, token in enumerate(tokens) if token.type == "list_item_open"
    ]
    assert sum(item.startswith(("[x] ", "[ ] ")) for item in items) == 22


def test_pictures_are_linked_relatively_and_have_a_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = CASES["divergence"]()
    report = build(case.session, case.material, Options(folder="my report-files"))
    images = [token for token in spread(PARSER.parse(report.markdown)) if token.type == "image"]
    assert [str(one.attrs["src"]).replace("%20", " ") for one in images] == list(report.pictures)
    assert all("over step 1 to 120" in one.content or "20 to 120" in one.content for one in images)


def test_without_a_folder_there_are_no_pictures_and_the_text_plots_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = CASES["divergence"]()
    report = build(case.session, case.material, Options())
    assert report.pictures == {}
    assert "](" not in report.markdown
    assert "└────" in report.markdown


def hostile_material(text: str) -> Material:
    trace = Trace(text, (((0.0, 1.0, 2.0), (1.0, 1.5, 2.5)),), (1.0,), 1, 1.0, 2.5)
    chart = Chart("c", text, "step", (trace,), (Mark(0.5, text, "critical"),))
    lines = tuple(ExcerptLine(n, line, n == 2) for n, line in enumerate(text.split("\n"), 1))
    return Material(
        {
            "R1": RunMaterial(
                available=True,
                state=text,
                charts=(chart,),
                excerpts=(Excerpt(text, lines, why=text),),
                values=ValueTable("step", (text,), ((1.0, (2.0,), text),)),
                settings=((text, text),),
                configs=(text,),
                problems=(text,),
                diagnosis={
                    "status": text,
                    "findings": [{"id": text, "title": text or "-", "severity": text}],
                    "root_causes": [{"id": "x", "issue": text or "-", "evidence": [
                        {"kind": "log", "ref": "a:1", "quote": text}]}],
                    "requests": [text or "-"],
                },
            ),
            "R2": RunMaterial(available=False, why_not=text),
        }
    )  # fmt: skip


@given(lines_of_text)
@example("```\n# out\n````")
@example("|\\|`|`")
@example("a\\|b|")
@example("1. x")
@example("\\")
@example("\x1b]8;;http://evil.example\x07click\x1b]8;;\x07")
def test_no_text_in_any_field_becomes_markup(text: str) -> None:
    got = build(session_of(text), hostile_material(text), Options())
    forbidden = ("hr", "html", "link", "image", "code_block")
    assert not any(one.startswith(forbidden) for one in shape(got.markdown))
    if neutral(text).strip():
        assert_same_structure(got.markdown, harmless())


@cache
def harmless() -> str:
    """The same report with nothing in it that could be markup."""
    return build(session_of("word"), hostile_material("word"), Options()).markdown


def assert_same_structure(got: str, wanted: str) -> None:
    """No text makes headings, fences, tables or strikes, nor breaks those that are there."""
    kinds = ("heading", "fence", "table", "th", "td", "s_")
    assert [one for one in shape(got) if one.startswith(kinds)] == [
        one for one in shape(wanted) if one.startswith(kinds)
    ]


@given(lines_of_text)
def test_five_lines_are_five_lines_whatever_they_say(text: str) -> None:
    got = build(session_of(text), hostile_material(text), Options(brief=True)).markdown
    assert [line.partition("**: ")[0] for line in got.splitlines()] == [
        "1. **Error summary",
        "2. **Root cause",
        "3. **Evidence",
        "4. **Fix",
        "5. **Prevention",
    ]
    assert got.count("\n") == 5
    items = [token for token in PARSER.parse(got) if token.type == "list_item_open"]
    assert len(items) == 5


@given(any_text)
def test_escaped_text_reads_as_it_was(text: str) -> None:
    line = " ".join(neutral(text).split())
    tokens = PARSER.parseInline(escaped(line))[0].children or []
    assert "".join(token.content for token in tokens) == line


@given(any_text)
def test_a_code_span_holds_the_whole_text(text: str) -> None:
    line = " ".join(neutral(text).split())
    if line:
        (span,) = PARSER.parseInline(code(line))[0].children or []
        assert (span.type, span.content) == ("code_inline", line)


@given(st.lists(any_text, min_size=1, max_size=5))
def test_a_fence_holds_all_its_lines(texts: list[str]) -> None:
    text = "\n".join(" ".join(neutral(one).split()) for one in texts)
    (token,) = PARSER.parse(fence(text))
    assert (token.type, token.content) == ("fence", text + "\n")


@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=4))
def test_a_table_has_its_cells_whatever_they_say(rows: list[tuple[str, str]]) -> None:
    cells = [
        (escaped(" ".join(neutral(a).split())), code_cell(" ".join(neutral(b).split())))
        for a, b in rows
    ]
    tokens = PARSER.parse(table(("one", "two"), cells))
    assert sum(token.type == "td_open" for token in tokens) == 2 * len(rows)


def test_control_codes_and_changes_of_direction_are_taken_out() -> None:
    assert neutral("a\x1b[31mred\x1b[0m\x00b\u202egnp.exe\u2066") == "ared·bgnp.exe"
    assert neutral("one\r\ntwo\tx\u2028y") == "one\ntwo    x y"
    assert neutral("a\udcff\ud800") == r"a\xff\ud800"


def test_long_tracebacks_are_cut_in_the_middle_with_a_note() -> None:
    lines = middle_cut([str(n) for n in range(100)], 10)
    assert len(lines) == 10
    assert lines[0] == "0"
    assert lines[-1] == "99"
    assert lines[5] == "[... 91 lines left out ...]"


def test_a_run_that_is_gone_is_said_to_be_gone_and_what_was_kept_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = CASES["divergence"]().session
    text = build(session, Material({}), Options()).markdown
    assert "could not be read: it was not read for this report" in text
    assert "`1.42 -> 2.63e+05`" in text
    assert headings(text) == [*HEADINGS, "Second opinion (Claude)"]


def test_an_unsure_cause_comes_with_what_would_decide() -> None:
    diagnosis = divergence_diagnosis()
    body = {"root_causes": [{"id": "a", "issue": "b", "confidence": 0.5, "basis": "inference"}],
            "requests": ["log grad_norm"], "status": diagnosis.status}  # fmt: skip
    session = session_of("word").model_copy(update={"hypotheses": (), "experiments": ()})
    material = Material({"R1": RunMaterial(True, diagnosis=body)})
    text = build(session, material, Options()).markdown
    assert "No root cause is confirmed. What follows is unconfirmed" in text
    assert "- log grad\\_norm" in text or "- log grad_norm" in text


def test_a_fact_says_who_gave_it() -> None:
    session = Session(id="s", title="t", created=NOW)
    facts = {
        Topic.SEEDS: Fact(value="42"),
        Topic.DATA: Fact(value="c4", source="config"),
    }
    timeline = (TimelineEntry(text="began", step=3.0),)
    constraints = session.constraints.model_copy(update={"facts": facts, "timeline": timeline})
    text = build(
        session.model_copy(update={"constraints": constraints}), Material(), Options()
    ).markdown
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "| seeds | 42 | person |" in rows
    assert "| data provenance | c4 | pre-filled from config |" in rows
    assert "| hardware | *not known* | – |" in rows
