"""The parts of a run that lie beside it: job outputs in `slurm_logs/`, the folder it saves to.

A log is given the settings and checkpoints of its run folder, and a run folder the output of
its job. All looks are few and bounded, and nothing is taken that might belong to another run.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator

from ..open_artifact import folder_of, open_artifact_file
from ..remote.names import is_mirrored
from .grouping import MOST_RESTARTS
from .named_folders import SLACK, ends_of, folder_named_in, is_older, settings_in
from .purposes import is_checkpoint_name
from .run_files import Purpose, RunFile, RunFiles, natural_key, sorted_files
from .stems import counterparts
from .tree import CHECKPOINT_FOLDER

LOG_FOLDERS = ("slurm_logs", "slurm-logs", "slurm", "logs")
"""Where the people who run such jobs keep their output, beside the runs or above them."""
RUN_FOLDERS = ("experimentruns", "experiments", "runs", "outputs", "results", "lightning_logs")
"""Where they keep the folders of runs."""
CHECKPOINT_FOLDERS = ("checkpoints", "checkpoint", "ckpts", "ckpt", "weights")
MOST_ABOVE = 4
MOST_NAMES = 2_000
MOST_OUTPUTS = 300
"""Outputs of one folder that are considered, those with the highest numbers."""
MOST_LOOKED_INTO = 8
"""Outputs of jobs that are opened to see which one speaks of a folder."""
MOST_JOINED = 64
"""Job outputs of one directory for which a run folder is looked for."""
_NAMED = re.compile(r"(?P<job>\d{3,}(?:_\d+)?)[-_.](?P<name>.+)\.(?:out|err|log|txt)")
_NUMBERED = re.compile(r"(?:^|[-_.])(?P<job>\d{3,})(?:_\d+)?(?=[-_.]|$)")
_STATED = re.compile(r"(?i)job_?id[\"']?\s*[:=]\s*[\"']?(\d{3,})")
_OUTPUT = re.compile(r".*\.(?:out|err|log)")


def adopt(run: RunFiles) -> None:
    """Give a log that stands alone the settings and checkpoints of the folder it saves to."""
    logs = run.paths(Purpose.LOG)
    if not logs or run.paths(Purpose.CONFIG) or is_mirrored(os.path.abspath(logs[0])):
        return
    folder = _folder_of(run, run.job.work_dir if run.job is not None else None)
    if folder:
        run.files = sorted_files([*run.files, *_artifacts_in(folder)])


def adopt_logs(run: RunFiles) -> None:
    """Give a run folder without a log the output of the job that wrote it."""
    if run.paths(Purpose.LOG) or is_mirrored(os.path.abspath(run.root)):
        return
    logs = [
        RunFile(path, Purpose.LOG, folder_of(path)) for path in _logs_of(os.path.abspath(run.root))
    ]
    run.files = sorted_files([*run.files, *logs])


def run_in(folder: str) -> RunFiles | None:
    """A folder with settings and weights only, with its job's output; None if there is none."""
    if not settings_in(folder):
        return None
    name = os.path.basename(os.path.abspath(folder))
    run = RunFiles(name, folder, sorted_files(_artifacts_in(folder)))
    adopt_logs(run)
    return run if run.is_readable else None


def join(runs: list[RunFiles]) -> list[RunFiles]:
    """Runs of one directory, those that are two halves of one put together."""
    by_root = {os.path.realpath(run.root): run for run in runs if not run.paths(Purpose.LOG)}
    taken: Counter[str] = Counter()
    joined: list[RunFiles] = []
    left = MOST_JOINED
    for run in runs:
        if run.paths(Purpose.LOG) and _is_job_output(run) and left > 0:
            left -= 1
            folder = _folder_of(run, None)
            place = os.path.realpath(folder) if folder else ""
            other = by_root.get(place)
            # Several jobs that trained into one folder are restarts of one run.
            if other is not None and taken[place] < MOST_RESTARTS:
                taken[place] += 1
                other.files = sorted_files([*other.files, *run.files])
                continue
            if folder and not run.paths(Purpose.CONFIG):
                run.files = sorted_files([*run.files, *_artifacts_in(folder)])
        joined.append(run)
    return joined


def _is_job_output(run: RunFiles) -> bool:
    names = [os.path.basename(path) for path in run.paths(Purpose.LOG)]
    holder = os.path.basename(os.path.dirname(run.paths(Purpose.LOG)[0])).lower()
    return holder in LOG_FOLDERS or any(map(_numbers, names))


# -- from a log to its folder -------------------------------------------------------------


def _folder_of(run: RunFiles, work_dir: str | None) -> str:
    logs = run.paths(Purpose.LOG)
    try:
        written = max(os.stat(path).st_mtime for path in logs)
    except OSError:
        return ""
    holder = os.path.dirname(os.path.abspath(logs[0]))
    bases = [work_dir, holder, os.path.dirname(holder)]
    places = [place for place in dict.fromkeys(bases) if place]
    text = "\n".join(ends_of(path, run.root_of(path)) for path in logs[:2])
    return folder_named_in(text, places, written) or _by_name(logs, places, written)


