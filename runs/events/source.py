"""The lines of source code around the frame where an exception was raised."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..event import Event, Frame
from ..open_artifact import ANYWHERE, open_artifact, place_of

_AROUND = 3
_MOST_BYTES = 2_000_000
_MOST_LINE = 300
_SUFFIXES = (".py", ".pyx", ".pxi", ".pyi")
"""A log is not to be trusted: it must not make us show, say, a private key."""
_LIBRARIES = ("site-packages", "dist-packages", "/lib/python3", "<frozen ")


def source_lines(event: Event, roots: Iterable[str | os.PathLike[str]] = ()) -> dict[str, str]:
    """Fill `event.source` with the code around the failing frame, where it can be read.

    `roots` are folders to look in for relative names, such as that of the log.
    """
    places = [Path(root) for root in roots]
    for frame in _likely_frames(event.frames):
        for path, root in _candidates(frame.file, places):
            if (excerpt := _read_around(path, root, frame.line)) is not None:
                event.source = {f"{frame.file}:{frame.line}": excerpt}
                return event.source
    return event.source


def _likely_frames(frames: Sequence[Frame]) -> list[Frame]:
    """Innermost first, the user's own code before that of libraries."""
    inward = list(reversed(frames[-200:]))
    own = [frame for frame in inward if not any(part in frame.file for part in _LIBRARIES)]
    return [*own, *(frame for frame in inward if frame not in own)][:12]


def _candidates(name: str, roots: Sequence[Path]) -> list[tuple[Path, str]]:
    """Where the file may be, each with the folder that it must lie in."""
    if "\0" in name or not name.endswith(_SUFFIXES):
        return []
    path = Path(name)
    if path.is_absolute():
        return [(path, ANYWHERE)]
    return [] if ".." in path.parts else [(root / path, str(root)) for root in roots]


def _read_around(path: Path, root: str, line: int) -> str | None:
    try:
        descriptor = open_artifact(path, root)
    except (OSError, ValueError):
        return None
    try:
        if not place_of(descriptor, path).endswith(_SUFFIXES):
            return None
        if os.fstat(descriptor).st_size > _MOST_BYTES:
            return None
        text = os.read(descriptor, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return None
    first = max(1, line - _AROUND)
    excerpt = enumerate(lines[first - 1 : line + _AROUND], first)
    return "\n".join(
        f"{'>' if number == line else ' '} {number:5d} {code[:_MOST_LINE]}"
        for number, code in excerpt
    )
