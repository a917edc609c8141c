"""Where a batch job writes: the patterns of `sbatch --output`, filled in as Slurm does it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

DEFAULT = "slurm-%j.out"
DEFAULT_OF_TASK = "slurm-%A_%a.out"
_PATTERN = re.compile(r"%(?:(%)|([0-9]*)([AaJjNnstuxb]))")
_MOST_DIGITS = 10
NO_TASK = 4294967294
"""What Slurm puts for a task's index where there is none."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the patterns stand for; what is not known stays as it is."""

    job: int
    name: str | None = None
    user: str | None = None
    array: int | None = None
    task: int | None = None
    host: str | None = None
    """First node of the job, where its script runs."""
    work_dir: str | None = None


def default_pattern(names: Names) -> str:
    """Where output goes if nobody says otherwise."""
    return DEFAULT if names.array is None else DEFAULT_OF_TASK


def fill_in(pattern: str, names: Names) -> str | None:
    """The absolute path; None if something in it is not known, or differs between tasks."""
    if "\\" in pattern:
        path = pattern.replace("\\", "")  # a backslash switches all patterns off
    else:
        try:
            path = _PATTERN.sub(lambda found: _value(found, names), pattern)
        except LookupError:
            return None
    waits_together = names.array is not None and names.task is None
    if not path or "\0" in path or (waits_together and str(NO_TASK) in path):
        return None
    if os.path.isabs(path):
        return path
    if not names.work_dir or not os.path.isabs(names.work_dir):
        return None
    return os.path.join(names.work_dir, path)


def _value(found: re.Match[str], names: Names) -> str:
    if found[1]:
        return "%"
    digits = min(int(found[2][:4] or 0), _MOST_DIGITS)
    letter = found[3]
    if letter in "xuN":
        word = {"x": names.name, "u": names.user, "N": names.host}[letter]
        if word is None:
            raise LookupError(letter)
        return word.partition(".")[0] if letter == "N" else word
    if letter == "s":
        return "batch"
    return f"{_number(letter, names):0{digits}d}"


def _number(letter: str, names: Names) -> int:
    """A job's script runs as task 0 on node 0; `%J` is its number alone."""
    if letter in "nt":
        return 0
    if letter == "A" and names.array is not None:
        return names.array
    if names.array is not None and names.task is None:
        raise LookupError(letter)
    if letter in "ab":
        task = NO_TASK if names.task is None else names.task
        return task if letter == "a" else task % 10
    return names.job
