"""Short names for files: the same for the same runs, printable, and never given twice."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from mltd.runs.open_artifact import is_within
from mltd.runs.sources.looks import shown

_CLEAN_RUN = re.compile(r"[A-Za-z][\w.-]{0,39}", re.ASCII)
_AWKWARD = re.compile(r"[\"'<>&\\\s]+")
"""What would break out of a quotation, or not survive being written down and read back."""
_LONGEST = 100


def run_names(keys: Iterable[str]) -> dict[str, str]:
    """What each run is called in names: its key if that is short and plain, else its number."""
    found: dict[str, str] = {}
    keys = list(keys)
    for number, key in enumerate(keys, start=1):
        name = key if _CLEAN_RUN.fullmatch(key) and key.strip(".") == key else f"run{number}"
        while name in found.values() or (name != key and name in keys):
            name += "_"
        found[key] = name
    return found


def file_name(path: str, root: str) -> str:
    """A file by its place below a folder, or by its own name if it is elsewhere."""
    path, root = os.path.abspath(path), os.path.abspath(root) if root else ""
    inside = os.path.relpath(path, root) if root and is_within(path, root) else ""
    name = inside if inside not in ("", ".") else os.path.basename(path)
    plain = _AWKWARD.sub("_", shown(name))
    return plain if len(plain) <= _LONGEST else "…" + plain[-_LONGEST:]


def unique(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken: the same, or with a number."""
    known = set(taken)
    number, found = 2, name
    while found in known:
        stem, dot, ending = name.rpartition(".")
        found = (
            f"{stem}~{number}{dot}{ending}" if stem and "/" not in ending else f"{name}~{number}"
        )
        number += 1
    return found
