"""A conversation with Claude in rows: everything within the width, nothing but text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mltd.diagnosis.events import (
    Text,
    Thinking,
    ToolCalled,
    ToolDone,
)
from mltd.tui.ascii_filter import to_ascii
from mltd.tui.claude.budget import budget_line
from mltd.tui.claude.layout import MOST_COLUMNS, Layout
from mltd.tui.claude.point import Point
from mltd.tui.claude.talk import Talk
from mltd.tui.engine.consult_protocol import (
    Packed,
)
from mltd.tui.findings.blocks import Block
from mltd.tui.findings.spans import cells, text_of
from mltd.tui.palette import DEFAULTS

from .opinions import CLIP, DONE, EVENTS, LR, PAGE, WIPE, consulted, packed
from .test_diagnosis_talk import answered, asked

WIDTHS = (20, 34, 60, 76, 100, 120, 200)


def rows(blocks: list[Block]) -> list[str]:
    return [text_of(line) for block in blocks for line in block.lines]


def text(talk: Talk | None, width: int = 76, notice: str = "") -> str:
    return "\n".join(rows(Layout().blocks(talk, width, notice)))


def points(talk: Talk, layout: Layout | None = None) -> list[Point]:
    blocks = (layout or Layout()).blocks(talk, 76)
    return [block.target for block in blocks if isinstance(block.target, Point)]


def check(blocks: list[Block], width: int) -> None:
    """Every row fits and holds nothing that a terminal acts on."""
    keys = [block.key for block in blocks if block.target is not None]
    assert len(set(keys)) == len(keys)
    for block in blocks:
        for line in block.lines:
            assert cells(line) <= max(20, width), text_of(line)
            assert all(span.text.isprintable() for span in line), line
            assert all(not span.meaning or span.meaning in DEFAULTS for span in line)


def test_only_the_question_that_changed_is_laid_out_again() -> None:
    talk, layout = answered(), Layout()
    first = layout.blocks(talk, 76)
    talk.begin("why?")
    talk.take((Text("because"),))
    second = layout.blocks(talk, 76)
    talk.take((Text(" of it"),))
    third = layout.blocks(talk, 76)
    assert all(a is b is c for a, b, c in zip(first, second, third, strict=False))
    assert second[-1] is not third[-1]


# -- the answer --------------------------------------------------------------------------------


def test_an_opinion_answers_in_the_order_in_which_one_asks() -> None:
    said = text(answered(), 110)
    places = [
        said.index(part)
        for part in (
            "You  a second opinion on run1",
            "Claude: more data needed · 4 of 6 citations confirmed",
            "The run diverged at step 24,590",
            "Root causes according to Claude",
            "1 LR too high  ✖ critical",
            "Claude said 0.90: inference bears 0.70 at most",
            "The peak learning rate",
            "- before: loss 2.31",
            "explains loss divergence, gradient norm explosion",
            "against it",
            "2 corrupt batch (not in the catalogue)  ▲ warning",
            "Analyzers and Claude side by side",
            "Fixes according to Claude",
            "max_grad_norm 0 → 1.0",
            "│ torch.nn.utils",
            "expect grad_norm",
            "verify resume",
            "else   lower",
            "Claude would need",
            "why: tells one",
            "how: probe.watch",
            "Notes on this answer",
        )
    ]
    assert places == sorted(places)


def test_citations_are_told_apart_by_words_and_not_by_colour_alone() -> None:
    blocks = Layout().blocks(answered(), 110)
    found = {to_ascii(row).strip(): row for row in rows(blocks)}
    assert any(row.startswith("+ run1/train.log:812-815  step 24590") for row in found)
    assert any(row.startswith("x run1/train.log:799") for row in found)
    assert "wrong: line 799 says: step 24577 loss 2.31 grad_norm 3.1" in found
    assert "not checked: train.py is not part of this session" in found
    assert any(row.startswith("found elsewhere: it is called optimizer.lr") for row in found)
    struck = {
        span.text for b in blocks for line in b.lines for span in line if span.meaning == "struck"
    }
    assert struck >= {"run1/train.log:799", "gradient clipping disabled"}
    assert "run1/train.log:812-815" not in struck


def test_both_verdicts_stand_side_by_side_or_below_each_other() -> None:
    wide, narrow = text(answered(), 100), text(answered(), 60)
    assert " = agree          LR too high 0.78" in wide
    assert any(
        "≠ disagree" in row and "data order 0.41" in row and "corrupt batch 0.30" in row
        for row in wide.splitlines()
    )
    assert "only Claude" in wide
    assert "why: one batch, not all" in wide
    lines = [line.strip() for line in narrow.splitlines()]
    start = lines.index("≠ disagree")
    assert lines[start + 1 : start + 4] == [
        "analyzers data order 0.41",
        "Claude    corrupt batch 0.30",
        "why: one batch, not all",
    ]


def test_a_dangerous_fix_says_so_and_that_no_key_copies_it() -> None:
    said = text(answered())
    assert "▲ Careful: deletes files (rm -rf checkpoints/step-245*). y does not copy" in said
    assert "cannot be undone" in said


def test_one_points_at_causes_places_fixes_and_what_is_folded() -> None:
    found = points(answered())
    assert found[0].fold is not None
    assert [point.opined.id for point in found if point.opined and not point.cited] == [
        "lr_too_high",
        "corrupt_batch",
    ]
    cited = [point.cited for point in found if point.cited]
    assert cited == [one for one in LR.evidence if one.ref]
    assert [point.remedy for point in found if point.remedy] == [CLIP, WIPE]


def test_how_an_opinion_came_about_is_one_line_until_it_is_unfolded() -> None:
    talk, layout = answered(), Layout()
    folded = "\n".join(rows(layout.blocks(talk, 76)))
    assert "▸ thought for 8 lines, looked 3 times, said 2 lines (Enter unfolds)" in folded
    assert "read_lines" not in folded
    layout.fold(points(talk, layout)[0].fold)
    unfolded = "\n".join(rows(layout.blocks(talk, 76)))
    assert "looks  read_lines run1/train.log 780-830 → 51 lines" in unfolded
    assert "→ refused: not part of this session" in unfolded
    assert "12 s, then asks again: the service is overloaded (529)" in unfolded
    assert "▸ thought for 8 lines" in unfolded
    layout.fold(points(talk, layout)[1].fold)
    assert "gradients before?" in "\n".join(rows(layout.blocks(talk, 76)))
    layout.fold(points(talk, layout)[0].fold)
    assert "\n".join(rows(layout.blocks(talk, 76))) == folded


def test_of_thoughts_the_last_lines_are_seen_while_they_come() -> None:
    talk = asked()
    talk.take([Thinking(f"thought number {n}\n") for n in range(40)])
    said = text(talk)
    assert "thinks  for 40 lines so far" in said
    assert [n for n in range(40) if f"number {n}\n" in said + "\n"] == [37, 38, 39]
    talk.take((Text("So."),))
    assert "▸ thought for 40 lines (Enter unfolds)" in text(talk)
    assert "number 39" not in text(talk)


def test_a_look_is_one_row_however_long() -> None:
    talk = asked()
    talk.take((ToolCalled("1", "read_lines", "a " * 200), ToolDone("1", "b " * 200)))
    talk.take((ToolCalled("2", "grep", "nan"),))
    for width in WIDTHS:
        shown = [row for row in rows(Layout().blocks(talk, width)) if "looks" in row]
        assert len(shown) == 2
        assert "…" in shown[0]
    assert "looks  grep nan → …" in text(talk)
    talk.end(consulted(None, problem="gone"))
    assert "looks  grep nan → no answer came" in text(talk)


# -- other states ------------------------------------------------------------------------------


def test_before_anything_is_asked_it_says_what_this_is_and_that_nothing_is_sent() -> None:
    said = text(None)
    assert "A second opinion by Claude" in said
    assert "Nothing is sent before you have seen it and agreed." in said
    starts = [block for block in Layout().blocks(None, 76) if block.target is not None]
    assert [block.target for block in starts] == [Point(is_start=True)]


def test_where_it_cannot_be_used_it_says_why_and_offers_nothing() -> None:
    notice = "Claude is not installed here.\nInstall it with\n  pip install 'mltd-tui[claude]'"
    blocks = Layout().blocks(None, 76, notice)
    assert rows(blocks)[0] == "● Claude is not installed here."
    assert rows(blocks)[2] == "    pip install 'mltd-tui[claude]'"
    assert all(block.target is None for block in blocks)
    assert "Ask anew" not in text(_failed(), notice="Claude is switched off: --no-claude")


def test_evidence_on_its_way_says_that_nothing_is_sent() -> None:
    talk = Talk(1, 0, "run1")
    talk.pack()
    assert "nothing is sent yet" in text(talk)
    talk.packed(packed())
    assert "waits for your consent" in text(talk)
    talk.decline()
    assert "Nothing was sent." in text(talk)
    talk.packed(Packed(1, problem="There is no key", hint="set ANTHROPIC_API_KEY"))
    assert "✖ There is no key\n  hint  set ANTHROPIC_API_KEY" in text(talk)


def _failed() -> Talk:
    talk = asked()
    talk.take(EVENTS)
    talk.end(consulted(None, problem="The service is overloaded", hint="wait a minute"))
    return talk


def test_a_failure_stands_below_what_was_said() -> None:
    said = text(_failed())
    assert said.index("The gradients rise first") < said.index("✖ The service is overloaded.")
    assert "hint  wait a minute" in said
    assert "Ask anew: Enter, or c" in said


def test_every_state_of_a_question_is_told() -> None:
    talk = asked()
    assert "nothing has come yet" in text(talk)
    talk.take(DONE)
    assert "its citations are looked up now" in text(talk)
    talk.stop()
    assert "is being stopped" in text(talk)
    talk.end(consulted(None, is_cancelled=True))
    assert "You stopped it; what came stands above." in text(talk)
    talk = asked()
    talk.lose("The engine has ended")
    assert "✖ The engine has ended." in text(talk)
    assert "Ask anew" in text(talk)


def test_earlier_questions_stand_above_later_ones() -> None:
    talk = answered()
    talk.begin("Why not the data order?")
    talk.take((Text("It did not change."),))
    talk.end(consulted(None))
    said = text(talk)
    assert said.index("Root causes") < said.index("You  Why not the data order?")
    assert said.index("You  Why") < said.index("Claude  It did not change.")
    assert "Ask anew" not in said


def test_what_was_kept_has_its_date_and_says_how_to_go_on() -> None:
    at = datetime(2026, 5, 12, 14, 2, tzinfo=UTC)
    talk = Talk.kept(1, 0, "run1", [(at, {"root_causes": [{}], "model": "claude-x"})])
    assert "what was kept is read…" in text(talk)
    talk.lay_out((PAGE,))
    said = text(talk, 120)
    assert f"({at.astimezone():%Y-%m-%d %H:%M}) a second opinion on run1" in said
    assert "· claude-x" in said
    assert "begin anew: Enter, or c" in said


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_fits_at_every_width(width: int) -> None:
    talk, layout = answered(), Layout()
    talk.begin("Why not the data order? " * 9)
    talk.take(EVENTS)
    layout.fold(points(talk, layout)[0].fold)
    blocks = layout.blocks(talk, width)
    check(blocks, min(width, MOST_COLUMNS))
    check(Layout().blocks(None, width, "No.\n  pip install x"), width)
    for line_width in (8, width):
        assert cells(budget_line(talk, line_width)) <= line_width


def test_the_budget_says_less_where_there_is_less_room() -> None:
    talk = answered()
    assert text_of(budget_line(talk, 90)) == (
        "claude-sonnet-5-5 · 18,204 tokens in (and 41,220 cached) · 1,903 out · $0.034 · 48 s"
    )
    assert text_of(budget_line(talk, 76)) == (
        "claude-sonnet-5-5 · 18.2k in (+41.2k cached) · 1.9k out · $0.034 · 48 s"
    )
    assert text_of(budget_line(talk, 30)) == "$0.034 · 48 s"
    talk.begin("why?")
    assert text_of(budget_line(talk, 90)).endswith("esc stops")
    talk.stop()
    assert text_of(budget_line(talk, 90)).endswith("stopping…")
