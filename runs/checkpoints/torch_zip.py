"""Files of torch.save: a zip archive whose `data.pkl` describes the tensors beside it."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import FormatError
from .inert_pickle import PickleProblem, read_pickle
from .tensor_info import TensorInfo
from .tensor_tree import named_tensors

MOST_DIRECTORY = 64_000_000
MOST_PICKLE = 32_000_000
"""Bytes of the archive's directory, and of the description: that of a model with a hundred
thousand tensors is smaller."""
_END = struct.Struct("<4s4H2LH")
_END64_PLACE = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")


def read_torch_zip(file: BinaryIO, name: str) -> list[TensorInfo]:
    """The tensors of the archive, by their place in what was saved."""
    with opened_archive(file, name) as archive:
        data = description(archive, name)
    try:
        return named_tensors(read_pickle(data))
    except PickleProblem as problem:
        raise FormatError(f"{name}: {problem}") from None


@contextmanager
def opened_archive(file: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """A zip archive of sensible size; whatever is wrong with it becomes a sentence."""
    if _directory_bytes(file, name) > MOST_DIRECTORY:
        raise FormatError(f"{name}: its directory of contents is larger than is sensible")
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise FormatError(f"{name} is damaged: {error}", hint="it may be half written") from None
    except (ValueError, RuntimeError, struct.error, UnicodeError) as error:
        raise FormatError(f"{name} cannot be read as an archive: {error}") from None


def description(archive: zipfile.ZipFile, name: str, most: int = MOST_PICKLE) -> bytes:
    """The pickle that describes what was saved."""
    entry = next((e for e in archive.infolist() if e.filename.endswith("/data.pkl")), None)
    if entry is None:
        raise FormatError(f"{name} is an archive without data.pkl, so not from torch.save")
    if entry.file_size > most:
        raise FormatError(f"{name}: its data.pkl claims {entry.file_size:,} bytes, too many")
    with archive.open(entry) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise FormatError(f"{name}: its data.pkl is larger than it claims")
    return data


def _directory_bytes(file: BinaryIO, name: str) -> int:
    """Size of the archive's directory, seen before anything is allocated for it."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - 65_557)
    file.seek(start)
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) - place < _END.size:
        raise FormatError(f"{name} is cut off: the archive has no end", hint="is it still written?")
    claimed = int(_END.unpack_from(tail, place)[5])
    locator = start + place - _END64_PLACE.size
    if locator >= 0:
        file.seek(locator)
        mark, _, where, _ = _END64_PLACE.unpack(file.read(_END64_PLACE.size))
        if mark == b"PK\x06\x07" and where < size:
            file.seek(where)
            record = file.read(_END64.size)
            if len(record) == _END64.size and record[:4] == b"PK\x06\x06":
                claimed = max(claimed if claimed < 0xFFFFFFFF else 0, _END64.unpack(record)[8])
    file.seek(0)
    return claimed
