"""What lies around a run: its folder, its tracker's folders, the checkpoints that it names.

Analyzers ask here and never touch a file. All looks are single and bounded: a few directory
listings and `stat` calls per question, never a walk. What cannot be seen from this machine (another
cluster's path, a node's own disk, a remote run of which only logs are copied) is *unseen*, which is
not the same as missing.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from .open_artifact import is_within
from .remote.names import is_mirrored

if TYPE_CHECKING:
    from .discovery.run_files import RunFiles
    from .run import Run

MOST_NAMES = 5_000
"""Directory entries that one look takes in."""
MOST_ABOVE = 4
"""Folders above the run's from which a relative name may start."""
_NODE_OWN = re.compile(
    r"^/(?:tmp|var/tmp|dev/shm|local|localscratch|ssd|nvme|scratch_local|run|proc|content|kaggle|"
    r"opt/ml)(?:/|$)|\$"
)
"""Places that a compute node or a container has for itself, and names not filled in."""
_WEIGHT_FOLDERS = ("checkpoints", "checkpoint", "ckpts", "ckpt", "weights")
_WEIGHTS = re.compile(
    r"(?i)\.(?:pt|pth|ckpt|safetensors|h5|keras|pdparams|bin)$|^checkpoint[-_]\d+$|\.ckpt-\d+\."
)
_SETTINGS = (".json", ".yaml", ".yml", ".toml", ".py")
_LOG_FOLDERS = frozenset(
    {"slurm_logs", "slurm-logs", "slurm", "logs", "log", "out", "outputs", "stdout", "wandb"}
)
"""Folders that hold the logs of jobs which worked one level above."""


