"""Files given by the user: can they be used, and what are their bytes, read once from the start."""

from __future__ import annotations

import difflib
import errno
import io
import os
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import InputError, LeadsOutError
from ..open_artifact import (
    ANYWHERE,
    OUTSIDE_HINT,
    NotAFile,
    OutsideRoot,
    Roots,
    open_artifact,
)
from .decompression import MAGIC_BYTES, DecompressedRaw, recognise
from .looks import shown
from .utf8_transcoder import Utf8Transcoder

__all__ = ["InputStream", "Utf8Transcoder", "open_bytes", "open_input", "refusal"]

_PIPE_HINT = "send it through standard input: ... | mltd-tui -"
_HINTS = {
    "a named pipe": _PIPE_HINT,
    "a socket": "give the log file that the program writes",
    "a device": _PIPE_HINT,
    "a block device": "give a file on it",
}


class InputStream(io.BufferedReader):
    """Bytes of one input, decompressed; `notes` says what could not be read."""

    def __init__(self, raw: _PlainRaw | DecompressedRaw, compression: str) -> None:
        super().__init__(raw, buffer_size=1 << 16)
        self._notes = raw.notes
        self.compression = compression
        """Name of the compression that was undone; empty if there was none."""

    @property
    def notes(self) -> list[str]:
        """Sentences about what is missing, so far; complete once the end was read."""
        return list(self._notes)


class _PlainRaw(io.RawIOBase):
    """A file whose read errors end it early, with a note, instead of raising."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.notes: list[str] = []

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        try:
            return self._file.readinto(buffer)
        except OSError as error:
            self.notes.append(f"the file could not be read to its end ({error.strerror})")
            return 0

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()


def open_bytes(path: str | os.PathLike[str], root: Roots = ANYWHERE) -> InputStream:
    """Open a file for one reading; gzip, xz, bzip2 and zstd are recognised by their content.

    `InputError` says why that cannot be done: not there, not a file, outside of its root.
    """
    place = Path(path)
    file = io.FileIO(open_input(place, root), "rb")
    try:
        codec = recognise(os.pread(file.fileno(), MAGIC_BYTES, 0))
        if codec is None:
            return InputStream(_PlainRaw(file), "")
        return InputStream(DecompressedRaw(io.BufferedReader(file), codec), codec.name)
    except OSError as error:
        file.close()
        raise _cannot_read(place, error) from None
    except ImportError:
        file.close()
        raise InputError(
            f"{shown(place)} is compressed with zstd, and the package for that is not installed",
            hint="pip install mltd-tui[zstd]",
        ) from None


def open_input(path: str | os.PathLike[str], root: Roots = ANYWHERE) -> int:
    """A descriptor of a file of a run; `InputError` says why there is none."""
    place = Path(path)
    try:
        return open_artifact(place, root)
    except ValueError:
        raise InputError(f"{shown(place)} is not a possible file name") from None
    except OSError as error:
        raise _cannot_read(place, error) from None


def refusal(name: str, error: NotAFile, hint: str = "") -> InputError:
    """Why a file is not read, with its name as it may be shown."""
    if isinstance(error, OutsideRoot):
        return LeadsOutError(f"{name} {error.words}", hint=OUTSIDE_HINT)
    ending = ", not a regular file" if error.kind else ""
    return InputError(f"{name} {error.words}{ending}", hint=hint)


def _cannot_read(place: Path, error: OSError) -> InputError:
    name = shown(place)
    if isinstance(error, NotAFile):
        return refusal(name, error, _HINTS.get(error.kind, ""))
    if error.errno == errno.ENOENT:
        return _missing(place)
    if error.errno == errno.ENOTDIR:
        return InputError(f"{name} does not exist, because a part of it is a file, not a directory")
    if error.errno == errno.ELOOP:
        return InputError(
            f"{name} is a symbolic link that leads back to itself", hint="see where it goes: ls -l"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return InputError(
            f"{name} may not be read by you", hint="ask its owner, or look with: namei -l"
        )
    return InputError(f"{name} cannot be read: {os.strerror(error.errno or 0)}")


def _missing(place: Path) -> InputError:
    if place.is_symlink():
        target = shown(os.readlink(place))
        return InputError(f"{shown(place)} points to {target}, which does not exist")
    try:
        with os.scandir(place.parent) as entries:
            names = [entry.name for entry in islice(entries, 2000)]
    except OSError:
        return InputError(f"{shown(place)} does not exist", hint=f"nor does {shown(place.parent)}")
    close = difflib.get_close_matches(place.name, names, n=1)
    hint = f"did you mean {shown(place.parent / close[0])}?" if close else "check the spelling"
    return InputError(f"{shown(place)} does not exist", hint=hint)
