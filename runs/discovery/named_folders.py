"""Which folder a log belongs to, by what it says about where it saves.

A job's output is often kept apart from the run: `slurm_logs/48213-vgae.out` says that weights are
saved in `experimentruns/can/vgae_large`. Only paths that are written to count, only folders that
hold settings, and only if a single folder is left: a wrong one would bring wrong settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ..errors import InputError
from ..sources.inputs import open_bytes

HEAD_BYTES = 64 << 10
TAIL_BYTES = 32 << 10
MOST_PATHS = 16
"""Names that are looked up: each costs a few looks at the file system. Those that differ in
numbers alone (`checkpoint-500`, `checkpoint-1000`) are one."""
SETTINGS = (
    "config.json", "config.yaml", "config.yml", "hparams.yaml", "args.json", "args.yaml",
    "opt.yaml", ".hydra/config.yaml",
)  # fmt: skip
SLACK = 600.0
"""Seconds by which clocks of file servers and buffers may differ."""
_PATH = re.compile(r"(?<![\w/.:~-])((?:~|\.{1,2}|/)?[\w.@+=,-]*(?:/[\w.@+=,-]+)+)/?")
_WRITES = re.compile(
    r"(?i)\b(?:sav(?:e|es|ed|ing)|writ(?:e|es|ing|ten)|stor(?:e|ed|ing)|output|results?|"
    r"experiment|logg?(?:ing|ed) (?:to|in)|(?:run|exp|experiment|log|work|ckpt|checkpoint|"
    r"checkpoints|save|out|output|model|results)[ _-]?(?:dir(?:ectory)?|folder|path)|dirpath)\b"
)
_READS = re.compile(
    r"(?i)(?:\b|_)(?:load(?:s|ed|ing)?|resum\w*|restor\w*|pre-?train\w*|teacher|init\w*|from|"
    r"data(?:set)?s?|read(?:s|ing)?|file)(?:\b|_)"
)
_DIGITS = re.compile(r"\d+")
_CLAUSE = re.compile(r"[,;|{]")
"""What separates one setting, or one half of a sentence, from the next."""


def ends_of(path: str, root: str) -> str:
    """The beginning and the end of a text file; empty if it cannot be read."""
    try:
        with open_bytes(path, root) as file:
            head = file.read(HEAD_BYTES)
            tail = b""
            if not file.compression:
                size = os.fstat(file.fileno()).st_size
                if size > len(head):
                    start = max(len(head), size - TAIL_BYTES)
                    tail = os.pread(file.fileno(), TAIL_BYTES, start)
    except (OSError, ValueError, InputError):
        return ""
    return (head + b"\n" + tail).decode("utf-8", "replace")


def saved_paths(text: str) -> list[str]:
    """Paths that are spoken of as written to and not as read, in order."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if "/" not in line or len(line) > 2000 or not _WRITES.search(line):
            continue
        for path in _PATH.finditer(line):
            clause = _CLAUSE.split(line[: path.start(1)])[-1]
            if not _WRITES.search(clause) or _READS.search(clause):
                continue
            folder, base = os.path.split(path[1])
            found.setdefault(f"{folder}/{_DIGITS.sub('#', base)}", path[1])
            if len(found) >= MOST_PATHS:
                return list(found.values())
    return list(found.values())


def folder_named_in(text: str, bases: Iterable[str], written: float) -> str:
    """The one folder with settings in which the writer of a log says that it saves.

    `bases` are folders from which relative names may start; `written` is when the log was last
    written: settings that are younger belong to a later run in the same folder.
    """
    found: dict[str, str] = {}
    looked: dict[str, str] = {}
    places = [os.path.abspath(base) for base in bases]
    for path in saved_paths(text):
        for place in places:
            full = os.path.normpath(os.path.join(place, os.path.expanduser(path)))
            if full not in looked:
                looked[full] = _run_folder(full, written)
            folder = looked[full]
            if folder and not any(_is_above(folder, place) for place in places):
                found[os.path.realpath(folder)] = folder
                break
    return next(iter(found.values())) if len(found) == 1 else ""


def settings_in(folder: str) -> list[str]:
    """Settings that a run keeps in its folder."""
    paths = [os.path.join(folder, name) for name in SETTINGS]
    return [path for path in paths if os.path.isfile(path)]


def is_older(paths: Iterable[str], written: float) -> bool:
    """True if files were there before a log ended."""
    try:
        return all(os.stat(path).st_mtime <= written + SLACK for path in paths)
    except OSError:
        return False


def _run_folder(path: str, written: float) -> str:
    """The path, or one of the two folders above it, if it holds settings."""
    for folder in (path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        settings = settings_in(folder) if os.path.isdir(folder) else []
        if settings:
            return folder if is_older(settings, written) else ""
    return ""


def _is_above(folder: str, place: str) -> bool:
    """True if a folder holds the place where logs are: a project, not a run."""
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)
