"""Examples in the catalogue, as runs: so that a test can execute what the pages claim.

An example is one line of a page, with parts separated by ` ; `:

    train/loss: 2.1 2.0*20 9.4 2.0*5 ; lr: 0.1     one series each, by role or name
    probe act_dead/relu1: 0.2*20                   the same as a probe records it, by layer
    log: RuntimeError: CUDA out of memory. ...     lines of a log, separated by ` | `
    config: lr=0.1, optimizer=sgd                  settings
    job: state=RUNNING, time_limit=3600            what the scheduler says about the job

Values: `2.0*20` is twenty times 2.0, `4>1*100` falls (or rises) evenly over a hundred points,
`~0.1` behind either adds noise of that size, `(1 2)*9` repeats all that is in it, and `@150` sets
the counter back to 150, as a resumed run does. A short series is spread over the longest one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mltd.runs.harvest import Column, ColumnKey, Floats, Harvest
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run, SourceFile
from mltd.runs.schedulers.job import Job, JobState

_TERM = re.compile(
    r"(?P<first>[-+\w.]+?)(?:>(?P<last>[-+\w.]+?))?(?:~(?P<noise>[\w.]+?))?(?:\*(?P<times>\d+))?"
)
_GROUP = re.compile(r"\(([^)]*)\)\*(\d+)")
_NAMES = {
    "train/loss": "train_loss",
    "val/loss": "val_loss",
    "train/accuracy": "train_accuracy",
    "val/accuracy": "val_accuracy",
}
"""Roles that are no names of their own."""


def example_run(text: str) -> Run:
    """The run that an example describes."""
    run = Run("example")
    run.is_over = True
    series: dict[str, Floats] = {}
    recorded: dict[str, Floats] = {}
    steps: Floats = np.empty(0)
    for part in text.split(" ; "):
        head, _, rest = part.strip().partition(":")
        if head == "log":
            lines = "\n".join(line.strip() for line in rest.strip().split(" | ")) + "\n"
            read_stream(run, "example.log", iter([lines.encode()]))
        elif head == "config":
            run.add_config(dict(_setting(item) for item in rest.split(",")))
        elif head == "job":
            run.job = _job(dict(_setting(item) for item in rest.split(",")))
        elif head.startswith("probe "):
            recorded[head.removeprefix("probe ").strip()] = parse_series(rest)[0]
        else:
            values, counted = parse_series(rest)
            series[_NAMES.get(head.strip(), head.strip())] = values
            steps = counted if len(counted) > len(steps) else steps
    if series:
        _add_series(run, series, steps)
    if recorded:
        _add_recording(run, recorded, max(1, len(steps)))
    return run


def parse_series(text: str) -> tuple[Floats, Floats]:
    """Values and their steps; `@N` sets the step back."""
    parts, steps, start = [], [], 0.0
    for number, stretch in enumerate(re.split(r"(@\d+)", text)):
        if number % 2:
            start = float(stretch[1:])
            continue
        parts.append(parse_values(stretch, seed=7 + number))
        steps.append(start + np.arange(len(parts[-1])))
        start += len(parts[-1])
    return np.concatenate(parts), np.concatenate(steps)


def parse_values(text: str, seed: int = 7) -> Floats:
    """The numbers that a compact list stands for."""
    generator = np.random.default_rng(seed)
    parts = []
    for term in _GROUP.sub(lambda group: f"{group[1]} " * int(group[2]), text).split():
        found = _TERM.fullmatch(term)
        if found is None:
            raise ValueError(f"{term!r} is no value; write 2.0, 2.0*20, 4>1*100 or 2.0~0.1*20")
        times = int(found["times"] or 1)
        first = float(found["first"])
        values = np.full(times, first)
        if found["last"]:
            values = np.linspace(first, float(found["last"]), times)
        if found["noise"]:
            values = values + generator.normal(0.0, float(found["noise"]), times)
        parts.append(values)
    return np.concatenate(parts) if parts else np.empty(0)


def _setting(text: str) -> tuple[str, object]:
    name, _, value = text.strip().partition("=")
    try:
        return name, float(value) if "." in value or "e" in value else int(value)
    except ValueError:
        return name, value


def _job(said: dict[str, object]) -> Job:
    state = JobState(str(said.pop("state")))
    known: dict[str, Any] = said
    return Job(id="42", state=state, **known)


def _add_recording(run: Run, recorded: dict[str, Floats], steps: int) -> None:
    """Records of a probe, spread over the steps of the run."""
    longest = max(len(values) for values in recorded.values())
    columns = []
    for name, values in recorded.items():
        spread = np.resize(values, longest) if len(values) == 1 else values
        rows = np.arange(len(spread), dtype=np.int64)
        columns.append(Column(ColumnKey(name, layer=name.partition("/")[2]), rows, spread))
    file = run.add_file(SourceFile("example.probe.jsonl", format="probe"))
    lines = np.arange(1, longest + 1, dtype=np.int64)
    axes = {"step": np.round(np.linspace(0, max(steps - 1, longest - 1), longest))}
    run.append(file, Harvest(line=lines, axes=axes, columns=columns, lines=longest))


def _add_series(run: Run, series: dict[str, Floats], steps: Floats) -> None:
    longest = max(len(values) for values in series.values())
    columns = []
    for name, values in series.items():
        rows = np.round(np.linspace(0, longest - 1, len(values))).astype(np.int64)
        if len(values) == 1:
            rows = np.arange(longest, dtype=np.int64)
            values = np.repeat(values, longest)
        columns.append(Column(ColumnKey(name), rows, values))
    file = run.add_file(SourceFile("example.csv", format="csv"))
    lines = np.arange(1, longest + 1, dtype=np.int64)
    run.append(file, Harvest(line=lines, axes={"step": steps}, columns=columns, lines=longest))
