"""The few questions that Slurm is asked, and its answers as records."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field

from ...errors import FormatError
from . import sacct, scontrol, squeue
from .asking import Answer, Asker, Question
from .job_json import parse_json
from .problems import Problem, Trouble
from .record import Record

JSON_SINCE = (23, 2)
"""Versions before print the jobs of all users, whoever is asked for."""
PAST_AGE = 300.0
"""Seconds for which a list of ended jobs holds."""
VERSION_AGE = 86_400.0
_VERSION = re.compile(r"slurm\S* ([0-9]{2})\.([0-9]{1,2})")


@dataclass(frozen=True, slots=True)
class Records:
    """What an answer holds; None if there is no answer."""

    found: list[Record] | None
    asked: float | None = None
    problem: Problem | None = None


@dataclass
class Questions:
    """Asks on behalf of one user."""

    user: int
    asker: Asker = field(default_factory=Asker)

    def version(self) -> tuple[int, int] | None:
        """Of the commands here, such as (23, 11)."""
        place = shutil.which("squeue") or ""
        try:
            changed = os.stat(place).st_mtime if place else 0.0
        except OSError:
            changed = 0.0
        question = Question(["squeue", "--version"], f"{place}|{changed}", age=VERSION_AGE)
        return parse_version(self.asker.ask("version", question).text)

    def queue(self) -> Records:
        """The user's jobs that wait, run or ended a few minutes ago."""
        version = self.version()
        if version is not None and version >= JSON_SINCE:
            question = Question(squeue.json_arguments(self.user), "json")
            found = _records(self.asker.ask("squeue", question), parse_json)
            if found.problem is None or found.problem.trouble is not Trouble.UNSUPPORTED:
                return found
        mark = _mark()
        question = Question(
            squeue.text_arguments(self.user, mark),
            "text",
            mark,
            lambda text: squeue.without_padding(text, mark),
        )
        answer = self.asker.ask("squeue", question, once_more=True)
        return _records(answer, lambda text: squeue.parse_text(text, answer.mark))

    def one(self, job_id: str) -> Records:
        """A job that the controller still remembers, of whatever user."""
        question = Question(scontrol.arguments(job_id), job_id)
        return _records(self.asker.ask("scontrol", question, once_more=True), scontrol.parse_text)

    def past(self) -> Records:
        """The user's jobs of the last day, if Slurm keeps accounts."""
        return self._accounts("recent", PAST_AGE, None)

    def account(self, job_id: str) -> Records:
        """One of the user's jobs, however old, if Slurm keeps accounts."""
        return self._accounts(job_id, None, job_id)

    def _accounts(self, key: str, age: float | None, job_id: str | None) -> Records:
        names = sacct.fields(self.version())
        mark = _mark()
        arguments = sacct.arguments(self.user, mark, names, job_id=job_id)
        question = Question(arguments, f"{key}|{len(names)}", mark, age=age)
        answer = self.asker.ask("sacct", question, once_more=True)
        return _records(answer, lambda text: sacct.parse_text(text, answer.mark, names))


def parse_version(text: str | None) -> tuple[int, int] | None:
    """Of `slurm-wlm 22.05.8` or `slurm 23.11.4`."""
    found = _VERSION.search(text or "")
    return (int(found[1]), int(found[2])) if found else None


def _mark() -> str:
    """A separator that no job's name can hold: nobody knows it beforehand."""
    return f"#{secrets.token_hex(8)}#"


def _records(answer: Answer, parse: Callable[[str], list[Record]]) -> Records:
    if answer.text is None:
        return Records(None, None, answer.problem)
    try:
        return Records(parse(answer.text), answer.asked, answer.problem)
    except FormatError as problem:
        return Records(None, None, Problem(Trouble.UNSUPPORTED, problem.message, problem.hint))
