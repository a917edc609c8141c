"""Forms and questions on screen: keys, problems, and nothing lost by a slip."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.tui.forms.field import Field, Kind, Values, neutral, one_line, tidy
from mltd.tui.screens.confirm import ConfirmScreen
from mltd.tui.screens.form import FormScreen
from mltd.tui.widgets.form_fields import ChoiceField, LineField, TextField, packed
from tests.tui.hosting import Host

COLOURS = (("r", "red"), ("g", "green"), ("b", "blue"))
FIELDS = (
    Field("name", "Name", is_required=True, hint="what it is called"),
    Field("colour", "Colour", "g", Kind.CHOICE, COLOURS, hint=lambda v: f"now {v['colour']}"),
    Field("fixed", "Fixed", "for\never", Kind.TEXT, is_locked=True),
    Field("story", "Story", "once", Kind.TEXT),
    Field("cause", "Cause", suggestions=("lr_too_high", "lr_too_low")),
)
START = {"name": "", "colour": "g", "fixed": "for\never", "story": "once", "cause": ""}
Answers = list[dict[str, str] | None]
Check = Callable[[Pilot[None], FormScreen], Awaitable[None]]


def nothing_wrong(values: Values) -> dict[str, str]:
    return {}


def fill(
    check: Check,
    fields: Sequence[Field] = FIELDS,
    problems: Callable[[dict[str, str]], dict[str, str]] = nothing_wrong,
    size: tuple[int, int] = (80, 24),
    note: str = "",
) -> Answers:
    """What the form ended with, if it did."""
    ended: Answers = []

    async def run() -> None:
        host = Host(Static())
        form = FormScreen("A [b]form[/b]\x1b", fields, problems, note)
        async with host.run_test(size=size) as pilot:
            await host.push_screen(form, ended.append)
            await pilot.pause()
            await check(pilot, form)
            await pilot.pause()
        assert host.failures == []

    asyncio.run(run())
    return ended


def text_of(screen: FormScreen | ConfirmScreen, selector: str) -> str:
    return str(screen.query_one(selector, Static).content)


def key_of(form: FormScreen) -> str:
    focused = form.focused
    assert isinstance(focused, LineField | TextField | ChoiceField)
    return focused.field.key


def pressed(key: str) -> Key:
    return Key(key, " " if key == "space" else key if len(key) == 1 else None)


async def send(pilot: Pilot[None], *events: Key | Paste) -> None:
    """All at once, as a slow line would deliver them."""
    for event in events:
        pilot.app.post_message(event)
    # Each time something moves on from one queue to the next.
    for _ in range(4):
        await pilot.pause()


# -- going through a form -------------------------------------------------------------------


def test_enter_goes_on_and_accepts_in_the_last_field() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("a", "b", "enter", "b", "enter", "!", "enter", "tab", "x", "enter")

    assert fill(check) == [{**START, "name": "ab", "colour": "b", "story": "once!", "cause": "x"}]


@pytest.mark.parametrize("key", ["ctrl+s", "f2", "ctrl+j"])
def test_it_can_be_accepted_from_anywhere(key: str) -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        form.query_one(TextField).focus()
        await pilot.press(key)

    assert fill(check) == [START]


def test_accepting_twice_is_accepting_once() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        form.action_accept()
        form.action_accept()
        form.action_leave()
        await pilot.pause()

    assert fill(check) == [START]


@pytest.mark.parametrize(("sent", "key"), [("\x13", "ctrl+s"), ("\n", "ctrl+j"), ("\x1bOQ", "f2")])
def test_any_terminal_can_send_the_keys_that_accept(sent: str, key: str) -> None:
    parser = XTermParser()
    found = [*parser.feed(sent), *parser.feed("x")]
    assert [event.key for event in found if isinstance(event, Key)] == [key, "x"]


def test_keys_that_come_in_a_bunch_take_effect_in_their_order() -> None:
    bunch = ["a", "b", "backspace", "c", "down", "r", "space", "tab", "left", "!", "enter",
             "tab", "d", "up", "x", "ctrl+s"]  # fmt: skip

    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await send(pilot, *map(pressed, bunch))

    (answers,) = fill(check)
    assert answers == {**START, "name": "ac", "colour": "g", "story": "onc!\nxe", "cause": "d"}


def test_arrows_walk_through_fields_and_lines() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        walked = [key_of(form)]
        for key in ("down", "down", "enter", "up", "down", "down", "up", "up", "up", "up"):
            await pilot.press(key)
            walked.append(key_of(form))
        assert walked == ["name", "colour", "story", "story", "story", "story", "cause",
                          "story", "story", "colour", "name"]  # fmt: skip

    fill(check)


def test_a_choice_is_made_by_arrows_space_letters_and_mouse() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        choice = form.query_one(ChoiceField)
        choice.focus()
        made = []
        for key in ("right", "right", "left", "space", "g", "x"):
            await pilot.press(key)
            made.append(choice.answer)
        assert made == ["b", "r", "b", "r", "g", "g"]
        assert text_of(form, "#form-hint") == "now g"
        await pilot.click(ChoiceField, offset=(2, 0))
        assert choice.answer == "r"

    fill(check)


def test_suggestions_are_shown_and_completed() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("up", "shift+tab", "T", "O", "O")
        assert key_of(form) == "cause"
        assert text_of(form, "#form-hint") == "lr_too_high  lr_too_low"
        await pilot.press("ctrl+u", "L", "r")
        await pilot.pause()
        await pilot.press("right", "ctrl+s")

    assert fill(check) == [{**START, "cause": "lr_too_high"}]


def test_it_begins_where_an_answer_is_missing() -> None:
    fields = (Field("a", "A", "full"), Field("b", "B", is_required=True))

    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        assert key_of(form) == "b"

    fill(check, fields)


# -- problems ---------------------------------------------------------------------------------


def test_problems_stand_beside_their_fields_and_nothing_is_lost() -> None:
    def problems(values: dict[str, str]) -> dict[str, str]:
        bad = {"cause": "not that", "name": "say a [b]name[/b]", "": "and it is late"}
        return {} if values["name"] == "xy" else bad

    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("x", "down", "b", "ctrl+s")
        assert key_of(form) == "name"
        assert text_of(form, "#form-problem-name") == "✖ say a [b]name[/b]"
        assert form.query_one("#form-problem-cause").display
        assert text_of(form, "#form-hint") == "✖ and it is late"
        await pilot.press("y")
        assert not form.query_one("#form-problem-name").display
        assert text_of(form, "#form-hint") == "what it is called"
        assert set(form.problems) == {"cause"}
        await pilot.press("ctrl+s")

    assert fill(check, problems=problems) == [{**START, "name": "xy", "colour": "b"}]


def test_a_problem_of_a_field_that_is_not_shown_is_told_all_the_same() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("ctrl+s")
        assert text_of(form, "#form-hint") == "✖ no such thing"

    assert fill(check, problems=lambda values: {"elsewhere": "no such thing"}) == []


def test_news_of_typing_before_the_check_does_not_hide_its_problem() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await send(pilot, pressed("x"), pressed("ctrl+s"))
        assert form.query_one("#form-problem-name").display

    fill(check, problems=lambda values: {"name": "no"})


# -- leaving ----------------------------------------------------------------------------------


def test_escape_leaves_an_untouched_form_at_once() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("down", "right", "left", "escape")

    assert fill(check) == [None]


def test_escape_asks_once_before_it_discards() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("x", "escape")
        assert "Discard what you typed? Esc again discards" in text_of(form, "#form-hint")
        await pilot.press("left")
        assert text_of(form, "#form-hint") == "what it is called"
        await pilot.press("escape", "y", "escape")
        assert form.values["name"] == "yx"
        await pilot.press("escape")

    assert fill(check) == [None]


# -- text from anywhere -----------------------------------------------------------------------

HOSTILE = "a\x1b[31m\r\nb\x07\x9b2J\tc‮"


def test_pasted_text_is_taken_in_without_what_a_terminal_could_act_on() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        pilot.app.post_message(Paste(HOSTILE))
        await pilot.pause()
        form.query_one(TextField).focus()
        await pilot.press("ctrl+u")
        pilot.app.post_message(Paste(HOSTILE + " 日本"))
        await pilot.pause()
        await pilot.press("ctrl+s")

    (answers,) = fill(check)
    assert answers is not None
    assert answers["name"] == "a·[31m b··2J c·"
    assert answers["story"] == "a·[31m\nb··2J c· 日本"


def test_a_paste_follows_the_keys_before_it_into_the_next_field() -> None:
    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await send(pilot, pressed("down"), pressed("tab"), Paste("!"), pressed("ctrl+s"))

    (answers,) = fill(check)
    assert answers is not None
    assert answers["story"] == "once!"


def test_what_a_form_begins_with_is_neutral_too() -> None:
    fields = (
        Field("a", HOSTILE, HOSTILE, hint=HOSTILE),
        Field("b", "B", HOSTILE, Kind.TEXT),
        Field("c", "C", "v", Kind.CHOICE, (("v", HOSTILE),)),
    )

    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        for strip in form._compositor.render_strips(form.size):
            assert strip.text.isprintable()
        assert not form.is_changed
        await pilot.press("ctrl+s")

    (answers,) = fill(check, fields, note=HOSTILE)
    assert answers is not None
    assert all(part.isprintable() for value in answers.values() for part in value.split("\n"))


@given(st.text())
def test_no_control_character_survives(text: str) -> None:
    assert neutral(text).replace("\n", "").isprintable()
    assert one_line(text).isprintable()
    assert tidy(tidy(text)) == tidy(text)


@given(st.lists(st.integers(1, 30), min_size=1), st.integers(1, 80))
def test_words_of_a_choice_are_all_there_and_fit(widths: list[int], room: int) -> None:
    lines = packed(widths, room)
    assert [number for line in lines for number, _ in line] == list(range(len(widths)))
    assert all(start + widths[n] <= room for line in lines for n, start in line if start)


# -- room -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(50, 14), (80, 24), (160, 48)])
def test_a_form_taller_than_the_screen_scrolls_to_where_the_keys_go(size: tuple[int, int]) -> None:
    fields = tuple(Field(f"f{n}", f"Field {n}", kind=Kind.TEXT) for n in range(12))

    async def check(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.press("shift+tab")
        await pilot.pause()
        assert key_of(form) == "f11"
        assert form.focused is not None
        assert pilot.app.screen.region.contains_region(form.query_one("#form").region)
        assert form.query_one("#form-fields").region.contains_region(form.focused.region)
        assert form.query_one("#form-keys").region.height == 1

    fill(check, fields, size=size)


def test_few_questions_have_air_around_them_and_many_have_not() -> None:
    async def airy(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.pause()
        assert not form.has_class("-dense")

    async def dense(pilot: Pilot[None], form: FormScreen) -> None:
        await pilot.pause()
        assert form.has_class("-dense")

    fill(airy, FIELDS[:2])
    fill(dense, tuple(Field(f"f{n}", "F") for n in range(11)))


# -- questions --------------------------------------------------------------------------------


def ask(*keys: str, **options: object) -> tuple[list[bool | None], str]:
    """What was answered, and what the dialog said."""
    ended: list[bool | None] = []
    said: list[str] = []

    async def run() -> None:
        host = Host(Static())
        question = ConfirmScreen("Delete [b]it[/b]?", "Gone\x07.", **options)  # type: ignore[arg-type]
        async with host.run_test(size=(80, 24)) as pilot:
            await host.push_screen(question, ended.append)
            await pilot.press(*keys)
            if not ended:
                said.append(
                    "\n".join(s.text for s in question._compositor.render_strips(host.size))
                )
        assert host.failures == []

    asyncio.run(run())
    return ended, "".join(said)


@pytest.mark.parametrize(
    ("keys", "is_destructive", "answer"),
    [
        (("y",), True, True),
        (("n",), True, False),
        (("escape",), True, False),
        (("enter",), True, False),
        (("right", "enter"), True, True),
        (("enter",), False, True),
        (("tab", "enter"), False, False),
    ],
)
def test_a_question_is_answered(keys: tuple[str, ...], is_destructive: bool, answer: bool) -> None:
    assert ask(*keys, is_destructive=is_destructive)[0] == [answer]


def test_a_question_is_text_and_says_what_will_happen() -> None:
    ended, said = ask("x", yes="delete it", no="keep it")
    assert ended == []
    assert "Delete [b]it[/b]?" in said
    assert "Gone·." in said
    assert "y  delete it" in said


def test_a_word_may_have_to_be_typed() -> None:
    assert ask("y", "e", "enter", word="yes")[0] == []
    assert "type yes to go on" in ask("y", "e", "enter", word="yes")[1]
    assert ask("y", "e", "s", "enter", word="yes")[0] == [True]
    assert ask("y", "escape", word="yes")[0] == [False]
