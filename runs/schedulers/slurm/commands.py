"""Runs Slurm's commands: without a shell, for a few seconds at most, always in the same words."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass

from .problems import Problem, explain, not_installed, timed_out

PATIENCE = 5.0
"""Seconds after which a command is given up."""
_ANSWER_SHAPING = ("SQUEUE_", "SACCT_", "SCONTROL_")
"""Variables by which users change what the commands print."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command printed, or why it did not."""

    text: str = ""
    problem: Problem | None = None


def installed(program: str) -> str | None:
    """Where a command is."""
    return shutil.which(program)


def run(arguments: list[str], *, patience: float = PATIENCE) -> Output:
    """The output of a command whose first argument is its name."""
    program = arguments[0]
    place = installed(program)
    if place is None:
        return Output(problem=not_installed(program))
    try:
        process = subprocess.Popen(
            [place, *arguments[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
    except OSError as problem:
        return Output(problem=explain(program, problem.strerror or str(problem)))
    with process:
        try:
            output, errors = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            _end(process)
            return Output(problem=timed_out(program, patience))
        except BaseException:
            _end(process)
            raise
    text = output.decode(errors="surrogateescape")
    said = errors.decode(errors="replace")
    if process.returncode != 0:
        return Output(problem=explain(program, said or text))
    if not text and "accounting storage is disabled" in said.casefold():
        return Output(problem=explain(program, said))
    return Output(text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and all that it started; they are a session of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_ANSWER_SHAPING) and name != "LANGUAGE"
    }
    # Seconds since 1970: no time zone and no clock change can be misread.
    return {**kept, "LC_ALL": "C", "SLURM_TIME_FORMAT": "%s"}
