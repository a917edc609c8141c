"""Makes the runs that are missing, in a few processes."""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch

from benchmarks.faults.truth import read_truths

from .crashes import Crash, crash_runs
from .maker import TUNED, Maker, refreshed
from .plan import Planned, trained_runs
from .tasks.finetuning import pretrain

SEED_BASE = 5000
Run = Planned | Crash


def all_runs(seed_base: int = SEED_BASE) -> list[Run]:
    """The whole bench."""
    return [*trained_runs(seed_base), *crash_runs(seed_base)]


def kind_of(run: Run) -> str:
    """The fault class or trap of a run."""
    return run.id if isinstance(run, Crash) else run.kind.id


def generate(runs: list[Run], out: Path, jobs: int = 1) -> list[str]:
    """Make what has no label yet; returns what could not be made."""
    for name in ("runs", "truth"):
        (out / name).mkdir(parents=True, exist_ok=True)
    known = {truth.run_id: truth for truth in read_truths(out)}
    for one in runs:
        if one.run_id in known:
            refreshed(one, known[one.run_id]).write(out / "truth")
    missing = [one for one in runs if one.run_id not in known]
    if any(one.family in TUNED for one in missing):
        torch.set_num_threads(1)
        pretrain(Maker(out).weights)
    if jobs <= 1 or len(missing) < 2:
        return _work((missing, out))
    shares: list[list[Run]] = [[] for _ in range(jobs)]
    for one in sorted(missing, key=lambda run: -run.cost):
        min(shares, key=lambda share: sum(run.cost for run in share)).append(one)
    tasks = [(share, out) for share in shares if share]
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        return [text for part in pool.map(_work, tasks) for text in part]


def renew(seed_base: int, out: Path) -> list[str]:
    """Make live runs afresh, if they are there: what was silent for hours is so only now."""
    live = [one for one in trained_runs(seed_base) if one.is_live]
    old = [one for one in live if (out / "truth" / f"{one.run_id}.json").exists()]
    for one in old:
        (out / "truth" / f"{one.run_id}.json").unlink()
    return generate([*old], out)


def _work(task: tuple[list[Run], Path]) -> list[str]:
    """Make a share of the runs; a run that cannot be made is named, the rest goes on."""
    torch.set_num_threads(1)
    runs, out = task
    maker, problems = Maker(out), []
    for place, run in enumerate(runs, 1):
        start = time.monotonic()
        try:
            truth = maker.make(run)
        except Exception as problem:  # noqa: BLE001 - the bench goes on and reports it
            problems.append(f"{run.run_id} ({kind_of(run)}, {run.family}): {problem!r}")
            print(problems[-1], file=sys.stderr, flush=True)
            continue
        took = time.monotonic() - start
        shown = f"{truth.verdict:12s} {truth.kind:26s} {truth.family:8s} {truth.dialect:10s}"
        print(f"[{place}/{len(runs)}] {truth.run_id} {shown} {took:5.1f} s", flush=True)
    return problems
