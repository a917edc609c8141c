from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.tui.findings.bars import bar, confidence_line
from mltd.tui.findings.blocks import Block
from mltd.tui.findings.detail import detail, nothing_found
from mltd.tui.findings.names import axis_word, spoken, when
from mltd.tui.findings.page import Page
from mltd.tui.findings.room import Shape, shape_for, share
from mltd.tui.findings.selection import Selection
from mltd.tui.findings.spans import Line, Span, cells, clip, middle, spread, text_of, wrap
from mltd.tui.findings.verdict import verdict

from .verdicts import cause, finding, fix, place, recorded, verdict_of

RECORDINGS = (
    "diverging-learning-rate",
    "loss-scale-overflow",
    "index-error-at-evaluation",
    "healthy-character-model",
    "memory-leak",
)
SIZES = ((32, 9), (46, 11), (69, 44), (78, 20), (120, 9), (158, 44), (298, 96), (20, 3), (1, 1))


def texts(blocks: list[Block]) -> str:
    return "\n".join(text_of(line) for block in blocks for line in block.lines)


# -- lines ---------------------------------------------------------------------------------


@given(st.text(max_size=200), st.integers(min_value=4, max_value=60))
def test_wrapped_text_fits_and_loses_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(wrap(text, 10_000)).replace(" ", "")


@given(
    st.text(max_size=100),
    st.integers(min_value=4, max_value=30),
    st.integers(min_value=1, max_value=4),
)
def test_text_that_is_cut_says_so(text: str, width: int, most: int) -> None:
    whole, cut = wrap(text, width), wrap(text, width, most)
    assert len(cut) <= most
    assert all(cell_len(line) <= width for line in cut)
    assert cut == whole or cut[-1].endswith("…")


@given(st.text(max_size=60), st.integers(min_value=0, max_value=40))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) <= width
    assert cell_len(middle(text, width)) <= width


spans = st.lists(
    st.tuples(st.text("ab 模", max_size=12), st.sampled_from(["", "quiet"])), max_size=4
)


@given(spans, spans, st.integers(min_value=0, max_value=50))
def test_a_spread_row_has_exactly_its_width(
    left: list[tuple[str, str]], right: list[tuple[str, str]], width: int
) -> None:
    row = spread(tuple(Span(*s) for s in left), tuple(Span(*s) for s in right), width)
    assert cells(row) == width


# -- confidence ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence", "ceiling", "drawn"),
    [
        (0.66, 0.70, "▰▰▰▰▰▰▱│···"),
        (0.70, 0.70, "▰▰▰▰▰▰▰│···"),
        (0.85, 0.85, "▰▰▰▰▰▰▰▰▰│·"),
        (0.91, 0.95, "▰▰▰▰▰▰▰▰▰▱│"),
        (0.95, 0.95, "▰▰▰▰▰▰▰▰▰▰│"),
        (0.02, 0.70, "▰▱▱▱▱▱▱│···"),
        (0.0, 0.70, "▱▱▱▱▱▱▱│···"),
    ],
)
def test_a_bar_shows_how_sure_and_how_sure_at_most(
    confidence: float, ceiling: float, drawn: str
) -> None:
    assert text_of(bar(confidence, ceiling, 10)) == drawn


@given(
    st.floats(min_value=0, max_value=1),
    st.sampled_from(Basis),
    st.integers(min_value=4, max_value=80),
)
def test_a_confidence_fits_its_room(share: float, basis: Basis, width: int) -> None:
    line = confidence_line(share * basis.ceiling, basis, width)
    assert cells(line) <= width
    if width >= 48:
        assert f"by {basis.value}, at most {basis.ceiling:.2f}" in text_of(line)


# -- words ---------------------------------------------------------------------------------


def test_ids_are_said_in_words() -> None:
    assert spoken("nan_loss") == "NaN loss"
    assert spoken("lr_too_high") == "LR too high"
    assert spoken("host_oom") == "host OOM"


def test_epochs_are_not_called_steps() -> None:
    assert axis_word(verdict_of(finding(first_step=0.08, title="flat up to epoch 20"))) == "epoch"
    assert axis_word(recorded("dead-relu")) == "epoch"
    assert axis_word(recorded("diverging-learning-rate")) == "step"
    assert when(finding(first_step=0.08), "epoch") == "since epoch 0.08"
    assert when(finding(first_step=None)) == ""


# -- verdict -------------------------------------------------------------------------------


def said(diagnosis: Diagnosis | None, width: int = 78) -> str:
    return "\n".join(text_of(line) for line in verdict(diagnosis, width))


def test_the_verdict_counts_and_names_the_likely_cause() -> None:
    doubted = verdict_of(finding(), causes=(cause(),))
    assert said(doubted, 46) == "▲ 1 warning · cause likely: LR too high 0.66"
    assert said(doubted) == "▲ 1 warning · cause likely: because of lr_too_high 0.66"
    assert said(doubted, 32) == "▲ 1 warning\ncause likely: LR too high 0.66"
    guess = verdict_of(finding(), causes=(cause(confidence=0.2),))
    assert "cause perhaps: " in said(guess)
    assert said(verdict_of(finding())) == "▲ 1 warning · cause not known"
    assert "✖ 2 critical · cause: " in said(recorded("diverging-learning-rate"))


