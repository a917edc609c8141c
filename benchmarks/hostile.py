"""Cost of hostile and unusual logs in `check --json`, beside an ordinary log of the same size.

    python benchmarks/hostile.py [--size 1.0] [--shapes names ranks] [--limit 300]

Prints a Markdown table of CPU seconds and peak memory of the whole command, start-up included,
and the ratio of each to the ordinary log. The exit code is 1 if a ratio exceeds the bar.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

BAR = 10.0
"""How many times the cost of an ordinary log a hostile one of the same size may have."""

CHECK = "from mltd.tui.cli import main; main()"
WORDS = [
    "the",
    "model",
    "was",
    "trained",
    "with",
    "data",
    "from",
    "many",
    "sources",
    "and",
    "we",
    "found",
    "that",
    "loader",
    "shards",
    "are",
    "slow",
    "when",
    "cache",
    "misses",
    "happen",
    "while",
    "tokens",
    "of",
    "each",
    "document",
    "wait",
    "for",
    "workers",
    "on",
    "node",
]


@dataclass(frozen=True)
class Cost:
    """CPU seconds and peak resident memory of one command."""

    seconds: float
    peak_mb: float
    finished: bool


def ordinary(rng: random.Random) -> Iterator[str]:
    """A log as the logging module prints it, with a validation and a warning now and then."""
    for step in count(1):
        yield (
            f"2024-01-{1 + step // 86400 % 28:02d} {step // 3600 % 24:02d}:"
            f"{step // 60 % 60:02d}:{step % 60:02d},123 - trainer - INFO - "
            f"step {step}/9000000: loss {3 / step + rng.random() / 9:.4f}, "
            f"grad_norm {rng.random() * 3:.3f}, lr {1e-4:.3e}, tok/s {1e5 + rng.random():.1f}\n"
        )
        if step % 1000 == 0:
            yield f"validation at step {step}: val_loss {rng.random():.4f}\n"
            yield "WARNING - trainer - the data loader is slow, 3 workers are not enough\n"


def names(rng: random.Random) -> Iterator[str]:
    """A new metric name in every line."""
    for index in count():
        yield f"step {index} metric_{index:05d}_value {rng.random():.4f}\n"


def names_repeated(rng: random.Random) -> Iterator[str]:
    """5,000 metric names, one a line, again and again."""
    for index in count():
        yield f"step {index // 5000} expert_{index % 5000}/load={rng.random():.4f}\n"


def templates(rng: random.Random) -> Iterator[str]:
    """A new shape in every line."""
    for index in count():
        word = "".join(chr(97 + index // 26**place % 26) for place in range(5))
        yield f"the {word} of {rng.choice(WORDS)} is now {rng.random():.3f} after {index}\n"


def word_templates(rng: random.Random) -> Iterator[str]:
    """Distinct lines of words without numbers."""
    for _ in count():
        yield " ".join(rng.choice(WORDS) + rng.choice(WORDS) for _ in range(6)) + "\n"


def ranks(rng: random.Random) -> Iterator[str]:
    """A rank of its own in every line."""
    for index in count():
        yield f"[rank{index}]: step 3 loss {rng.random():.3f}\n"


def ranks_repeated(rng: random.Random) -> Iterator[str]:
    """2,048 ranks, each with every step."""
    for index in count():
        yield f"[rank{index % 2048}]: step {index // 2048} loss {rng.random():.3f}\n"


def layers(rng: random.Random) -> Iterator[str]:
    """A layer of its own in every line."""
    for index in count():
        yield f"step 10 grad_norm/layer.{index}.weight: {rng.random():.4f}\n"


def layers_wide(rng: random.Random) -> Iterator[str]:
    """Steps that print the gradient norm of 1,000 layers in one line."""
    for step in count():
        norms = (f"grad_norm/layers.{layer}.weight={rng.random():.4f}" for layer in range(1000))
        yield f"step {step} " + " ".join(norms) + "\n"


def traceback(_: random.Random) -> Iterator[str]:
    """One traceback that never ends."""
    yield "Traceback (most recent call last):\n"
    for index in count():
        yield f'  File "/home/user/project/recursion_{index}.py", line {index}, in call_{index}\n'
        yield f"    return call_{index + 1}(batch, depth={index})\n"


def traceback_same(_: random.Random) -> Iterator[str]:
    """One traceback of two frames that repeat for ever."""
    yield "Traceback (most recent call last):\n"
    while True:
        yield '  File "/home/user/project/model.py", line 12, in forward\n'
        yield "    return self.inner(batch)\n"
        yield '  File "/home/user/project/inner.py", line 31, in inner\n'
        yield "    return self.forward(batch)\n"


def prose(rng: random.Random) -> Iterator[str]:
    """Distinct sentences with many numbers."""
    for _ in count():
        words = (
            str(rng.randrange(10 ** rng.randrange(1, 6)))
            if rng.random() < 0.3
            else rng.choice(WORDS)
            for _ in range(rng.randrange(8, 25))
        )
        yield " ".join(words) + ".\n"


def plain_prose(rng: random.Random) -> Iterator[str]:
    """Distinct sentences without a number."""
    for _ in count():
        yield " ".join(rng.choice(WORDS) for _ in range(rng.randrange(8, 25))) + ".\n"


def rewrites(rng: random.Random) -> Iterator[str]:
    """A progress bar that rewrites its line for ever."""
    for step in count():
        at = f"{step % 101:3d}%|####      | {step}/90000"
        yield f"\r{at} [00:12<01:40, 88.2it/s, loss={rng.random():.3f}]"


def long_line(rng: random.Random) -> Iterator[str]:
    """One line of pairs without an end."""
    for index in count():
        yield f"key_{index}={rng.random():.3f} "


def long_word(_: random.Random) -> Iterator[str]:
    """One word without an end."""
    while True:
        yield "x7" * 512


def warnings(rng: random.Random) -> Iterator[str]:
    """Warnings that are all different."""
    for index in count():
        word = rng.choice(WORDS) + rng.choice(WORDS) + str(index)
        yield f"WARNING:root:/opt/site/{word}.py:{index}: UserWarning: {word} is deprecated\n"


def errors(rng: random.Random) -> Iterator[str]:
    """Errors that are all different."""
    for index in count():
        word = rng.choice(WORDS) + rng.choice(WORDS) + str(index)
        yield f"ERROR: {word} failed with code {index}: CUDA error in {word}\n"


def config(_: random.Random) -> Iterator[str]:
    """A dump of settings without an end."""
    yield "Config:\n"
    for index in count():
        yield f"  model.layer_{index}.dropout: 0.{index}\n"


def arguments(_: random.Random) -> Iterator[str]:
    """Arguments as argparse prints them, without an end."""
    for index in count():
        yield f"  argument_{index} ................ {index}\n"


def json_keys(rng: random.Random) -> Iterator[str]:
    """JSON lines, each with keys of its own, nested."""
    for index in count():
        record = {"step": index, f"group_{index}": {f"part_{index}": {"value": rng.random()}}}
        yield json.dumps(record) + "\n"


def json_wide(rng: random.Random) -> Iterator[str]:
    """JSON lines of 5,000 keys."""
    for step in count():
        yield json.dumps({"step": step} | {f"k/{i}": rng.random() for i in range(5000)}) + "\n"


def csv_wide(rng: random.Random) -> Iterator[str]:
    """A table of 30,000 columns."""
    yield "step," + ",".join(f"column_{index}" for index in range(30_000)) + "\n"
    for step in count():
        yield f"{step}," + ",".join(f"{rng.random():.3f}" for _ in range(30_000)) + "\n"


def epochs(_: random.Random) -> Iterator[str]:
    """Headings of epochs, one after the other."""
    for index in count(1):
        yield f"===== Epoch {index}/1000000 =====\n"


def exceptions(rng: random.Random) -> Iterator[str]:
    """Short tracebacks, each of an exception of its own."""
    for index in count():
        yield "Traceback (most recent call last):\n"
        yield f'  File "/home/user/part_{index}.py", line {index}, in call_{index}\n'
        yield f"    raise Problem{index}({index})\n"
        yield f"Problem{index}Error: {rng.choice(WORDS)} {index} is broken\n"


def timestamps(rng: random.Random) -> Iterator[str]:
    """Lines of a server with addresses and identifiers."""
    for index in count():
        yield (
            f"2024-01-01T00:{index // 60 % 60:02d}:{index % 60:02d}Z host{index % 977} "
            f"request={rng.randrange(1 << 60):x} GET /v1/{rng.randrange(1 << 40):x} "
            f"10.{index % 256}.3.{index % 251} {rng.randrange(999)} bytes\n"
        )


def restarts(rng: random.Random) -> Iterator[str]:
    """A step that starts over every other line."""
    for index in count():
        yield f"step {index % 2} loss {rng.random():.4f}\n"


def tables(rng: random.Random) -> Iterator[str]:
    """Printed tables, each with a heading of its own."""
    for index in count():
        yield f"| step | loss_{index} | accuracy_{index} |\n"
        yield f"| {index} | {rng.random():.3f} | {rng.random():.3f} |\n"


def bytes_at_random(rng: random.Random) -> Iterator[str]:
    """Characters of every kind."""
    for _ in count():
        yield "".join(chr(rng.randrange(1, 256)) for _ in range(400)) + "\n"


SHAPES: dict[str, tuple[str, Callable[[random.Random], Iterator[str]]]] = {
    shape.__name__: (suffix, shape)
    for suffix, shape in chain(
        (
            ("log", shape)
            for shape in (
                names,
                names_repeated,
                templates,
                word_templates,
                ranks,
                ranks_repeated,
                layers,
                layers_wide,
                traceback,
                traceback_same,
                prose,
                plain_prose,
                rewrites,
                long_line,
                long_word,
                warnings,
                errors,
                config,
                arguments,
                epochs,
                exceptions,
                timestamps,
                restarts,
                tables,
                bytes_at_random,
            )
        ),
        (("jsonl", json_keys), ("jsonl", json_wide), ("csv", csv_wide)),
    )
}


def write(path: Path, shape: Callable[[random.Random], Iterator[str]], size: int) -> Path:
    """Write a shape until it has a size."""
    written = 0
    with path.open("w", encoding="utf-8") as log:
        for part in shape(random.Random(1)):
            written += log.write(part)
            if written >= size:
                return path
    return path


def measure(path: Path, limit: int) -> Cost:
    """Run `check --json` on a file; a limit of CPU seconds ends it."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    process = subprocess.Popen(
        [sys.executable, "-c", CHECK, "check", "--json", str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        preexec_fn=bound,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, process.returncode >= 0)


