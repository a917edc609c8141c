"""What every pack says about its runs, whoever has read them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mltd.runs.open_artifact import ANYWHERE
from mltd.runs.run import Run
from mltd.runs.summary import run_state

if TYPE_CHECKING:
    from mltd.sessions.model.session import Session


def state_of(run: Run) -> str:
    """Whether a run still goes, and why that is thought."""
    state, reason = run_state(run)
    return f"{state.value}: {reason}" if reason else state.value


def paths_of(runs: Iterable[Run]) -> list[str]:
    """All files of some runs, as the runs know them."""
    known = list(runs)
    paths = [file.path for run in known for file in run.files]
    return paths + [artifact.path for run in known for artifact in run.artifacts]


def people_in(session: Session | None, runs: Mapping[str, Run]) -> tuple[str, ...]:
    """Names of people that the session and the jobs know, to be masked on demand."""
    names = [session.owner, *(one.owner for one in session.prevention)] if session else []
    for run in runs.values():
        if run.job is not None:
            names += [run.job.user or "", run.job.cancelled_by or ""]
    known = (name.strip() for name in names)
    kept = (name for name in known if name and name != "root" and not name.isdigit())
    return tuple(dict.fromkeys(kept))


def named_files(names: Sequence[str], runs: Iterable[Run]) -> list[str]:
    """Absolute paths of what the user has named, itself or by a pattern."""
    whole = [os.path.abspath(os.path.expanduser(name)) for name in names if "\0" not in name]
    files = (file for run in runs for file in run.files)
    return [*whole, *(os.path.abspath(file.path) for file in files if file.root == ANYWHERE)]
