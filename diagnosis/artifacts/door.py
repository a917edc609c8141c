"""The one door to the session's files: what is open is the file that was registered."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mltd.runs.sources.looks import OPEN_FLAGS, kind_of

from .artifact import Artifact
from .errors import ArtifactError

_FLAGS = OPEN_FLAGS | os.O_NOFOLLOW
_OPEN_FILES = "/proc/self/fd"


@contextmanager
def opened(artifact: Artifact) -> Iterator[int]:
    """A descriptor of an artifact, for reading, as long as the block lasts."""
    descriptor = open_artifact(artifact)
    try:
        yield descriptor
    finally:
        with suppress(OSError):
            os.close(descriptor)


def open_artifact(artifact: Artifact) -> int:
    """Open an artifact; the checks are made on what is open, so no swap in between helps."""
    if artifact.problem:
        raise ArtifactError(artifact.problem)
    if artifact.parts or not artifact.real:
        raise ArtifactError(f"{artifact.name} is a folder", hint="name one of the files in it")
    try:
        # A device or a pipe is refused before it is touched: opening some of them has effects.
        _refuse(artifact, os.lstat(artifact.real))
        descriptor = os.open(artifact.real, _FLAGS)
    except OSError as error:
        raise ArtifactError(f"{artifact.name} {_reason(error)}") from None
    try:
        status = os.fstat(descriptor)
        _refuse(artifact, status)
        if not _is_at(descriptor, status, artifact.real):
            raise ArtifactError(
                f"{artifact.name} is not where it was: something was put in its place",
                hint="try again; if that happens twice, it is not part of the session any more",
            )
    except OSError as error:
        os.close(descriptor)
        raise ArtifactError(f"{artifact.name} {_reason(error)}") from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_at(descriptor: int, status: os.stat_result, real: str) -> bool:
    """True if what is open stands at a path on which there is no link."""
    if os.path.isdir(_OPEN_FILES):
        return os.readlink(f"{_OPEN_FILES}/{descriptor}") == real
    there = os.lstat(real)
    is_same = (there.st_dev, there.st_ino) == (status.st_dev, status.st_ino)
    return is_same and os.path.realpath(real) == real


def _refuse(artifact: Artifact, status: os.stat_result) -> None:
    if kind := kind_of(status.st_mode):
        raise ArtifactError(f"{artifact.name} is {kind} by now, so it is not read")


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "is not there any more"
    if error.errno == errno.ELOOP:
        return "is a symbolic link by now, so it is not read"
    return f"cannot be read: {os.strerror(error.errno or 0)}"