def report(folder: Path, wanted: list[str], size: int, limit: int) -> bool:
    """Print the table; whether every shape keeps the bar."""
    base = measure(write(folder / "ordinary.log", ordinary, size), limit)
    base = measure(folder / "ordinary.log", limit)
    print("| shape | MB | CPU s | peak MB | CPU ratio | memory ratio | |")
    print("|---|--:|--:|--:|--:|--:|---|")
    print(f"| ordinary | {size / 1e6:.1f} | {base.seconds:.2f} | {base.peak_mb:.0f} | 1 | 1 | |")
    kept = True
    for name in wanted:
        suffix, shape = SHAPES[name]
        path = write(folder / f"{name}.{suffix}", shape, size)
        cost = measure(path, limit)
        slower, larger = cost.seconds / base.seconds, cost.peak_mb / base.peak_mb
        fits = cost.finished and max(slower, larger) <= BAR
        kept &= fits
        verdict = "" if fits else "EXCEEDED" if cost.finished else "NOT FINISHED"
        print(
            f"| {name} | {path.stat().st_size / 1e6:.1f} | {cost.seconds:.2f} | "
            f"{cost.peak_mb:.0f} | {slower:.1f} | {larger:.1f} | {verdict} |",
            flush=True,
        )
        path.unlink()
    return kept


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1.0, metavar="MB")
    parser.add_argument("--shapes", nargs="+", choices=[*SHAPES], default=[*SHAPES])
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds a shape may take")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mltd-hostile-"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    try:
        kept = report(folder, options.shapes, int(options.size * 1e6), options.limit)
    finally:
        shutil.rmtree(folder)
    sys.exit(not kept)


if __name__ == "__main__":
    main()
