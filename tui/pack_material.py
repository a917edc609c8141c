"""From the names that a user gives to the material of a pack, read once and judged now."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mltd.analyzers.diagnosis import diagnose
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.pack import PackMaterial
from mltd.runs.discovery import RunFiles
from mltd.runs.errors import InputError, LeadsOutError, MltdError
from mltd.runs.ingest import load, read_stream
from mltd.runs.run import Run
from mltd.sessions.masking import Masker
from mltd.sessions.model.session import Session

from .complaint import complain
from .headless import find_runs
from .known_session import id_in, session_about
from .pack_facts import named_files, paths_of, people_in, state_of


class Gathered(NamedTuple):
    """What the pack is made of, and what masks it."""

    material: PackMaterial
    masker: Masker
    paths: tuple[str, ...]
    """Files of the runs: nothing may be written over them."""
    has_unusable: bool
    """Something that was named could not be used."""


def gather_material(names: Sequence[str], *, redact: bool, sources: Sequence[str] = ()) -> Gathered:
    """Read and diagnose the runs; `MltdError` if there is none."""
    found, problems = find_runs([name for name in names if name != "-"])
    runs: dict[str, Run] = {}
    session = _session_about(found)
    for key, run in _loaded(names, found, session, problems):
        runs[_unused(key, runs)] = run
    for problem in problems:
        complain(problem)
    if not runs:
        raise InputError("there is no run to make a pack of", hint="name a log or a folder of one")
    paths = paths_of(runs.values())
    masker = Masker(redact, [os.path.abspath(path) for path in paths], people_in(session, runs))
    material = PackMaterial(
        runs=runs,
        diagnoses={key: diagnose(run) for key, run in runs.items()},
        book=ArtifactBook(
            runs, session, sources, named=named_files(names, runs.values()), masker=masker
        ),
        session=session,
        states={key: state_of(run) for key, run in runs.items()},
        problems=tuple(problem.message for problem in problems),
    )
    has_unusable = any(not isinstance(problem, LeadsOutError) for problem in problems)
    return Gathered(material, masker, tuple(paths), has_unusable)


def _loaded(
    names: Sequence[str],
    found: Sequence[RunFiles],
    session: Session | None,
    problems: list[MltdError],
) -> Iterator[tuple[str, Run]]:
    if "-" in names:
        run = Run("standard input")
        try:
            read_stream(run, "-", iter(lambda: os.read(sys.stdin.fileno(), 1 << 20), b""))
            yield "stdin", run
        except MltdError as problem:
            problems.append(problem)
    for number, files in enumerate(found, start=1):
        try:
            loaded = load(files)
        except MltdError as problem:
            problems.append(problem)
            continue
        problems.extend(loaded.problems)
        yield id_in(session, _paths(files)) or f"run{number}", loaded.run


def _unused(key: str, taken: dict[str, Run]) -> str:
    while key in taken:
        key += "_"
    return key


def _session_about(found: Sequence[RunFiles]) -> Session | None:
    """The session about the first run that has one."""
    about = (session_about(_paths(files), files.root) for files in found)
    return next((session for session in about if session is not None), None)


def _paths(files: RunFiles) -> list[str]:
    return [file.path for file in files.files]