def _by_name(logs: list[str], places: list[str], written: float) -> str:
    """The folder that bears the job's number (Lightning does so) or its name."""
    found: list[str] = []
    for path in logs[:2]:
        base = os.path.basename(path)
        for number in _numbers(base):
            found += [os.path.join(p, "lightning_logs", f"version_{number}") for p in places]
        named = _NAMED.fullmatch(base)
        if named is not None and _is_first_since(path, named["name"]):
            found += _called(named["name"], places)
    own = []
    for folder in dict.fromkeys(found):
        settings = settings_in(folder)
        if settings and is_older(settings, written):
            own.append(folder)
    return own[0] if len(own) == 1 else ""


def _called(name: str, places: list[str]) -> Iterator[str]:
    for place in places:
        for holder in RUN_FOLDERS:
            folder = os.path.join(place, holder)
            if not os.path.isdir(folder):
                continue
            yield os.path.join(folder, name)
            for inner in _names(folder)[:200]:
                yield os.path.join(folder, inner, name)


def _is_first_since(path: str, name: str) -> bool:
    """True unless another job of the same name has ended: then the folder may be that one's."""
    folder, own = os.path.split(os.path.abspath(path))
    mates = {own, *counterparts(own)}
    for other in _names(folder):
        named = _NAMED.fullmatch(other)
        if named is not None and named["name"] == name and other not in mates:
            return False
    return True


# -- from a folder to its log -------------------------------------------------------------


def _logs_of(root: str) -> list[str]:
    if not settings_in(root):
        return []
    base = os.path.basename(root)
    numbers = set(_STATED.findall(_settings_text(root)))
    numbers |= {m["job"] for m in [re.fullmatch(r"version_(?P<job>\d{4,})", base)] if m}
    for holder in _holders(root):
        names = [n for n in _names(holder) if _OUTPUT.fullmatch(n) and _numbers(n)]
        names = sorted(names, key=natural_key)[-MOST_OUTPUTS:]
        by_number = [name for name in names if numbers & set(_numbers(name))]
        by_name = [n for n in names if (m := _NAMED.fullmatch(n)) and m["name"] == base]
        jobs = {_NAMED.fullmatch(n)["job"] for n in by_name}  # type: ignore[index]
        chosen = by_number or (by_name if len(jobs) == 1 else [])
        if not chosen:
            chosen = _speaking_of(root, holder, names)
        paths = [os.path.join(holder, name) for name in chosen]
        if any(os.path.isfile(path) for path in paths):
            return sorted(path for path in paths if os.path.isfile(path))
    return []


def _speaking_of(root: str, holder: str, names: list[str]) -> list[str]:
    """The only output that says it saves into the folder, of those that were written with it."""
    moment = _newest(root)
    if moment is None:
        return []
    near: list[tuple[float, str]] = []
    for name in names:
        if name.endswith(".err"):
            continue
        try:
            written = os.stat(os.path.join(holder, name)).st_mtime
        except OSError:
            continue
        # The log ends after the last file of the run, and not long after.
        if written - moment >= -SLACK:
            near.append((written, name))
    real = os.path.realpath(root)
    own = []
    for written, name in sorted(near)[:MOST_LOOKED_INTO]:
        path = os.path.join(holder, name)
        places = [holder, os.path.dirname(holder)]
        said = folder_named_in(ends_of(path, holder), places, written)
        if said and os.path.realpath(said) == real:
            own.append(name)
    if len(own) != 1:
        return []
    return [own[0], *(n for n in counterparts(own[0]) if n in names)]


def _numbers(name: str) -> list[str]:
    """Numbers in a file's name that may be a job's."""
    return _NUMBERED.findall(os.path.splitext(name)[0])


def _holders(root: str) -> Iterator[str]:
    above = root
    for _ in range(MOST_ABOVE + 1):
        for name in LOG_FOLDERS:
            folder = os.path.join(above, name)
            if os.path.isdir(folder):
                yield folder
        parent = os.path.dirname(above)
        if parent == above or os.path.isdir(os.path.join(above, ".git")):
            return
        above = parent


def _newest(root: str) -> float | None:
    times = []
    for name in _names(root):
        try:
            status = os.stat(os.path.join(root, name))
        except OSError:
            continue
        times.append(status.st_mtime)
    return max(times, default=None)


def _settings_text(root: str) -> str:
    said = []
    for path in settings_in(root):
        try:
            with open_artifact_file(path, root) as file:
                said.append(file.read(1 << 16).decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(said)


def _artifacts_in(folder: str) -> list[RunFile]:
    found = [RunFile(path, Purpose.CONFIG, folder) for path in settings_in(folder)]
    for place in (folder, *(os.path.join(folder, inner) for inner in CHECKPOINT_FOLDERS)):
        for name in _names(place):
            if is_checkpoint_name(name) or CHECKPOINT_FOLDER.fullmatch(name):
                found.append(RunFile(os.path.join(place, name), Purpose.CHECKPOINT, folder))
    return found


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False))
    except OSError:
        return []
