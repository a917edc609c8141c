"""A report on the disk: all of its files or none, and never over another file unasked."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from mltd.runs.errors import InputError
from mltd.runs.name_text import escape_undecodable
from mltd.runs.state_files import state_directory

from ..errors import StorageError
from ..model.session import Session
from .options import Report

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""What file systems answer that know no hard links."""

_MARKDOWN = (".md", ".markdown")


def picture_folder(path: str | os.PathLike[str]) -> str:
    """Name of the folder beside a report that holds its pictures."""
    place = Path(path)
    # Only the usual one drops its ending: r.json and r.md may stand beside each other.
    name = place.stem if place.suffix.lower() in _MARKDOWN else place.name
    return f"{name or 'report'}-files"


def check_target(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise what `write` would raise about the place itself, before anybody waits for a report."""
    target = Path(os.path.realpath(path))
    _check_folder(target.parent)
    _check_place(target, force)


def write(
    report: Report,
    path: str | os.PathLike[str],
    force: bool = False,
    evidence: Iterable[str] = (),
) -> list[Path]:
    """Write a report and what belongs beside it; the files, the report itself last.

    What is `evidence`, and what the app itself keeps, is never replaced, not even by force.
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    _check_folder(folder)
    wanted = {folder / name: text for name, text in report.beside.items()}
    wanted[target] = report.text
    kept = {_identity(Path(one)) for one in evidence} - {None}
    for place in wanted:
        _check_place(place, force)
        _spare(place, kept)
    made = _make_folders({place.parent for place in wanted} - {folder})
    try:
        _put_all(wanted, force)
    except OSError as problem:
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()
        if isinstance(problem, FileExistsError):
            raise _taken(Path(problem.filename2 or problem.filename)) from problem
        raise StorageError(
            f"{target} could not be written: {problem.strerror or problem}",
            hint="nothing was changed; write it somewhere else with -o",
        ) from problem
    return list(wanted)


def evidence_of(session: Session) -> list[str]:
    """The files that a session is about: no report may take their place."""
    return [path for run in session.runs for path in (run.location, *(f.path for f in run.files))]


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        raise InputError(f"the folder {folder} {what}", hint="make it first, or choose another -o")


def _check_place(place: Path, force: bool) -> None:
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise InputError(
            f"{place.parent} is a file, where the pictures of the report belong",
            hint="choose another name with -o",
        ) from None
    except OSError as problem:
        raise StorageError(f"{place} cannot be used: {problem.strerror}") from problem
    if stat.S_ISDIR(mode):
        raise InputError(f"{place} is a folder", hint="name the file: -o FOLDER/FILE")
    if not stat.S_ISREG(mode):
        raise InputError(f"{place} is no ordinary file", hint="leave -o out to write to stdout")
    if not force:
        raise _taken(place)


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        found = place.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _spare(place: Path, kept: Collection[tuple[int, int] | None]) -> None:
    if _identity(place) in kept:
        raise InputError(f"{place} is a file of the run itself", hint="choose another -o")
    if place.exists() and Path(os.path.realpath(state_directory())) in place.parents:
        raise InputError(f"{place} belongs to mltd-tui itself", hint="choose another -o")


def _taken(place: Path) -> InputError:
    return InputError(f"{place} exists already", hint="add --force to replace it")


def _make_folders(folders: set[Path]) -> list[Path]:
    made: list[Path] = []
    for folder in sorted(folders):
        try:
            folder.mkdir()
            made.append(folder)
        except FileExistsError:
            continue
        except OSError as problem:
            raise StorageError(f"{folder} could not be made: {problem.strerror}") from problem
    return made


def _put_all(wanted: Mapping[Path, str], force: bool) -> None:
    """Write everything under other names first, and only then give each its own."""
    drafts: dict[Path, Path] = {}
    put: list[Path] = []
    try:
        for place, text in wanted.items():
            drafts[place] = place.with_name(f".{place.name[:80]}-{uuid.uuid4().hex[:12]}")
            _draft(drafts[place], text)
        for place, draft in drafts.items():
            _rename(draft, place, force)
            put.append(place)
    except OSError:
        for place in put if not force else ():
            with contextlib.suppress(OSError):
                place.unlink()
        raise
    finally:
        for draft in drafts.values():
            with contextlib.suppress(OSError):
                draft.unlink()


def _draft(draft: Path, text: str) -> None:
    with _opened(draft) as descriptor:
        data = memoryview(escape_undecodable(text).encode())
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)


@contextlib.contextmanager
def _opened(draft: Path) -> Iterator[int]:
    # The umask decides who may read it: it is the user's own document.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _rename(draft: Path, place: Path, force: bool) -> None:
    if force:
        os.replace(draft, place)
        return
    try:
        # A link is refused where a file has appeared meanwhile; a renaming would replace it.
        os.link(draft, place)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        if place.exists():
            raise FileExistsError(errno.EEXIST, "exists", str(place)) from problem
        os.rename(draft, place)
