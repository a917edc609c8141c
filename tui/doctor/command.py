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
    from .check import examine
    from .checks import all_checks
    from .document import document
    from .line import State, grouped, worst
    from .surroundings import here

    around = here(tuple(options.paths))
    # After the look at the environment. A thread for each of a login node's hundred cores would
    # be too much for a configuration file.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    lines = grouped(examine(all_checks(around.paths), around))
    if options.json:
        sys.stdout.write(document(lines) + "\n")
    else:
        from .text import WIDTH, render

        is_shown = sys.stdout.isatty()
        columns = around.size[0] if is_shown and around.size else WIDTH
        text = render(
            lines,
            columns=columns,
            unicode=around.terminal.is_unicode,
            colours=is_shown and around.terminal.colours > 0,
        )
        encoding = sys.stdout.encoding or "utf-8"
        for line in text:
            sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()
    return TROUBLE if worst(lines) is State.PROBLEM else 0
