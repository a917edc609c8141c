from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import pytest
from textual.content import Content
from textual.pilot import Pilot

from mltd.sessions.model.session import Session
from mltd.tui.checklist.bindings import BINDINGS
from mltd.tui.widgets.checklist_pane import ChecklistPane
from mltd.tui.widgets.finding_view import FindingView

from .hosting import Host
from .triages import BEGAN, E1, H1, LIVE, MISSING, TRIAGE

SMALL, STACKED, WIDE = (50, 14), (82, 26), (160, 50)
Flow = Callable[[ChecklistPane, Host, Pilot[None]], Awaitable[None]]


class Saving(NamedTuple):
    state: str
    pending: int = 0
    problem: str = ""
    is_held: bool = False


def play(flow: Flow, size: tuple[int, int] = STACKED, session: Session | None = TRIAGE) -> Host:
    """Show a session in a focused pane and let things happen."""
    pane = ChecklistPane(id="checklist")
    app = Host(pane, ChecklistPane.Wanted, ChecklistPane.EvidenceChosen)

    async def run() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            pane.focus()
            pane.saving = Saving("saved")
            show(pane, session)
            await pilot.pause()
            await flow(pane, app, pilot)

    asyncio.run(run())
    assert not app.failures, app.failures[0].details
    return app


def show(pane: ChecklistPane, session: Session | None, suggested: str = "E4") -> None:
    pane.set_session(session, suggested=suggested, missing=MISSING, live=LIVE)


def view(pane: ChecklistPane, name: str) -> FindingView:
    return pane.query_one(f"#checklist-{name}", FindingView)


def text(pane: ChecklistPane) -> str:
    """Everything in the parts that are shown."""
    parts = [part for part in pane.query(FindingView) if part.display]
    return "\n".join(line for part in parts for line in part.texts)


def row(pane: ChecklistPane) -> tuple[str, str]:
    assert pane.selected is not None
    return pane.selected.row


def wanted(app: Host) -> list[tuple[str, str, str, int]]:
    return [
        (m.verb, m.kind, m.id, m.amount) for m in app.heard if isinstance(m, ChecklistPane.Wanted)
    ]


def shown_keys(app: Host) -> list[str]:
    bindings = app.screen.active_bindings.values()
    return [b.binding.description for b in bindings if b.binding.show and b.enabled]


def test_the_cursor_begins_at_what_to_do_next_and_the_detail_follows_it() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        assert row(pane) == ("experiment", "E4")
        assert "python train.py --logit_cap 50" in text(pane)
        await pilot.press("k")
        assert row(pane) == ("experiment", "E3")
        assert "preliminary" in text(pane)

    play(flow, WIDE)


@pytest.mark.parametrize("size", [STACKED, WIDE])
def test_a_large_pane_shows_both_at_once(size: tuple[int, int]) -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        for name in ("head", "list", "detail"):
            assert view(pane, name).region.area
        for part in pane.query(FindingView):
            for y in range(part.size.height):
                assert part.render_line(y).cell_length == part.size.width

    play(flow, size)


def test_the_small_pane_shows_list_or_detail() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        assert not view(pane, "detail").display
        await pilot.press("l")
        assert view(pane, "detail").display
        assert not view(pane, "list").display
        assert "clip attention logits" in text(pane)
        await pilot.press("escape")
        assert view(pane, "list").display
        assert row(pane) == ("experiment", "E4")
        assert not pane.check_action("leave_detail", ())

    play(flow, SMALL)


def test_phases_are_folded_by_enter_and_by_left_and_right() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("left")
        assert row(pane) == ("phase", "hypotheses")
        await pilot.press("left")
        assert "H1" not in "".join(view(pane, "list").texts)
        assert "▸ next" in "".join(view(pane, "list").texts)
        await pilot.press("right")
        assert "H1" in "".join(view(pane, "list").texts)
        await pilot.press("enter")
        assert "H1" not in "".join(view(pane, "list").texts)
        show(pane, TRIAGE.model_copy(update={"owner": "lin"}))
        assert "H1" not in "".join(view(pane, "list").texts)
        assert row(pane) == ("phase", "hypotheses")

    app = play(flow)
    assert not wanted(app)


