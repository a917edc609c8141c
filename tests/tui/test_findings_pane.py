from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.tui.widgets.finding_view import FindingView
from mltd.tui.widgets.findings_pane import FindingsPane

from .hosting import Host
from .verdicts import cause, finding, fix, place, recorded, verdict_of

SPIKE = finding(evidence=(place(), place("lr@20", "1.2")))
LOST = finding("nan_loss", severity=Severity.CRITICAL, first_step=30.0, title="loss is nan")
CAUSE = cause(
    explains=("loss_spike", "nan_loss"),
    fixes=tuple(fix(f"change {n}", f"value: {n}") for n in range(4)),
)
BOTH = verdict_of(LOST, SPIKE, causes=(CAUSE,))
SMALL, STACKED, WIDE = (36, 14), (82, 24), (160, 46)
Flow = Callable[[FindingsPane, Host, Pilot[None]], Awaitable[None]]


def play(flow: Flow, size: tuple[int, int] = SMALL, verdict: Diagnosis | None = BOTH) -> Host:
    """Show a verdict in a focused pane and let things happen."""
    pane = FindingsPane(id="findings")
    app = Host(pane, FindingsPane.EvidenceChosen, FindingsPane.Adopted, FindingsPane.Selected)

    async def run() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            pane.focus()
            pane.set_diagnosis(7, verdict)
            await pilot.pause()
            await flow(pane, app, pilot)

    asyncio.run(run())
    assert not app.failures, app.failures[0].details
    return app


def view(pane: FindingsPane, name: str) -> FindingView:
    return pane.query_one(f"#findings-{name}", FindingView)


def text(pane: FindingsPane) -> str:
    """Everything in the parts that are shown."""
    parts = [part for part in pane.query(FindingView) if part.display and part.parent]
    return "\n".join(line for part in parts for line in part.texts)


def selected(app: Host) -> list[Finding | None]:
    return [m.finding for m in app.heard if isinstance(m, FindingsPane.Selected)]


def test_moving_in_the_list_selects_and_says_so_once_each() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("j")
        assert "loss jumped to 9.4" in text(pane)
        await pilot.press("down", "k")

    app = play(flow)
    assert selected(app) == [LOST, SPIKE, LOST]


def test_the_small_pane_shows_list_or_detail() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        assert not view(pane, "detail").display
        await pilot.press("j", "enter")
        assert view(pane, "detail").display
        assert not view(pane, "list").parent.display  # type: ignore[union-attr]
        await pilot.press("left")
        assert not view(pane, "detail").display
        assert pane.selected == SPIKE

    play(flow)


@pytest.mark.parametrize("size", [STACKED, WIDE])
def test_a_large_pane_shows_both_at_once(size: tuple[int, int]) -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        assert view(pane, "list").region.area
        assert view(pane, "detail").region.area
        assert "1 LR too high" in text(pane)

    play(flow, size)


def test_every_kind_of_entry_can_be_reached_and_acted_upon() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("j", "l", "enter")  # the first evidence of the finding
        await pilot.press("j", "enter", "h")  # the second; the finding is adopted
        await pilot.press("j", "h")  # the cause
        await pilot.press("j", "enter")  # the cause's evidence
        await pilot.press("j", "j", "y")  # the second fix
        assert app.clipboard == "value: 1"

    app = play(flow, STACKED)
    jumps = [m for m in app.heard if isinstance(m, FindingsPane.EvidenceChosen)]
    assert [(m.run, m.evidence) for m in jumps] == [
        (7, SPIKE.evidence[0]),
        (7, SPIKE.evidence[1]),
        (7, CAUSE.evidence[0]),
    ]
    adopted = [m for m in app.heard if isinstance(m, FindingsPane.Adopted)]
    assert [(m.finding, m.cause) for m in adopted] == [(SPIKE, None), (None, CAUSE)]


def test_in_the_list_h_adopts_the_finding_and_y_copies_its_first_fix() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("h", "y")
        assert app.clipboard == "value: 0"

    app = play(flow)
    adopted = [m for m in app.heard if isinstance(m, FindingsPane.Adopted)]
    assert [(m.run, m.finding, m.cause) for m in adopted] == [(7, LOST, None)]


