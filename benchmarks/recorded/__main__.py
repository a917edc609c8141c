"""Scores the diagnosis on the recorded runs.

Usage: python -m benchmarks.recorded [--misses] [--jobs 2] [SET...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.faults.report import text
from benchmarks.faults.score import judge_all
from benchmarks.faults.truth import read_truths

from .sets import NAMES, unpack


def main() -> int:
    """Print the figures of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", choices=[*NAMES, []], metavar="SET")
    parser.add_argument("--misses", action="store_true", help="name what is missed or wrong")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recorded-") as place:
        for name in chosen.sets or NAMES:
            data = unpack(name, Path(place))
            judged = judge_all(read_truths(data), data, chosen.jobs)
            sys.stdout.write(f"{name}\n{text(judged, 'recorded', misses=chosen.misses)}\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
