from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from mltd.sessions.model.checklist import CHECKS, Phase
from mltd.sessions.model.confidence import ConfidenceChange
from mltd.sessions.model.hypothesis import Hypothesis
from mltd.sessions.model.records import Note
from mltd.sessions.model.result import MetricChange
from mltd.sessions.model.session import Session
from mltd.tui.ascii_filter import to_ascii
from mltd.tui.checklist import marks
from mltd.tui.checklist.detail import detail
from mltd.tui.checklist.folding import Folding
from mltd.tui.checklist.head import head
from mltd.tui.checklist.page import Page
from mltd.tui.checklist.pick import Pick
from mltd.tui.checklist.room import share
from mltd.tui.checklist.rows import tree
from mltd.tui.checklist.saving import Draft
from mltd.tui.checklist.shown import Shown
from mltd.tui.checklist.tables import change_table, percent
from mltd.tui.checklist.welcome import welcome
from mltd.tui.findings.blocks import Block
from mltd.tui.findings.places import AGAINST
from mltd.tui.findings.room import Shape
from mltd.tui.findings.spans import cells, text_of

from .triages import BEGAN, H4, LIVE, MISSING, TRIAGE, series, sure

SHOWN = Shown(TRIAGE, "E4", MISSING, LIVE)
EMPTY = Shown(Session(id="S", title="an empty one", created=BEGAN), "logs")
SIZES = ((1, 1), (20, 3), (36, 9), (60, 14), (78, 19), (98, 26), (158, 44), (298, 96))


class Saving(NamedTuple):
    state: str
    pending: int = 0
    problem: str = ""
    is_held: bool = False


def texts(blocks: list[Block]) -> list[str]:
    return [text_of(line) for block in blocks for line in block.lines]


def said(blocks: list[Block]) -> str:
    return " ".join(" ".join(texts(blocks)).split())


def picks(shown: Shown) -> Iterator[Pick]:
    for block in tree(shown, set(), 80):
        if isinstance(block.target, Pick):
            yield block.target


def full(kind: str, name: str, shown: Shown = SHOWN, width: int = 90) -> str:
    return said(detail(shown, Pick(kind=kind, id=name), width))


# -- the list ------------------------------------------------------------------------------


def test_phases_say_how_far_they_are_and_which_is_the_current_one() -> None:
    rows = texts(tree(SHOWN, {phase.value for phase in Phase}, 70))
    assert rows[0].startswith("▸ 1 Intake and evidence ")
    assert rows[1].startswith("▸ 2 Reproduction and isolation ")
    assert [row.split()[-1] for row in rows[:5]] == ["5/7", "2/4", "2/3", "1/5", "0/3"]
    assert [" now " in row for row in rows[:5]] == [False, False, True, False, False]


def test_items_say_who_ticked_them_and_on_what_evidence_or_what_they_lack() -> None:
    rows = "\n".join(texts(tree(SHOWN, set(), 76)))
    for words in (
        "☑ Logs collected",
        "train.out:1  app",
        "☐ Seeds known",
        "no seed in log or config",
        "there is no baseline yet  waived",
        "◐ Reproduced on the smallest slice",
        "  in progress",
    ):
        assert words in rows


def test_circumstances_are_answers_with_their_source_or_open_questions() -> None:
    rows = texts(tree(SHOWN, set(), 76))
    assert any("☑ hardware" in row and row.endswith("from log") for row in rows)
    assert any("8x A100 80GB on gpu-17" in row for row in rows)
    assert any("☑ metric targets" in row and row.endswith("you") for row in rows)
    assert any("☐ data provenance" in row and "Which data" in row for row in rows)


@pytest.mark.parametrize(
    ("name", "glyph", "word"),
    [
        ("H1", "☑", "confirmed"),
        ("H2", "☒", "refuted"),
        ("H3", "◐", "testing"),
        ("H4", "☐", "parked"),
        ("H5", "☐", "open"),
        ("E1", "☑", "passed"),
        ("E2", "☒", "failed"),
        ("E3", "◐", "running"),
        ("E4", "☐", "planned"),
        ("E5", "☒", "cancelled"),
        ("E6", "◐", "inconclusive"),
    ],
)
@pytest.mark.parametrize("width", [42, 76])
@pytest.mark.parametrize("is_spoken", [False, True])
def test_every_state_has_a_glyph_and_a_word(
    name: str,
    glyph: str,
    word: str,
    width: int,
    is_spoken: bool,
) -> None:
    blocks = tree(SHOWN, set(), width, is_spoken=is_spoken)
    block = next(b for b in blocks if isinstance(b.target, Pick) and b.target.id == name)
    assert f"{glyph} {name}" in said([block])
    assert word in said([block])


