"""The command `sessions`: list them, rename, archive or delete one, or say where it is."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

from mltd.runs.errors import InputError, MltdError

# Nothing else up here: the command line is built at every start of the app.
if TYPE_CHECKING:
    from mltd.sessions.actions.every import AnyAction

_P = ParamSpec("_P")
_NAMED = "its id, the beginning or the last part of it, its title, a log it is about, or 'last'"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and what it can do to the command line."""
    sessions = commands.add_parser("sessions", help="list, rename, archive or delete sessions")
    _add_list_options(sessions, default=False)
    what = sessions.add_subparsers(dest="what", metavar="DO")
    listed = what.add_parser("list", help="all sessions, the latest first (also without a word)")
    # What was said before the word stays said.
    _add_list_options(listed, default=argparse.SUPPRESS)
    renamed = what.add_parser("rename", help="give a session another title")
    renamed.add_argument("id", metavar="ID", help=_NAMED)
    renamed.add_argument("title", metavar="TITLE", nargs="+")
    archived = what.add_parser("archive", help="put a session away, or bring it back")
    archived.add_argument("id", metavar="ID", help=_NAMED)
    archived.add_argument("--undo", action="store_true", help="bring it back")
    deleted = what.add_parser("delete", help="remove a session for good")
    deleted.add_argument("id", metavar="ID", help=_NAMED)
    deleted.add_argument("--yes", action="store_true", help="do not ask")
    where_is = what.add_parser("path", help="say where the files of a session are")
    where_is.add_argument("id", metavar="ID", help=_NAMED)


def _add_list_options(parser: argparse.ArgumentParser, *, default: object) -> None:
    parser.add_argument(
        "--all", action="store_true", default=default, help="also those in the archive"
    )
    parser.add_argument("--json", action="store_true", default=default, help="one JSON document")


def run(options: argparse.Namespace) -> int:
    """Do what the command line says; the exit code."""
    if options.what == "rename":
        return rename(options.id, " ".join(options.title))
    if options.what == "archive":
        return archive(options.id, undo=options.undo)
    if options.what == "delete":
        return delete(options.id, yes=options.yes)
    if options.what == "path":
        return where(options.id)
    return list_sessions(show_all=options.all, as_json=options.json)


def _told(command: Callable[_P, None]) -> Callable[_P, int]:
    """Turn what goes wrong into a sentence and an exit code."""

    @functools.wraps(command)
    def told(*args: _P.args, **kwargs: _P.kwargs) -> int:
        from .complaint import UNUSABLE, complain

        try:
            command(*args, **kwargs)
        except MltdError as problem:
            complain(problem)
            return UNUSABLE
        return 0

    return told


@_told
def list_sessions(show_all: bool = False, as_json: bool = False) -> None:
    """Print all sessions, the one that was changed last first."""
    from mltd.sessions.storage.store import SessionStore

    from .json_output import write_json
    from .sessions_text import described, table

    store = SessionStore()
    everything = store.summaries()
    rows = [row for row in everything if show_all or not row.is_archived]
    if as_json:
        write_json({"sessions": [described(row, store.folder / row.id) for row in rows]})
        return
    for line in table(rows, _columns(), names=[row.id for row in everything]):
        _say(line)
    hidden = len(everything) - len(rows)
    if hidden:
        verb = "is" if hidden == 1 else "are"
        _remark(f"{hidden} in the archive {verb} not shown: --all shows them")
    elif not rows:
        _remark("there are no sessions yet")


@_told
def rename(name: str, title: str) -> None:
    """Give a session another title."""
    from mltd.sessions.actions.records import Rename

    _say(_done(name, Rename(title=title)))


@_told
def archive(name: str, undo: bool = False) -> None:
    """Put a session away, or bring it back."""
    from mltd.sessions.actions.records import Archive

    _say(_done(name, Archive(is_archived=not undo)))


@_told
def delete(name: str, yes: bool = False) -> None:
    """Remove a session for good; ask first, unless it was said beforehand."""
    from mltd.sessions.storage.store import SessionStore

    from .wording import count

    store = SessionStore()
    found = store.find(name)
    if not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise InputError(
                f"{found} is not deleted: there is no terminal to ask in", hint="say --yes"
            )
        row = next(row for row in store.summaries() if row.id == found)
        holds = f"{count(len(row.runs), 'run')}, {count(row.experiments, 'experiment')}"
        if not _agrees(f"Delete {found} ({row.title}; {holds}) for good? [y/N] "):
            _remark("nothing was deleted")
            return
    store.delete(found)
    _say(f"{found}: deleted")


@_told
def where(name: str) -> None:
    """Print the folder of a session, as a script can use it."""
    from mltd.sessions.storage.store import SessionStore

    store = SessionStore()
    folder = store.folder / store.find(name)
    if sys.stdout.isatty():
        _say(str(folder))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(os.fsencode(folder) + b"\n")
    sys.stdout.flush()


def _done(name: str, action: AnyAction) -> str:
    """Do something to a session and see that it is on disk; what was done, in words."""
    from mltd.sessions.errors import StorageError
    from mltd.sessions.storage.store import SessionStore

    store = SessionStore()
    found = store.find(name)
    session = store.open(found)
    try:
        if session.why_read_only:
            raise StorageError(f"{found} cannot be changed: {session.why_read_only}")
        session.do(action)
        is_saved = session.flush()
        said = action.said(session.session)
        problem = session.saving.problem
    finally:
        lost = session.close()
    if lost or not is_saved:
        raise StorageError(f"{found} is not changed: it cannot be saved", hint=problem)
    return f"{found}: {said}"


def _agrees(question: str) -> bool:
    from .escaping import printable

    sys.stderr.write(printable(question))
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _say(line: str) -> None:
    from .escaping import printable

    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(printable(line).encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()


def _remark(sentence: str) -> None:
    sys.stderr.write(f"mltd-tui: {sentence}\n")


def _columns() -> int:
    import shutil

    # Asks the terminal behind stdout; where there is none, it is 80.
    return shutil.get_terminal_size().columns
