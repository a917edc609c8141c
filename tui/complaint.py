"""One line on stderr about what is wrong; for commands that should load nothing else."""

from __future__ import annotations

import sys

from mltd.runs.errors import MltdError

from .escaping import printable

UNUSABLE = 2
"""Exit code when some input could not be used."""


def complain(problem: MltdError) -> None:
    """What is wrong, where, what to do."""
    sys.stderr.write(f"mltd-tui: {printable(str(problem))}\n")
