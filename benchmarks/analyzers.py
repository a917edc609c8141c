"""How long the analysis of a run takes, at once and while it grows.

    python benchmarks/analyzers.py [--profile]

Prints a Markdown table, with the time of the ten slowest analyzers and causes behind it.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mltd.analyzers.core.registry import registry
from mltd.analyzers.diagnosis import Diagnosis, Diagnostician
from mltd.runs.harvest import Column, ColumnKey, Floats, Harvest
from mltd.runs.run import Run, SourceFile

BARS = {10_000: 0.1, 1_000_000: 3.0}
"""Seconds that the full analysis of so many steps of ten series may take."""
RATIO = 2.0
"""An update of a long run may cost so many times that of a short one."""
NEW = 100
UPDATES = 20


class Training:
    """A run of ten series that can grow; with a fault or without."""

    def __init__(self, steps: int, *, is_faulty: bool) -> None:
        self._random = np.random.default_rng(0)
        self._is_faulty = is_faulty
        self._steps = 0
        self._onset = 0.7 * steps
        self.run = Run("bench")
        self.run.is_over = True
        self.run.add_file(SourceFile("bench.csv", format="csv"))
        self.run.add_config({"lr": 3e-4, "batch_size": 64, "seed": 1})
        self.grow(steps)

    def grow(self, count: int) -> None:
        """Log more steps."""
        x = np.arange(self._steps, self._steps + count, dtype=np.float64)
        self._steps += count
        columns = [
            Column(ColumnKey(name), np.arange(count), values)
            for name, values in self._series(x).items()
        ]
        self.run.append(
            0, Harvest(line=np.arange(1, count + 1), axes={"step": x}, columns=columns, lines=count)
        )

    def _series(self, x: Floats) -> dict[str, Floats]:
        noise: Callable[[float], Floats] = lambda size: self._random.normal(0, size, len(x))  # noqa: E731
        level = 1.5 + 2.5 * np.exp(-x / 3000)
        norm = self._random.gamma(9, 0.03, len(x)) + 0.7
        if self._is_faulty:
            late = x > self._onset
            level = level + late * 6.0
            norm = norm * np.where(late, 40.0, 1.0)
        return {
            "train_loss": level + noise(0.05),
            "val_loss": level + 0.1 + noise(0.02),
            "grad_norm": norm,
            "lr": 3e-4 * np.minimum(1.0, (x + 1) / 500),
            "train_accuracy": 1 - level / 10 + noise(0.01),
            "val_accuracy": 0.95 - level / 10 + noise(0.01),
            "samples_per_sec": 1e4 + noise(100.0),
            "gpu_memory_gb": 20 + noise(0.01),
            "step_time": 0.1 + noise(0.003),
            "loss_scale": np.full(len(x), 65536.0),
        }


def measure(steps: int, *, is_faulty: bool) -> tuple[float, float, Diagnosis]:
    """Seconds of the full analysis and of an update, and what was found."""
    full = []
    for _ in range(3):
        training = Training(steps, is_faulty=is_faulty)
        gc.collect()
        start = time.perf_counter()
        diagnostician = Diagnostician(training.run)
        told = diagnostician.diagnose()
        full.append(time.perf_counter() - start)
    updates = []
    for _ in range(UPDATES):
        training.grow(NEW)
        start = time.perf_counter()
        diagnostician.diagnose()
        updates.append(time.perf_counter() - start)
    return min(full), float(np.median(updates)), told


class Stopwatch:
    """Stands in for an analyzer or a cause and adds up its time."""

    def __init__(self, part: Any, seconds: dict[str, float]) -> None:
        self._part, self._seconds = part, seconds

    def __getattr__(self, name: str) -> Any:
        """Everything else is the part's own."""
        return getattr(self._part, name)

    def _timed(self, name: str, *arguments: Any) -> list[Any]:
        start = time.perf_counter()
        found: Iterable[Any] = getattr(self._part, name)(*arguments)
        listed = list(found)
        self._seconds[self._part.id] += time.perf_counter() - start
        return listed

    def examine(self, view: Any) -> list[Any]:
        """An analyzer's part."""
        return self._timed("examine", view)

    def clues(self, case: Any) -> list[Any]:
        """A cause's part."""
        return self._timed("clues", case)

    def fixes(self, case: Any) -> list[Any]:
        """A cause's fixes."""
        return self._timed("fixes", case)


def slowest(steps: int) -> Iterator[str]:
    """The parts that take most of an update, and of the first analysis."""
    parts: Any = registry()
    kept = dict(parts.analyzers), dict(parts.causes)
    seconds: dict[str, float] = defaultdict(float)
    for known in (parts.analyzers, parts.causes):
        known.update({identity: Stopwatch(part, seconds) for identity, part in known.items()})
    training = Training(steps, is_faulty=True)
    diagnostician = Diagnostician(training.run)
    for label, times in (("first analysis", 1), ("update", UPDATES)):
        seconds.clear()
        for _ in range(times):
            if label == "update":
                training.grow(NEW)
            diagnostician.diagnose()
        ranked = sorted(seconds.items(), key=lambda pair: -pair[1])[:10]
        shown = ", ".join(f"{identity} {1000 * taken / times:.1f}" for identity, taken in ranked)
        yield f"{label}, {steps:,} steps, ms: {shown}"
    parts.analyzers.update(kept[0])
    parts.causes.update(kept[1])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=list(BARS), metavar="N")
    parser.add_argument("--without", nargs="+", default=[], metavar="ID", help="leave these out")
    parser.add_argument("--profile", action="store_true", help="name the slowest parts")
    options = parser.parse_args()
    start = time.perf_counter()
    parts = registry()
    for identity in options.without:
        parts.analyzers.pop(identity, None)
        parts.causes.pop(identity, None)
    print(
        f"{len(parts.analyzers)} analyzers and {len(parts.causes)} causes, "
        f"loaded in {time.perf_counter() - start:.2f} s\n"
    )
    Diagnostician(Training(500, is_faulty=True).run).diagnose()  # what is done once
    print("| run of 10 series | full analysis | bar | update with 100 points | found |")
    print("|---|---|---|---|---|")
    updates: dict[tuple[int, bool], float] = {}
    for steps in options.steps:
        bar = BARS.get(steps, np.inf)
        for is_faulty in (False, True):
            full, update, told = measure(steps, is_faulty=is_faulty)
            updates[steps, is_faulty] = update
            verdict = "ok" if full <= bar else "MISSED"
            alarms = [finding.id for finding in told.findings if finding.is_alarm]
            print(
                f"| {steps:,} steps, {'faulty' if is_faulty else 'healthy'} | {full:.3f} s "
                f"| {bar:g} s {verdict} | {1000 * update:.1f} ms | {', '.join(alarms) or '-'} |"
            )
    short, long = min(options.steps), max(options.steps)
    for is_faulty in (False, True):
        ratio = updates[long, is_faulty] / updates[short, is_faulty]
        verdict = "ok" if ratio <= RATIO else "MISSED"
        print(
            f"\nupdate of {long:,} steps against {short:,}, "
            f"{'faulty' if is_faulty else 'healthy'}: {ratio:.2f}x ({verdict})"
        )
    if options.profile:
        for steps in options.steps:
            print()
            print("\n".join(slowest(steps)))


if __name__ == "__main__":
    main()
