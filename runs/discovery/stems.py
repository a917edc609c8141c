"""File names of one run: what they share, and what tells its streams and ranks apart."""

from __future__ import annotations

import re

_COMPRESSION = re.compile(r"\.(?:gz|xz|bz2|zst)$", re.IGNORECASE)
_SUFFIX = re.compile(
    r"(?:\.(?:log|out|err|txt|csv|tsv|json|jsonl|ndjson|stdout|stderr))+$", re.IGNORECASE
)
_PBS_SUFFIX = re.compile(r"\.[oe](\d+)$")
_ROTATION = re.compile(r"(\.(?:log|out|err))\.\d{1,3}$", re.IGNORECASE)
_RANK = re.compile(r"[-_.]?(?:rank|worker|workerlog|node)[-_.]?\d+(?=$|[-_.])", re.IGNORECASE)
_PROBE = re.compile(r"(?:^|[-_.])(?:mltd[-_.])?probe(?:-\d+)?$", re.IGNORECASE)
_STREAM = re.compile(r"(?:^|[-_.])(?:stdout|stderr|out|err)$", re.IGNORECASE)
_TIMESTAMP = re.compile(r"\d{8}[-_]\d{4,6}|\d{4}-\d\d-\d\d[-_T]\d\d[-_:]?\d\d(?:[-_:]?\d\d)?")

GENERIC = {
    "", "train", "training", "eval", "evaluation", "val", "valid", "validation", "test", "log",
    "logs", "output", "console", "nohup", "metrics", "metric", "results", "result", "history",
    "progress", "summary", "trainer_log", "trainer_state", "scalars", "stats", "info", "error",
    "errors", "run", "main", "job", "train_log", "training_log", "log_history", "losses", "loss",
    "learn_error", "test_error", "time_left", "monitor", "report",
}  # fmt: skip
"""Names that describe a part of a run, not a run."""

_COUNTERPARTS = (
    (re.compile(r"\.out$"), ".err"),
    (re.compile(r"\.err$"), ".out"),
    (re.compile(r"\.o(\d+)$"), r".e\1"),
    (re.compile(r"\.e(\d+)$"), r".o\1"),
    (re.compile(r"stdout"), "stderr"),
    (re.compile(r"stderr"), "stdout"),
    (re.compile(r"(?<=[-_.])out(?=[-_.])"), "err"),
    (re.compile(r"(?<=[-_.])err(?=[-_.])"), "out"),
)


def plain_name(name: str) -> str:
    """The name that a compressed file had before."""
    return _COMPRESSION.sub("", name)


def stem_of(name: str) -> str:
    """What is left of a file name without its type, stream, rank, rotation and `probe`."""
    stem = _ROTATION.sub(r"\1", plain_name(name))
    stem = _PBS_SUFFIX.sub(r"-\1", stem)
    stem = _RANK.sub("", stem)
    stem = _PROBE.sub("", _SUFFIX.sub("", stem))
    return _STREAM.sub("", stem)


def is_generic(stem: str) -> bool:
    """True if the name says which part of a run it is, not which run."""
    return stem.lower() in GENERIC


def is_timestamp(stem: str) -> bool:
    """True if the name is only the moment when the file was begun."""
    return _TIMESTAMP.fullmatch(stem) is not None


def counterparts(name: str) -> list[str]:
    """Names that the other output stream of the same job may have."""
    found = [pattern.sub(other, name, count=1) for pattern, other in _COUNTERPARTS]
    return [other for other in dict.fromkeys(found) if other != name]
