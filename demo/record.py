"""Train the demo models and keep what they print, byte for byte, as bundled recordings.

Usage: python demo/record.py [NAME...]

Every log line in `tui/recordings/` comes from here: from a real training, with real times.
Files are stored gzip-ped, without a time stamp: the same bytes make the same archive.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

DEMO = Path(__file__).resolve().parent
RECORDINGS = DEMO.parent / "tui" / "recordings"
POLL_SECONDS = 0.01
WORTH_COMPRESSING = 1 << 10
"""Bytes; a file below that, such as the settings, stays readable as it is."""


@dataclass
class Growth:
    """How one output file grew while its training ran."""

    path: Path
    first_seen: float = 0.0
    last_seen: float = 0.0
    size: int = field(default=0, repr=False)

    def look(self, now: float) -> None:
        """Note the time if the file has grown."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if size == self.size:
            return
        if self.size == 0:
            self.first_seen = now
        self.last_seen, self.size = now, size

    def lines(self) -> int:
        """Complete lines in the file as it is now."""
        return self.path.read_bytes().count(b"\n")


def main(names: list[str]) -> int:
    """Record the named trainings, or all of them."""
    plans: dict[str, dict[str, Any]] = tomllib.loads((DEMO / "trainings.toml").read_text())
    unknown = [name for name in names if name not in plans]
    if unknown:
        print(f"no such training: {', '.join(unknown)}; there are {', '.join(plans)}")
        return 2
    # A neutral place: tracebacks show paths, and nobody needs to know where this checkout is.
    with tempfile.TemporaryDirectory(prefix="training-") as place:
        bench = Path(place)
        (bench / "venv").symlink_to(sys.prefix)
        for name in names or plans:
            record(name, plans[name], bench)
    return 0


def record(name: str, plan: dict[str, Any], bench: Path) -> None:
    """Run one training and put its files in place of the old recording."""
    print(f"{name}: ", end="", flush=True)
    room = bench / name
    room.mkdir()
    script = DEMO / "trainings" / plan["script"]
    shutil.copy(script, room / "train.py")
    logs = list(dict.fromkeys([plan["stdout"], plan["stderr"], *plan["files"]]))
    growth = [Growth(room / log) for log in logs]
    began, clock = datetime.now(UTC), time.monotonic()
    exit_code = run_and_watch(room, plan, bench / "venv" / "bin" / "python", growth)
    seconds = time.monotonic() - clock

    kept = [one for one in growth if one.size]
    facts = {
        "title": plan["title"],
        "truth": plan["truth"],
        "causes": plan["causes"],
        "seed": seed_of(script),
        "torch": version("torch"),
        "python": sys.version.split()[0],
        "recorded": began.isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "exit_code": exit_code,
    }
    target = RECORDINGS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for one in kept:
        store(one.path.read_bytes(), target / one.path.name)
    (target / "recording.toml").write_text("\n".join(describe(facts, kept)) + "\n")
    print(f"{sum(one.lines() for one in kept)} lines in {seconds:.1f} s, exit code {exit_code}")


def run_and_watch(room: Path, plan: dict[str, Any], python: Path, growth: list[Growth]) -> int:
    """Redirect the training's output as a job script does, and note when the files grow."""
    with (room / plan["stdout"]).open("wb") as out, (room / plan["stderr"]).open("ab") as err:
        training = subprocess.Popen(
            [python, "-u", room / "train.py"],
            cwd=room,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out if plan["stderr"] == plan["stdout"] else err,
            env={"PATH": os.environ["PATH"], "HOME": str(room), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        while training.poll() is None:
            for one in growth:
                one.look(time.monotonic())
            time.sleep(POLL_SECONDS)
    for one in growth:
        one.look(time.monotonic())
    return training.returncode


def store(content: bytes, path: Path) -> Path:
    """Write a file of a recording, compressed unless it is tiny; where it lies now."""
    if len(content) < WORTH_COMPRESSING:
        path.write_bytes(content)
        return path
    place = path.with_name(f"{path.name}.gz")
    with (
        place.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as archive,
    ):
        archive.write(content)
    return place


def describe(facts: dict[str, Any], kept: list[Growth]) -> Iterator[str]:
    """The lines of `recording.toml`; JSON's strings and numbers are TOML's, too."""
    yield "# Written by demo/record.py; the logs beside it are as the training printed them."
    for key, value in facts.items():
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
    start = min(one.first_seen for one in kept)
    for one in kept:
        lines = one.lines()
        pace = (one.last_seen - one.first_seen) / max(1, lines - 1)
        yield ""
        yield "[[files]]"
        yield f"name = {json.dumps(one.path.name)}"
        yield f"lines = {lines}"
        yield f"starts_after = {one.first_seen - start:.3f}"
        yield f"seconds_per_line = {pace:.5f}"


def seed_of(script: Path) -> int:
    """The seed that the training sets."""
    found = re.search(r"^SEED = (\d+)$", script.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{script} sets no SEED; a recording must be repeatable")
    return int(found[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
