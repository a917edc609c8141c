"""Files known again by how they begin, wherever they were moved."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from mltd.runs.name_text import path_of
from mltd.runs.open_artifact import ANYWHERE, open_artifact
from mltd.runs.remote.names import mirrored

from .model.run_ref import FilePrint

PRINT_BYTES = 4096
"""Enough to tell logs apart, little enough to read from a slow file system."""
FEWEST_BYTES = 64
"""Fewer than this many bytes look alike in too many files."""


def print_of(path: str, root: str = ANYWHERE) -> FilePrint:
    """A file as it begins now; without a digest if there is nothing to read."""
    beginning = read_beginning(path, root)
    if not beginning:
        return FilePrint(path=path)
    return FilePrint(path=path, digest=digest_of(beginning), length=len(beginning))


def is_same_file(known: FilePrint, path: str) -> bool:
    """True if a file begins with all the bytes that were seen, enough of them to be sure."""
    if not known.digest or not FEWEST_BYTES <= known.length <= PRINT_BYTES:
        return False
    beginning = read_beginning(path)[: known.length]
    return len(beginning) == known.length and digest_of(beginning) == known.digest


def digest_of(beginning: bytes) -> str:
    """What stands for the bytes in a session."""
    return hashlib.blake2b(beginning, digest_size=16).hexdigest()


def read_beginning(path: str, root: str = ANYWHERE) -> bytes:
    """The first bytes of a regular file in its root; nothing if it is none, or cannot be read."""
    try:
        handle = open_artifact(path_of(mirrored(path)), root)
    except (OSError, ValueError):
        return b""
    try:
        beginning = b""
        while len(beginning) < PRINT_BYTES:
            more = os.read(handle, PRINT_BYTES - len(beginning))
            if not more:
                break
            beginning += more
        return beginning
    except OSError:
        return b""
    finally:
        os.close(handle)


def is_rewritten(known: Sequence[FilePrint], files: Sequence[FilePrint]) -> bool:
    """True if the files are where they were, and none of them begins as it did: another run."""
    paths = {file.path for file in files}
    told = [old for old in known if old.path in paths and old.length >= FEWEST_BYTES]
    return bool(told) and not any(is_same_file(old, old.path) for old in told)
