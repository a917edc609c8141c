"""Names that a user gives: files, directories and globs, made out here."""

from __future__ import annotations

import difflib
import fnmatch
import os
import stat
from collections.abc import Iterable

from ..errors import InputError
from ..open_artifact import ANYWHERE, folder_of
from ..sources.inputs import open_bytes
from .grouping import group_runs
from .neighbours import adopt, adopt_logs, join, run_in
from .purposes import (
    HEAD_BYTES,
    Inspector,
    is_binary,
    is_checkpoint_name,
    is_config_name,
    is_settings_name,
    is_structured,
)
from .recordings import is_recording_name, recordings_beside
from .run_files import Discovery, Purpose, RunFile, RunFiles, natural_key, sorted_files
from .stems import counterparts
from .tree import Limits, scan

COMPANIONS = (
    "config.json", "config.yaml", "config.yml", "hparams.yaml", "args.json", "args.yaml",
    "opt.yaml",
)  # fmt: skip
MOST_MATCHES = 20_000
MOST_READ = 200
"""Files of unusual names that are read in search of a training."""
MOST_LOOKED_AROUND = 50
"""Matches of a pattern up to which the neighbourhood of each is looked at, too."""
_GLOB_CHARACTERS = "*?["
_LIKE_JOBS = ("job:", *"0123456789")
"""How names of jobs begin."""


def discover(what: str) -> list[RunFiles]:
    """The runs behind a file, a directory or a glob; InputError if there are none."""
    return explore(what).runs


def explore(what: str, *, limits: Limits | None = None) -> Discovery:
    """The runs behind a name, and notes about what was left out."""
    limits = limits or Limits()
    if ":" in what and "\0" not in what:
        from ..remote.address import parse_address

        if (address := parse_address(what)) is not None:
            from ..remote.links import links

            return links().explore(address, limits)
    path = os.path.expanduser(what)
    if not what.strip() or "\0" in what:
        raise InputError("an empty name stands for no run", hint="give a file or a directory")
    if not os.path.lexists(path) and any(c in path for c in _GLOB_CHARACTERS):
        return _explore_glob(path, limits)
    if not os.path.lexists(path) and what.startswith(_LIKE_JOBS):
        # Here, because nobody else has a use for schedulers.
        from .jobs import explore_job

        if (of_job := explore_job(what)) is not None:
            for run in of_job.runs[:MOST_LOOKED_AROUND]:
                adopt(run)
            return of_job
    return _explore_path(path, limits)


def split_settings(names: Iterable[str]) -> tuple[list[str], list[RunFile]]:
    """Names of runs, and the files of settings that were named with them."""
    runs: list[str] = []
    settings: list[str] = []
    for name in names:
        path = os.path.expanduser(name)
        is_settings = is_settings_name(os.path.basename(path)) and os.path.isfile(path)
        (settings if is_settings else runs).append(name)
    if not runs:
        return settings, []
    return runs, [RunFile(os.path.expanduser(n), Purpose.CONFIG, ANYWHERE) for n in settings]


def _explore_path(path: str, limits: Limits, *, looks_around: bool = True) -> Discovery:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(
            f"{path} cannot be used: {reason}", hint="check the name and its permissions"
        ) from None
    if stat.S_ISDIR(status.st_mode):
        return _explore_directory(path, limits)
    run = _run_of_file(path, status.st_mode)
    if looks_around:
        adopt(run)
        folder = folder_of(path)
        beside = [RunFile(other, Purpose.METRICS, folder) for other in recordings_beside(path)]
        run.files = sorted_files([*run.files, *beside])
    return Discovery([run])


def _explore_directory(path: str, limits: Limits) -> Discovery:
    try:
        os.scandir(path).close()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(
            f"{path} cannot be listed: {reason}", hint="check its permissions"
        ) from None
    root, notes = scan(path, limits)
    inspector = Inspector(path)
    runs = join(group_runs(root, inspector))
    if not runs:
        # No name speaks of a log: look for lines of a training in whatever text there is.
        inspector = Inspector(path, MOST_READ, looks_closer=True)
        runs = join(group_runs(root, inspector))
    if len(runs) == 1:
        adopt_logs(runs[0])
    elif not runs and (alone := run_in(path)) is not None:
        runs = [alone]
    notes += inspector.notes
    if not runs:
        raise InputError(
            f"{path} holds no training logs or metrics",
            hint=notes[0] if notes else "name the log file itself if it has an unusual name",
        )
    return Discovery(runs, notes)


