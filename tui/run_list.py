"""Which runs the picker lists, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .engine.protocol import Health, JobsAsked, RunRow
from .job_text import state_of
from .recent import is_below

_NUMBER = re.compile(r"([0-9]+)")
_WORST_FIRST = (Health.CRITICAL, Health.WARNING, Health.INFO, Health.UNKNOWN, Health.FINE)
_STATES = ("failed", "stalled", "running", "", "unknown", "finished")
"""Among runs of one health, those that need somebody first."""
_PHASES = ("running", "waiting", "unknown", "over")


class Order(StrEnum):
    """How runs are sorted."""

    NEWEST = "newest"
    WORST = "worst"
    NAME = "name"

    @property
    def described(self) -> str:
        """The order in words."""
        return {"newest": "newest first", "worst": "worst first", "name": "by name"}[self.value]

    @property
    def following(self) -> Order:
        """The order that comes after this one."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


@dataclass(frozen=True, slots=True)
class Heading:
    """A line between runs."""

    title: str
    asked: JobsAsked | None = None
    """For jobs: when the schedulers were asked, and what came of it."""


Line = Heading | RunRow


@dataclass(frozen=True, slots=True)
class Place:
    """Where the list is shown: what is here, and what the user is here for."""

    directories: Sequence[str] = ()
    """Runs that are in none of these were opened lately elsewhere."""
    are_jobs_first: bool = True
    """The user's jobs come before everything else; otherwise, below what was named."""
    asked: JobsAsked | None = None
    """What the schedulers said, if anybody asked them."""


def arrange(
    rows: Iterable[RunRow], wanted: str, order: Order, place: Place | None = None
) -> list[Line]:
    """The lines of the list: jobs, matching runs here, then those opened lately elsewhere."""
    place = place or Place()
    found = matching([row for row in rows if not row.is_gone], wanted)
    jobs = [row for row in found if is_among_jobs(row, are_jobs_first=place.are_jobs_first)]
    listed: list[Line] = [*_jobs_heading(jobs, wanted, place), *sorted(jobs, key=_JOB_KEYS[order])]
    taken = {row.run for row in jobs}
    others = sorted((row for row in found if row.run not in taken), key=_KEYS[order])
    if not place.are_jobs_first:
        return [*others, *listed]
    here: list[RunRow] = []
    elsewhere: list[RunRow] = []
    for row in others:
        is_here = not place.directories or is_below(row.path, place.directories)
        (here if is_here else elsewhere).append(row)
    if here:
        listed += [Heading("runs here")] if listed else []
        listed += here
    if elsewhere:
        listed += [Heading("recent, in other directories"), *elsewhere]
    return listed


def is_among_jobs(row: RunRow, *, are_jobs_first: bool) -> bool:
    """True if a run is listed as one of the user's jobs."""
    return row.is_extra or (are_jobs_first and row.job is not None)


def walk(rows: Iterable[RunRow], selected: int, *, are_jobs_first: bool) -> list[int]:
    """The runs in the order in which one goes from one to the next.

    Jobs come first, as in the list; or after what was named, and then only those that run and
    the one that is being looked at.
    """
    jobs: list[RunRow] = []
    others: list[int] = []
    for row in rows:
        if row.is_gone and row.run != selected:
            continue
        if not is_among_jobs(row, are_jobs_first=are_jobs_first):
            others.append(row.run)
        elif are_jobs_first or row.run == selected or (row.job and row.job.is_running):
            jobs.append(row)
    ordered = [row.run for row in sorted(jobs, key=_JOB_KEYS[Order.NEWEST])]
    return [*ordered, *others] if are_jobs_first else [*others, *ordered]


def _jobs_heading(jobs: Sequence[RunRow], wanted: str, place: Place) -> list[Line]:
    asked = place.asked
    is_news = asked is not None and (asked.is_asking or asked.notes) and not wanted
    if not jobs and not is_news:
        return []
    return [Heading("your jobs" if place.are_jobs_first else "your other jobs", asked)]


def matching(rows: list[RunRow], wanted: str) -> list[RunRow]:
    """Runs that hold every wanted word; where none does, those with its letters in order."""
    words = wanted.casefold().split()
    if not words:
        return rows
    found = [row for row in rows if _holds(row, words)]
    letters = "".join(words)
    return found or [row for row in rows if _has_in_order(row.name.casefold(), letters)]


def state_word(row: RunRow) -> str:
    """The state as it is shown."""
    return state_of(row)[1]


def _holds(row: RunRow, words: list[str]) -> bool:
    told = [row.name, state_word(row), row.health, row.headline]
    if (job := row.job) is not None:
        told += [job.id, job.name, job.state, job.nodes, job.reason, job.reason_words]
    text = "\n".join(told).casefold()
    return all(word in text for word in words)


def _has_in_order(text: str, letters: str) -> bool:
    remaining = iter(text)
    return all(letter in remaining for letter in letters)


def _newest(row: RunRow) -> tuple[float, str]:
    return (-(row.modified or 0.0), row.name)


def _worst(row: RunRow) -> tuple[int, int, float, str]:
    state = _STATES.index(row.state) if row.state in _STATES else len(_STATES)
    return (_WORST_FIRST.index(row.health), state, *_newest(row))


def _name(row: RunRow) -> tuple[list[tuple[int, int, str]], str]:
    return (_natural(row.name.casefold()), row.path)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key that puts `version_10` after `version_9`."""
    parts = enumerate(_NUMBER.split(text))
    return [(1, int(part[:18]), "") if place % 2 else (0, 0, part) for place, part in parts]


def _by_phase(row: RunRow) -> tuple[int, float]:
    """What runs, what waits, what ended: the last to end first."""
    job = row.job
    if job is None:
        return len(_PHASES), 0.0
    ended = -(job.ended_at or 0.0) if job.is_over else 0.0
    return _PHASES.index(job.phase) if job.phase in _PHASES else len(_PHASES), ended


def _by_id(row: RunRow) -> tuple[int, list[tuple[int, int, str]]]:
    """The newest job first, its tasks in order; this does not change while they run."""
    job_id = row.job.id if row.job is not None else row.name
    number = _NUMBER.match(job_id)
    return (-int(number[0][:18]) if number else 0, _natural(job_id))


def _job_name(row: RunRow) -> tuple[list[tuple[int, int, str]], object]:
    return (_natural((row.job.name if row.job is not None else row.name).casefold()), _by_id(row))


_JOB_KEYS: dict[Order, Callable[[RunRow], Any]] = {
    Order.NEWEST: lambda row: (*_by_phase(row), _by_id(row)),
    Order.WORST: lambda row: (_WORST_FIRST.index(row.health), *_by_phase(row), _by_id(row)),
    Order.NAME: _job_name,
}
_KEYS = {Order.NEWEST: _newest, Order.WORST: _worst, Order.NAME: _name}
