"""Why a command of Slurm gave no answer, in a sentence for the person who waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..quoting import printable

_LONGEST = 200
"""Characters of Slurm's own message that a sentence quotes."""


class Trouble(StrEnum):
    """Kinds of failure that call for different things to do."""

    NOT_INSTALLED = "not_installed"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    DENIED = "denied"
    NOT_CONFIGURED = "not_configured"
    UNKNOWN_JOB = "unknown_job"
    UNSUPPORTED = "unsupported"
    NO_ACCOUNTING = "no_accounting"
    TOO_SOON = "too_soon"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong, and what to do."""

    trouble: Trouble
    message: str
    hint: str = ""

    def __str__(self) -> str:
        """One line."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


_SIGNS = (
    (
        Trouble.UNKNOWN_JOB,
        ("invalid job id specified", "invalid job array specification"),
        "Slurm does not know this job",
        "",
    ),
    (
        Trouble.NO_ACCOUNTING,
        ("accounting storage is disabled", "only 'accounting_storage/slurmdbd' is supported"),
        "Slurm keeps no accounts here",
        "jobs that ended more than a few minutes ago are not known",
    ),
    (
        Trouble.UNREACHABLE,
        ("slurmdbd", "problem talking to the database", "persistent connection"),
        "Slurm's accounts cannot be reached",
        "only jobs of the last minutes are known meanwhile",
    ),
    (
        Trouble.UNREACHABLE,
        ("unable to contact slurm controller", "connection refused", "socket timed out",
         "zero bytes were transmitted", "communication connection failure", "no route to host"),
        "the Slurm controller cannot be reached",
        "it may be restarting; log files can be opened by their names meanwhile",
    ),
    (
        Trouble.NOT_CONFIGURED,
        ("could not establish a configuration source", "cannot stat file",
         "unable to process configuration", "no slurm.conf", "dns srv"),
        "this machine's Slurm is not configured",
        "try on a login node of the cluster, or set SLURM_CONF",
    ),
    (
        Trouble.DENIED,
        ("authentication", "munge", "access/permission denied", "permission denied",
         "invalid user id", "not permitted"),
        "Slurm refuses to answer",
        "ask the administrators of the cluster; `munge -n | unmunge` shows whether munge works",
    ),
    (
        Trouble.UNSUPPORTED,
        ("unrecognized option", "invalid option", "invalid job format specification",
         "invalid field requested", "serializer", "data_parser", "mime_type", "plugin"),
        "this version of Slurm does not know the request",
        "",
    ),
)  # fmt: skip


def explain(program: str, said: str) -> Problem:
    """The problem behind a command's error message."""
    lowered = said.casefold()
    lines = [line for line in said.splitlines() if line.strip()]
    shown = printable(lines[-1])[:_LONGEST] if lines else "it said nothing"
    for trouble, signs, message, hint in _SIGNS:
        if any(sign in lowered for sign in signs):
            return Problem(trouble, f"{message} ({program}: {shown})", hint)
    return Problem(Trouble.OTHER, f"{program} failed: {shown}")


def not_installed(program: str) -> Problem:
    """There is no such command."""
    return Problem(
        Trouble.NOT_INSTALLED,
        f"Slurm's {program} is not installed on this machine",
        "name a log file instead, or try on a login node of the cluster",
    )


def timed_out(program: str, seconds: float) -> Problem:
    """The command took too long."""
    return Problem(
        Trouble.TIMED_OUT,
        f"{program} gave no answer within {seconds:.0f} s",
        "the Slurm controller is busy or down; it is asked again later",
    )


def too_soon(program: str, wait: float) -> Problem:
    """We have asked a moment ago, and clusters have rules about that."""
    return Problem(
        Trouble.TOO_SOON,
        f"{program} was asked for other jobs a moment ago",
        f"try again in {max(1.0, wait):.0f} s",
    )