def test_a_confidence_is_shown_with_its_ceiling_where_there_is_room() -> None:
    rows = said(tree(SHOWN, set(), 76))
    assert "▰▰▰▰▰▰▰▰▰▱│ 0.93" in rows
    assert "▰▰▰▰▱▱▱▱▱│· 0.45" in rows
    assert "research ≤ 0.85 · 1 for" in said(tree(SHOWN, set(), 76, is_rich=True, is_spoken=True))


def test_experiments_stand_below_their_hypothesis_in_the_users_order() -> None:
    order = [pick.id for pick in picks(SHOWN) if pick.kind in ("hypothesis", "experiment")]
    assert order == ["H1", "E1", "E6", "H3", "E3", "E4", "E5", "H2", "E2", "H5", "H4"]


def test_what_came_out_stands_in_the_list_as_a_number_or_as_a_sentence() -> None:
    assert "val/loss -41.9% passed" in said(tree(SHOWN, set(), 76))
    rich = said(tree(SHOWN, set(), 76, is_rich=True))
    assert "val/loss fell by 41.9%" in rich
    assert "so far: val/loss is 12.3% lower" in rich


@pytest.mark.parametrize("suggested", ["E4", "H5", "seeds", "data", "P3"])
def test_exactly_one_row_is_next_and_a_folded_phase_stands_for_it(suggested: str) -> None:
    shown = Shown(TRIAGE, suggested, MISSING, LIVE)
    for folded in (set[str](), {phase.value for phase in Phase}):
        for width in (40, 76):
            rows = texts(tree(shown, folded, width, is_spoken=width == 40))
            assert sum("▸ next" in row for row in rows) == 1
    assert not any("▸ next" in row for row in texts(tree(Shown(TRIAGE, "gone"), set(), 70)))


def test_prevention_decisions_and_notes_stand_where_they_belong() -> None:
    rows = said(tree(SHOWN, set(), 90))
    assert "☑ P2 Test that the peak lr scales with the batch test · lin" in rows
    assert "document · no owner" in rows
    assert rows.index("P3") < rows.index("Decisions ◆ Restart") < rows.index("Notes • Ada saw")


def test_an_empty_session_says_how_to_begin() -> None:
    rows = said(tree(EMPTY, set(), 80))
    assert "no hypothesis yet: a writes one down" in rows
    assert "no prevention item yet: p adds one" in rows


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", [SHOWN, EMPTY], ids=["full", "empty"])
def test_everything_fits_at_every_size(size: tuple[int, int], shown: Shown) -> None:
    page = Page(*size, shown, Saving("unsaved", 3, "disk full " * 9), Folding())
    room = page.room
    assert len(page.head) <= max(1, size[1])
    for block in page.rows:
        for line in block.lines:
            assert size[0] < 36 or cells(line) <= room.list_width
    for pick in picks(shown):
        for told in texts(page.detail(pick)):
            assert size[0] < 36 or cell_len(told) <= max(room.detail_width, 8)


# -- what matters first --------------------------------------------------------------------


def test_phases_are_folded_at_first_unless_they_are_worked_on_or_fit() -> None:
    small, large = Folding(), Folding()
    Page(78, 19, SHOWN, Draft(), small)
    assert small.folded == {"intake", "reproduction", "fix", "handoff"}
    Page(158, 96, SHOWN, Draft(), large)
    assert large.folded == set()


def test_a_phase_opens_by_itself_when_it_matters_unless_the_user_folded_it() -> None:
    folding = Folding()
    Page(78, 19, SHOWN, Draft(), folding)
    Page(78, 19, Shown(TRIAGE, "seeds"), Draft(), folding)
    assert "intake" not in folding.folded
    folding.turn("intake")
    Page(78, 19, Shown(TRIAGE, "seeds"), Draft(), folding)
    assert "intake" in folding.folded


