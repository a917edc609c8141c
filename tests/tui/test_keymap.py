"""A keymap of the user's own is checked as a whole, and then it works."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App
from textual.binding import Binding, BindingType

from mltd.tui.keymap import Checked, Scope, bindings_of, check_keymap, key_names, keys_of
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
    assert check_keymap(keymap, SCOPES) == Checked(keymap, {})
    assert keys_of(LOG.bindings[0], keymap) == ("e", "end")
    assert keys_of(LOG.bindings[2], keymap) == ("question_mark", "f5", "space", "comma")


def test_two_commands_may_change_places() -> None:
    swapped = {"log.follow": "w", "log.wrap": "e"}
    assert check_keymap(swapped, SCOPES) == Checked(swapped, {})


def test_one_key_may_serve_two_panes() -> None:
    assert check_keymap({"curves.scale": "w"}, SCOPES).keymap


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
        (
            {"log.wrap": "e"},
            'keys."log.wrap" = "e": e belongs to "log.follow" already (log); "log.wrap" stays on w',
        ),
        ({"log.wrap": "N"}, 'N belongs to "log.next" already (log); "log.wrap" stays on w'),
        (
            {"log.wrap": "a", "log.next": "a"},
            'keys."log.next" = "a": a belongs to "log.wrap" already (log); '
            '"log.next" stays on n and N',
        ),
    ],
)
def test_a_mistake_is_explained(keymap: dict[str, str], said: str) -> None:
    (mistake,) = check_keymap(keymap, SCOPES).mistakes.values()
    assert said in mistake


def test_one_mistake_leaves_the_other_entries_alone() -> None:
    wanted = {"nothing": "a", "log.wrap": "esc", "log.follow": "n", "log.next": "tab"}
    checked = check_keymap(wanted, SCOPES)
    assert checked.keymap == {"log.follow": "n", "log.next": "tab"}
    assert list(checked.mistakes) == ["nothing", "log.wrap"]


def test_a_key_that_a_command_gets_back_is_taken_from_nobody() -> None:
    # "log.wrap" would have left w to "log.follow", but its own wish cannot be granted.
    checked = check_keymap({"log.follow": "w", "log.wrap": "esc"}, SCOPES)
    assert checked.keymap == {}
    assert 'w belongs to "log.wrap" already' in checked.mistakes["log.follow"]


@given(
    st.dictionaries(
        st.sampled_from(["log.follow", "log.wrap", "log.next", "curves.scale"]),
        st.sampled_from(["a", "e", "w", "n", "N", "y", "e,w", "n,a", "esc", "a,N"]),
    )
)
def test_what_is_left_never_clashes_and_the_rest_is_explained(keymap: dict[str, str]) -> None:
    checked = check_keymap(keymap, SCOPES)
    assert {*checked.keymap} | {*checked.mistakes} == {*keymap}
    assert not {*checked.keymap} & {*checked.mistakes}
    for scope in SCOPES:
        keys = [key for binding in scope.bindings for key in keys_of(binding, checked.keymap)]
        assert len(keys) == len(set(keys))


def test_what_our_own_keys_share_is_not_held_against_the_user() -> None:
    shared = Scope("log", (*LOG.bindings, Binding("w", "other", "Other", id="log.other")))
    assert check_keymap({"log.next": "m"}, [shared]).keymap


@given(st.dictionaries(st.sampled_from(["log.follow", "log.wrap"]), st.text()))
def test_no_text_breaks_the_check(keymap: dict[str, str]) -> None:
    checked = check_keymap(keymap, SCOPES)
    assert {*checked.keymap} | {*checked.mistakes} == {*keymap}


@given(st.sampled_from(sorted(key_names())))
def test_every_listed_key_can_be_used(name: str) -> None:
    assert check_keymap({"curves.scale": name}, [OTHER]).keymap


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
            app.set_keymap(check_keymap({"log.follow": "e, ?"}, [scope]).keymap)
            await pilot.press("e", "question_mark", "f")
        return app.followed

    assert asyncio.run(press()) == 2
