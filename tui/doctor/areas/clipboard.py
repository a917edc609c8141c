"""Does a copied text reach the clipboard of the machine in front of the user (OSC 52)?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "terminal"
TAKE_IT = "tmux set -s set-clipboard on"

_line = partial(Line, AREA)


def clipboard(around: Surroundings) -> Iterator[Line]:
    """Ask tmux if there is one; what the terminal itself does can only be guessed."""
    terminal = around.terminal
    if around.environment.get("TMUX"):
        yield _through_tmux(around)
    elif terminal.multiplexer == "screen":
        yield _line(
            State.WARNING,
            "no clipboard: screen swallows what is copied",
            "use tmux, or hold shift and select with the mouse",
        )
    elif not terminal.has_clipboard:
        yield _line(
            State.WARNING,
            "no clipboard: this terminal ignores what is copied",
            "select with the mouse, or use a terminal that knows OSC 52",
        )
    elif terminal.multiplexer == "tmux":
        yield _line(
            State.OK,
            "copying goes through a tmux that cannot be asked from here",
            f"if nothing arrives, there: `{TAKE_IT}`",
        )
    else:
        yield _line(
            State.OK,
            "copying uses OSC 52, which most terminals take",
            "if nothing arrives, allow it in the terminal's settings",
        )


def _through_tmux(around: Surroundings) -> Line:
    taken = around.ask("tmux", "show-options", "-sv", "set-clipboard", share=0.3)
    if not taken.is_good:
        why = "no answer" if taken.is_late else "no tmux in PATH" if taken.is_missing else ""
        return _line(
            State.WARNING,
            f"tmux does not say whether it passes copied text on: {why or taken.complaint}",
            f"`{TAKE_IT}`",
        )
    passing = around.ask("tmux", "show-options", "-gv", "allow-passthrough", share=0.3)
    is_passed = passing.is_good and passing.output.strip() in ("on", "all")
    if is_passed:
        return _line(State.OK, "copying goes through tmux: allow-passthrough is on")
    setting = taken.output.strip()
    if setting != "on":
        return _line(
            State.WARNING,
            f"tmux swallows what is copied: set-clipboard is {setting}",
            f"`{TAKE_IT}`, and the same in ~/.tmux.conf",
        )
    features = around.ask("tmux", "display-message", "-p", "#{client_termfeatures}", share=0.3)
    known = features.output.strip().split(",") if features.is_good else []
    # Before version 3.2 there is no such variable, and the answer is empty.
    if known and known != [""] and "clipboard" not in known:
        return _line(
            State.WARNING,
            "tmux keeps what is copied: it does not know that the terminal has a clipboard",
            "`tmux set -as terminal-features ',*:clipboard'`, then attach anew",
        )
    return _line(State.OK, "copying goes through tmux: set-clipboard is on")


CHECKS = (Check(AREA, "the clipboard", clipboard, late_advice=f"`{TAKE_IT}`"),)
