"""A bounded look at a directory tree: names only, no file is opened.

A home directory, a symlink loop or a folder of a million images must neither hang nor
flood anything; what was left out is noted.
"""

from __future__ import annotations

import os
import re
from collections import deque
from dataclasses import dataclass, field

from ..open_artifact import is_within, leads_out
from ..sources.looks import shown
from .purposes import is_config_name
from .run_files import Purpose, RunFile, natural_key

CHECKPOINT_FOLDER = re.compile(
    r"checkpoint[-_]\d+|global_?step[-_]?\d+|iter_\d{5,}|.+\.(?:ckpt|distcp)", re.IGNORECASE
)
SKIPPED_FOLDERS = {
    "__pycache__", "node_modules", "site-packages", "dist-packages", "conda-meta", "miniconda3",
    "anaconda3", "miniforge3", "mambaforge",
}  # fmt: skip
OUTSIDE_FOLDER_HINT = "to have it read, name the folder itself"
LOG_LIKE = re.compile(
    r".*(?:\.(?:log|out|err|jsonl|wandb|[oe]\d+|stdout|stderr)|tfevents.*|stdout|stderr|log)",
    re.IGNORECASE,
)
STORE_FOLDERS = {"metrics", "params", "tags"}
"""MLflow keeps a file per metric here, however many there are."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to look."""

    depth: int = 8
    entries: int = 50_000
    """Directory entries in all: a second or two on a network file system."""
    folder: int = 1_000
    """A folder with more entries is a data set unless a tenth of them look like logs."""


@dataclass(slots=True)
class Folder:
    """A directory: its files, its folders, and folders that are checkpoints."""

    path: str
    root: str
    """The folder that was scanned; what links out of it is not part of the tree."""
    files: list[str] = field(default_factory=list)
    folders: list[Folder] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Last part of the path."""
        return os.path.basename(self.path)

    def folder(self, name: str) -> Folder | None:
        """The folder of this name directly inside."""
        return next((inner for inner in self.folders if inner.name == name), None)

    def join(self, name: str) -> str:
        """Path of a file inside."""
        return os.path.join(self.path, name)

    def file(self, name: str, purpose: Purpose) -> RunFile:
        """A file inside, at any depth, as a file of a run."""
        return RunFile(self.join(name), purpose, self.root)

    def walk_files(self) -> list[str]:
        """Paths of all files inside, at any depth."""
        own = [self.join(name) for name in self.files]
        return own + [path for inner in self.folders for path in inner.walk_files()]


@dataclass(slots=True)
class _Walk:
    root: str
    limits: Limits
    seen: set[tuple[int, int]] = field(default_factory=set)
    entries: int = 0
    notes: list[str] = field(default_factory=list)


def scan(path: str, limits: Limits | None = None) -> tuple[Folder, list[str]]:
    """The tree under a directory and notes about what was left out, nearest folders first."""
    walk = _Walk(os.path.realpath(path), limits or Limits())
    root = Folder(path, path)
    waiting = deque([(root, 0)])
    while waiting:
        folder, depth = waiting.popleft()
        if walk.entries >= walk.limits.entries:
            break
        for inner in _read_folder(folder, walk):
            if depth + 1 < walk.limits.depth:
                folder.folders.append(inner)
                waiting.append((inner, depth + 1))
            elif not any("deeper than" in note for note in walk.notes):
                walk.notes.append(
                    f"folders deeper than {walk.limits.depth} levels in {path} were not looked at"
                )
    if walk.entries >= walk.limits.entries:
        walk.notes.append(
            f"stopped looking after {walk.limits.entries:,} directory entries in {path}; "
            "name a directory further down"
        )
    return root, walk.notes


def _read_folder(folder: Folder, walk: _Walk) -> list[Folder]:
    """Fill in a folder's names; give back the folders to look into."""
    try:
        status = os.stat(folder.path)
        if (status.st_dev, status.st_ino) in walk.seen:
            return []
        walk.seen.add((status.st_dev, status.st_ino))
        room = walk.limits.entries - walk.entries
        with os.scandir(folder.path) as found:
            entries = [entry for _, entry in zip(range(room), found, strict=False)]
    except OSError as problem:
        walk.notes.append(f"cannot look into {folder.path}: {problem.strerror or problem}")
        return []
    walk.entries += len(entries)
    names = [entry.name for entry in entries]
    if folder.name not in STORE_FOLDERS and _is_data_set(names, walk.limits):
        walk.notes.append(
            f"{folder.path} holds {len(entries):,} files that are no logs; it was not looked into"
        )
        return []
    inner: list[Folder] = []
    for entry in sorted(entries, key=lambda e: natural_key(e.name)):
        kind = _kind(entry, walk)
        if kind == "file":
            folder.files.append(entry.name)
        elif kind == "checkpoint":
            folder.checkpoints.append(entry.name)
        elif kind == "folder":
            inner.append(Folder(entry.path, folder.root))
    return inner


def _kind(entry: os.DirEntry[str], walk: _Walk) -> str:
    """`file`, `folder`, `checkpoint`, or nothing if the entry is left out."""
    name = entry.name
    try:
        if entry.is_symlink():
            target = os.path.realpath(entry.path)
            if is_within(walk.root, target) or _is_found_itself(target, name, walk.root):
                return ""
        if entry.is_file():
            # A link that leads out is kept: whoever opens the file says that it is not read.
            return "" if name.startswith(".") else "file"
        if not entry.is_dir():
            return ""
        if entry.is_symlink():
            if not name.startswith(".") and name not in SKIPPED_FOLDERS:
                walk.notes.append(f"{shown(entry.path)} {leads_out(target)}; {OUTSIDE_FOLDER_HINT}")
            return ""
    except OSError:
        return ""
    if CHECKPOINT_FOLDER.fullmatch(name):
        return "checkpoint"
    is_hidden = name.startswith(".") and name != ".hydra"
    return "" if is_hidden or name in SKIPPED_FOLDERS else "folder"


def _is_found_itself(target: str, name: str, root: str) -> bool:
    """True if what a link points to is found at its own place in the tree, and for what it is."""
    if not is_within(target, root):
        return False
    inside = os.path.relpath(target, root).split(os.sep)
    if os.path.isfile(target) and any(part.startswith(".") for part in inside):
        return False
    # `config.yaml -> configs/resnet50.yaml`: only the link says what the file is.
    return not is_config_name(name) or is_config_name(inside[-1]) or os.path.isdir(target)


def _is_data_set(names: list[str], limits: Limits) -> bool:
    if len(names) <= limits.folder:
        return False
    return sum(LOG_LIKE.fullmatch(name) is not None for name in names) * 10 < len(names)
