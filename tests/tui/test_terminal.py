"""Facts about the terminal come from the environment alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.tui.terminal import TRUE_COLOUR, Terminal, own_environment, terminal_of, too_small


@pytest.mark.parametrize(
    ("environment", "is_unicode"),
    [
        ({}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "de_DE.utf8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, False),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C", "LC_ALL": "C.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_ALL": ""}, True),
        ({"LANG": "ja_JP.eucJP"}, False),
    ],
)
def test_the_first_locale_variable_that_is_set_decides(
    environment: dict[str, str], is_unicode: bool
) -> None:
    assert terminal_of(environment).is_unicode is is_unicode


def test_the_user_knows_better_than_the_locale() -> None:
    assert terminal_of({"LANG": "C"}, is_unicode=True).is_unicode


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({}, 0),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, 0),
        ({"TERM": "vt100"}, 0),
        ({"TERM": "xterm-mono"}, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, 256),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, TRUE_COLOUR),
        ({"TERM": "tmux-direct"}, TRUE_COLOUR),
        ({"TERM": "xterm-kitty"}, 256),
        ({"TERM": "alacritty"}, 256),
        ({"TERM": "linux"}, 16),
        ({"TERM": "screen"}, 16),
        ({"TERM": "xterm-8color"}, 8),
    ],
)
def test_the_number_of_colours(environment: dict[str, str], colours: int) -> None:
    assert terminal_of(environment).colours == colours


@pytest.mark.parametrize(
    ("colours", "system"),
    [(0, "standard"), (16, "standard"), (256, "256"), (TRUE_COLOUR, "truecolor")],
)
def test_textual_is_told_what_may_be_sent(colours: int, system: str) -> None:
    assert Terminal(colours=colours).colour_system == system


@pytest.mark.parametrize(
    ("environment", "multiplexer", "has_clipboard"),
    [
        ({"TERM": "xterm-256color"}, "", True),
        ({"TERM": "screen-256color", "TMUX": "/run/tmux-0/default,1,0"}, "tmux", True),
        ({"TERM": "tmux-256color"}, "tmux", True),
        ({"TERM": "screen", "STY": "12.pts-0"}, "screen", False),
        ({"TERM": "screen"}, "", True),
        ({"TERM": "linux"}, "", False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "", False),
    ],
)
def test_multiplexer_and_clipboard(
    environment: dict[str, str], multiplexer: str, has_clipboard: bool
) -> None:
    terminal = terminal_of(environment)
    assert (terminal.multiplexer, terminal.has_clipboard) == (multiplexer, has_clipboard)


def test_a_sequence_passes_through_tmux_with_its_escapes_doubled() -> None:
    assert Terminal(multiplexer="tmux").passed_on("\x1b]9;a\a") == "\x1bPtmux;\x1b\x1b]9;a\a\x1b\\"
    assert Terminal(multiplexer="screen").passed_on("\x1b]9;a\a") == "\x1bP\x1b]9;a\a\x1b\\"
    assert Terminal().passed_on("\x1b]9;a\a") == "\x1b]9;a\a"


def test_below_sixty_by_fifteen_nothing_fits() -> None:
    assert not too_small(60, 15)
    assert too_small(59, 15)
    assert too_small(60, 14)


@pytest.mark.parametrize(("given", "kept"), [(b"LANG=C\0", False), (b"LC_CTYPE=C.UTF-8\0", True)])
def test_a_locale_that_python_set_itself_is_forgotten(
    given: bytes, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    started_with = tmp_path / "environ"
    started_with.write_bytes(given)
    assert ("LC_CTYPE" in own_environment(started_with)) is kept
    assert "LC_CTYPE" in own_environment(tmp_path / "none")
