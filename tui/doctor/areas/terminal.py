"""Size and colours of the terminal, and what lies between it and the app."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...terminal import LEAST_HEIGHT, LEAST_WIDTH, TRUE_COLOUR, too_small
from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "terminal"
COMFORTABLE = (80, 24)
"""Below this the app shows one pane at a time, or shortens much."""

_line = partial(Line, AREA)


def size(around: Surroundings) -> Iterator[Line]:
    """Is there room for the app?"""
    if around.size is None:
        yield _line(
            State.WARNING,
            "there is no terminal here, so the app has no screen",
            "log in with `ssh -t`, or use `mltd-tui check WHAT`, which needs none",
        )
        return
    width, height = around.size
    said = f"{width} columns x {height} lines"
    if too_small(width, height):
        yield _line(
            State.PROBLEM,
            f"{said}: nothing fits below {LEAST_WIDTH} x {LEAST_HEIGHT}",
            "make the window larger, or the font smaller",
        )
    elif width < COMFORTABLE[0] or height < COMFORTABLE[1]:
        yield _line(
            State.WARNING,
            f"{said}: less than {COMFORTABLE[0]} x {COMFORTABLE[1]} is cramped",
            "make the window larger",
        )
    else:
        yield _line(State.OK, said)


def colours(around: Surroundings) -> Iterator[Line]:
    """How many colours may be sent, and why not more."""
    terminal = around.terminal
    term = around.environment.get("TERM", "").strip()
    better = (
        "in tmux: `set -g default-terminal tmux-256color`"
        if terminal.multiplexer == "tmux"
        else "`export TERM=xterm-256color`, if the terminal has more; nearly all do"
    )
    if around.environment.get("NO_COLOR"):
        yield _line(State.OK, "no colours, as NO_COLOR asks")
    elif not term:
        yield _line(State.WARNING, "no colours: TERM is not set", better)
    elif terminal.colours == 0:
        yield _line(State.WARNING, f"no colours: TERM={term}", better)
    elif terminal.colours < 256:
        yield _line(State.WARNING, f"only {terminal.colours} colours: TERM={term}", better)
    elif terminal.colours < TRUE_COLOUR:
        yield _line(State.OK, f"256 colours: TERM={term}")
    else:
        said = around.environment.get("COLORTERM", "").strip()
        source = f"COLORTERM={said}" if said else f"TERM={term}"
        yield _line(State.OK, f"16.7 million colours: {source}")


def way(around: Surroundings) -> Iterator[Line]:
    """What the picture passes through on its way."""
    is_far = any(around.environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
    place = "over ssh" if is_far else "not over ssh"
    multiplexer = around.terminal.multiplexer
    if multiplexer:
        yield _line(State.OK, f"{place}, in {multiplexer}: the app survives a lost connection")
    elif is_far:
        yield _line(
            State.OK,
            f"{place}, without tmux or screen: the app ends with the connection",
            "start it in tmux to find it again",
        )
    else:
        yield _line(State.OK, place)


CHECKS = (
    Check(AREA, "the terminal's size", size, may_hang=False),
    Check(AREA, "colours", colours, may_hang=False),
    Check(AREA, "the way to the terminal", way, may_hang=False),
)
