"""What the terminal can do, as far as the environment tells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LEAST_WIDTH = 60
LEAST_HEIGHT = 15
TRUE_COLOUR = 1 << 24

_MONOCHROME = ("dumb", "unknown", "vt", "wy", "hp", "network", "dialup")
_MANY_COLOURS = ("kitty", "ghostty", "alacritty", "foot", "wezterm", "contour", "rio", "konsole")
_NO_CLIPBOARD = ("linux", "dumb", "unknown", "vt", "cons25")
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")


@dataclass(frozen=True, slots=True)
class Terminal:
    """Facts about a terminal."""

    is_unicode: bool = True
    colours: int = 256
    """0 (none wanted or none there), 8, 16, 256 or 2**24."""
    multiplexer: str = ""
    """`tmux`, `screen` or empty."""
    has_clipboard: bool = True
    """OSC 52 probably reaches the user's clipboard."""

    @property
    def colour_system(self) -> str:
        """The same as `TEXTUAL_COLOR_SYSTEM` wants it: what may be sent."""
        if self.colours >= TRUE_COLOUR:
            return "truecolor"
        return "256" if self.colours >= 256 else "standard"

    def passed_on(self, sequence: str) -> str:
        """A sequence for the terminal itself, wrapped so that a multiplexer passes it on."""
        if self.multiplexer == "tmux":
            return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
        if self.multiplexer == "screen":
            return f"\x1bP{sequence}\x1b\\"
        return sequence


def terminal_of(environment: Mapping[str, str], is_unicode: bool | None = None) -> Terminal:
    """What these environment variables say about the terminal; the user may know better."""
    multiplexer = _multiplexer(environment)
    return Terminal(
        is_unicode=_is_unicode(environment) if is_unicode is None else is_unicode,
        colours=_colours(environment),
        multiplexer=multiplexer,
        has_clipboard=multiplexer != "screen"
        and environment.get("TERM_PROGRAM") != "Apple_Terminal"
        and not environment.get("TERM", "").lower().startswith(_NO_CLIPBOARD),
    )


def too_small(width: int, height: int) -> bool:
    """True if no layout of ours fits."""
    return width < LEAST_WIDTH or height < LEAST_HEIGHT


def own_environment(started_with: Path = Path("/proc/self/environ")) -> dict[str, str]:
    """The environment as the user's shell gave it to this process."""
    environment = dict(os.environ)
    # In the C locale Python puts LC_CTYPE=C.UTF-8 into its own environment (PEP 538), and what
    # the terminal can show would be forgotten.
    if environment.get("LC_CTYPE") in _COERCED and "LC_ALL" not in environment:
        try:
            given = started_with.read_bytes().split(b"\0")
        except OSError:
            return environment
        if not any(entry.startswith(b"LC_CTYPE=") for entry in given):
            del environment["LC_CTYPE"]
    return environment


def _is_unicode(environment: Mapping[str, str]) -> bool:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if value := environment.get(name):
            return "utf8" in value.lower().replace("-", "")
    return False


def _colours(environment: Mapping[str, str]) -> int:
    term = environment.get("TERM", "").strip().lower()
    if environment.get("NO_COLOR") or not term or term.startswith(_MONOCHROME):
        return 0
    if term.endswith(("-m", "-mono")):
        return 0
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return TRUE_COLOUR
    if term.endswith("-direct"):
        return TRUE_COLOUR
    if term.endswith("-256color") or any(name in term for name in _MANY_COLOURS):
        return 256
    return 8 if term.endswith("-8color") or term == "ansi" else 16


def _multiplexer(environment: Mapping[str, str]) -> str:
    term = environment.get("TERM", "").lower()
    if environment.get("TMUX") or term.startswith("tmux"):
        return "tmux"
    # TERM=screen alone says little: tmux calls itself so too, and passes its TERM on over ssh.
    return "screen" if environment.get("STY") else ""
