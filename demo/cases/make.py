"""Train the cases and keep their logs, configs and checkpoints for the end-to-end tests.

Usage: python demo/cases/make.py [CASE...]

Everything under `tests/analyzers/cases/data/` comes from here, byte for byte from real trainings
of a few seconds each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "tests" / "analyzers" / "cases" / "data"
MOST_BYTES = 200_000
"""Of one case: the repository is not a place for weights."""


@dataclass(frozen=True)
class Part:
    """One training: where its files go, and how it is started."""

    folder: str
    script: str
    arguments: tuple[str, ...] = ()


OUTLIER_SEEDS = (1, 3, 4, 6, 10, 11, 12, 14)
"""Chosen so that one of eight fails; the first eight seeds are the sweep without a choice."""
CASES: dict[str, tuple[Part, ...]] = {
    "curriculum": (Part(".", "curriculum_divergence.py"),),
    "collapse": (Part(".", "collapsed_language_model.py"),),
    "halting": (Part(".", "halting_head.py"),),
    "graphs": (
        Part("empty_graph", "graph_network.py", ("empty",)),
        Part("missing_features", "graph_network.py", ("features",)),
        Part("unknown_type", "graph_network.py", ("vocabulary",)),
        Part("vgae_large_lr1e-4", "graph_network.py", ("mismatch",)),
    ),
    "steps": tuple(
        Part(kind, "step_by_step.py", (kind,))
        for kind in ("converged", "slow", "stuck", "guessing", "broken")
    ),
    "sweep_outlier": tuple(
        Part(f"seed{seed}", "seed_sweep.py", (str(seed),)) for seed in OUTLIER_SEEDS
    ),
    "sweep_wide": tuple(Part(f"seed{seed}", "seed_sweep.py", (str(seed),)) for seed in range(8)),
}


def main(names: list[str]) -> int:
    """Make the named cases, or all of them."""
    unknown = [name for name in names if name not in CASES]
    if unknown:
        print(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
        return 2
    # A neutral place: tracebacks show paths, and nobody needs to know where this checkout is.
    with tempfile.TemporaryDirectory(prefix="case-") as place:
        venv = Path(place, "venv")
        venv.symlink_to(sys.prefix)
        for name in names or CASES:
            make(name, Path(place, name), venv / "bin" / "python")
    return 0


def make(name: str, bench: Path, python: Path) -> None:
    """Run the trainings of one case and put their files in place of the old ones."""
    for part in CASES[name]:
        room = bench / part.folder
        room.mkdir(parents=True)
        script = Path(shutil.copy(HERE / part.script, bench / "train.py"))
        with (room / "train.log").open("wb") as log:
            subprocess.run(
                [python, "-u", script, *part.arguments],
                cwd=room,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
                check=False,
            )
        script.unlink()
    size = sum(file.stat().st_size for file in bench.rglob("*") if file.is_file())
    if size > MOST_BYTES:
        raise SystemExit(f"{name} is {size:,} bytes, more than {MOST_BYTES:,}")
    shutil.rmtree(DATA / name, ignore_errors=True)
    shutil.copytree(bench, DATA / name)
    print(f"{name}: {len(CASES[name])} trainings, {size:,} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
