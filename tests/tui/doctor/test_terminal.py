"""The terminal: size, colours, what lies between, and the clipboard through a real tmux."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.tui.doctor.areas import terminal
from mltd.tui.doctor.areas.clipboard import TAKE_IT, clipboard
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings
from tests.conftest import RequireService

from .scene import SYSTEM, only, program

OK, WARNING, PROBLEM = State.OK, State.WARNING, State.PROBLEM


@pytest.mark.parametrize(
    ("size", "state", "word"),
    [
        (None, WARNING, "no terminal"),
        ((59, 24), PROBLEM, "nothing fits below 60 x 15"),
        ((80, 14), PROBLEM, "nothing fits"),
        ((79, 24), WARNING, "cramped"),
        ((80, 24), OK, "80 columns x 24 lines"),
    ],
)
def test_the_size(size: tuple[int, int] | None, state: State, word: str) -> None:
    line = only(terminal.size(Surroundings(size=size)))
    assert line.state is state
    assert word in line.fact
    assert bool(line.advice) is (state is not OK)


@pytest.mark.parametrize(
    ("environment", "state", "word"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, OK, "COLORTERM=truecolor"),
        ({"TERM": "tmux-direct"}, OK, "16.7 million colours: TERM=tmux-direct"),
        ({"TERM": "xterm-256color"}, OK, "256 colours"),
        ({"TERM": "xterm"}, WARNING, "only 16 colours"),
        ({"TERM": "dumb"}, WARNING, "no colours: TERM=dumb"),
        ({}, WARNING, "TERM is not set"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, OK, "as NO_COLOR asks"),
    ],
)
def test_the_colours(environment: dict[str, str], state: State, word: str) -> None:
    line = only(terminal.colours(Surroundings(environment)))
    assert line.state is state
    assert word in line.fact
    assert bool(line.advice) is (state is not OK)


@pytest.mark.parametrize(
    ("environment", "word", "has_advice"),
    [
        ({}, "not over ssh", False),
        ({"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}, "ends with the connection", True),
        ({"SSH_TTY": "/dev/pts/1", "TMUX": "x"}, "over ssh, in tmux", False),
        ({"STY": "1.pts"}, "in screen", False),
    ],
)
def test_the_way_to_the_terminal(environment: dict[str, str], word: str, has_advice: bool) -> None:
    line = only(terminal.way(Surroundings(environment)))
    assert word in line.fact
    assert "1.2.3.4" not in line.fact
    assert bool(line.advice) is has_advice


@pytest.mark.parametrize(
    ("environment", "state", "word"),
    [
        ({"TERM": "xterm"}, OK, "OSC 52"),
        ({"TERM": "screen", "STY": "1.pts"}, WARNING, "screen swallows"),
        ({"TERM": "linux"}, WARNING, "this terminal ignores"),
        ({"TERM": "tmux-256color"}, OK, "cannot be asked"),
        ({"TERM": "tmux", "TMUX": "/x,1,0", "PATH": "/nowhere"}, WARNING, "no tmux in PATH"),
    ],
)
def test_the_clipboard_without_a_tmux_to_ask(
    environment: dict[str, str], state: State, word: str
) -> None:
    line = only(clipboard(Surroundings(environment)))
    assert line.state is state
    assert word in line.fact


def test_a_tmux_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    program(tmp_path, "tmux", "sleep 60")
    environment = {"TMUX": "/x,1,0", "PATH": f"{tmp_path}:{SYSTEM}"}
    line = only(clipboard(Surroundings(environment, patience=0.3)))
    assert (line.state, line.advice) == (WARNING, f"`{TAKE_IT}`")
    assert "no answer" in line.fact


def test_a_tmux_that_does_not_know_of_the_clipboard_is_told(tmp_path: Path) -> None:
    program(
        tmp_path,
        "tmux",
        'case "$*" in *set-clipboard*) echo on;; *allow*) exit 1;; *) echo 256,title;; esac',
    )
    environment = {"TMUX": "/x,1,0", "PATH": f"{tmp_path}:{SYSTEM}"}
    line = only(clipboard(Surroundings(environment)))
    assert line.state is WARNING
    assert "terminal-features" in line.advice


@pytest.fixture
def tmux(tmp_path: Path, require_service: RequireService) -> Iterator[list[str]]:
    """A server of our own, without a terminal at its end; the words that begin a command."""
    require_service("tmux")
    words = ["tmux", "-S", str(tmp_path / "s")]
    environment = {k: v for k, v in os.environ.items() if k != "TMUX"}
    start = [*words, "-f", os.devnull, "new-session", "-d", "cat"]
    subprocess.run(start, check=True, env=environment)
    yield words
    subprocess.run([*words, "kill-server"], check=False, capture_output=True)


def test_a_real_tmux_is_asked(tmux: list[str]) -> None:
    environment = {"TMUX": f"{tmux[2]},1,0", "PATH": SYSTEM, "TERM": "tmux-256color"}
    around = Surroundings(environment, patience=20)
    line = only(clipboard(around))
    assert line.state is WARNING
    assert "set-clipboard is external" in line.fact
    subprocess.run([*tmux, *TAKE_IT.split()[1:]], check=True)
    assert only(clipboard(around)).state is OK
    subprocess.run([*tmux, "set", "-s", "set-clipboard", "off"], check=True)
    assert only(clipboard(around)).state is WARNING
    allowed = subprocess.run([*tmux, "set", "-g", "allow-passthrough", "on"], check=False)
    if allowed.returncode == 0:
        assert "allow-passthrough is on" in only(clipboard(around)).fact
