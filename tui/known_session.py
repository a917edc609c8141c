"""What is kept about a run that was named on the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mltd.runs.remote.names import url_of
from mltd.sessions.errors import SessionError
from mltd.sessions.model.session import Session
from mltd.sessions.prints import is_same_file, print_of
from mltd.sessions.storage.store import SessionStore


def session_about(paths: Sequence[str], folder: str) -> Session | None:
    """The session about the run with these files; a broken store is no reason to stop."""
    if not paths:
        return None
    own = [url_of(os.path.abspath(path)) for path in paths]
    location = own[0] if len(own) == 1 or not folder else url_of(os.path.abspath(folder))
    store = SessionStore()
    try:
        known = store.find_for_run(location, [print_of(path) for path in own])
        return None if known is None else store.load(known).session
    except (SessionError, OSError):
        return None


def id_in(session: Session | None, paths: Sequence[str]) -> str:
    """What the session calls the run with these files; empty if it does not know it."""
    for ref in session.runs if session is not None else ():
        if any(is_same_file(known, path) for known in ref.files for path in paths):
            return ref.id
    return ""
