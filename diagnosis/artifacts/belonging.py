"""Files of the session: whether a path leads to one, and its bytes if it does."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from mltd.runs.open_artifact import (
    NotAFile,
    OutsideRoot,
    artifact_descriptor,
    describe_refusal,
    is_within,
    open_artifact,
    place_of,
)
from mltd.runs.sources.looks import shown

from .artifact import Artifact
from .errors import ArtifactError

_HINT = "to have it read, add the folder of its target as a source root"


def real_folders(folders: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Where some folders really are; those that do not exist are left out."""
    found: dict[str, None] = {}
    for folder in folders:
        try:
            real = os.path.realpath(folder, strict=True)
        except (OSError, ValueError):
            continue
        if os.path.isdir(real):
            found[real] = None
    return tuple(found)


def real_place(path: str, allowed: Sequence[str], *, may_be_folder: bool = False) -> str:
    """Where a path leads, if that is a regular file in one of the allowed real folders."""
    name = shown(path)
    try:
        if may_be_folder and os.path.isdir(path):
            return _real_folder(path, allowed)
        with artifact_descriptor(path, allowed) as descriptor:
            return place_of(descriptor, path)
    except (OSError, ValueError) as error:
        hint = _HINT if isinstance(error, OutsideRoot) else ""
        raise ArtifactError(f"{name} {_reason(error)}", hint=hint) from None


def _real_folder(path: str, allowed: Sequence[str]) -> str:
    """The same for a folder; what is in it is checked when it is opened."""
    real = os.path.realpath(path, strict=True)
    if not any(is_within(real, folder) for folder in allowed):
        raise OutsideRoot(real)
    return real


@contextmanager
def opened(artifact: Artifact) -> Iterator[int]:
    """A descriptor of an artifact for the length of a `with` block."""
    if artifact.problem:
        raise ArtifactError(artifact.problem)
    if artifact.parts or not artifact.real:
        raise ArtifactError(f"{artifact.name} is a folder", hint="name one of the files in it")
    try:
        descriptor = open_artifact(artifact.real, artifact.roots)
    except NotAFile as error:
        ending = " by now, so it is not read" if error.kind else ""
        hint = _HINT if isinstance(error, OutsideRoot) else ""
        raise ArtifactError(f"{artifact.name} {error.words}{ending}", hint=hint) from None
    except OSError as error:
        raise ArtifactError(f"{artifact.name} {_reason(error)}") from None
    try:
        yield descriptor
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):
        return "is not a possible file name"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "is not there any more"
    return describe_refusal(error)
