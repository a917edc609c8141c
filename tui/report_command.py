"""The command `report`: a session, or a run that has none yet, as a document."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from mltd.analyzers.core.settings_lookup import Settings
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import RunFiles
from mltd.runs.errors import InputError, MltdError
from mltd.runs.ingest import load
from mltd.runs.name_text import escape_undecodable, path_of
from mltd.runs.remote.names import mirrored, url_of
from mltd.runs.remote.places import place_of
from mltd.runs.run import Run
from mltd.sessions.actions.checks import ObserveChecks
from mltd.sessions.checks import observed
from mltd.sessions.errors import StorageError
from mltd.sessions.facts.seen import seen_in
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.prints import is_same_file, print_of
from mltd.sessions.report import (
    Options,
    Report,
    build,
    check_target,
    draft,
    evidence_of,
    material_of,
    picture_folder,
    write,
)
from mltd.sessions.storage.finding import listed
from mltd.sessions.storage.places import JOURNAL
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import now

from .complaint import UNUSABLE, complain
from .escaping import printable
from .headless import find_runs
from .wording import count

_STDOUT = (None, "-")
_HEADER = b'{"schema":'
"""How every journal begins."""


class _Read(NamedTuple):
    """What could be read of the runs of a session."""

    runs: dict[str, Run]
    diagnoses: dict[str, Diagnosis]
    why_not: dict[str, str]


def report(
    name: str, *, output: str | None, brief: bool, as_json: bool, redact: bool, force: bool
) -> int:
    """Write the report on a session or a run; the exit code."""
    start = time.perf_counter()
    try:
        if brief and as_json:
            raise InputError("a report is either brief or JSON", hint="leave one of them out")
        if output not in _STDOUT:
            check_target(str(output), force)
        session, read = _subject(name)
        material = material_of(
            session, read.runs, read.diagnoses, read.why_not, round(time.perf_counter() - start, 3)
        )
        folder = "" if output in _STDOUT or brief else picture_folder(str(output))
        options = Options(brief, as_json, redact, folder, now())
        _put(build(session, material, options), output, force, evidence_of(session))
    except MltdError as problem:
        complain(problem)
        return UNUSABLE
    return 0


def _put(made: Report, output: str | None, force: bool, evidence: list[str]) -> None:
    if output in _STDOUT:
        sys.stdout.buffer.write(escape_undecodable(made.text).encode())
        sys.stdout.flush()
        return
    *beside, target = write(made, str(output), force, evidence)
    more = f" and {count(len(beside), 'file')} in {beside[0].parent}" if beside else ""
    sys.stderr.write(f"mltd-tui: wrote {printable(str(target))}{printable(more)}\n")


# -- what is meant ------------------------------------------------------------------------


def _subject(name: str) -> tuple[Session, _Read]:
    """The session that a name stands for, and what can be read of its runs."""
    store = SessionStore()
    path = Path(os.path.expanduser(name)) if name.strip() and "\0" not in name else None
    if path is not None and os.path.lexists(path) and not _is_session_id(store, name):
        if path.name == JOURNAL or (path / JOURNAL).is_file() or _is_journal(path):
            return _with_runs(_loaded(store, path))
        return _of_run(store, name)
    if "/" in name or any(sign in name for sign in "*?"):
        return _of_run(store, name)
    return _with_runs(_loaded(store, store.find(name)))


def _loaded(store: SessionStore, id_or_path: str | Path) -> Session:
    """The session as it is on disk; what is wrong with its journal goes to stderr."""
    triage, notices = store.load_with_notices(id_or_path)
    for notice in notices:
        complain(StorageError(f"session {triage.session.id}: {notice}"))
    return triage.session


def _is_journal(path: Path) -> bool:
    """True for a copy of a journal, whatever it is called: one that was rescued, for instance."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER
    return False


def _is_session_id(store: SessionStore, name: str) -> bool:
    return any(name == summary.id for summary in store.summaries())


def _of_run(store: SessionStore, name: str) -> tuple[Session, _Read]:
    """The session about a run; a draft in memory if there is none."""
    found, problems = find_runs([name])
    if problems:
        raise problems[0]
    if len(found) > 1:
        raise InputError(
            f"{name} holds {len(found)} runs",
            hint="name one of them: " + listed([_location(files) for files in found]),
        )
    files, location = found[0], url_of(os.path.abspath(place_of(name)))
    prints = [print_of(url_of(os.path.abspath(file.path)), file.root) for file in files.files]
    known = store.find_for_run(location, prints)
    if known is not None:
        return _with_runs(_loaded(store, known))
    loaded = load(files)
    for problem in loaded.problems:
        complain(problem)
    diagnosis = diagnose(loaded.run)
    session = draft(loaded.run, location, diagnosis, now)
    return session, _Read({"R1": loaded.run}, {"R1": diagnosis}, {})


def _location(files: RunFiles) -> str:
    return files.files[0].path if len(files.files) == 1 else files.root


# -- runs of a session --------------------------------------------------------------------


def _with_runs(session: Session) -> tuple[Session, _Read]:
    """The session, and every run of it that is still where it was."""
    read = _Read({}, {}, {})
    for ref in session.runs:
        try:
            run = _load(ref)
        except MltdError as problem:
            read.why_not[ref.id] = problem.message
            continue
        read.runs[ref.id] = run
        if ref.part is not RunPart.EXPERIMENT:
            read.diagnoses[ref.id] = diagnose(run)
    return _observed(session, read), read


def _observed(session: Session, read: _Read) -> Session:
    """The session with what can be seen to be done today ticked, in memory alone."""
    incident = session.run("")
    run = read.runs.get(incident.id) if incident is not None else None
    seen = seen_in(run, Settings(run.config)) if run is not None else None
    at = now()
    return ObserveChecks(marks=observed(session, seen, at)).apply(session, at)


def _load(ref: RunRef) -> Run:
    found, problems = find_runs([path_of(ref.location)])
    if problems:
        raise problems[0]
    if len(found) > 1:
        found = [files for files in found if files.name == ref.name] or found
    own = {os.path.realpath(file.path) for file in found[0].files}
    digests = [file for file in ref.files if file.digest]
    known = [file for file in digests if os.path.realpath(path_of(mirrored(file.path))) in own]
    if known and not any(is_same_file(file, file.path) for file in known):
        raise InputError(f"{ref.location} holds another run now: its files begin differently")
    loaded = load(found[0])
    for problem in loaded.problems:
        complain(problem)
    return loaded.run