def test_the_end_of_a_long_detail_can_be_reached_line_by_line() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        pane.action_enter_detail()
        await pilot.pause()
        detail = view(pane, "detail")
        seen: set[int] = set()
        for _ in range(80):
            top = detail.scroll_offset.y
            seen.update(range(top, top + detail.size.height))
            pane.action_move(1)
        assert detail.scroll_offset.y == detail.max_scroll_y > 0
        assert seen >= set(range(len(detail.texts)))
        for _ in range(80):
            pane.action_move(-1)
        assert detail.scroll_offset.y == 0
        pane.action_end(1)
        assert detail.scroll_offset.y == detail.max_scroll_y
        pane.action_page(-1)
        assert detail.scroll_offset.y < detail.max_scroll_y
        pane.action_end(-1)
        assert detail.scroll_offset.y == 0

    play(flow)


def test_a_newer_verdict_leaves_the_reader_where_they_are() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("j", "enter")
        for _ in range(4):
            pane.action_move(1)
        detail = view(pane, "detail")
        target, row = detail.target, _cursor_row(detail)
        assert target is not None
        assert target.fix is not None
        longer = replace(
            SPIKE, evidence=(*SPIKE.evidence, place("x@1", "new"), place("y@1", "new"))
        )
        newer = verdict_of(
            finding("stall", severity=Severity.CRITICAL), LOST, longer, causes=(CAUSE,)
        )
        pane.set_diagnosis(7, newer)
        await pilot.pause()
        assert pane.selected == longer
        assert detail.target == target
        assert _cursor_row(detail) == row

    play(flow)


def _cursor_row(detail: FindingView) -> int:
    """Row of the screen on which the cursor's block begins."""
    rows = [y for y in range(detail.size.height) if detail.render_line(y).text.startswith("▌")]
    return rows[0]


def test_the_same_verdict_again_paints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        painted: list[FindingView] = []
        for part in pane.query(FindingView):
            monkeypatch.setattr(part, "refresh", lambda *_, part=part, **__: painted.append(part))
        pane.set_diagnosis(7, verdict_of(LOST, SPIKE, causes=(CAUSE,)))
        pane.set_diagnosis(7, verdict_of(replace(LOST, details={"a": 1}), SPIKE, causes=(CAUSE,)))
        assert not painted
        pane.set_diagnosis(
            7, verdict_of(replace(LOST, title="loss is inf"), SPIKE, causes=(CAUSE,))
        )
        assert set(painted) == {view(pane, "detail"), view(pane, "list")}

    play(flow, WIDE)


@pytest.mark.parametrize("size", [SMALL, STACKED, WIDE])
def test_the_detail_leaves_a_withdrawn_finding_for_the_worst_one(size: tuple[int, int]) -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("j", "enter")
        pane.set_diagnosis(7, verdict_of(LOST, causes=(CAUSE,)))
        await pilot.pause()
        assert pane.selected == LOST
        assert "withdrawn: loss spike" in text(pane)
        assert "loss jumped to 9.4" not in text(pane)
        assert view(pane, "list").index == 0
        await pilot.press("home")
        assert "withdrawn" not in text(pane)

    app = play(flow, size)
    assert selected(app) == [LOST, SPIKE, LOST]


def test_the_detail_follows_the_worst_finding_until_the_user_moves() -> None:
    worse = finding("out_of_memory", severity=Severity.CRITICAL, first_step=1.0, title="no memory")
    everything = verdict_of(worse, LOST, SPIKE, causes=(CAUSE,))

    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        assert pane.selected == SPIKE
        pane.set_diagnosis(7, BOTH)
        assert pane.selected == LOST
        await pilot.press("j")
        pane.set_diagnosis(7, everything)
        assert pane.selected == SPIKE
        pane.set_diagnosis(7, BOTH)
        await pilot.press("g")
        assert pane.selected == LOST
        pane.set_diagnosis(7, everything)
        assert pane.selected == worse
        await pilot.press("enter")
        pane.set_diagnosis(7, BOTH)
        assert pane.selected == LOST
        await pilot.press("enter")
        pane.set_diagnosis(7, everything)
        assert pane.selected == LOST
        await pilot.press("left")
        pane.set_diagnosis(7, BOTH)
        pane.set_diagnosis(7, everything)
        assert pane.selected == worse
        await pilot.pause()
        assert "no memory" in "\n".join(view(pane, "detail").texts)

    play(flow, STACKED, verdict_of(SPIKE, causes=(CAUSE,)))


