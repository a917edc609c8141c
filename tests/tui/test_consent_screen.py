"""The question before anything is sent: all of it is shown, and only a yes to that is a yes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.events import Key
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.diagnosis.preview import Preview
from mltd.tui.claude_consent import consent_lines
from mltd.tui.consent_text import facts
from mltd.tui.engine.consult_protocol import Packed
from mltd.tui.screens.consent import ONCE, ConsentAnswers, ConsentScreen
from mltd.tui.sent_rows import escaped, rows_of
from mltd.tui.widgets.sent_page import SentPage
from tests.tui.hosting import Host

PREVIEW = Preview(
    host="gate.example.org",
    model="claude-sonnet-5-5",
    characters=15_865,
    tokens=10_773,
    dollars=0.027,
    masked={"key": 2, "password": 1},
    sections=(("Task and constraints", 312), ("Log excerpts", 1_048)),
    left_out=tuple(f"curve {n}" for n in range(12)),
    pack_tokens=24_000,
    max_dollars=2.0,
    budget_tokens=300_000,
)
TEXT = "\n".join(f"step {n} loss [b]{n / 7:.3f}[/b]\x1b[2J" for n in range(1, 2001))
PACKED = Packed(7, PREVIEW, TEXT)
REDACTED = Packed(7, PREVIEW._replace(is_redacted=True, masked={"host": 3, "key": 2}), "user-1\n")

Check = Callable[[Pilot[None], ConsentScreen], Awaitable[None]]


class Asked:
    """What became of the question."""

    def __init__(self) -> None:
        self.answers: list[bool | None] = []
        self.heard: list[Message] = []


def ask(check: Check, packed: Packed = PACKED, size: tuple[int, int] = (80, 24)) -> Asked:
    """Show the screen, do something, and tell what it ended with."""
    asked = Asked()
    host = Host(Static(), ConsentScreen.RedactionWanted)

    async def run() -> None:
        async with host.run_test(size=size) as pilot:
            screen = ConsentScreen(packed)
            await host.push_screen(screen, asked.answers.append)
            await pilot.pause()
            await check(pilot, screen)
            await pilot.pause()
        assert host.failures == []

    asyncio.run(run())
    asked.heard = host.heard
    return asked


def pressing(*keys: str) -> Check:
    async def check(pilot: Pilot[None], _screen: ConsentScreen) -> None:
        await pilot.press(*keys)

    return check


def seen(screen: ConsentScreen) -> list[str]:
    page = screen.query_one(SentPage)
    return [page.render_line(y).text.rstrip() for y in range(page.size.height)]


def answers(screen: ConsentScreen) -> str:
    return str(screen.query_one(ConsentAnswers).render())


# -- what is shown -------------------------------------------------------------------------


def test_everything_that_the_decision_needs_is_shown() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        said = " ".join(" ".join(seen(screen)).split())
        assert "sent to gate.example.org, for claude-sonnet-5-5" in said
        assert "size 15,865 characters" in said
        assert "tokens about 10,773" in said
        assert "cost about $0.027 to send; with all that it looks at and says, up to about $2" in (
            said
        )
        assert "secrets 3 masked: 2 key, 1 password" in said
        assert "users, hosts and paths stand in it as they are" in said
        assert "sections Task and constraints 312, Log excerpts 1,048" in said
        assert "left out curve 0; curve 1;" in said
        assert "curve 11" in said, "all of what is left out"
        assert "later what it asks to read of this run's own files" in said
        assert ONCE in said
        assert "step 1 loss [b]0.143[/b]·[2J" in said, "the text, and nothing that acts"

    ask(check, size=(160, 48))


def test_terminal_and_screen_say_the_same() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        said = " ".join(" ".join(seen(screen)).split())
        assert all(" ".join(f"{label} {text}".split()) in said for label, text in facts(PREVIEW))

    ask(check, size=(160, 48))
    few = PREVIEW._replace(left_out=())
    lines = [" ".join(line.split()) for line in consent_lines(few, "train.log")]
    assert lines[1:-1] == [f"{label} {text}" for label, text in facts(few)]
    assert lines[-1] == "The text itself: mltd-tui pack train.log --tokens 24000"


def test_the_terminal_tells_of_masked_names_and_cuts_a_long_list() -> None:
    assert REDACTED.preview is not None
    said = "\n".join(consent_lines(REDACTED.preview, "x"))
    assert "secrets   2 masked: 2 key\n" in said
    assert "names     users, hosts and paths are masked: 3 host\n" in said
    assert "curve 7; and 4 more\n" in said
    assert said.endswith("--tokens 24000 --redact")


def test_an_unknown_price_is_told_in_tokens() -> None:
    unknown = PREVIEW._replace(dollars=None, masked={}, left_out=())
    said = "\n".join(consent_lines(unknown, "x"))
    assert "cost unknown to send; in all at most about 300,000 tokens" in said
    assert "none was found to be masked" in said
    assert "nothing: all of the evidence fits" in said


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (160, 48), (20, 6)])
def test_the_whole_text_can_be_scrolled_through(size: tuple[int, int]) -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        page = screen.query_one(SentPage)
        read: list[str] = []
        page.go_to_end(is_last=False)
        while True:
            read += seen(screen)
            before = page.scroll_offset.y
            page.move(page.size.height)
            if page.scroll_offset.y == before:
                break
        said = "".join("".join(read).split())
        for number in (1, 1000, 2000):
            assert f"step{number}loss" in said
        assert "\x1b" not in said
        await pilot.press("home")
        assert page.scroll_offset.y == 0
        await pilot.press("end")
        assert page.scroll_offset.y == page.max_scroll_y > 1900

    ask(check, size=size)


def test_keys_scroll_and_v_switches_between_facts_and_text() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        page = screen.query_one(SentPage)
        await pilot.press("down", "j", "up")
        assert page.scroll_offset.y == 1
        await pilot.press("pagedown")
        assert page.scroll_offset.y == page.size.height
        await pilot.press("pageup", "k")
        assert page.scroll_offset.y == 0
        await pilot.press("v")
        assert "word for word" in seen(screen)[0]
        assert seen(screen)[1].split()[:3] == ["1", "step", "1"]
        await pilot.press("v")
        assert seen(screen)[0].startswith("This would be sent")

    ask(check)


def test_a_resize_wraps_anew() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        await pilot.resize_terminal(40, 20)
        await pilot.pause()
        assert 30 < max(map(cell_len, seen(screen))) <= 38
        assert seen(screen)[1].startswith("gate.example.org, for")

    ask(check, size=(160, 48))


# -- answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("y", True),
        ("Y", True),
        ("n", False),
        ("q", False),
        ("escape", False),
        ("enter", False),
        ("right enter", True),
        ("tab enter", True),
        ("tab tab enter", False),
        ("space end r", None),
    ],
)
def test_only_a_chosen_yes_sends(keys: str, expected: bool | None) -> None:
    said = ask(pressing(*keys.split())).answers
    assert said == ([] if expected is None else [expected])


@pytest.mark.parametrize("keys", [["y"], ["right", "enter"], ["r"], ["n"]])
def test_keys_pressed_before_it_could_be_read_count_for_nothing(keys: list[str]) -> None:
    early = [Key(key, key if len(key) == 1 else None) for key in keys]

    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        for event in early:
            pilot.app.post_message(event)
        await pilot.pause()
        assert screen.is_current

    asked = ask(check)
    assert (asked.answers, asked.heard) == ([], [])


def test_the_way_out_is_open_even_then() -> None:
    early = Key("escape", None)

    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        pilot.app.post_message(early)

    assert ask(check).answers == [False]


def test_a_second_yes_does_no_harm() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        for _ in range(3):
            pilot.app.post_message(Key("y", "y"))

    assert ask(check).answers == [True]


# -- masking names -------------------------------------------------------------------------


def test_r_asks_for_masks_and_until_they_come_there_is_nothing_to_agree_to() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        await pilot.press("right", "r", "r")
        assert "packing anew" in answers(screen)
        await pilot.press("y", "right", "enter")
        assert screen.is_current
        screen.show(REDACTED)
        early = Key("y", "y")
        await pilot.pause()
        pilot.app.post_message(early)
        await pilot.pause()
        assert screen.is_current, "it was pressed before the new text was on screen"
        assert screen.preview.is_redacted
        assert "packing anew" not in answers(screen)
        said = " ".join(" ".join(seen(screen)).split())
        assert "users, hosts and paths are masked: 3 host" in said
        assert "user-1" in said
        await pilot.press("r")
        screen.show(PACKED)
        await pilot.pause()
        await pilot.press("enter")

    asked = ask(check)
    wanted = [m.is_redacted for m in asked.heard if isinstance(m, ConsentScreen.RedactionWanted)]
    assert wanted == [True, False]
    assert asked.answers == [False], "Enter is a no again"


def test_packing_anew_can_be_given_up() -> None:
    assert ask(pressing("r", "n")).answers == [False]


def test_what_cannot_be_packed_anew_cannot_be_sent() -> None:
    async def check(pilot: Pilot[None], screen: ConsentScreen) -> None:
        await pilot.press("r")
        screen.show(Packed(7, None, "", "The log is\x1b gone", "look for it"))
        await pilot.pause()
        said = " ".join(seen(screen))
        assert "The log is· gone" in said
        assert "look for it" in said
        await pilot.press("y")
        assert screen.is_current
        await pilot.press("r")
        screen.show(PACKED)
        await pilot.pause()
        await pilot.press("y")

    asked = ask(check)
    assert asked.answers == [True]
    assert len(asked.heard) == 2


def test_nothing_packed_is_no_question() -> None:
    with pytest.raises(ValueError, match="no key"):
        ConsentScreen(Packed(1, problem="there is no key"))


# -- rows ----------------------------------------------------------------------------------


@given(st.text(max_size=300), st.integers(4, 30))
def test_rows_hold_every_character_and_never_more_cells_than_there_are(
    text: str, width: int
) -> None:
    rows = rows_of(text, width)
    assert all(cell_len(row.text) <= width for row in rows)
    lines: list[str] = []
    for row in rows:
        if row.number:
            lines.append("")
        lines[-1] += row.text
    assert lines == [escaped(line) for line in text.split("\n")]
    assert all(row.text.isprintable() for row in rows)
    assert [row.number for row in rows if row.number] == list(range(1, len(lines) + 1))


def test_words_stay_whole_where_they_can() -> None:
    assert [row.text for row in rows_of("alpha beta gamma", 12)] == ["alpha beta ", "gamma"]
    assert [row.text for row in rows_of("x" * 10, 4)] == ["xxxx", "xxxx", "xx"]


def test_a_bare_screen_imports_nothing_heavy() -> None:
    program = "import sys, mltd.tui.screens.consent; print(*sys.modules)"
    report = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    loaded = {name.split(".")[0] for name in report.stdout.split()}
    assert "textual" in loaded
    assert not loaded & {"numpy", "torch", "anthropic", "pandas"}
