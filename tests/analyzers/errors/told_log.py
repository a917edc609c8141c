"""Runs made from the text of a log, and what is found in them."""

from __future__ import annotations

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run


def run_of(text: str, name: str = "x.log", run: Run | None = None) -> Run:
    made = run or Run("told")
    made.is_over = True
    read_stream(made, name, iter([text.encode()]))
    return made


def view_of(text: str) -> RunView:
    return RunView(run_of(text))


def diagnosis_of(text: str, **config: object) -> Diagnosis:
    run = run_of(text)
    if config:
        run.add_config(config)
    found = diagnose(run)
    assert not found.problems, found.problems
    return found


def finding(found: Diagnosis, identity: str) -> Finding:
    return next(one for one in found.findings if one.id == identity)


def alarms(found: Diagnosis) -> list[str]:
    return [one.id for one in found.findings if one.is_alarm]


def traceback(raised: str, *frames: str) -> str:
    """A traceback; frames as `file:line code`."""
    lines = ["Traceback (most recent call last):"]
    for number, frame in enumerate(frames or ("train.py:10 main()",)):
        place, _, code = frame.partition(" ")
        file, _, line = place.rpartition(":")
        name = "main" if number else "<module>"
        lines += [f'  File "{file}", line {line}, in {name}', f"    {code}"]
    return "\n".join([*lines, raised]) + "\n"