def test_keys_become_wishes_about_the_row() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.set_undo("added H5", "")
        await pilot.press("space", "L", "e", "w", "a", "u")
        pane.select("H1")
        await pilot.press("plus", "minus", "b", "J", "d", "enter")
        pane.select("seeds")
        await pilot.press("space", "w", "f", "n", "D", "p")

    app = play(flow)
    assert wanted(app) == [
        ("advance", "experiment", "E4", 0),
        ("link_run", "experiment", "E4", 0),
        ("plan", "hypothesis", "H3", 0),
        ("waive", "experiment", "E4", 0),
        ("add_hypothesis", "experiment", "E4", 0),
        ("undo", "session", TRIAGE.id, 0),
        ("confidence", "hypothesis", "H1", 1),
        ("confidence", "hypothesis", "H1", -1),
        ("add_evidence", "hypothesis", "H1", 0),
        ("move", "hypothesis", "H1", 1),
        ("remove", "hypothesis", "H1", 0),
        ("edit", "hypothesis", "H1", 0),
        ("advance", "check", "seeds", 0),
        ("waive", "check", "seeds", 0),
        ("answer", "fact", "seeds", 0),
        ("note", "check", "seeds", 0),
        ("decision", "check", "seeds", 0),
        ("prevention", "check", "seeds", 0),
    ]


def test_keys_that_mean_nothing_for_a_row_do_nothing() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.select("logs")
        await pilot.press("e", "plus", "L", "v", "b", "J", "d", "u", "U", "s", "T")

    assert not wanted(play(flow))


def test_evidence_is_gone_to_and_can_be_taken_back() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.select("H1")
        await pilot.press("l", "enter", "d")
        assert "Go there" in shown_keys(app)
        pane.action_step(1)
        pane.action_step(1)
        await pilot.press("j", "enter")  # the piece that is an experiment: its row
        assert row(pane) == ("experiment", "E1")
        await pilot.press("l", "enter")  # what it tests
        assert row(pane) == ("hypothesis", "H1")

    app = play(flow, WIDE)
    jumps = [m.evidence for m in app.heard if isinstance(m, ChecklistPane.EvidenceChosen)]
    assert jumps == [H1.evidence[0]]
    assert wanted(app) == [("remove", "evidence", "H1", 1)]
    assert [m.evidence for m in app.heard if isinstance(m, ChecklistPane.Wanted)] == jumps


def test_y_copies_the_command_and_in_the_detail_the_line_under_the_cursor() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.select("E1")
        await pilot.press("y")
        assert app.clipboard == E1.command
        pane.select("H1")
        await pilot.press("l", "end", "y")
        assert app.clipboard == H1.fixes[1].example

    play(flow, WIDE)


def test_the_keys_at_the_bottom_are_those_of_the_row() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        def own() -> list[str]:
            ids = {binding.id for binding in BINDINGS}
            active = app.screen.active_bindings.values()
            return [b.binding.description for b in active if b.binding.show and b.binding.id in ids]

        assert own()[:4] == ["Start", "Link run", "Copy command", "Cancel"]
        pane.select("seeds")
        assert own() == ["Tick", "Waive", "Answer", "Hypothesis"]
        pane.saving = Saving("unsaved", 2, "disk full")
        assert own()[0] == "Save elsewhere"
        pane.saving = Saving("read_only", 0, "opened by ada on login2, pid 4121", is_held=True)
        assert own() == ["Take over"]
        await pilot.press("space", "T", "enter")

    app = play(flow)
    assert wanted(app) == [("take_over", "session", TRIAGE.id, 0)]


def test_saving_is_said_and_loud_when_it_fails() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        assert "✔ saved" in text(pane)
        pane.saving = Saving("unsaved", 3, "disk full")
        assert "NOT SAVED (3): disk full: press s to save elsewhere" in text(pane)
        await pilot.press("s")
        pane.saving = Saving("draft")
        assert "draft" in text(pane)
        assert "NOT SAVED" not in text(pane)

    assert wanted(play(flow)) == [("save_elsewhere", "session", TRIAGE.id, 0)]


@pytest.mark.parametrize("size", [(82, 24), SMALL])
def test_the_first_picture_has_the_cursor_in_it(size: tuple[int, int]) -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        assert _cursor_row(view(pane, "list")) > 0

    play(flow, size)


