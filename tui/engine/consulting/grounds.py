"""What a conversation is about: runs under the names that it uses, their files, and a masker."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mltd.diagnosis.pack import PackConstraints, PackMaterial
from mltd.runs.run import Run
from mltd.sessions.model.session import Session

from ...pack_facts import named_files, paths_of, people_in, state_of
from .read_ahead import ReadAheadBook
from .shared_masker import SharedMasker

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis

    from ..followed_run import FollowedRun

Numbered = Sequence[tuple[str, int]]
"""Ids that the session gives to runs, and their numbers."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """Made by the main loop; the keys are the session's ids, or made up where it has none."""

    session: Session | None
    numbers: Mapping[str, int]
    main: str
    """Key of the run that is looked at."""
    runs: Mapping[str, Run]
    book: ReadAheadBook
    masker: SharedMasker
    problems: tuple[str, ...] = ()

    def id_of(self, key: str) -> str:
        """What the session calls a run; empty if it does not know it."""
        is_known = self.session is not None and key and self.session.run(key) is not None
        return key if is_known else ""


def gather(
    find: Callable[[int], FollowedRun | None],
    looked_at: int,
    session: str,
    numbered: Numbered,
    *,
    named: Sequence[str] = (),
    sources: Sequence[str] = (),
    is_redacted: bool = False,
) -> Grounds:
    """Lay out the runs that there are; a session may know others that are gone."""
    known = Session.model_validate_json(session) if session else None
    numbers = _keyed(looked_at, numbered, known)
    found = {key: one for key, number in numbers.items() if (one := find(number)) is not None}
    runs = {key: one.run for key, one in found.items()}
    paths = [os.path.abspath(path) for path in paths_of(runs.values())]
    masker = SharedMasker(is_redacted, paths, people_in(known, runs))
    # Also what was named when the session began: its links may lead anywhere, too.
    places = [*named, *(ref.location for ref in (known.runs if known is not None else ()))]
    book = ReadAheadBook(
        runs, known, sources, named=named_files(places, runs.values()), masker=masker
    )
    numbers = {key: number for key, number in numbers.items() if key in found}
    main = next((key for key, number in numbers.items() if number == looked_at), "")
    return Grounds(known, numbers, main, runs, book, masker, _problems(found, known))


def material_of(
    grounds: Grounds, diagnoses: Mapping[str, Diagnosis], seconds: float
) -> PackMaterial:
    """The same as what a pack is made of."""
    return PackMaterial(
        runs=grounds.runs,
        diagnoses=diagnoses,
        book=grounds.book,
        session=grounds.session,
        constraints=PackConstraints(seconds=seconds),
        states={key: state_of(run) for key, run in grounds.runs.items()},
        problems=grounds.problems,
    )


def _keyed(looked_at: int, numbered: Numbered, session: Session | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, number in numbered:
        if number not in found.values():
            found.setdefault(key, number)
    if looked_at not in found.values():
        taken = {*found, *(ref.id for ref in (session.runs if session is not None else ()))}
        key, count = "run1", 1
        while key in taken:
            count += 1
            key = f"run{count}"
        found[key] = looked_at
    return found


def _problems(found: Mapping[str, FollowedRun], session: Session | None) -> tuple[str, ...]:
    unread = [problem.message for one in found.values() for problem in one.live.loaded.problems]
    gone = [
        f"the run {ref.id} ({ref.label}) of the session is not open, and nothing of it is told"
        for ref in (session.runs if session is not None else ())
        if ref.id not in found
    ]
    return (*unread, *gone)
