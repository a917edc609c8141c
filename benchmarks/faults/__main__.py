"""`python -m benchmarks.faults generate | score | report`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def default_folder() -> Path:
    """The user's cache, outside of the repository."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "mltd" / "faults"


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("generate", help="train the runs that are missing")
    make.add_argument("--out", type=Path, default=default_folder())
    make.add_argument("--slice", choices=("small", "full"), default="full")
    make.add_argument("--jobs", type=int, default=1)
    make.add_argument("--only", nargs="*", default=None, metavar="KIND")
    make.add_argument("--again", action="store_true", help="make the chosen runs afresh")
    judge = commands.add_parser("score", help="analyse the runs and compare with the truth")
    judge.add_argument("--data", type=Path, default=default_folder())
    judge.add_argument("--split", choices=("dev", "test", "all"), default="dev")
    judge.add_argument("--jobs", type=int, default=2)
    judge.add_argument("--json", action="store_true")
    judge.add_argument("--misses", action="store_true")
    judge.add_argument("--explain", metavar="RUN_ID")
    judge.add_argument(
        "--report", type=Path, metavar="FILE", help="write the figures between the file's markers"
    )
    chosen = parser.parse_args(arguments)
    if chosen.command == "generate":
        from .generate import generate
        from .plan import all_runs, small_slice

        runs = small_slice() if chosen.slice == "small" else all_runs()
        if chosen.only:
            runs = [one for one in runs if one.kind in chosen.only]
        if chosen.again:
            for one in runs:
                (chosen.out / "truth" / f"{one.run_id}.json").unlink(missing_ok=True)
        return 1 if generate(runs, chosen.out, chosen.jobs) else 0
    from .score import score_command

    return score_command(chosen)


if __name__ == "__main__":
    sys.exit(main())
