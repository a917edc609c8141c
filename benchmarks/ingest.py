"""How fast logs become columns, beside lnav, grep and a naive Python loop, in one run.

    python benchmarks/ingest.py [--sizes 200 1000] [--keep DIR]

Prints a Markdown table. Compare the ratios of one run, not the times of two: every reader
gets the same warm file, one after the other, and the best of its repetitions counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BARS = {"lnav": 4.0, "naive Python": 8.0}
"""How many times faster than a rival we want to be on text."""
STRUCTURED_BAR = 100.0
"""MB/s that JSON lines and CSV must reach."""
MEMORY_BASE, MEMORY_FACTOR = 150.0, 3.0
"""Peak memory must stay under base (MB) + factor x size of the columns."""

NAIVE = r"""
import re, sys
pair = re.compile(r"([A-Za-z_/]+)[ :=]+(-?\d[\d.e+-]*)")
columns = {}
with open(sys.argv[1]) as log:
    for line in log:
        for name, number in pair.findall(line):
            try:
                columns.setdefault(name, []).append(float(number))
            except ValueError:
                pass
print(sum(map(len, columns.values())))
"""
OURS = r"""
import sys
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
run = Run("bench")
read_file(run, sys.argv[1])
print(run.nbytes, sum(len(series) for series in run.series), len(run.series))
"""


@dataclass
class Timing:
    """One reader on one file."""

    seconds: float
    peak_mb: float
    """Peak resident memory of the whole process tree, shared pages counted for each."""
    output: str


def write_text(path: Path, size: int) -> None:
    """A log as the logging module prints it, with a validation and a warning now and then."""
    rng = random.Random(1)
    with path.open("w") as log:
        step = 0
        while log.tell() < size:
            for _ in range(1000):
                step += 1
                log.write(
                    f"2024-01-{1 + step // 86400 % 28:02d} {step // 3600 % 24:02d}:"
                    f"{step // 60 % 60:02d}:{step % 60:02d},123 - trainer - INFO - "
                    f"step {step}/9000000: loss {rng.random() * 5:.4f}, "
                    f"grad_norm {rng.random() * 3:.3f}, lr {rng.random() * 1e-4:.3e}, "
                    f"tok/s {rng.random() * 1e5:.1f}, mem {rng.random() * 80:.2f}GiB\n"
                )
            log.write(f"validation at step {step}: val_loss {rng.random():.4f}\n")
            log.write("WARNING - trainer - the data loader is slow, 3 workers are not enough\n")


def write_json_lines(path: Path, size: int) -> None:
    """One record a line, floats with all their digits."""
    rng = random.Random(2)
    with path.open("w") as log:
        step = 0
        while log.tell() < size:
            for _ in range(1000):
                step += 1
                record = {
                    "step": step,
                    "epoch": step / 1000,
                    "loss": rng.random() * 5,
                    "grad_norm": rng.random(),
                    "lr": rng.random() * 1e-4,
                    "tokens_per_sec": round(rng.random() * 1e5, 1),
                }
                log.write(json.dumps(record) + "\n")


def write_csv(path: Path, size: int) -> None:
    """A dense table."""
    rng = random.Random(3)
    with path.open("w") as log:
        log.write("step,epoch,train_loss,val_loss,lr,grad_norm\n")
        step = 0
        while log.tell() < size:
            for _ in range(1000):
                step += 1
                cells = [rng.random() * 5, rng.random() * 5, rng.random() * 1e-4, rng.random()]
                log.write(f"{step},{step // 1000}," + ",".join(map(repr, cells)) + "\n")


def tree_memory(root: int) -> float:
    """Resident megabytes of a process and its descendants."""
    pages = 0
    waiting = [root]
    while waiting:
        process = waiting.pop()
        try:
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
            tasks = Path(f"/proc/{process}/task/{process}/children").read_text()
            waiting += map(int, tasks.split())
        except (OSError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(command: list[str]) -> Timing:
    """Run a command; sample the memory of its tree every 20 ms."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stdin=subprocess.DEVNULL)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, tree_memory(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - start
        if process.returncode not in (0, 1):
            raise SystemExit(f"{command[0]} failed with code {process.returncode}")
        output.seek(0)
        return Timing(seconds, peak, output.read().strip())


