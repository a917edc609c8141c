"""What sessions need from runs: the facts of a triage, and the report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mltd.runs.discovery import Purpose, RunFiles, explore
from mltd.runs.errors import MltdError
from mltd.runs.open_artifact import reason_not_read
from mltd.runs.remote.names import url_of

from .protocol import Facts, Reported, ReportRequest

if TYPE_CHECKING:
    from .followed_run import FollowedRun


def facts_of(followed: FollowedRun) -> Facts:
    """What the run says by itself about the circumstances."""
    from pydantic import TypeAdapter

    from mltd.sessions.facts.gather import gather
    from mltd.sessions.model.base import writable
    from mltd.sessions.model.run_ref import FilePrint
    from mltd.sessions.prints import print_of

    gathered = gather(followed.run, followed.diagnosis)
    files = followed.files
    prints = tuple(
        print_of(url_of(os.path.abspath(path)), files.root_of(path))
        for path in files.paths(Purpose.LOG, Purpose.METRICS)
    )
    packed = TypeAdapter(tuple[FilePrint, ...]).dump_json(prints).decode()
    location = writable(url_of(location_of(followed.files)))
    return Facts(followed.number, location, gathered.model_dump_json(), packed)


def location_of(files: RunFiles) -> str:
    """A name under which exactly this run is found again."""
    logs = files.paths(Purpose.LOG, Purpose.METRICS)
    # Under its own name a link would be followed wherever it leads.
    if len(logs) == 1 and not reason_not_read(logs[0], files.root_of(logs[0])):
        return os.path.abspath(logs[0])
    try:
        is_alone = len(explore(files.root).runs) == 1
    except MltdError:
        is_alone = False
    return os.path.abspath(files.root if is_alone or not logs else logs[0])


def report(wish: ReportRequest, followed: Mapping[int, FollowedRun]) -> Reported:
    """Write a report with the runs that are at hand."""
    from mltd.sessions.model.session import Session
    from mltd.sessions.report import (
        Options,
        build,
        evidence_of,
        material_of,
        picture_folder,
        write,
    )
    from mltd.sessions.triage import now

    session = Session.model_validate_json(wish.session)
    known = [(name, followed[number]) for name, number in wish.runs if number in followed]
    runs = {name: one.run for name, one in known}
    verdicts = {name: one.diagnosis for name, one in known if one.diagnosis is not None}
    is_brief = wish.form == "brief"
    options = Options(
        brief=is_brief,
        as_json=wish.form == "json",
        redact=wish.is_redacted,
        folder="" if is_brief else picture_folder(wish.path),
        at=now(),
    )
    try:
        made = build(session, material_of(session, runs, verdicts), options)
        written = write(made, wish.path, wish.may_overwrite, evidence_of(session))
    except (MltdError, OSError) as problem:
        return Reported(wish.ticket, problem=str(problem))
    *beside, target = [str(path) for path in written]
    return Reported(wish.ticket, target, tuple(beside))