def test_a_tie_names_both_causes() -> None:
    tied = Diagnosis(
        "needs_more_data",
        (finding(),),
        (cause(), cause("bad_batch", confidence=0.64, requests=("the sample ids",))),
        ties=(("lr_too_high", "bad_batch"),),
    )
    assert "LR too high or bad batch 0.66" in said(tied)
    shown = texts(detail(tied, tied.findings[0], 200))
    assert "cannot be told apart from bad batch; what separates them: the sample ids" in shown


def test_calm_verdicts_say_so_and_what_to_do() -> None:
    assert said(None).startswith("? reading")
    assert said(Diagnosis("healthy")) == "✔ healthy: nothing found that calls for action"
    empty = Diagnosis("no_metrics", requests=("the file with the losses",))
    assert said(empty) == "? nothing to judge: no metrics were found"
    advice = texts(nothing_found(empty, 70, ()))
    assert "Give the file that holds the numbers" in advice
    assert "the file with the losses" in advice
    assert "looked at loss, lr" in texts(nothing_found(Diagnosis("healthy"), 70, ("loss", "lr")))


def test_a_verdict_on_a_part_of_the_log_says_so() -> None:
    for diagnosis in (Diagnosis("healthy"), Diagnosis("no_metrics"), verdict_of(finding())):
        shown = " ".join(text_of(line) for line in verdict(diagnosis, 50, is_reading=True))
        assert "still reading" in shown
        assert "healthy" not in shown


# -- detail --------------------------------------------------------------------------------


def test_the_detail_answers_what_when_how_sure_why_and_what_to_do() -> None:
    against = (place("val_loss@20", "did not move"),)
    diagnosis = Diagnosis(
        "needs_more_data",
        (finding(confidence=0.66, basis=Basis.INFERENCE),),
        (cause(against=against), cause("unrelated", explains=("other",))),
        requests=("grad_norm per layer",),
        problems=("analyzer 'x' failed",),
    )
    shown = texts(detail(diagnosis, diagnosis.findings[0], 90))
    for part in (
        "▲ warning  loss spike",
        "since step 20",
        "loss jumped to 9.4 at step 20",
        "▰▰▰▰▰▰▱│··· 0.66 by inference, at most 0.70",
        "loss@10..20",
        "2.1 → 9.4",
        "1 LR too high",
        " + grad_norm@18",
        " \N{MINUS SIGN} val_loss@20",
        "1 lr 1.2 → 0.4",
        "│ lr: 0.4",
        "expect no spikes",
        "verify overlay both runs",
        "else   halve it again",
        "To be surer, provide",
        "grad_norm per layer",
        "analyzer 'x' failed",
    ):
        assert part in shown
    assert "unrelated" not in shown


def test_code_in_an_example_keeps_its_indentation() -> None:
    two_lines = fix(example="with autocast():\n    loss = f(x)")
    diagnosis = verdict_of(finding(), causes=(cause(fixes=(two_lines,)),))
    assert "│     loss = f(x)" in texts(detail(diagnosis, diagnosis.findings[0], 60))


def test_a_fix_that_two_causes_share_is_shown_once() -> None:
    diagnosis = verdict_of(finding(), causes=(cause(), cause("bad_batch", confidence=0.3)))
    shown = texts(detail(diagnosis, diagnosis.findings[0], 90))
    assert shown.count("lr 1.2 → 0.4") == 1


def test_evidence_from_a_log_is_data() -> None:
    evil = Evidence(EvidenceKind.LOG, "a\x1b]0;x\x07.log:3", "[bold]\x1b[2J\nNaN [/]")
    diagnosis = verdict_of(finding(evidence=(evil,)))
    shown = texts(detail(diagnosis, diagnosis.findings[0], 60))
    assert "[bold]" in shown
    assert all(line.isprintable() for line in shown.split("\n"))


# -- the whole page ------------------------------------------------------------------------


def parts(page: Page) -> list[Line]:
    blocks = [*page.cards, *page.detail()]
    return [*page.head, *page.summary, *(line for block in blocks for line in block.lines)]


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_real_verdicts_fit_every_size(name: str, width: int, height: int) -> None:
    chosen = Selection()
    chosen.update(0, recorded(name))
    page = Page(width, height, chosen, names=("loss", "grad_norm"))
    room = page.room
    assert len(page.head) + room.list_rows + room.summary_rows <= height
    assert len(page.summary) <= room.summary_rows
    if width >= 32:
        left = [*page.head, *page.summary, *(line for b in page.cards for line in b.lines)]
        assert all(cells(line) < room.left_width for line in left)
        assert all(cells(line) < room.detail_width for b in page.detail() for line in b.lines)
    assert all(text_of(line).isprintable() for line in parts(page))