def best(command: list[str], times: int) -> Timing:
    """The fastest of several runs, with the highest memory of all."""
    timings = [measure(command) for _ in range(times)]
    fastest = min(timings, key=lambda timing: timing.seconds)
    fastest.peak_mb = max(timing.peak_mb for timing in timings)
    return fastest


def rivals(path: Path) -> dict[str, list[str]]:
    """Commands that read the same text file."""
    found = {"grep -c loss": ["grep", "-c", "loss", str(path)]}
    if shutil.which("lnav"):
        # Its screenful goes to a file; what is timed is indexing the log.
        found["lnav"] = ["lnav", "-n", "-c", ":quit", str(path)]
    found["naive Python"] = [sys.executable, "-c", NAIVE, str(path)]
    return found


def report_text(path: Path, times: int) -> None:
    """The table for text, with the ratios to each rival."""
    size = path.stat().st_size / 1e6
    ours = best([sys.executable, "-c", OURS, str(path)], times)
    columns, points, series = (int(number) for number in ours.output.split())
    limit = MEMORY_BASE + MEMORY_FACTOR * columns / 1e6
    print(f"\n### Text, {size:.0f} MB ({points:,} points in {series} series)\n")
    print("| reader | seconds | MB/s | peak MB | we are faster by |")
    print("|---|---|---|---|---|")
    print(
        f"| **mltd-tui** | {ours.seconds:.2f} | {size / ours.seconds:.0f} | {ours.peak_mb:.0f} | |"
    )
    for name, command in rivals(path).items():
        rival = best(command, 1 if size > 500 else times)
        ratio = rival.seconds / ours.seconds
        wanted = f" (bar {BARS[name]:g}x)" if name in BARS else ""
        print(
            f"| {name} | {rival.seconds:.2f} | {size / rival.seconds:.0f} | "
            f"{rival.peak_mb:.0f} | {ratio:.1f}x{wanted} |"
        )
    verdict = "kept" if ours.peak_mb <= limit else "BROKEN"
    print(
        f"\nColumns {columns / 1e6:.0f} MB; peak {ours.peak_mb:.0f} MB of "
        f"{limit:.0f} MB allowed: {verdict}."
    )


def report_structured(name: str, path: Path, times: int) -> None:
    """One row for a structured format."""
    size = path.stat().st_size / 1e6
    ours = best([sys.executable, "-c", OURS, str(path)], times)
    print(
        f"| {name} | {size:.0f} | {ours.seconds:.2f} | {size / ours.seconds:.0f} "
        f"(bar {STRUCTURED_BAR:g}) | {ours.peak_mb:.0f} |"
    )


STRUCTURED = (("JSON lines", "jsonl", write_json_lines), ("CSV", "csv", write_csv))


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000], metavar="MB")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="generate the logs here and keep them")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="mltd-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    # An installed package has its bytecode, whatever the settings of this shell.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    try:
        for megabytes in options.sizes:
            path = generated(folder / f"text-{megabytes}.log", megabytes, write_text)
            report_text(path, options.repeat)
        print("\n### Structured files\n")
        print("| format | MB | seconds | MB/s | peak MB |\n|---|---|---|---|---|")
        for megabytes in options.sizes:
            for name, suffix, write in STRUCTURED:
                path = generated(folder / f"metrics-{megabytes}.{suffix}", megabytes, write)
                report_structured(name, path, options.repeat)
    finally:
        if options.keep is None:
            shutil.rmtree(folder)


def generated(path: Path, megabytes: int, write: Callable[[Path, int], None]) -> Path:
    """The file, written if it is not there yet."""
    if not path.exists():
        write(path, megabytes * 1_000_000)
    return path


if __name__ == "__main__":
    main()
