"""Names of jobs as users write them: `job:48213`, `job:48213_7`, `48213`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

PREFIX = "job:"
_ID = re.compile(r"([1-9][0-9]{0,9})(?:_([0-9]{1,9})|\+([0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class JobId:
    """A job id taken apart: nothing in it but digits."""

    number: int
    task: int | None = None
    offset: int | None = None

    @property
    def text(self) -> str:
        """As Slurm writes it."""
        if self.task is not None:
            return f"{self.number}_{self.task}"
        return f"{self.number}" if self.offset is None else f"{self.number}+{self.offset}"


def parse_job_id(text: str) -> JobId | None:
    """The parts of `48213`, `48213_7` or `48213+1`; None for any other text."""
    found = _ID.fullmatch(text)
    if found is None:
        return None
    number, task, offset = (None if part is None else int(part) for part in found.groups())
    return JobId(number or 0, task, offset)


def parse_job_name(text: str) -> str | None:
    """The id of the job that a name stands for; None if it stands for something else.

    A bare number may be a file's name: then it is the file.
    """
    is_explicit = text.startswith(PREFIX)
    found = parse_job_id(text.removeprefix(PREFIX))
    if found is None or (not is_explicit and os.path.lexists(text)):
        return None
    return found.text
