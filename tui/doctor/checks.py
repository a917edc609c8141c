"""All checks there are, in the order in which they are told."""

from __future__ import annotations

from .areas import (
    api_key,
    clipboard,
    files,
    inotify,
    kept_sessions,
    language,
    limits,
    settings_file,
    slurm,
    sockets,
    ssh,
    state,
    terminal,
    versions,
)
from .check import Check


def all_checks(paths: tuple[str, ...]) -> list[Check]:
    """The checks of every area, with one for each path."""
    return [
        *terminal.CHECKS,
        *clipboard.CHECKS,
        *language.CHECKS,
        *files.checks(paths),
        *inotify.CHECKS,
        *state.CHECKS,
        *kept_sessions.CHECKS,
        *settings_file.CHECKS,
        *ssh.CHECKS,
        *sockets.CHECKS,
        *slurm.CHECKS,
        *api_key.CHECKS,
        *limits.CHECKS,
        *versions.CHECKS,
    ]
