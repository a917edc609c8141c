"""The folders that W&B made for a run on this machine, and whether they were synced.

An offline run is a folder `wandb/offline-run-<date>_<time>-<id>` with a record `run-<id>.wandb`;
`wandb sync` leaves an empty `run-<id>.wandb.synced` beside the record. Many runs of a project share
one `wandb` folder, so a folder belongs to a run only if something ties them together.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass

from .open_artifact import open_artifact_file
from .remote.names import url_of
from .surroundings import Surroundings

MOST_FOLDERS = 200
"""Newest folders of one `wandb` folder that are looked at."""
SAME_TIME = 600.0
"""Seconds: a record and a log that end this close to each other are of one run, if it is alone."""
_RUN = re.compile(r"(?P<offline>offline-)?run-\d{8}_\d{6}-(?P<id>[\w-]+)")
_JOB = re.compile(r"\d{3,}")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TrackerFolder:
    """One run of W&B on this disk."""

    path: str
    id: str
    is_offline: bool
    is_synced: bool
    modified: float
    """When its record was last written."""
    has_record: bool
    is_inside: bool = False
    """A file of our run lies in it."""

    @property
    def name(self) -> str:
        """Last part of the path."""
        return os.path.basename(self.path)

    def job(self) -> str:
        """Number of the Slurm job that wrote it; empty if it does not say."""
        path = os.path.join(self.path, "files", "wandb-metadata.json")
        try:
            with open_artifact_file(path, self.path) as file:
                said = json.loads(file.read(_MOST_BYTES))
            slurm = said.get("slurm") or {}
            return str(slurm.get("job_id") or slurm.get("jobid") or "")
        except (OSError, ValueError, AttributeError, RecursionError):
            return ""


def tracker_folders(around: Surroundings) -> list[TrackerFolder]:
    """All folders of W&B near a run, the oldest first."""
    found: dict[str, TrackerFolder] = {}
    inside = {os.path.abspath(path) for path in (around.root, *around.logs)}
    for path in inside:
        for folder in (path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            if _RUN.fullmatch(os.path.basename(folder)) and os.path.isdir(folder):
                read = _read(folder, is_inside=True)
                if read is not None:
                    found[os.path.realpath(folder)] = read
    for place in around.near():
        for holder in (os.path.join(place, "wandb"), place):
            if os.path.basename(holder) != "wandb":
                continue
            for name in _newest(holder):
                folder = os.path.join(holder, name)
                real = os.path.realpath(folder)
                if real not in found and (read := _read(folder, is_inside=False)) is not None:
                    found[real] = read
    return sorted(found.values(), key=lambda one: (one.modified, one.path))


def own_folders(around: Surroundings, said: str = "") -> tuple[list[TrackerFolder], bool]:
    """Folders that belong to the run, and whether it is sure which; `said` is what its log says.

    In this order: those that hold its files, those that the log names, those of the same Slurm
    job, and the only one that ended when the log did.
    """
    folders = tracker_folders(around)
    for ours in (
        [one for one in folders if one.is_inside],
        [one for one in folders if one.name in said or f"run-{one.id}" in said],
        _of_same_job(around, folders),
    ):
        if ours:
            return ours, True
    written = around.written()
    if written is None:
        return [], True
    near = [one for one in folders if abs(one.modified - written) <= SAME_TIME]
    return near, len(near) <= 1


def sync_command(folders: list[TrackerFolder]) -> str:
    """What to type to sync them; paths as they are from here, or as they are over there."""
    shown = [shown_path(one.path) for one in folders]
    paths = [shlex.quote(url_of(os.path.abspath(one.path))) for one in folders]
    if folders and paths[0].startswith("ssh://"):
        host, _, _ = paths[0].removeprefix("ssh://").partition("/")
        there = [f"/{path.removeprefix('ssh://').partition('/')[2]}" for path in paths]
        return f"wandb sync {' '.join(there)}  # on {host}"
    return f"wandb sync {' '.join(shlex.quote(path) for path in shown)}"


def shown_path(path: str) -> str:
    """A path from where the user is, if it lies below; else in full."""
    full = os.path.abspath(path)
    try:
        here = os.path.relpath(full)
    except (OSError, ValueError):
        return full
    return full if here.startswith("..") or full == f"{os.sep}{here}" else here


def _of_same_job(around: Surroundings, folders: list[TrackerFolder]) -> list[TrackerFolder]:
    numbers = {n for path in around.logs for n in _JOB.findall(os.path.basename(path))}
    if not numbers:
        return []
    return [one for one in folders[-16:] if one.job() in numbers]


def _newest(holder: str) -> list[str]:
    try:
        with os.scandir(holder) as entries:
            # `latest-run` is a link to one of the others.
            names = [e.name for e in entries if _RUN.fullmatch(e.name) and not e.is_symlink()]
    except OSError:
        return []
    return sorted(names, key=lambda name: name.removeprefix("offline-"))[-MOST_FOLDERS:]


def _read(folder: str, *, is_inside: bool) -> TrackerFolder | None:
    named = _RUN.fullmatch(os.path.basename(folder))
    if named is None:
        return None
    is_synced = has_record = False
    modified = 0.0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".wandb.synced"):
                    is_synced = True
                elif entry.name.endswith(".wandb"):
                    has_record = True
                    modified = entry.stat().st_mtime
    except OSError:
        return None
    return TrackerFolder(
        folder, named["id"], bool(named["offline"]), is_synced, modified, has_record, is_inside
    )
