"""The locale: whether curves and glyphs can be drawn in Unicode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "locale"
VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")
_UNICODE = "export LC_ALL=C.UTF-8"

_line = partial(Line, AREA)


def drawing(around: Surroundings) -> Iterator[Line]:
    """Unicode or ASCII, and who decides."""
    deciding = next((name for name in VARIABLES if around.environment.get(name)), "")
    said = f"{deciding}={around.environment[deciding]}" if deciding else "no locale is set"
    if around.is_unicode is not None:
        drawn = "Unicode" if around.is_unicode else "ASCII"
        yield _line(State.OK, f"{drawn}, as the configuration file asks ({said})")
    elif around.terminal.is_unicode:
        yield _line(State.OK, f"Unicode: {said}")
    else:
        yield _line(
            State.WARNING,
            f"everything is drawn in ASCII: {said}",
            f"`{_UNICODE}`, or `unicode = true` below [screen] in the configuration file",
        )


def installed(around: Surroundings) -> Iterator[Line]:
    """A locale that ssh brought along may not exist on this machine."""
    answer = around.ask("locale", "charmap", share=0.5)
    if "Cannot set LC_CTYPE" in answer.errors:
        yield _line(
            State.WARNING,
            "this locale is not installed here: other programs fall back to ASCII",
            f"`{_UNICODE}`, or one that `locale -a` lists",
        )


CHECKS = (
    Check(AREA, "the locale", drawing, may_hang=False),
    Check(AREA, "the installed locales", installed),
)