def test_reading_and_calm_verdicts() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        assert pane.is_reading
        assert "reading" in text(pane)
        await pilot.press("enter", "h", "y", "j", "k", "pagedown", "end")
        pane.looked_at = ("loss", "lr")
        pane.set_diagnosis(7, Diagnosis("healthy", requests=("a validation loss",)))
        assert not pane.is_reading
        for words in ("✔ healthy", "looked at loss, lr", "a validation loss"):
            assert words in text(pane)
        pane.is_reading = True
        assert "still reading" in text(pane)
        assert "healthy" not in text(pane)
        pane.is_reading = False
        pane.set_diagnosis(7, Diagnosis("no_metrics"))
        assert "no metrics were found" in " ".join(text(pane).split())
        assert "Give the file" in text(pane)

    for size in (SMALL, STACKED, WIDE):
        app = play(flow, size, None)
        assert all(isinstance(m, FindingsPane.Selected) for m in app.heard)


def test_keys_that_would_do_nothing_are_left_to_others() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        assert not pane.check_action("leave_detail", ())
        await pilot.press("enter")
        assert pane.check_action("leave_detail", ())
        await pilot.press("escape")
        assert not pane.check_action("leave_detail", ())

    play(flow)


def test_the_place_in_the_detail_survives_a_change_of_size() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("j", "enter", "j", "j")
        target = view(pane, "detail").target
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        assert view(pane, "detail").target == target
        assert pane.selected == SPIKE
        await pilot.resize_terminal(*SMALL)
        await pilot.pause()
        assert view(pane, "detail").target == target
        assert view(pane, "detail").display

    play(flow)


def test_a_click_selects() -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.click("#findings-list", offset=(4, 1))
        assert pane.selected == SPIKE
        await pilot.click("#findings-detail", offset=(6, 5))
        await pilot.press("enter")

    app = play(flow, STACKED)
    jumps = [m for m in app.heard if isinstance(m, FindingsPane.EvidenceChosen)]
    assert [m.evidence for m in jumps] == [SPIKE.evidence[0]]


def test_markup_and_escapes_in_a_title_are_text() -> None:
    evil = finding(title="[bold]x[/nope] \x1b[2J at [link=a]", evidence=(place("a[/]@1", "[/]"),))
    copied = cause(fixes=(fix("[/x]", "print('[/]')\x1b"),))

    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("enter", "y")
        assert "[bold]x[/nope] ·[2J at [link=a]" in text(pane)
        await pilot.pause()

    play(flow, STACKED, verdict_of(evil, causes=(copied,)))


def test_a_hundred_findings_can_be_scrolled() -> None:
    many = verdict_of(*(finding(first_step=float(n)) for n in range(100)))

    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        pane.action_end(1)
        assert pane.selected == many.findings[-1]
        listed = view(pane, "list")
        assert listed.scroll_offset.y == listed.max_scroll_y > 0

    for size in (SMALL, STACKED, WIDE):
        play(flow, size, many)


@pytest.mark.parametrize("size", [SMALL, STACKED, WIDE])
def test_real_verdicts_are_drawn_at_every_size(size: tuple[int, int]) -> None:
    async def flow(pane: FindingsPane, app: Host, pilot: Pilot[None]) -> None:
        assert "LR too high" in text(pane)
        for part in pane.query(FindingView):
            for y in range(part.size.height):
                assert part.render_line(y).cell_length == part.size.width

    play(flow, size, recorded("diverging-learning-rate"))
