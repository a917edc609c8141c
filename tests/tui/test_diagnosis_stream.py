"""The diagnosis pane while Claude answers: it follows what comes, and can be stopped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from mltd.diagnosis.events import Text, Thinking
from mltd.tui.claude.talk import Talk
from mltd.tui.findings.blocks import Block
from mltd.tui.widgets import diagnosis_pane
from mltd.tui.widgets.diagnosis_pane import DiagnosisPane

from .hosting import Host, pause_until
from .opinions import DONE, EVENTS, LR, PAGE, consulted
from .test_diagnosis_pane import SMALL, line, play, text, view
from .test_diagnosis_talk import answered, asked


def test_escape_stops_what_is_under_way_once_and_is_left_to_others_otherwise() -> None:
    talk = asked()
    talk.take(EVENTS)

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert line(pane, "budget").endswith("esc stops")
        await pilot.press("escape")
        talk.stop()
        pane.update_talk()
        assert "is being stopped" in text(pane)
        assert line(pane, "budget").endswith("stopping…")
        await pilot.press("escape")
        talk.end(consulted(None, is_cancelled=True))
        pane.update_talk()
        await pilot.press("escape")

    heard = play(flow, talk).heard
    assert [type(message) for message in heard] == [DiagnosisPane.Stopped]


def test_escape_also_leaves_evidence_that_is_got_ready() -> None:
    talk = Talk(1, 0, "run1")
    talk.pack()

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("escape")

    assert [type(m) for m in play(flow, talk).heard] == [DiagnosisPane.Stopped]


def test_pictures_are_few_while_text_streams_and_the_end_is_seen_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(diagnosis_pane, "PAINT_SECONDS", 3600.0)
    talk = asked()

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        shown: list[int] = []
        show = view(pane).show

        def counted(blocks: Sequence[Block], *, cursor: object = None, is_new: bool) -> None:
            shown.append(len(blocks))
            show(blocks, is_new=is_new)

        monkeypatch.setattr(view(pane), "show", counted)
        for number in range(500):
            talk.take((Text(f"{number} words "),))
            pane.update_talk()
        assert len(shown) == 1
        assert "0 words" in text(pane)
        assert "499 words" not in text(pane)
        talk.end(consulted(None, problem="The stream was cut"))
        pane.update_talk()
        assert len(shown) == 2
        assert "499 words" in text(pane)
        assert "The stream was cut" in text(pane)

    play(flow, talk)


def test_what_came_between_two_pictures_is_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis_pane, "PAINT_SECONDS", 0.001)
    talk = asked()

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        for word in ("one", "two", "three"):
            talk.take((Text(f"{word} "),))
            pane.update_talk()
        await pause_until(pilot, lambda: "one two three" in text(pane))

    play(flow, talk)


def at_end(pane: DiagnosisPane) -> bool:
    return round(view(pane).scroll_y) == view(pane).max_scroll_y


def test_it_follows_the_end_unless_somebody_reads_above(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = asked()

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        async def say(what: str) -> None:
            talk.take((Text(what),))
            pane._paint()
            await pilot.pause()

        await say("a line\n" * 40)
        assert at_end(pane)
        assert view(pane).max_scroll_y > 10
        await pilot.press("pageup")
        place = view(pane).scroll_y
        await say("more\n" * 5)
        assert view(pane).scroll_y == place
        assert "new text came below; G goes there" in line(pane, "below")
        await pilot.press("G")
        await pilot.pause()
        assert line(pane, "below") == ""
        assert at_end(pane)
        await say("the end\n" * 5)
        assert at_end(pane)
        view(pane).scroll_to(y=0, animate=False)  # as the wheel does
        await say("again\n" * 5)
        assert view(pane).scroll_y == 0
        assert line(pane, "below")

    play(flow, talk, SMALL)


def test_who_followed_reads_the_answer_from_its_beginning() -> None:
    talk = asked()
    talk.take((*DONE, Text("a line\n" * 40)))

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert at_end(pane)
        talk.end(consulted())
        pane.update_talk()
        await pilot.pause()
        top = view(pane).texts[round(view(pane).scroll_y)]
        assert top.startswith("Claude: more data needed")
        assert pane.pointed is not None
        assert pane.pointed.opined is LR

    play(flow, talk, SMALL)


def test_who_read_above_is_told_of_the_answer_and_taken_there() -> None:
    talk = answered()
    talk.begin("and now?")
    talk.take((Text("a line\n" * 40),))

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("g")
        assert view(pane).scroll_y == 0
        talk.end(consulted(PAGE._replace(summary="Another summary.")))
        pane.update_talk()
        await pilot.pause()
        assert view(pane).scroll_y == 0
        assert "Claude has answered below" in line(pane, "below")
        await pilot.press("G")
        await pilot.pause()
        row = round(view(pane).scroll_y)
        assert "Another summary." in "\n".join(view(pane).texts[row : row + 5])
        assert line(pane, "below") == ""

    play(flow, talk, SMALL)


def test_time_ticks_while_it_is_asked_and_rests_afterwards() -> None:
    clock = [0.0]
    talk = asked(clock=clock)

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert line(pane, "budget").startswith("claude-sonnet-5-5 · 0 s")
        clock[0] = 65.0
        await pause_until(pilot, lambda: "1 min 5 s" in line(pane, "budget"))
        assert pane._ticking is not None
        talk.end(consulted())
        pane.update_talk()
        assert "$0.034 · 48 s" in line(pane, "budget")
        assert pane._ticking is None

    play(flow, talk)


def test_thoughts_are_folded_by_a_key_and_stay_so_while_more_comes() -> None:
    talk = asked()
    talk.take((Thinking("so many thoughts\n" * 9), Text("So.")))

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert "so many thoughts" not in text(pane)
        await pilot.press("enter")
        assert text(pane).count("so many thoughts") == 9
        talk.take((Text(" And more."),))
        talk.end(consulted(None))
        pane.update_talk()
        assert text(pane).count("so many thoughts") == 9
        await pilot.press("enter")
        assert "so many thoughts" not in text(pane)

    play(flow, talk)
