"""A keymap of the user's own is checked as a whole, and then it works."""

from __future__ import annotations

import asyncio
import contextlib
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App
from textual.binding import Binding, BindingType

from mltd.runs.errors import SettingsError
from mltd.tui.keymap import Scope, bindings_of, checked, key_names, keys_of
from mltd.tui.pane import Pane


class Pager(Pane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "follow", "Follow", id="log.follow"),
        Binding("w", "wrap", "Wrap", id="log.wrap"),
        Binding("x", "unnamed", "Unnamed"),
    ]


class Reader(Pager):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,N", "next", "Next", id="log.next"),
        Binding("e", "follow", "Follow", id="log.follow"),
    ]


LOG = Scope("log", bindings_of(Reader))
OTHER = Scope("curves", (Binding("y", "scale", "Scale", id="curves.scale"),))
SCOPES = (LOG, OTHER)


def test_commands_are_gathered_with_what_a_class_inherits_and_replaces() -> None:
    found = {binding.id: binding.key for binding in bindings_of(Reader)}
    assert found == {"log.follow": "e", "log.wrap": "w", "log.next": "n,N"}


def test_a_keymap_without_faults_is_returned_as_it_is() -> None:
    keymap = {"log.follow": "e, end", "log.wrap": "ctrl+w", "log.next": "?,f5,space,comma"}
    assert checked(keymap, SCOPES, "c.toml") == keymap
    assert keys_of(LOG.bindings[0], keymap) == ("e", "end")
    assert keys_of(LOG.bindings[2], keymap) == ("question_mark", "f5", "space", "comma")


def test_two_commands_may_change_places() -> None:
    swapped = {"log.follow": "w", "log.wrap": "e"}
    assert checked(swapped, SCOPES, "c.toml") == swapped


def test_one_key_may_serve_two_panes() -> None:
    assert checked({"curves.scale": "w"}, SCOPES, "c.toml")


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"log.folow": "e"}, 'keys."log.folow" is no command (did you mean "log.follow"?)'),
        ({"log.wrap": "esc"}, '"esc" is no key (did you mean "escape"?)'),
        ({"log.wrap": "pgup"}, 'did you mean "pageup"?'),
        ({"log.wrap": "control+a"}, '"control" is none of ctrl, shift'),
        ({"log.wrap": "shift+e"}, 'terminals send "E"'),
        ({"log.wrap": "a,,b"}, 'the comma key is called "comma"'),
        ({"log.wrap": ""}, "a key is missing"),
        ({"log.wrap": "ctrl++"}, 'called "plus"'),
        ({"log.wrap": "solidus"}, '"solidus" is called "slash"'),
        ({"log.wrap": "e"}, '"log.follow" and "log.wrap" are both on e (log)'),
        ({"log.wrap": "N"}, '"log.wrap" and "log.next" are both on N (log)'),
        ({"log.wrap": "a", "log.next": "a"}, "are both on a (log)"),
    ],
)
def test_a_fault_is_explained(keymap: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError) as told:
        checked(keymap, SCOPES, "c.toml")
    assert said in str(told.value)
    assert str(told.value).startswith("c.toml: ")


def test_all_faults_come_in_one_sentence() -> None:
    with pytest.raises(SettingsError) as told:
        checked({"nothing": "a", "log.wrap": "esc", "log.next": "tap"}, SCOPES, "c.toml")
    assert str(told.value).count('keys."') == 3


def test_what_our_own_keys_share_is_not_held_against_the_user() -> None:
    shared = Scope("log", (*LOG.bindings, Binding("w", "other", "Other", id="log.other")))
    assert checked({"log.next": "m"}, [shared], "c.toml")


@given(st.dictionaries(st.sampled_from(["log.follow", "log.wrap"]), st.text()))
def test_no_text_breaks_the_check(keymap: dict[str, str]) -> None:
    with contextlib.suppress(SettingsError):
        checked(keymap, SCOPES, "c.toml")


@given(st.sampled_from(sorted(key_names())))
def test_every_listed_key_can_be_used(name: str) -> None:
    assert checked({"curves.scale": name}, [OTHER], "c.toml")


class Sample(App[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f", "follow", "Follow", id="log.follow")]

    def __init__(self) -> None:
        super().__init__()
        self.followed = 0

    def action_follow(self) -> None:
        self.followed += 1


def test_textual_takes_the_keymap() -> None:
    async def press() -> int:
        app = Sample()
        async with app.run_test() as pilot:
            scope = Scope("app", bindings_of(Sample))
            app.set_keymap(checked({"log.follow": "e, ?"}, [scope], "c.toml"))
            await pilot.press("e", "question_mark", "f")
        return app.followed

    assert asyncio.run(press()) == 2
