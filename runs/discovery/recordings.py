"""A probe's recording that lies beside the log of its training, found by name and header."""

from __future__ import annotations

import os
import re

from ..errors import InputError
from ..formats.probe_lines import ProbeFormat
from ..open_artifact import folder_of
from ..sources.inputs import open_bytes
from .stems import is_generic, plain_name, stem_of
from .tree import LOG_LIKE

MOST_NAMES = 2_000
MOST_OPENED = 16
_NAME = re.compile(
    r"(?:.*[-_.])?probe(?:-\d+)?(?:[-_.]rank\d+)?\.(?:jsonl|ndjson|json)", re.IGNORECASE
)


def is_recording_name(name: str) -> bool:
    """True for names that recordings have: `mltd-probe.jsonl`, `lr3e-4.probe.rank2.jsonl`."""
    return _NAME.fullmatch(plain_name(os.path.basename(name))) is not None


def recordings_beside(path: str) -> list[str]:
    """Recordings of the run that wrote a log: of its name, or the only run's of its folder."""
    folder, name = os.path.split(path)
    if is_recording_name(name):
        return []
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False)]
    except OSError:
        return []
    found = sorted(other for other in names if is_recording_name(other))
    if not found:
        return []
    own = stem_of(name)
    is_alone = len(names) < MOST_NAMES and _is_only_run(own, names)
    wanted = [
        other for other in found if stem_of(other) == own or (is_alone and not stem_of(other))
    ]
    paths = [os.path.join(folder, other) for other in wanted[:MOST_OPENED]]
    return [other for other in paths if _is_recording(other)]


def _is_only_run(own: str, names: list[str]) -> bool:
    """True unless the names of other logs tell several runs apart."""
    logs = (n for n in names if LOG_LIKE.fullmatch(plain_name(n)) and not is_recording_name(n))
    stems = {own, *map(stem_of, logs)}
    return sum(not is_generic(stem) for stem in stems) <= 1


def _is_recording(path: str) -> bool:
    try:
        with open_bytes(path, folder_of(path)) as file:
            head = file.read(256)
    except (OSError, InputError):
        return False
    return ProbeFormat().sniff(head, path) > 0
