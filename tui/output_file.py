"""Files that the user names with -o: whole or not at all, never over another one unasked."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from mltd.runs.errors import InputError, MltdError
from mltd.runs.state_files import state_directory

PRIVATE = 0o600
"""For the owner's eyes alone."""


def write_output(
    path: str,
    fill: Callable[[IO[bytes]], object],
    *,
    force: bool = False,
    evidence: Iterable[str] = (),
    mode: int = 0o666,
) -> Path:
    """Write a file by `fill`; what is `evidence` is never replaced, not even by force."""
    target = Path(os.path.realpath(path))
    _spare(target, evidence)
    draft = target.with_name(f".{target.name[:80]}-{uuid.uuid4().hex[:12]}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        _rename(draft, target, force)
    except OSError as problem:
        if isinstance(problem, FileExistsError):
            raise InputError(
                f"{target} exists already", hint="add --force to replace it"
            ) from problem
        raise MltdError(
            f"{target} could not be written: {problem.strerror or problem}",
            hint="nothing was changed; write it somewhere else with -o",
        ) from problem
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return target


def _rename(draft: Path, target: Path, force: bool) -> None:
    if force:
        os.replace(draft, target)
        return
    try:
        # A link is refused where a file has appeared meanwhile; a renaming would replace it.
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links.
        if os.path.lexists(target):
            raise FileExistsError(str(target)) from None
        os.rename(draft, target)


def _spare(target: Path, evidence: Iterable[str]) -> None:
    if any(os.path.realpath(one) == str(target) or _is_same(target, one) for one in evidence):
        raise InputError(f"{target} is a file of the run itself", hint="choose another -o")
    if target.exists() and Path(os.path.realpath(state_directory())) in target.parents:
        raise InputError(f"{target} belongs to mltd-tui itself", hint="choose another -o")


def _is_same(target: Path, other: str) -> bool:
    try:
        return os.path.samefile(target, other)
    except (OSError, ValueError):
        return False