def test_cursor_and_scroll_survive_updates() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.select("H2")
        await pilot.pause()
        listed = view(pane, "list")
        place = _cursor_row(listed)
        more = (H1.model_copy(update={"id": "H9"}), *TRIAGE.hypotheses)
        show(pane, TRIAGE.model_copy(update={"hypotheses": more}), "H1")
        await pilot.pause()
        assert row(pane) == ("hypothesis", "H2")
        assert _cursor_row(listed) == place
        gone = tuple(h for h in TRIAGE.hypotheses if h.id != "H2")
        show(pane, TRIAGE.model_copy(update={"hypotheses": gone}), "H1")
        assert pane.selected is not None

    play(flow)


def _cursor_row(listed: FindingView) -> int:
    rows = [y for y in range(listed.size.height) if listed.render_line(y).text.startswith("▌")]
    return rows[0]


def test_only_rows_that_changed_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        painted: list[tuple[str | None, int]] = []
        for part in pane.query(FindingView):
            monkeypatch.setattr(
                part,
                "refresh_lines",
                lambda y, count=1, part=part: painted.append((part.id, count)),
            )
        show(pane, TRIAGE.model_copy())
        assert not painted
        marks = {**TRIAGE.marks, "seeds": TRIAGE.marks["revision"]}
        show(pane, TRIAGE.model_copy(update={"marks": marks}))
        assert sorted(part or "" for part, _ in painted) == [
            "checklist-head",
            "checklist-list",
            "checklist-list",
        ]

    play(flow, (160, 90))


def test_a_row_can_be_selected_before_the_pane_is_seen() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.display = False
        await pilot.pause()
        assert pane.select("P1")
        assert not pane.select("nothing")
        pane.display = True
        await pilot.pause()
        assert row(pane) == ("prevention", "P1")
        assert pane.select("hardware", "fact")
        assert row(pane) == ("fact", "hardware")

    play(flow)


def test_a_draft_that_becomes_a_file_stays_where_it_is() -> None:
    draft = TRIAGE.model_copy(update={"id": "draft"})

    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.select("seeds")
        show(pane, TRIAGE)
        assert row(pane) == ("check", "seeds")
        show(pane, Session(id="other", title="another", created=BEGAN), "logs")
        assert row(pane) == ("check", "logs")

    play(flow, session=draft)


def test_without_a_session_the_pane_says_what_it_is_for() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        assert "No session yet" in text(pane)
        await pilot.press("enter", "space", "j", "l", "left", "y", "u", "a", "n", "pagedown", "G")
        show(pane, TRIAGE)
        assert "H1" in text(pane)
        show(pane, None)
        assert "No session yet" in text(pane)

    app = play(flow, session=None)
    assert wanted(app) == [("add_hypothesis", "session", "", 0), ("note", "session", "", 0)]


def test_undo_and_redo_are_named_at_the_lower_edge() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.set_undo("added H5: [/x] one", "moved E1 up")
        said = Content.from_markup(str(pane.border_subtitle)).plain
        assert said == "u undoes: added H5: [/x] one · U redoes: moved E1 up"
        await pilot.press("U")
        pane.saving = Saving("read_only", 0, "opened by ada", is_held=True)
        assert not str(pane.border_subtitle)
        pane.saving = Saving("saved")
        assert str(pane.border_subtitle)
        pane.set_undo("", "")
        assert not str(pane.border_subtitle)

    assert wanted(play(flow)) == [("redo", "session", TRIAGE.id, 0)]


def test_a_click_selects() -> None:
    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.click("#checklist-list", offset=(6, 0))
        assert row(pane) == ("phase", "intake")
        await pilot.click("#checklist-detail", offset=(6, 4))
        await pilot.press("enter")
        assert row(pane) == ("check", "seeds")

    play(flow, (160, 30))


def test_markup_and_escapes_are_text() -> None:
    evil = "[bold]x[/nope] \x1b[2J [link=a]"
    hypothesis = H1.model_copy(update={"statement": evil})
    session = TRIAGE.model_copy(update={"title": evil, "hypotheses": (hypothesis,)})

    async def flow(pane: ChecklistPane, app: Host, pilot: Pilot[None]) -> None:
        pane.select("H1")
        await pilot.press("y")
        assert "[bold]x[/nope] ·[2J [link=a]" in text(pane)
        assert "\x1b" not in text(pane)

    play(flow, session=session)