@pytest.mark.parametrize(
    ("size", "shape"), [((158, 44), Shape.WIDE), ((78, 19), Shape.STACKED), ((58, 12), Shape.SMALL)]
)
def test_the_detail_is_beside_below_or_instead(size: tuple[int, int], shape: Shape) -> None:
    assert share(*size, 2).shape is shape


# -- the head ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("saving", "words"),
    [
        (Draft(), "draft: saved when you first change something"),
        (Saving("saved"), "✔ saved"),
        (Saving("saving", 2), "saving… (2)"),
        (Saving("unsaved", 3, "disk full"), "NOT SAVED (3): disk full: press s to save elsewhere"),
        (Saving("read_only", 0, "opened by ada on login2, pid 4121", is_held=True),
         "read-only: opened by ada on login2, pid 4121 (T takes over)"),
        (Saving("read_only", 2, "taken over by lin"), "NOT SAVED (2): taken over by lin"),
    ],
)  # fmt: skip
def test_the_head_says_whether_the_work_is_safe(saving: Saving, words: str) -> None:
    lines = head(TRIAGE, saving, 120, 30)
    assert words in " ".join(text_of(line) for line in lines)
    assert text_of(lines[0]).startswith("gpt-125m: the loss explodes")
    loud = {span.meaning for line in lines for span in line if "NOT SAVED" in span.text}
    assert loud <= {"severity-critical"}


def test_the_head_shows_all_phases_and_the_current_one() -> None:
    line = text_of(head(TRIAGE, Saving("saved"), 120, 30)[1])
    assert line.startswith("phase 3 of 5: Hypotheses and experiment plan")
    assert line.endswith("1 ▰▰▰▰▰▱▱  2 ▰▰▱▱  3 ▰▰▱  4 ▰▱▱▱▱  5 ▱▱▱")
    assert len(head(TRIAGE, Saving("saved"), 60, 9)) == 1


# -- the detail ----------------------------------------------------------------------------


def test_a_check_says_why_it_matters_and_what_is_missing() -> None:
    told = full("check", "seeds")
    assert "☐ open Seeds known" in told
    assert "cannot be repeated" in told
    assert "What is missing no seed in log or config" in told
    assert "by the app" in full("check", "hardware")
    assert "train.out:3" in full("check", "hardware")
    assert "there is no baseline yet" in full("check", "no_regression")


def test_a_hypothesis_shows_all_that_it_rests_on() -> None:
    told = full("hypothesis", "H1")
    for words in (
        "☑ confirmed H1",
        "LR too high · by analyzers",
        "0.93 by observation, at most 0.95",
        "explains loss spike, gradient explosion",
        "+ grad_norm@12180..12400 2.1 → 318",
        f"{AGAINST} train.err:812",
        "passed: val/loss fell by 41.9%",
        "What would decide - log grad_norm per layer",
        "│ --lr 3e-4",
        "cannot be undone",
        "E1: passed: val/loss fell by 41.9% (observation)",
        "analyzers: as first stated (inference)",
    ):
        assert words in told
    assert "nothing yet: b names something" in full("hypothesis", "H4")


def test_an_experiment_shows_the_whole_command_and_when_its_criteria_were_fixed() -> None:
    told = full("experiment", "E1")
    for words in (
        "lr 3e-3 → 3e-4, all else as before",
        "changes the optimiser",
        "--lr 3e-4 --seed 42 --max_steps 16000 --run_name lr-3e-4",
        "succeeds if val/loss improves by 10%",
        "fails if train/loss is above 8",
        "guards throughput regresses by less than 5%",
        "fixed since",
        "git revert 4f1c2ab",
        "before lr-3e-3 /scratch/ada/gpt-125m/lr-3e-3.log",
        "after lr-3e-4",
    ):
        assert words in told
    planned = full("experiment", "E4")
    assert "can be changed until it starts" in planned
    assert "(the default)" in planned
    assert "not written down: how is the change taken back?" in planned
    assert "none yet: L links the run" in planned


