"""`python -m benchmarks.second generate | score`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from benchmarks.faults.__main__ import main as score

from .generate import SEED_BASE, all_runs, generate, kind_of, renew


def default_folder() -> Path:
    """The user's cache, outside of the repository."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "mltd" / "second"


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("generate", help="train the runs that are missing")
    make.add_argument("--out", type=Path, default=default_folder())
    make.add_argument("--seed-base", type=int, default=SEED_BASE, metavar="N")
    make.add_argument("--jobs", type=int, default=1)
    make.add_argument("--only", nargs="*", default=None, metavar="KIND")
    judge = commands.add_parser("score", help="score all runs with the first bench's scorer")
    judge.add_argument("--data", type=Path, default=default_folder())
    judge.add_argument("--seed-base", type=int, default=SEED_BASE, metavar="N")
    chosen, others = parser.parse_known_args(arguments)
    if chosen.command == "score":
        with contextlib.redirect_stdout(sys.stderr):
            renew(chosen.seed_base, chosen.data)
        return score(["score", "--data", str(chosen.data), "--split", "all", *others])
    if others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    runs = all_runs(chosen.seed_base)
    if chosen.only:
        runs = [one for one in runs if kind_of(one) in chosen.only]
    return 1 if generate(runs, chosen.out, chosen.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