class Presence(StrEnum):
    """What became of a file that something names."""

    HERE = "here"
    EMPTY = "empty"
    MISSING = "missing"
    """The folder that should hold it is there, it is not."""
    UNSEEN = "unseen"
    """It cannot be told from this machine."""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a question about one name."""

    presence: Presence
    path: str = ""
    """Where it is, or should be."""
    is_certain: bool = True
    """False if the folder may be a copy from which weights were left out."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a run lives, and what is asked about the places around it."""

    root: str
    logs: tuple[str, ...] = ()
    """Paths of its logs and metrics."""
    artifacts: tuple[str, ...] = ()
    """Paths of its settings and checkpoints."""
    work_dir: str = ""
    """Where the job says that it works."""

    @classmethod
    def of(cls, files: RunFiles) -> Surroundings:
        """The surroundings of the files that discovery found."""
        logs = [f.path for f in files.files if f.purpose.value in ("log", "metrics")]
        others = [f.path for f in files.files if f.purpose.value in ("config", "checkpoint")]
        work_dir = (files.job.work_dir or "") if files.job is not None else ""
        return cls(files.root, tuple(logs), tuple(others), work_dir)

    @property
    def is_remote(self) -> bool:
        """True if only copies of some files of the run are here."""
        return any(is_mirrored(os.path.abspath(path)) for path in (self.root, *self.logs))

    @property
    def folders(self) -> tuple[str, ...]:
        """Absolute paths of the folders that hold settings or checkpoints of the run."""
        found = [os.path.dirname(os.path.abspath(path)) for path in self.artifacts]
        return tuple(dict.fromkeys(found))

    @property
    def is_run_folder(self) -> bool:
        """True if the run's folder holds more of it than a log that may be a copy."""
        root = os.path.abspath(self.root)
        return any(folder == root or folder.startswith(root + os.sep) for folder in self.folders)

    def written(self) -> float | None:
        """When its newest log was last written, in seconds since 1970."""
        times = [status.st_mtime for path in self.logs if (status := _stat(path)) is not None]
        return max(times, default=None)

    def silent_for(self, moment: float | None = None) -> float:
        """Seconds since a log was written, at a moment or now; infinite if there is none."""
        written = self.written()
        return math.inf if written is None else (moment or time.time()) - written

    # -- places ---------------------------------------------------------------------------

    def places(self) -> list[str]:
        """Folders from which a relative name may start, the most likely first."""
        root = os.path.abspath(self.root)
        found = [self.work_dir, *self.folders, root]
        found += [os.path.dirname(os.path.abspath(path)) for path in self.logs]
        above = root
        for _ in range(MOST_ABOVE):
            above = os.path.dirname(above)
            if above == os.path.dirname(above):
                break
            found.append(above)
        return [place for place in dict.fromkeys(found) if place]

    def near(self) -> list[str]:
        """Folders in which the run itself may have put something: a tracker's folder, say."""
        root = os.path.abspath(self.root)
        found = [self.work_dir, root, *self.folders]
        for path in self.logs:
            folder = os.path.dirname(os.path.abspath(path))
            found.append(folder)
            if os.path.basename(folder).lower() in _LOG_FOLDERS:
                found.append(os.path.dirname(folder))
        return [place for place in dict.fromkeys(found) if place]

    # -- questions ------------------------------------------------------------------------

    def look_up(self, name: str, bases: Iterable[str] = ()) -> Found:
        """Whether a file or folder that the run names is there; `bases` are folders it names."""
        name = name.strip()
        if not name or "\0" in name or "://" in name or self.is_remote:
            return Found(Presence.UNSEEN)
        if name.startswith("~"):
            name = os.path.expanduser(name)
        if os.path.isabs(name):
            return self._absolute(name)
        return self._relative(os.path.normpath(name), bases)

    def _absolute(self, name: str) -> Found:
        found = _presence(name)
        if found is Presence.MISSING and _has_parts(name):
            found = Presence.HERE
        if found is not Presence.MISSING:
            return Found(found, name)
        known = next((p for p in self.artifacts if _ends_alike(p, name)), None)
        if known is not None and _stat(known) is not None:
            return Found(Presence.HERE, known)
        # The same tree may be mounted elsewhere: then nothing is known about this name.
        is_here = os.path.isdir(os.path.dirname(name)) and not self._is_elsewhere(name)
        return Found(Presence.MISSING if is_here else Presence.UNSEEN, name)

    def _relative(self, name: str, bases: Iterable[str]) -> Found:
        if name.startswith("..") or _NODE_OWN.search(name):
            return Found(Presence.UNSEEN)
        places, bases = self.places(), list(bases)
        stated = [os.path.join(place, base) for base in bases for place in ("", *places)]
        missing, empty = "", ""
        for place in (*places, *(s for s in stated if os.path.isabs(s))):
            path = os.path.join(place, name)
            found = _presence(path)
            if found is Presence.MISSING and self._should_hold(place, name):
                found = Presence.HERE if _has_parts(path) else found
                missing = missing or path
            if found is Presence.HERE:
                return Found(found, path)
            if found is Presence.EMPTY:
                empty = empty or path
        if empty:
            return Found(Presence.EMPTY, empty)
        basename = os.path.basename(name)
        known = next((p for p in self.artifacts if os.path.basename(p) == basename), None)
        if known is not None and _stat(known) is not None:
            return Found(Presence.HERE, known)
        if not missing:
            return Found(Presence.UNSEEN)
        is_certain = self._is_original(basename, bases)
        if not is_certain and basename == name:
            return Found(Presence.UNSEEN)
        return Found(Presence.MISSING, missing, is_certain)

    def _is_original(self, basename: str, bases: Iterable[str]) -> bool:
        """True if this is where the run was, not a copy of its folder without the weights.

        Its job works here, other weights are here, an absolute path that it names leads here, or
        the neighbouring runs have what it lacks.
        """
        if self.work_dir and os.path.isdir(self.work_dir):
            return True
        root = os.path.realpath(self.root)
        for base in bases:
            if os.path.isabs(base) and is_within(os.path.realpath(base), root):
                return True
        if any(_has_weights(folder) for folder in dict.fromkeys((root, *self.folders))):
            return True
        settings = [os.path.basename(p) for p in self.artifacts if p.endswith(_SETTINGS)]
        return bool(settings) and self.siblings(basename, settings[0])[0] > 0

    def _should_hold(self, place: str, name: str) -> bool:
        """True if a name that starts here would have to be here.

        A log that was copied alone says nothing about the folder into which it was copied.
        """
        folder = os.path.dirname(name)
        if folder:
            return os.path.isdir(os.path.join(place, folder))
        is_own = place == os.path.abspath(self.root) and self.is_run_folder
        return is_own or place == self.work_dir or place in self.folders

    def _is_elsewhere(self, name: str) -> bool:
        """True for places that every machine has for itself, unless the run lies there, too."""
        found = _NODE_OWN.search(name)
        return found is not None and not os.path.abspath(self.root).startswith(found[0] or "\0")

    def siblings(self, name: str, like: str) -> tuple[int, int]:
        """How many neighbouring run folders hold a file, of how many that have one `like` it."""
        root = os.path.abspath(self.root)
        parent = os.path.dirname(root)
        if self.is_remote or parent == root:
            return 0, 0
        having = alike = 0
        for entry in _names(parent, 100):
            folder = os.path.join(parent, entry)
            if folder != root and os.path.isfile(os.path.join(folder, like)):
                alike += 1
                having += os.path.isfile(os.path.join(folder, name))
        return having, alike


def surroundings_of(run: Run) -> Surroundings | None:
    """What lies around a run, with what its job says by now; None if it came through a pipe."""
    around = run.surroundings
    if around is None or run.job is None or not run.job.work_dir:
        return around
    return replace(around, work_dir=run.job.work_dir)


def _presence(path: str) -> Presence:
    """Whether there is something of exactly this name."""
    status = _stat(path)
    if status is None:
        return Presence.MISSING
    if os.path.isdir(path):
        return Presence.HERE if next(iter(_names(path, 1)), None) is not None else Presence.EMPTY
    return Presence.HERE if status.st_size else Presence.EMPTY


def _has_weights(folder: str) -> bool:
    """True if a folder, or one for checkpoints in it, holds saved weights."""
    places = (folder, *(os.path.join(folder, name) for name in _WEIGHT_FOLDERS))
    return any(_WEIGHTS.search(name) for place in places for name in _names(place, MOST_NAMES))


def _has_parts(path: str) -> bool:
    """True if files begin with this name: `model.ckpt-100` is three, `best` may have an ending."""
    folder, base = os.path.split(path)
    return bool(base) and any(name.startswith(f"{base}.") for name in _names(folder, MOST_NAMES))


def _ends_alike(path: str, name: str) -> bool:
    """True if two paths share folder and file name: the same file, mounted in two places."""
    return path.split(os.sep)[-2:] == name.split(os.sep)[-2:]


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _names(folder: str, most: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(most), entries, strict=False):
                yield entry.name
    except (OSError, ValueError):
        return
