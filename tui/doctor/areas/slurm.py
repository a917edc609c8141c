"""Slurm: are its commands here, and do they answer in time? Each is asked once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial

from ...wording import count
from ..check import Check
from ..line import Line, State
from ..programs import Answer
from ..surroundings import Surroundings

AREA = "Slurm"
PROGRAMS = ("squeue", "scontrol", "sacct")
_VERSION = re.compile(r"slurm\S* (\d[\w.-]*)")
_LOSS = {
    "squeue": "jobs cannot be listed",
    "scontrol": "the logs of a job cannot be looked up",
    "sacct": "how finished jobs ended is not known",
}
_NAMED = re.compile(r"^\w+: (fatal|error): ")
_NO_CONFIGURATION = ("configuration source", "slurm.conf", "s_p_parse_file")
_NO_ACCOUNTING = ("accounting storage is disabled", "not running a supported accounting_storage")

_line = partial(Line, AREA)


def commands(around: Surroundings) -> Iterator[Line]:
    """Which of them are here, in which version?"""
    there = [program for program in PROGRAMS if around.find(program)]
    if not there:
        is_cluster = any(name.startswith("SLURM_") for name in around.environment)
        yield _line(
            State.WARNING if is_cluster else State.OK,
            "no Slurm commands in PATH: jobs are not listed, logs are opened by name",
            "on a cluster: `module load slurm`, or add them to PATH",
        )
        return
    for program in PROGRAMS:
        if program not in there:
            yield _line(
                State.WARNING,
                f"no {program} in PATH: {_LOSS[program]}",
                f"add the directory of {program} to PATH",
            )
    answer = around.ask(there[0], "--version", share=0.9)
    version = _VERSION.search(answer.output)
    if answer.is_good and version:
        yield _line(State.OK, f"{', '.join(there)}: version {version[1]}")


def queue(around: Surroundings) -> Iterator[Line]:
    """Does the queue answer?"""
    if not around.find("squeue"):
        return
    # By number: looking the name up can take longer than the queue itself.
    answer = around.ask("squeue", "-h", "-u", str(os.geteuid()), "-o", "%i")
    if answer.is_good:
        jobs = sum(1 for line in answer.output.splitlines() if line.strip())
        yield _line(State.OK, f"squeue answers: {count(jobs, 'job')} of yours")
    else:
        yield from _failed(around, "squeue", answer)


def controller(around: Surroundings) -> Iterator[Line]:
    """Does the controller live?"""
    if not around.find("scontrol"):
        return
    answer = around.ask("scontrol", "ping")
    if answer.is_good and " UP" in answer.output:
        yield _line(State.OK, "scontrol answers: the controller is up")
    elif answer.code is not None and " DOWN" in answer.output:
        yield _line(
            State.WARNING,
            "scontrol answers: the controller is down",
            "wait, or ask those who run the cluster; logs can be opened by name",
        )
    else:
        yield from _failed(around, "scontrol", answer)


def accounting(around: Surroundings) -> Iterator[Line]:
    """Does anybody keep how jobs ended?"""
    if not around.find("sacct"):
        return
    # Jobs since this moment: the smallest question there is.
    answer = around.ask("sacct", "-n", "-X", "-S", "now", "-o", "JobID")
    said = (answer.output + answer.errors).casefold()
    if any(words in said for words in _NO_ACCOUNTING):
        yield _line(
            State.OK,
            "no accounting here: how a job ended is known only for a few minutes",
            "nothing; the log itself often tells",
        )
    elif answer.is_good:
        yield _line(State.OK, "sacct answers: accounting is there")
    else:
        yield from _failed(around, "sacct", answer)


def _failed(around: Surroundings, program: str, answer: Answer) -> Iterator[Line]:
    complaint = _NAMED.sub("", answer.complaint)
    if any(words in answer.errors for words in _NO_CONFIGURATION):
        # All of them fail for this reason; once is enough.
        if program == next(filter(around.find, PROGRAMS)):
            yield _line(
                State.WARNING,
                f"Slurm is installed, but not set up: {complaint}",
                "`export SLURM_CONF=/PATH/TO/slurm.conf`, or nothing if this is no cluster",
            )
    elif answer.is_late:
        yield _line(
            State.WARNING,
            f"{program} does not answer within {around.patience:.2g} s: {_LOSS[program]}",
            "try again; if it stays so, tell those who run the cluster",
        )
    else:
        yield _line(
            State.WARNING,
            f"{program} fails ({complaint}): {_LOSS[program]}",
            f"see what `{program}` says by itself",
        )


CHECKS = (
    Check(AREA, "the Slurm commands", commands),
    Check(AREA, "squeue", queue),
    Check(AREA, "scontrol", controller),
    Check(AREA, "sacct", accounting),
)
