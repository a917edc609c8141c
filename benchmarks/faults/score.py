"""Analyses every run as a user would and compares the answers with the labels."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

from .metrics import Judged, figures
from .report import explain, markdown, text, update_file
from .truth import Truth, read_truths


def read_document(folder: Path) -> tuple[dict[str, Any], int]:
    """What we say about a directory, and as how many runs we read it."""
    from mltd.analyzers.diagnosis import diagnose
    from mltd.analyzers.reproducibility.sweep import compare
    from mltd.runs.discovery import discover
    from mltd.runs.ingest import load
    from mltd.tui.document import document

    merged: dict[str, Any] = {"findings": [], "root_causes": [], "broken": []}
    found = discover(str(folder))
    runs = [load(files).run for files in found]
    # Who checks a directory of repetitions has them compared as well.
    together = compare(runs) if len(runs) > 1 else {}
    for run in runs:
        diagnosis = diagnose(run, together.get(run.name, ()))
        part: Any = document(run, 0.0, diagnosis)
        merged["broken"] += [str(problem) for problem in diagnosis.problems]
        merged["findings"] += part["findings"]
        merged["root_causes"] += part["root_causes"]
    if len(found) > 1:
        merged["root_causes"].sort(key=lambda one: -one["confidence"])
    return merged, len(found)


def judge(task: tuple[Truth, Path]) -> Judged:
    """One run, as old as its label says; whatever raises is a miss that is named."""
    truth, data = task
    folder = data / "runs" / truth.run_id
    moment = time.time() - truth.silent_seconds
    start = time.perf_counter()
    try:
        for path in folder.iterdir():
            os.utime(path, (moment, moment))
        content, runs = read_document(folder)
    except Exception as problem:  # noqa: BLE001 - it is the result
        return Judged(truth, problem=repr(problem), seconds=time.perf_counter() - start)
    judged = Judged.from_document(truth, content, time.perf_counter() - start)
    judged.runs = runs
    return judged


def judge_all(truths: list[Truth], data: Path, jobs: int = 2) -> list[Judged]:
    """All runs, in a few processes."""
    tasks = [(truth, data) for truth in truths]
    if jobs <= 1 or len(tasks) < 8:
        return [judge(task) for task in tasks]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        return pool.map(judge, tasks, chunksize=4)


def score_command(chosen: argparse.Namespace) -> int:
    """What `score` prints and writes."""
    truths = read_truths(chosen.data, None if chosen.explain else chosen.split)
    if chosen.explain:
        wanted = [truth for truth in truths if truth.run_id == chosen.explain]
        if not wanted:
            print(f"no run {chosen.explain} in {chosen.data}")
            return 2
        content, _ = read_document_as_old(wanted[0], chosen.data)
        print(explain(wanted[0], content))
        return 0
    if not truths:
        print(f"no runs of split {chosen.split} in {chosen.data}; generate them first")
        return 2
    judged = judge_all(truths, chosen.data, chosen.jobs)
    if chosen.json:
        print(json.dumps(as_json(judged), indent=1))
    else:
        print(text(judged, chosen.split, misses=chosen.misses))
    if chosen.report and any(one.broken for one in judged):
        print(f"{chosen.report} is left as it was: analyzers failed", file=sys.stderr)
        return 1
    if chosen.report:
        update_file(chosen.report, markdown(judged, chosen.split))
    return 0


def read_document_as_old(truth: Truth, data: Path) -> tuple[dict[str, Any], int]:
    """The document of one run, read when its log is as old as the label says."""
    moment = time.time() - truth.silent_seconds
    for path in (data / "runs" / truth.run_id).iterdir():
        os.utime(path, (moment, moment))
    return read_document(data / "runs" / truth.run_id)


def as_json(judged: list[Judged]) -> dict[str, Any]:
    """Figures and every run's verdict, for programs."""
    return {
        "figures": {
            one.name: {
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "bar": one.bar,
                "met": one.is_met,
            }
            for one in figures(judged)
        },
        "runs": [
            {
                "run": one.truth.run_id,
                "kind": one.truth.kind,
                "verdict": one.truth.verdict,
                "family": one.truth.family,
                "dialect": one.truth.dialect,
                "found": one.is_found,
                "alarms": [
                    [alarm["id"], alarm["confidence"], alarm["first_step"]]
                    for alarm in one.findings
                ],
                "causes": [[cause["id"], cause["confidence"]] for cause in one.causes[:3]],
                "onset_error": one.onset_error,
                "problem": one.problem,
                "broken": one.broken,
                "seconds": round(one.seconds, 3),
            }
            for one in judged
        ],
    }