@given(
    st.integers(min_value=1, max_value=300),
    st.integers(min_value=1, max_value=100),
    st.integers(min_value=0, max_value=4),
    st.integers(min_value=0, max_value=200),
)
def test_no_part_gets_more_rows_than_there_are(
    width: int, height: int, head: int, rows: int
) -> None:
    room = share(width, height, min(head, height), rows)
    assert room.list_rows >= 0
    assert room.summary_rows >= 0
    if room.shape is not Shape.STACKED:
        assert min(head, height) + room.list_rows + room.summary_rows <= height


def test_the_arrangement_suits_the_size() -> None:
    assert shape_for(32, 9) is Shape.SMALL
    assert shape_for(46, 11) is Shape.SMALL
    assert shape_for(78, 20) is Shape.STACKED
    assert shape_for(69, 44) is Shape.STACKED
    assert shape_for(158, 44) is Shape.WIDE


def test_the_small_page_says_what_since_when_and_what_to_try() -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(finding(), finding("nan_loss"), causes=(cause(),)))
    page = Page(32, 9, chosen)
    shown = "\n".join(text_of(line) for line in page.summary)
    assert "loss jumped to 9.4 at step 20" in shown
    assert "0.90 since step 20" in shown
    assert "try lr 1.2 → 0.4" in shown


# -- selection -----------------------------------------------------------------------------

SPIKE, LOST = finding(), finding("nan_loss", severity=Severity.CRITICAL, first_step=30.0)
WORSE = finding("out_of_memory", severity=Severity.CRITICAL, first_step=20.0)


def test_the_worst_finding_is_selected_until_the_user_chooses_one() -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(SPIKE))
    assert chosen.update(0, verdict_of(LOST, SPIKE))
    assert chosen.finding == LOST
    chosen.point_at(1)
    assert not chosen.update(0, verdict_of(WORSE, LOST, SPIKE))
    assert (chosen.index, chosen.finding) == (2, SPIKE)
    assert not chosen.notice
    chosen.follow()
    assert chosen.finding == WORSE
    assert chosen.update(0, verdict_of(LOST, SPIKE))
    assert chosen.finding == LOST


def test_the_finding_that_is_read_stays_though_a_worse_one_comes() -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(SPIKE))
    assert not chosen.update(0, verdict_of(LOST, SPIKE), is_held=True)
    assert chosen.finding == SPIKE
    assert chosen.update(0, verdict_of(LOST, SPIKE))
    assert chosen.finding == LOST


def test_a_finding_whose_onset_is_seen_more_clearly_is_still_the_same() -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(LOST, SPIKE))
    chosen.point_at(1)
    chosen.update(0, verdict_of(LOST, finding(first_step=18.0)))
    assert chosen.index == 1
    assert not chosen.notice


@pytest.mark.parametrize("is_held", [False, True])
def test_the_worst_finding_takes_the_place_of_one_that_is_withdrawn(is_held: bool) -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(LOST, SPIKE))
    chosen.point_at(1)
    assert chosen.update(0, verdict_of(WORSE, LOST), is_held=is_held)
    assert chosen.finding == WORSE
    assert chosen.notice == "withdrawn: loss spike"
    chosen.update(0, verdict_of(LOST, SPIKE))
    assert chosen.finding == LOST
    chosen.update(0, verdict_of())
    assert chosen.finding is None
    assert chosen.notice == "withdrawn: NaN loss, loss spike"
    chosen.update(0, verdict_of(SPIKE))
    assert chosen.finding == SPIKE
    assert chosen.notice == "withdrawn: NaN loss"


def test_what_vanishes_elsewhere_is_told_without_moving() -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(LOST, SPIKE))
    chosen.update(0, verdict_of(LOST))
    assert chosen.finding == LOST
    assert chosen.notice == "withdrawn: loss spike"


def test_each_run_has_its_own_selection() -> None:
    chosen = Selection()
    chosen.update(0, verdict_of(LOST, SPIKE))
    chosen.point_at(1)
    chosen.update(1, verdict_of(LOST))
    assert chosen.finding == LOST
    assert not chosen.notice
    chosen.update(0, verdict_of(LOST, SPIKE))
    assert chosen.finding == SPIKE
    chosen.follow()
    chosen.update(1, verdict_of(LOST))
    chosen.update(0, verdict_of(LOST, SPIKE))
    assert chosen.finding == LOST


def test_twins_are_told_apart() -> None:
    twin = finding(title="another series jumped")
    chosen = Selection()
    chosen.update(0, verdict_of(SPIKE, twin))
    chosen.point_at(1)
    chosen.update(0, verdict_of(SPIKE, twin, LOST))
    assert chosen.finding == twin


# -- weight --------------------------------------------------------------------------------


def test_what_shows_findings_needs_no_numbers_library() -> None:
    code = (
        "import sys, mltd.tui.widgets.findings_pane, mltd.tui.widgets.run_header\n"
        "heavy = {'numpy', 'pandas', 'plotext', 'torch', 'anthropic'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