def test_before_and_after_is_a_table_with_intervals_and_a_verdict() -> None:
    told = full("experiment", "E1")
    assert "metric before after change 95% interval" in told
    assert "val/loss 5.412 3.144 -41.9% -45.6% … -38.0% better" in told
    assert "throughput 18240 18167 -0.4% -1.1% … +0.3% same" in told
    assert "grad_norm inf 0.84 –" in told
    assert "✔ guard: throughput regresses by less than 5%" in told
    assert "val/loss parts at step 4,200" in told
    assert "1.00x the time" in told


def test_results_of_a_run_that_goes_on_are_called_preliminary() -> None:
    told = full("experiment", "E3")
    assert "preliminary: the run is still going" in told
    assert "F says that this run is over" in told
    assert "◐ inconclusive so far" in told
    assert "14 more points would decide it" in told


def test_facts_and_records_in_full() -> None:
    assert "read from the log; nobody has confirmed it" in full("fact", "hardware")
    assert "not known data provenance" in full("fact", "data")
    assert "nobody yet: Enter names somebody" in full("prevention", "P3")
    assert "Because E1 passed" in full("decision", "D1")
    assert texts(detail(SHOWN, Pick(kind="note", id="N1"), 60))[1:] == [
        "Ada saw the same in January,",
        "but with dropout 0.1",
    ]


def test_a_phase_lists_what_is_not_done_its_runs_and_its_timeline() -> None:
    told = full("phase", "intake")
    assert "☐ Seeds known no seed in log or config" in told
    assert "Logs collected" not in told
    assert "R1 incident lr-3e-3" in told
    assert "step 12,180 grad_norm leaves its range" in told
    assert "Answers for the incident ada" in full("phase", "handoff")
    assert "the current phase" in full("phase", "hypotheses")


# -- anything at all -----------------------------------------------------------------------


@given(st.text(min_size=1, max_size=300), st.integers(min_value=20, max_value=120))
@settings(max_examples=60, deadline=None)
def test_any_text_is_drawn_as_text_and_fits(text: str, width: int) -> None:
    hypothesis = Hypothesis(
        id="H1",
        statement=text,
        confidence=sure(0.5),
        evidence=(series(text, text),),
        history=(ConfidenceChange(at=BEGAN, confidence=sure(0.5), reason=text, source=text),),
        requests=(text,),
        created=BEGAN,
    )
    session = Session(
        id="S",
        title=text,
        created=BEGAN,
        hypotheses=(hypothesis,),
        notes=(Note(id="N1", at=BEGAN, text=text),),
    )
    shown = Shown(session, "H1", {"logs": text})
    blocks = [*tree(shown, set(), width, is_spoken=True), *tree(shown, set(), width)]
    for kind, name in (("hypothesis", "H1"), ("note", "N1"), ("check", "logs")):
        blocks += detail(shown, Pick(kind=kind, id=name), width)
    lines = [*texts(blocks), *map(text_of, head(session, Saving("unsaved", 1, text), width, 40))]
    for line in lines:
        assert line.isprintable()
        assert cell_len(line) <= width


@given(st.floats(allow_nan=True, allow_infinity=True) | st.none())
def test_any_change_fits_its_column(share_: float | None) -> None:
    assert len(percent(share_)) <= 8
    table = list(change_table([MetricChange(name="x" * 50, change=share_, before=share_)], 70))
    assert all(cells(line) <= 70 for line in table)


def test_glyphs_have_an_ascii_form_of_one_cell_each_told_apart() -> None:
    forms = [to_ascii(glyph) for glyph in (marks.OPEN, marks.DOING, marks.DONE, marks.CROSSED)]
    assert forms == ["o", "~", "+", "x"]


def test_the_welcome_names_the_first_three_keys() -> None:
    lines = [text_of(line) for line in welcome(60)]
    assert all(cell_len(line) <= 60 for line in lines)
    assert [line.split()[0] for line in lines[-3:]] == ["h", "a", "n"]


def test_all_items_and_a_parked_hypothesis_are_in_the_list() -> None:
    kinds = list(picks(SHOWN))
    assert [pick.id for pick in kinds if pick.kind == "check"] == [check.id for check in CHECKS]
    block = next(b for b in tree(SHOWN, set(), 76) if b.key == ("hypothesis", H4.id))
    assert {span.meaning for line in block.lines for span in line if "tokenizer" in span.text} == {
        "quiet"
    }
