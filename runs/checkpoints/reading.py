"""Checkpoints looked into, by a process of their own that runs nothing from them."""

from __future__ import annotations

import os
from dataclasses import asdict

from ..open_artifact import ANYWHERE
from .apart import Cancelled, Progress, ask_worker
from .checkpoint_summary import CheckpointSummary
from .comparison import Comparison
from .limits import Limits

Path = str | os.PathLike[str]


def read_checkpoint(
    path: Path,
    *,
    root: str = ANYWHERE,
    needs_values: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> CheckpointSummary:
    """What a checkpoint holds; with values, their statistics too.

    `root` is the folder that a checkpoint must lie in that was found and not named by the user.
    `progress` is called with bytes done and bytes in all, `cancelled` is asked ten times a second;
    both in the calling thread. Whatever is wrong is an `MltdError` that says so.
    """
    answer = _asked([(path, root)], needs_values, limits or Limits(), progress, cancelled)
    return CheckpointSummary.from_json(answer)


def compare_checkpoints(
    first: Path,
    second: Path,
    *,
    roots: tuple[str, str] = (ANYWHERE, ANYWHERE),
    limits: Limits | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Comparison:
    """How far each tensor moved from the first checkpoint to the second, and what does not fit."""
    places = [(first, roots[0]), (second, roots[1])]
    answer = _asked(places, True, limits or Limits(), progress, cancelled)
    return Comparison.from_json(answer)


def _asked(
    places: list[tuple[Path, str]],
    needs_values: bool,
    limits: Limits,
    progress: Progress | None,
    cancelled: Cancelled | None,
) -> bytes:
    job: dict[str, object] = {
        "paths": [os.path.abspath(path) for path, _ in places],
        "roots": [root if root == ANYWHERE else os.path.abspath(root) for _, root in places],
        "needs_values": needs_values,
        "limits": asdict(limits),
    }
    return ask_worker(job, limits, progress, cancelled)
