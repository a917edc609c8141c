"""The newest checkpoint in a folder, here or elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from mltd.runs.checkpoints.summary import NOT_WEIGHTS
from mltd.runs.discovery.tree import CHECKPOINT_FOLDER

MOST_ENTRIES = 20_000
DEEPEST = 5
_FILE = re.compile(r".*\.(?:pt|pth|ckpt|safetensors|bin|npz)", re.IGNORECASE)
_WHOLE = re.compile(
    r"(?:model|pytorch_model|adapter_model|diffusion_pytorch_model|consolidated)"
    r"(?:-\d+-of-\d+)?\.(?:safetensors|bin|pth?)|.*\.index\.json|\.metadata|.*\.distcp|"
    r".*model_states\.pt|latest|checkpoint",
    re.IGNORECASE,
)
"""Names that make the folder they are in a checkpoint of its own."""


class Entry(Protocol):
    """A file or folder; what is asked of it may raise `OSError` if it is gone by now."""

    @property
    def name(self) -> str:
        """Its own name."""

    @property
    def path(self) -> str:
        """Where it is."""

    @property
    def is_folder(self) -> bool:
        """True for a folder that no link leads to."""

    @property
    def is_file(self) -> bool:
        """True for a regular file."""

    @property
    def modified(self) -> float:
        """When it was written last."""


Entries = Callable[[str], Sequence[Entry]]
"""What is in a folder."""


def newest(top: str, entries: Entries) -> tuple[str, str]:
    """The checkpoint to look at in a folder, and how it was chosen; itself if it is one."""
    found = sorted(_candidates(top, entries))
    if _is_checkpoint(top, entries) or not found:
        return top, ""
    if len(found) == 1:
        return found[0][1], "the only checkpoint there"
    return found[-1][1], f"the newest of {len(found):,} checkpoints there"


def _is_checkpoint(path: str, entries: Entries) -> bool:
    return any(_WHOLE.fullmatch(entry.name) for entry in entries(path))


def _candidates(top: str, entries: Entries) -> Iterator[tuple[float, str]]:
    """Checkpoints below a folder, each with the time of its last change."""
    waiting = [(top, 0)]
    seen = 0
    while waiting and seen < MOST_ENTRIES:
        folder, depth = waiting.pop()
        for entry in entries(folder):
            seen += 1
            try:
                if entry.is_folder:
                    if CHECKPOINT_FOLDER.fullmatch(entry.name) or _is_checkpoint(
                        entry.path, entries
                    ):
                        yield _time(entry, entries), entry.path
                    elif depth < DEEPEST and not entry.name.startswith("."):
                        waiting.append((entry.path, depth + 1))
                elif _is_weights(entry.name) and entry.is_file:
                    yield entry.modified, entry.path
            except OSError:
                continue


def _is_weights(name: str) -> bool:
    return _FILE.fullmatch(name) is not None and NOT_WEIGHTS.fullmatch(name) is None


def _time(folder: Entry, entries: Entries) -> float:
    """When the newest of its weights was written; writing beside them does not count."""
    times = [
        entry.modified
        for entry in entries(folder.path)
        if _FILE.fullmatch(entry.name) and entry.is_file
    ]
    return max(times) if times else folder.modified
