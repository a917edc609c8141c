"""Misspelt commands and options: what was meant, and the usage of the command in question."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn

_NEAR = 0.7
"""How alike a word and a name must be; below, a short file name is near many commands."""
_PATH_SIGNS = frozenset("/:*?[.~")
"""What a path, a glob, a host or a job has and no command."""


def check_first_word(arguments: Sequence[str], commands: Sequence[str]) -> None:
    """End with exit code 2 if the first word is a misspelt command, not something to open."""
    word = arguments[0] if arguments else ""
    if word.startswith("-") or _PATH_SIGNS & set(word) or _exists(word):
        return
    near = get_close_matches(word.casefold(), commands, 1, _NEAR)
    if near:
        from .escaping import printable

        shown = printable(word)
        sys.stderr.write(
            f"mltd-tui: there is no command and no file {shown}; "
            f"did you mean `mltd-tui {near[0]}`?\n"
        )
        raise SystemExit(2)


def explain_unknown(
    parser: argparse.ArgumentParser, options: argparse.Namespace, unknown: Sequence[str]
) -> NoReturn:
    """End with exit code 2, the usage of the command that was called, and the nearest options."""
    command = _innermost(parser, options)
    known = [name for action in command._actions for name in action.option_strings]
    meant: list[str] = []
    for word in unknown:
        near = get_close_matches(word.partition("=")[0], known, 1, _NEAR)
        meant += near if word.startswith("-") else ()
    hint = f"; did you mean {' '.join(dict.fromkeys(meant))}?" if meant else ""
    command.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def _innermost(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> argparse.ArgumentParser:
    """The parser of the command, or of its own sub-command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            chosen = action.choices.get(getattr(options, action.dest) or "")
            return parser if chosen is None else _innermost(chosen, options)
    return parser


def _exists(word: str) -> bool:
    try:
        return os.path.lexists(word)
    except ValueError:
        return False
