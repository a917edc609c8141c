"""Runs, findings and parts made for tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mltd.analyzers.core.cause import Clue, Fix
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.core.registry import registry
from mltd.analyzers.core.view import RunView
from mltd.runs.harvest import Column, ColumnKey, Harvest
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run, SourceFile

EVIDENCE = Evidence(EvidenceKind.SERIES, "loss@3", "7.1")
CONFIG_EVIDENCE = Evidence(EvidenceKind.CONFIG, "config:lr", "0.1")


def make_run(
    series: Mapping[str, Sequence[float]],
    steps: Sequence[float] | None = None,
    config: dict[str, object] | None = None,
) -> Run:
    """A finished run with these series, all of one length, at these steps."""
    run = Run("made")
    run.is_over = True
    run.add_file(SourceFile("made.csv", format="csv"))
    extend(run, series, steps)
    run.add_config(config or {})
    return run


def extend(
    run: Run, series: Mapping[str, Sequence[float]], steps: Sequence[float] | None = None
) -> None:
    """Add rows to a made run."""
    count = max((len(values) for values in series.values()), default=0)
    before = run.files[0].lines
    x = np.arange(before, before + count) if steps is None else np.asarray(steps)
    columns = [
        Column(ColumnKey(name), np.arange(len(values)), np.asarray(values, dtype=np.float64), True)
        for name, values in series.items()
    ]
    lines = np.arange(1, count + 1)
    axes = {"step": x.astype(np.float64)}
    run.append(0, Harvest(line=lines, axes=axes, columns=columns, lines=count))


def read_log(text: str) -> Run:
    """A finished run that printed this."""
    run = Run("log")
    run.is_over = True
    read_stream(run, "train.log", iter([text.encode()]))
    return run


def view_of(series: Mapping[str, Sequence[float]], **more: Any) -> RunView:
    """The view of a made run."""
    return RunView(make_run(series, **more))


def noisy(level: float, count: int, noise: float = 0.05, seed: int = 1) -> list[float]:
    """A noisy constant."""
    found: list[float] = (level + np.random.default_rng(seed).normal(0, noise, count)).tolist()
    return found


def falling(first: float, last: float, count: int, noise: float = 0.05, seed: int = 1) -> Any:
    """An exponential descent with noise, as losses have it."""
    x = np.linspace(0, 5, count)
    level = last + (first - last) * np.exp(-x)
    return (level + np.random.default_rng(seed).normal(0, noise, count)).tolist()


def finding(
    identity: str = "loss_spike",
    severity: Severity = Severity.WARNING,
    step: float | None = 3.0,
    confidence: float = 0.9,
) -> Finding:
    """A finding with a title that names its step."""
    return Finding(
        identity,
        f"{identity} at {step}",
        severity,
        confidence,
        Basis.OBSERVATION,
        (EVIDENCE,),
        first_step=step,
    )


def fix(addresses: str = "lr_too_high", change: str = "lr 0.1 -> 0.03", **more: Any) -> Fix:
    """A complete fix."""
    return Fix(addresses, change, "lr: 0.03", "loss falls within 200 steps", "rerun", "again",
               **more)  # fmt: skip


class MadeCause:
    """A cause with clues as given."""

    def __init__(
        self,
        identity: str,
        clues: Iterable[Clue],
        basis: Basis = Basis.RESEARCH,
        fixes: Iterable[Fix] = (),
        requests: Iterable[str] = (),
        explains: tuple[str, ...] = ("loss_spike",),
    ) -> None:
        self.id, self.explains, self.basis = identity, explains, basis
        self._clues, self._fixes, self._requests = list(clues), list(fixes), list(requests)

    def clues(self, case: object) -> list[Clue]:
        return self._clues

    def issue(self, case: object) -> str:
        return f"{self.id} did it"

    def fixes(self, case: object) -> list[Fix]:
        return self._fixes

    def requests(self, case: object) -> list[str]:
        return self._requests


class MadeAnalyzer:
    """An analyzer that finds what it is told to."""

    roles: tuple[str, ...] = ()
    events: tuple[str, ...] = ()

    def __init__(self, *findings: Any, error: Exception | None = None) -> None:
        self.id = findings[0].id if findings else "made"
        self._findings, self._error = findings, error

    def examine(self, view: RunView) -> Iterator[Finding]:
        yield from self._findings
        if self._error is not None:
            raise self._error


@contextmanager
def registered(analyzers: Iterable[Any], causes: Iterable[Any] = ()) -> Iterator[None]:
    """Let these be all the analyzers and causes there are."""
    parts = registry()
    kept = dict(parts.analyzers), dict(parts.causes)
    parts.analyzers.clear()
    parts.causes.clear()
    parts.analyzers.update({part.id: part for part in analyzers})
    parts.causes.update({part.id: part for part in causes})
    try:
        yield
    finally:
        parts.analyzers.clear()
        parts.causes.clear()
        parts.analyzers.update(kept[0])
        parts.causes.update(kept[1])
