"""Cost of hostile and unusual logs beside an ordinary log of the same size.

    python benchmarks/hostile.py [--sizes 1 4 16] [--commands check engine] [--shapes names ranks]

Prints a Markdown table of CPU seconds and peak memory of whole processes, start-up included,
and the ratio of each to the ordinary log. Compressed logs are compared with an ordinary
compressed log. The exit code is 1 if a ratio exceeds the bar.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hostile_shapes import BASES, SHAPES, Shape  # type: ignore[import-not-found]

BAR = 10.0
"""How many times the cost of an ordinary log a hostile one of the same size may have."""
MAIN = "from mltd.tui.cli import main; main()"
ENGINE = str(Path(__file__).with_name("hostile_engine.py"))
COMMANDS = {
    "check": ["-c", MAIN, "check", "{log}"],
    "json": ["-c", MAIN, "check", "--json", "{log}"],
    "engine": [ENGINE, "{log}"],
    "report": ["-c", MAIN, "report", "{log}", "--force", "-o", "{folder}/report.md"],
    "pack": ["-c", MAIN, "pack", "{log}", "--force", "-o", "{folder}/pack.md"],
}
"""What is measured, as arguments of Python."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds and peak resident memory of one command."""

    seconds: float
    peak_mb: float
    is_finished: bool = True


class Bench:
    """Measures commands on generated logs in a folder that is deleted in the end."""

    def __init__(self, folder: Path, commands: list[str], limit: int) -> None:
        self._folder = folder
        self._commands = commands
        self._limit = limit
        self._bases: dict[tuple[str, str, int], Cost] = {}
        self.is_kept = True
        """Every cost so far was within the bar."""

    def report(self, names: list[str], size: int) -> None:
        """Print the table of some shapes in one size."""
        print(f"\n{size / 1e6:g} MB\n")
        print("| shape | MB |" + "".join(f" {name} s | × | MB | × |" for name in self._commands))
        print("|---|--:|" + "--:|--:|--:|--:|" * len(self._commands))
        for name in dict.fromkeys(["ordinary", *(SHAPES[name].base for name in names)]):
            self._report_one(name, BASES[name], name, size)
        for name in names:
            self._report_one(name, SHAPES[name], SHAPES[name].base, size)

    def _report_one(self, name: str, shape: Shape, base: str, size: int) -> None:
        path = shape.write(self._folder / f"{name}.{shape.suffix}", size)
        print(f"| {name} | {path.stat().st_size / 1e6:.1f} |", end="", flush=True)
        for command in self._commands:
            if shape is BASES.get(name):
                # The machine may be busy: the cheapest of three is the fairest bar.
                costs = [self._measure(command, path) for _ in range(3)]
                self._bases[command, name, size] = Cost(
                    min(cost.seconds for cost in costs), min(cost.peak_mb for cost in costs)
                )
            self._print(self._measure(command, path), self._bases[command, base, size])
        print(flush=True)
        path.unlink()

    def _print(self, cost: Cost, base: Cost) -> None:
        slower, larger = cost.seconds / base.seconds, cost.peak_mb / base.peak_mb
        self.is_kept &= cost.is_finished and max(slower, larger) <= BAR
        seconds = f"{cost.seconds:.1f}" if cost.is_finished else f"> {self._limit}"
        print(
            f" {seconds} | {_ratio(slower)} | {cost.peak_mb:.0f} | {_ratio(larger)} |",
            end="",
            flush=True,
        )

    def _measure(self, command: str, path: Path) -> Cost:
        """Run a command on a file; a limit of CPU seconds ends it."""

        def bound() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (self._limit, self._limit))

        home = Path(tempfile.mkdtemp(dir=self._folder))
        process = subprocess.Popen(
            [
                sys.executable,
                *(part.format(log=path, folder=home) for part in COMMANDS[command]),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(home)},
            preexec_fn=bound,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        shutil.rmtree(home)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, process.returncode >= 0)


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio <= BAR else f"**{ratio:.1f}**"


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", nargs="+", type=float, default=[1.0], metavar="MB")
    parser.add_argument("--shapes", nargs="+", choices=[*SHAPES], default=[*SHAPES])
    parser.add_argument("--commands", nargs="+", choices=[*COMMANDS], default=[*COMMANDS])
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds a command may take")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mltd-hostile-"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    bench = Bench(folder, options.commands, options.limit)
    try:
        for size in options.sizes:
            bench.report(options.shapes, int(size * 1e6))
    finally:
        shutil.rmtree(folder)
    sys.exit(not bench.is_kept)


if __name__ == "__main__":
    main()
