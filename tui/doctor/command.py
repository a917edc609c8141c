"""The command `doctor`: options in, an answer on stdout, an exit code out."""

from __future__ import annotations

import argparse
import os
import sys

# Nothing else up here: the command line is built at every start of the app.

TROUBLE = 1
"""Exit code if there is a problem; warnings alone are none."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    doctor = commands.add_parser(
        "doctor", help="say what this terminal, file system, ssh and Slurm can do, and what to mend"
    )
    doctor.add_argument(
        "paths", nargs="*", metavar="PATH", help="where the logs are; without one, here"
    )
    doctor.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    """Look at everything and tell; 0 if there is no problem, else 1."""
    from .apart import look_apart
    from .document import document
    from .line import State, worst

    answer = look_apart(tuple(options.paths))
    if options.json:
        sys.stdout.write(document(answer.lines) + "\n")
    else:
        from ..terminal import own_environment, terminal_of
        from .text import WIDTH, render

        is_shown = sys.stdout.isatty()
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if is_shown else 0
        text = render(
            answer.lines,
            columns=columns or WIDTH,
            unicode=answer.is_unicode,
            colours=is_shown and terminal_of(own_environment()).colours > 0,
        )
        encoding = sys.stdout.encoding or "utf-8"
        for line in text:
            sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()
    return TROUBLE if worst(answer.lines) is State.PROBLEM else 0
