"""Asks Slurm seldom: one query of a kind in 30 s for a user, whatever number of programs runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .commands import PATIENCE, Output, installed, run
from .notebook import Entry, Notebook, Page
from .problems import Problem, Trouble, not_installed, too_soon

INTERVAL = 30.0
"""Seconds between two queries of a kind."""
SETTLED = 3600.0
"""Seconds after which something is tried again that changes when a cluster is set up anew."""
KEPT = 600.0
"""Seconds for which an old answer is better than none."""
MOST_LETTERS = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Question:
    """A command, and how to treat what it prints."""

    arguments: list[str]
    key: str = ""
    """Tells the questions of a kind apart."""
    mark: str = ""
    """What separates the values in the answer."""
    tidy: Callable[[str], str] = str
    """Makes the answer shorter before it is kept."""
    age: float | None = None
    """Seconds for which the answer holds, if not the usual ones."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What Slurm said, and when; the problem is that of the last attempt, if it failed."""

    text: str | None
    asked: float | None
    problem: Problem | None = None
    mark: str = ""


@dataclass
class Asker:
    """Puts questions of a few kinds (`squeue`, `scontrol`, `sacct`), each seldom."""

    run: Callable[[list[str]], Output] = run
    is_installed: Callable[[str], bool] = lambda program: installed(program) is not None
    now: Callable[[], float] = time.time
    notebook: Notebook = field(default_factory=Notebook)

    def ask(self, kind: str, question: Question, *, once_more: bool = False) -> Answer:
        """The answer to a question, fresh or kept.

        Another question of the same kind within the interval is put only if it is `once_more`,
        and one at most.
        """
        program = question.arguments[0]
        if not self.is_installed(program):
            return Answer(None, None, not_installed(program))
        key = f"{_cluster()}|{question.key}"
        with self.notebook.locked(kind, PATIENCE + 1):
            page = self.notebook.read(kind)
            now = self.now()
            entry = _without_accounts(page, now) or page.entries.get(key, Entry())
            if entry.age(now) < _lifetime(entry, question):
                return _answer(entry, now)
            recent = [moment for moment in page.moments if 0 <= now - moment < INTERVAL]
            if len(recent) > (1 if once_more else 0):
                problem = too_soon(program, INTERVAL - (now - min(recent)))
                return replace(_answer(entry, now), problem=problem)
            # Written down before asking, so that a program which is killed meanwhile counts too.
            page.moments = [*recent, now]
            self.notebook.write(kind, page)
            entry = self._put(question, entry, now)
            page.note(key, entry)
            self.notebook.write(kind, page)
            return _answer(entry, now)

    def _put(self, question: Question, kept: Entry, now: float) -> Entry:
        output = self.run(question.arguments)
        text, problem = question.tidy(output.text), output.problem
        if problem is None and len(text) > MOST_LETTERS:
            problem = Problem(Trouble.OTHER, f"{question.arguments[0]} printed too much to be read")
        if problem is None:
            return Entry(now, text, self.now(), question.mark)
        is_gone = problem.trouble is Trouble.UNKNOWN_JOB
        return replace(Entry() if is_gone else kept, tried=now, problem=problem)


def _cluster() -> str:
    """What decides which cluster answers."""
    return "|".join(os.environ.get(name, "") for name in ("SLURM_CONF", "SLURM_CLUSTERS"))


def _without_accounts(page: Page, now: float) -> Entry | None:
    """That Slurm keeps no accounts was said to one question and answers all of the kind."""
    for key, entry in page.entries.items():
        is_off = entry.problem is not None and entry.problem.trouble is Trouble.NO_ACCOUNTING
        if is_off and key.startswith(f"{_cluster()}|") and entry.age(now) < SETTLED:
            return entry
    return None


def _lifetime(entry: Entry, question: Question) -> float:
    """Seconds for which the last attempt counts."""
    if entry.problem is None:
        return question.age or INTERVAL
    is_settled = entry.problem.trouble in (Trouble.NO_ACCOUNTING, Trouble.UNSUPPORTED)
    return SETTLED if is_settled else INTERVAL


def _answer(entry: Entry, now: float) -> Answer:
    if entry.text is None or entry.asked is None:
        return Answer(None, None, entry.problem)
    if entry.problem is not None and not 0 <= now - entry.asked < KEPT:
        return Answer(None, None, entry.problem)
    return Answer(entry.text, entry.asked, entry.problem, entry.mark)
