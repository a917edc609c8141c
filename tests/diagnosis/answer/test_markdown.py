"""A checked opinion as Markdown: Claude named, wrong citations struck, nothing acts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.answer.markdown import markdown
from mltd.diagnosis.answer.wording import one_line
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import check, describe_opinion
from mltd.sessions.model.records import DiagnosisRecord
from mltd.sessions.model.session import Session
from mltd.sessions.report import Material, Options, build

from ..artifacts.making import STEPS, book_of
from .answers import answer, cause, fix, log, setting

READER = MarkdownIt("gfm-like", {"linkify": False})


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> ArtifactBook:
    folder: Path = tmp_path_factory.mktemp("session")
    return book_of(folder, {"train.log": STEPS, "config.yaml": "lr: 0.01\n"})


def written(book: ArtifactBook, *causes: Any, **more: Any) -> str:
    return markdown(check(parse_opinion(answer(*causes, **more)), book))


def test_everything_is_told_and_claude_is_named(book: ArtifactBook) -> None:
    text = written(
        book,
        cause(setting("lr", "0.01"), setting("lr", "0.5"), log("step 3 loss 2.970", 9)),
        cause(failure_mode="moon_phase", confidence=0.9, against=["the rate is low"]),
        quick_fixes=["resume from step 50"],
        recommended_fixes=[fix(example="rm -rf out")],
        needed_data=[{"what": "grad_norm", "why": "to tell them apart"}],
        agreement=[{"id": "loss_spike", "stance": "adds", "why": "more to it"}],
    )
    for part in (
        "Second opinion by Claude",
        "according to Claude",
        "2 of 3 citations confirmed, 1 wrong",
        "- `config:lr` `0.01` (confirmed)",
        "- ~~`config:lr` `0.5`~~ (wrong: lr is 0.01)",
        "(confirmed; it is at line 4, not 9)",
        "confidence 0.50 (Claude said 0.90)",
        "(not in the catalogue)",
        "- the rate is low",
        "**Careful: this deletes files (`rm -rf out`).**",
        "- grad_norm. to tell them apart",
        "adds: `loss_spike` more to it",
    ):
        assert part in text, part


def test_the_report_of_a_session_says_the_same(book: ArtifactBook) -> None:
    found = check(
        parse_opinion(
            answer(
                cause(setting("lr", "0.01"), setting("lr", "0.5"), against=["no", log("x y z", 3)]),
                quick_fixes=["rm -rf out"],
                recommended_fixes=[fix()],
                needed_data=[{"what": "grad_norm", "why": "to tell them apart"}],
                agreement=[{"id": "loss_spike", "stance": "adds", "why": "more to it"}],
            )
        ),
        book,
    )
    at = datetime(2026, 1, 2, tzinfo=UTC)
    body = describe_opinion(found)
    record = DiagnosisRecord(at=at, source="claude", status=found.status.value, body=body)
    session = Session(id="s", title="t", created=at, diagnoses=(record,))
    report = build(session, Material(), Options()).markdown
    told = markdown(found, level=3)
    assert report.endswith(told[told.index("**Status:**") :])
    assert f"**Citations:** {found.tally}" in report


def test_the_level_of_the_headings_can_be_chosen(book: ArtifactBook) -> None:
    found = check(parse_opinion(answer()), book)
    assert markdown(found, level=4, model="claude-x").startswith(
        "#### Second opinion by Claude (claude-x)\n"
    )


def test_a_secret_that_was_quoted_is_masked(book: ArtifactBook) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 12
    assert key not in written(book, cause(log(f"api_key={key} is used", 3)), summary=f"key {key}")


MARKS = (
    *("~~", "**", "`", "```", "\n", "# x", "<b>", "[a](http://x)", "|", "![i](u)", "> q", "- i"),
    *("1. n", "---", "&lt;", "\\", "\x1b[31m", "_", "<script>", "$x$", "end"),
)
HOSTILE = st.one_of(
    st.text(max_size=40), st.lists(st.sampled_from(MARKS), max_size=8).map(" ".join)
).filter(lambda text: bool(one_line(text, 100)))


@settings(max_examples=settings().max_examples // 2)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_that_was_said_becomes_markup(
    book: ArtifactBook, first: str, second: str, third: str
) -> None:
    text = written(
        book,
        cause(
            {**log(first, 3), "shows": second},
            {**log("step 3 loss", 4, name=first), "shows": third},
            issue=second,
            explanation=third,
            against=[first],
            failure_mode=third,
        ),
        summary=first,
        quick_fixes=[second],
        recommended_fixes=[fix(title=third, change=first, example=second)],
        needed_data=[{"what": third, "how": first}],
        agreement=[{"id": second, "stance": "agrees", "why": third}],
    )
    assert "\x1b" not in text
    inner = [child.type for token in READER.parse(text) for child in (token.children or [token])]
    blocks = [token.type for token in READER.parse(text)]
    for kind in ("link_open", "image", "html_inline", "html_block", "em_open", "blockquote_open"):
        assert kind not in inner, (kind, text)
    for kind in ("table_open", "hr", "html_block", "blockquote_open", "ordered_list_open"):
        assert kind not in blocks, (kind, text)
    struck = sum(kind == "s_open" for kind in inner)
    assert struck == sum(kind == "s_close" for kind in inner)
    assert struck <= 4