def _run_of_file(path: str, mode: int) -> RunFiles:
    folder, name = os.path.split(path)
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{path} is a pipe or a device, not a file",
            hint="send it through standard input: ... | mltd-tui -",
        )
    with open_bytes(path) as file:
        head = file.read(HEAD_BYTES)
    if is_checkpoint_name(name) and (not head or b"\0" in head[:1024]):
        raise InputError(f"{path} is a checkpoint, not a log", hint=f"try: mltd-tui inspect {path}")
    purpose = Purpose.METRICS if is_structured(head, path) else Purpose.LOG
    if purpose is Purpose.LOG and is_binary(head):
        raise InputError(f"{path} is a binary file of no known format", hint="name a log file")
    files = [RunFile(path, purpose)]
    for other in counterparts(name):
        if os.path.isfile(os.path.join(folder, other)):
            files.append(RunFile(os.path.join(folder, other), Purpose.LOG, folder or "."))
    for companion in COMPANIONS:
        if companion != name and os.path.isfile(os.path.join(folder, companion)):
            files.append(RunFile(os.path.join(folder, companion), Purpose.CONFIG, folder or "."))
    return RunFiles(name, folder or ".", sorted_files(files))


def _missing(path: str) -> InputError:
    """Say what is missing, and what is there instead."""
    folder, name = os.path.split(os.path.abspath(path))
    while folder != os.path.dirname(folder) and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(MOST_MATCHES), entries, strict=False)]
    except OSError:
        names = []
    lowered = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), sorted(lowered), n=3, cutoff=0.6)
    if close:
        hint = f"in {folder} there is: {', '.join(lowered[other] for other in close)}"
    else:
        hint = f"nothing in {folder} has a name like that"
    return InputError(f"there is no file or directory {path}", hint=hint)


def _explore_glob(pattern: str, limits: Limits) -> Discovery:
    # Logs first: each takes the recording that belongs to it.
    matches = sorted(expand_glob(pattern, limits), key=is_recording_name)
    found = Discovery([])
    taken: set[str] = set()
    problems: list[InputError] = []
    for path in matches:
        name = os.path.basename(path)
        place = os.path.abspath(path)
        if place in taken or is_checkpoint_name(name) or is_config_name(name):
            continue
        try:
            inner = _explore_path(path, limits, looks_around=len(matches) <= MOST_LOOKED_AROUND)
        except InputError as problem:
            problems.append(problem)
            continue
        found.notes.extend(note for note in inner.notes if note not in found.notes)
        for run in inner.runs:
            readable = {os.path.abspath(p) for p in run.paths(Purpose.LOG, Purpose.METRICS)}
            if readable & taken:
                continue
            if os.path.isdir(path):
                is_inside = run.root != path or len(inner.runs) > 1
                run.name = os.path.normpath(os.path.join(path, run.name) if is_inside else path)
            taken |= readable
            found.runs.append(run)
    if not found.runs:
        hint = str(problems[0]) if problems else "check the pattern; ** looks into folders"
        raise InputError(f"nothing that {pattern} matches is a training run", hint=hint)
    if len(matches) >= MOST_MATCHES:
        found.notes.append(f"only the first {MOST_MATCHES:,} matches of {pattern} were used")
    return found


def expand_glob(pattern: str, limits: Limits) -> list[str]:
    """Paths that match, in natural order; `**` stands for any number of folders."""
    parts = pattern.split(os.sep)
    start = os.sep if pattern.startswith(os.sep) else ""
    found = [start]
    for index, part in enumerate(part for part in parts if part):
        is_last = index == len([p for p in parts if p]) - 1
        step: dict[str, None] = {}
        for base in found:
            for path in _matches_in(base, part, limits):
                if is_last or os.path.isdir(path):
                    step[path] = None
                if len(step) >= MOST_MATCHES:
                    break
        found = list(step)
    return sorted((path for path in found if path), key=natural_key)


def _matches_in(base: str, part: str, limits: Limits) -> list[str]:
    if part == "**":
        root, _ = scan(base or ".", limits)
        waiting, folders = [root], []
        while waiting:
            folder = waiting.pop()
            folders.append(folder)
            waiting.extend(folder.folders)
        return [os.path.relpath(f.path) if not base else f.path for f in folders]
    if not any(c in part for c in _GLOB_CHARACTERS):
        path = os.path.join(base, part)
        return [path] if os.path.lexists(path) else []
    try:
        with os.scandir(base or ".") as entries:
            names = [entry.name for _, entry in zip(range(limits.entries), entries, strict=False)]
    except OSError:
        return []
    return [
        os.path.join(base, name)
        for name in fnmatch.filter(names, part)
        if part.startswith(".") or not name.startswith(".")
    ]
