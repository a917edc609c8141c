"""unseen_error: a part of the job failed, and its words are not in the files of this run.

What it is: the error was written to another file, was lost in a buffer when the process ended, or
    came from a line of the job script before or after the training.
Told apart by: an exit code in the scheduler's record and a log without any error. Exit codes 126
    and 127 are the shell's: then the environment is to blame.
Try next: open the job's error file; let the script say what it runs; start Python unbuffered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause


@cause
@dataclass(frozen=True, slots=True)
class UnseenError:
    """Weighs an exit code that nothing explains."""

    id: ClassVar[str] = "unseen_error"
    explains: ClassVar[tuple[str, ...]] = ("job_failed",)
    basis: ClassVar[Basis] = Basis.INFERENCE

    def clues(self, case: Case) -> Iterator[Clue]:
        """The scheduler's record; less so where the code has a meaning of its own."""
        for finding in case.all("job_failed"):
            is_shell = finding.number("exit_code") in (126.0, 127.0)
            yield case.because(finding, 0.3 if is_shell else 0.7)

    def issue(self, case: Case) -> str:
        """One sentence with the file that may hold it."""
        where = _unread(case)
        place = f"perhaps in {where}" if where else "outside the files of this run, or nowhere"
        return f"the job failed with an error that was written {place}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Look where the words may be, then make sure that they are said."""
        where = _unread(case)
        yield Fix(
            addresses=self.id,
            change=f"open {where or 'the error file of the job'} beside the log",
            example=f"mltd-tui check {where}" if where else "scontrol show job JOB | grep Std",
            expected_impact="the error message is found at once, if it was written at all",
            verify="its last lines are from the minute in which the job ended",
            if_it_fails="if it is empty, nothing was written: let the script say what it does",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="let the script say what it runs, and Python write at once",
            example="set -euxo pipefail; export PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1",
            expected_impact="the next failure leaves the command and its message in the log",
            verify="the log shows each command of the script with a leading +",
            if_it_fails="if the last command shown is the training, it ends by itself: look for "
            "sys.exit and os._exit in it",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="run the last command of the script by hand, in the same environment",
            example="srun --time=00:10:00 --pty bash -l   # the command, then: echo $?",
            expected_impact="the same exit code within minutes, with its message on the screen",
            verify="echo $? shows the code of the failed job",
            if_it_fails="if it works by hand, variables or modules differ: compare `env`",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The words that are missing."""
        where = _unread(case)
        yield (
            f"the job's error output{f' ({where})' if where else ''} and the end of its script: a "
            "traceback means code_bug, `command not found` incompatible_environment"
        )


def _unread(case: Case) -> str:
    finding = case.get("job_failed")
    return str(finding.details.get("unread") or "") if finding is not None else ""
