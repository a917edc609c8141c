"""bad_path: a path in config or code does not match the files that are there.

What it is: a file, directory or checkpoint is looked for where it is not, or where this user
    may not go.
Told apart by: the message names the path. If the file exists but is broken or does not fit, it
    is incompatible_checkpoint.
Try next: list the path from inside a job, directory by directory; make paths absolute.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Finding
from ..core.registry import cause
from ..core.settings_lookup import Setting
from ..errors.hypothesis import MessageCause

LEAST_ALIKE = 0.75
"""Share of common characters from which a setting is taken for the path's beginning."""
MIN_PATH = 4
"""Shorter paths are like everything."""


@cause
@dataclass(frozen=True)
class BadPath(MessageCause):
    """Weighs what speaks for a wrong path."""

    id: ClassVar[str] = "bad_path"
    explains: ClassVar[tuple[str, ...]] = (
        "missing_file",
        "checkpoint_missing",
        "permission_denied",
        "empty_data",
        "environment_error",
        "exception",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        if (left := _left_behind(case)) is not None:
            return f"{left.details['said_file']} was saved elsewhere, was not saved, or was removed"
        return "a path in config or code does not match the files that are there"

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """A checkpoint that a finished run should have left; a setting that holds the path."""
        if (left := _left_behind(case)) is not None and not left.number("is_empty"):
            # Where it was looked for and what the log says of it are two witnesses.
            for evidence in left.evidence[:2]:
                yield Clue(0.5, evidence)
        if (setting := _setting_with_path(case)) is not None:
            yield Clue(0.4, setting.evidence)

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Look for what was saved; correct the setting that holds the path."""
        if (left := _left_behind(case)) is not None:
            yield from _look_for(left, self.id)
        setting = _setting_with_path(case)
        if setting is not None:
            yield Fix(
                addresses=self.id,
                change=f"{setting.path} {setting.value} -> the directory that exists",
                example=f"{setting.path}: /full/path",
                expected_impact="the files are found and training starts; train loss is logged",
                verify=f"ls {setting.value} on the node where the job runs",
                if_it_fails="compare spelling and case of each directory with what is there",
                is_quick=True,
            )


def _left_behind(case: Case) -> Finding | None:
    """A checkpoint that should be there after the end of the run, and is not."""
    found = case.all("checkpoint_missing")
    return next((f for f in found if f.details.get("kind") == "promised"), None)


def _look_for(left: Finding, addresses: str) -> Iterator[Fix]:
    path = str(left.details.get("path") or left.details["said_file"])
    folder, _, name = path.rpartition("/")
    yield Fix(
        addresses=addresses,
        change=f"look for {name} where the job worked, and in the folders above",
        example=f"find {shlex.quote(folder or '.')}/.. -maxdepth 4 "
        f"-name {shlex.quote(f'{name}*')} -mtime -30",
        expected_impact="the weights are found within a minute, or it is sure that there are none",
        verify=f"ls -l {shlex.quote(path)} shows a size that fits the model",
        if_it_fails="it was on the node's own disk, or was removed: look at the end of the job "
        "script for a copy, and at the rotation of checkpoints",
        is_quick=True,
    )
    yield Fix(
        addresses=addresses,
        change="save under an absolute path, and check it before the run says that it is done",
        example="path = os.path.abspath(save_path); torch.save(state, path); "
        "assert os.path.getsize(path) > 0",
        expected_impact="the next run fails at its first save instead of losing all its training",
        verify="a run of ten steps leaves the file",
        if_it_fails="save through a temporary name and rename: a job that is ended meanwhile "
        "leaves no half file",
        is_quick=True,
    )


def _setting_with_path(case: Case) -> Setting | None:
    """The setting that holds the missing path, its beginning, or one much like it."""
    for finding in case.all("missing_file", "checkpoint_missing", "permission_denied"):
        named = str(finding.details.get("said_file", "")).strip("/.")
        best, likeness = None, LEAST_ALIKE
        for setting in case.view.settings:
            value = setting.value
            if not isinstance(value, str) or "/" not in value or len(value) < MIN_PATH:
                continue
            shown = value.strip("/.")[:300]
            alike = SequenceMatcher(None, shown, named[: len(shown) + 2]).ratio()
            if alike > likeness:
                best, likeness = setting, alike
        if best is not None:
            return best
    return None
