"""The commands without a screen: `check`, `export`, `demo`."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from mltd.runs.discovery import RunFiles, discover, explore
from mltd.runs.errors import InputError, MltdError
from mltd.runs.ingest import Loaded, load, read_stream
from mltd.runs.run import Run
from mltd.runs.summary import describe_run

from .plain_text import printable, render_run

SCHEMA = 1
UNUSABLE = 2
"""Exit code when some input could not be used."""
_UPDATES_PER_SECOND = 4.0


def complain(problem: MltdError) -> None:
    """One line on stderr: what is wrong, where, what to do."""
    sys.stderr.write(f"mltd-tui: {printable(str(problem))}\n")


def _note(sentence: str) -> None:
    sys.stderr.write(f"mltd-tui: note: {printable(sentence)}\n")


def find_runs(names: Iterable[str]) -> tuple[list[RunFiles], list[MltdError]]:
    """The runs behind the names a user gave, and what was wrong with some of them."""
    found: list[RunFiles] = []
    problems: list[MltdError] = []
    for name in names:
        try:
            discovery = explore(name)
        except MltdError as problem:
            problems.append(problem)
            continue
        found.extend(run for run in discovery.runs if run not in found)
        for note in discovery.notes:
            _note(note)
    return found, problems


def document(run: Run, seconds: float) -> dict[str, object]:
    """The contract's document; what no analyzer has judged is null or empty."""
    return {
        "schema": SCHEMA,
        "status": None if run.series else "no_metrics",
        "run": describe_run(run),
        "findings": [],
        "root_causes": [],
        "quick_fixes": [],
        "recommended_fixes": [],
        "requests": [],
        "analysis_artifacts": {"report": None, "loss_plot": None, "gradient_analysis": None},
        "seconds": round(seconds, 3),
    }


def write_json(content: dict[str, object]) -> None:
    """One JSON document on one line of stdout."""
    sys.stdout.buffer.write(orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.flush()


def check(names: list[str], *, as_json: bool) -> int:
    """Read the runs once and print what is in them."""
    status = 0
    for loaded, seconds in _load_all(names):
        if isinstance(loaded, MltdError):
            complain(loaded)
            status = UNUSABLE
            continue
        for problem in loaded.problems:
            complain(problem)
            status = UNUSABLE
        if as_json:
            write_json(document(loaded.run, seconds))
        else:
            _write_lines(render_run(loaded.run, unicode=_is_unicode(), columns=_columns()))
    return status


def _load_all(names: list[str]) -> Iterator[tuple[Loaded | MltdError, float]]:
    for name in names:
        if name == "-":
            start = time.perf_counter()
            run = Run("standard input")
            try:
                read_stream(run, "-", _standard_input())
                yield Loaded(run), time.perf_counter() - start
            except MltdError as problem:
                yield problem, 0.0
            continue
        found, problems = find_runs([name])
        yield from ((complaint, 0.0) for complaint in problems)
        for files in found:
            start = time.perf_counter()
            try:
                yield load(files), time.perf_counter() - start
            except MltdError as problem:
                yield problem, 0.0


def _standard_input() -> Iterator[bytes]:
    while data := os.read(sys.stdin.fileno(), 1 << 20):
        yield data


def follow(names: list[str], *, as_json: bool, poll_seconds: float | None) -> int:
    """Print the runs again whenever they grow, until interrupted."""
    from mltd.runs.live import LiveRun
    from mltd.runs.live import follow as watch

    found, problems = find_runs(names)
    for problem in problems:
        complain(problem)
    if not found:
        return UNUSABLE
    live = [LiveRun(files) for files in found]
    complained = 0
    try:
        for changed in watch(live, poll_seconds, report=_note):
            start = time.monotonic()
            for run in changed:
                if as_json:
                    write_json(document(run.loaded.run, 0.0))
                else:
                    _write_lines(
                        render_run(run.loaded.run, unicode=_is_unicode(), columns=_columns())
                    )
            fresh = [problem for run in live for problem in run.loaded.problems]
            for problem in fresh[complained:]:
                complain(problem)
            complained = len(fresh)
            # Bursts of writes are one piece of news.
            time.sleep(max(0.0, 1 / _UPDATES_PER_SECOND - (time.monotonic() - start)))
    except KeyboardInterrupt:
        return 0
    finally:
        for run in live:
            run.close()
    return 0


def export(name: str, *, kind: str, output: str | None, wide: bool) -> int:
    """Write the columns of one run as CSV or Parquet."""
    from mltd.runs.export import write_csv, write_parquet

    try:
        found = discover(name) if name != "-" else []
        if len(found) > 1:
            raise InputError(
                f"{name} holds {len(found)} runs",
                hint="name one of them: " + ", ".join(str(run.root) for run in found[:3]),
            )
        if kind == "parquet" and output is None:
            raise InputError("Parquet is binary", hint="say where to write it: -o FILE")
        run = load(found[0]).run
        if kind == "csv":
            write_csv(run, sys.stdout.buffer if output is None else Path(output), wide=wide)
        else:
            assert output is not None
            write_parquet(run, Path(output), wide=wide)
    except MltdError as problem:
        complain(problem)
        return UNUSABLE
    return 0


def demo() -> int:
    """Print the triage of the bundled recordings, each with the truth about it."""
    from . import recordings

    _write_lines(["Recordings of real small trainings, as `mltd-tui check` reads them."])
    for name in recordings.names():
        recording = recordings.load(name)
        own = {str(file.path) for file in recording.files}
        (files,) = discover(str(recordings.HERE / name))
        kept = [file for file in files.files if file.path in own]
        loaded = load(RunFiles(recording.title, files.root, kept))
        loaded.run.is_over = True
        _write_lines(["", *render_run(loaded.run, unicode=_is_unicode(), columns=_columns())])
        _write_lines([f"  what was really done: {recording.truth}"])
    return 0


def _write_lines(lines: Iterable[str]) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()


def _columns() -> int:
    """Width of the terminal, 0 if the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
