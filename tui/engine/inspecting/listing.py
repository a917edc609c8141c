"""The checkpoints of a run, by their names and their directories alone."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence

from mltd.runs.checkpoints.summary import NOT_WEIGHTS
from mltd.runs.discovery import Purpose, RunFiles, explore
from mltd.runs.discovery.run_files import natural_key
from mltd.runs.errors import InputError, MltdError
from mltd.runs.ingest import LOG_PURPOSES
from mltd.runs.open_artifact import ANYWHERE, folder_of, is_within
from mltd.runs.remote.address import parse_address
from mltd.runs.remote.names import is_mirrored, shown, url_of

from ..model_protocol import CheckpointRow

MOST_CHECKPOINTS = 2_000
MOST_ENTRIES = 2_000
"""Files of one checkpoint's folder that are counted."""
_SHARD = re.compile(r".*-\d{3,}-of-\d{3,}\.\w+")
_STEP = re.compile(
    r"(?:global_?steps?|steps?|iter(?:ation)?s?|checkpoint|ckpt|updates?)[-_=.]?(\d{1,12})(?!\d)",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?<![a-z])(?:epochs?|ep)[-_=.]?(\d{1,6})(?!\d)", re.IGNORECASE)


def list_checkpoints(paths: Sequence[str], root: str) -> tuple[CheckpointRow, ...]:
    """Rows for these files and folders, the newest first; what is gone is left out."""
    whole = dict.fromkeys(_whole(path) for path in paths)
    kept = [p for p in whole if not NOT_WEIGHTS.fullmatch(os.path.basename(p))] or list(whole)
    rows = [row for path in kept[:MOST_CHECKPOINTS] if (row := _row(path, root)) is not None]
    rows.sort(key=lambda row: (row.modified or 0.0, natural_key(row.path)), reverse=True)
    return tuple(rows)


def seen_now(files: RunFiles, known: Sequence[str]) -> list[str]:
    """The checkpoints that are there by now: a training that goes on saves more of them."""
    if not files.root or is_mirrored(files.root):
        return list(known)
    try:
        runs = explore(os.path.abspath(files.root)).runs
    except MltdError:
        return list(known)
    own = {os.path.abspath(path) for path in files.paths(*LOG_PURPOSES)}
    same = [run for run in runs if own & {os.path.abspath(p) for p in run.paths(*LOG_PURPOSES)}]
    found = [path for run in same for path in run.paths(Purpose.CHECKPOINT)]
    # Files are told apart by their place, whichever way their names were written.
    return list({os.path.abspath(path): path for path in (*found, *known)}.values())


def root_of(files: RunFiles, path: str) -> str:
    """The folder that a listed checkpoint must lie in to be read."""
    whole = os.path.abspath(path)
    roots = dict.fromkeys(file.root for file in files.files if file.root != ANYWHERE)
    around = [root for root in roots if is_within(whole, os.path.abspath(root))]
    return around[0] if around else folder_of(path)


def places_of(root: str, logs: Iterable[str]) -> tuple[str, ...]:
    """The folders in which checkpoints of a run are looked for, for people."""
    folders = [root, *(os.path.dirname(path) for path in logs)]
    return tuple(dict.fromkeys(shown(os.path.abspath(folder)) for folder in folders if folder))


def _whole(path: str) -> str:
    """One of many shards stands for the folder that holds them all."""
    return os.path.dirname(path) if _SHARD.fullmatch(os.path.basename(path)) else path


def _row(path: str, root: str) -> CheckpointRow | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    size, modified = status.st_size, status.st_mtime
    if os.path.isdir(path):
        size, modified = _folder(path, modified)
    name = os.path.relpath(path, root) if root else path
    if name.startswith(".."):
        name = path
    last = os.path.basename(path)
    step, epoch = _STEP.search(last), _EPOCH.search(last)
    return CheckpointRow(
        path,
        shown(name),
        size,
        modified,
        int(step[1]) if step else None,
        float(epoch[1]) if epoch else None,
        copy_command(path) if is_mirrored(path) else "",
    )


def _folder(path: str, modified: float) -> tuple[int, float]:
    """What the files of a folder come to, and when the newest was written."""
    size, times = 0, []
    waiting = [path]
    seen = 0
    while waiting and seen < MOST_ENTRIES:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file():
                        status = entry.stat()
                        size += status.st_size
                        times.append(status.st_mtime)
                    if seen >= MOST_ENTRIES:
                        break
        except OSError:
            continue
    return size, max(times, default=modified)


def copy_command(path: str) -> str:
    """What a user types to have a remote checkpoint here."""
    try:
        address = parse_address(url_of(path))
    except InputError:
        address = None
    if address is None:
        return ""
    host = address.host
    place = f"[{host.name}]" if ":" in host.name else host.name
    user = f"{host.user}@" if host.user else ""
    port = f"-P {host.port} " if host.port is not None else ""
    return f"scp -r {port}{shlex.quote(f'{user}{place}:{os.fsdecode(address.path)}')} ."
