"""Everything that the checks look at; a test makes up its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..terminal import Terminal, own_environment, terminal_of
from . import programs

PATIENCE = 2.0
"""Seconds for one program to answer: what is slower than this makes no lively screen."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the doctor was called."""

    environment: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = (".",)
    size: tuple[int, int] | None = None
    """Columns and lines of the terminal; None if there is none."""
    is_unicode: bool | None = None
    """What the configuration file says, which knows better than the locale."""
    state: Path = Path("/nonexistent")
    """Our own directory, for the app's files."""
    config: Path = Path("/nonexistent")
    """The user's configuration file."""
    proc: Path = Path("/proc")
    cgroups: Path = Path("/sys/fs/cgroup")
    patience: float = PATIENCE

    @property
    def terminal(self) -> Terminal:
        """What the environment says about the terminal."""
        return terminal_of(self.environment, self.is_unicode)

    def find(self, program: str) -> str | None:
        """Where a program is; None if it is not there."""
        return programs.find(program, self.environment)

    def ask(self, *words: str, share: float = 1.0) -> programs.Answer:
        """What a program answers within a share of our patience."""
        return programs.ask(words, self.environment, self.patience * share)


def here(paths: tuple[str, ...] = ()) -> Surroundings:
    """The surroundings of this process."""
    from mltd.runs.errors import SettingsError
    from mltd.runs.state_files import state_directory

    from ..settings import config_directory, load

    try:
        is_unicode = load().unicode
    except SettingsError:
        # The check of the configuration file has more to say about it.
        is_unicode = None
    return Surroundings(
        environment=own_environment(),
        paths=paths or (os.curdir,),
        size=_terminal_size(),
        is_unicode=is_unicode,
        state=state_directory(),
        config=config_directory() / "config.toml",
    )


def _terminal_size() -> tuple[int, int] | None:
    """The size of the terminal in which the user sits, even if all output goes elsewhere."""
    for number in (1, 2, 0):
        try:
            return _usable(os.get_terminal_size(number))
        except OSError:
            continue
    try:
        number = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _usable(os.get_terminal_size(number))
    except OSError:
        return None
    finally:
        os.close(number)


def _usable(size: os.terminal_size) -> tuple[int, int] | None:
    # Serial lines and some containers say 0x0, which means that they do not know.
    return (size.columns, size.lines) if size.columns and size.lines else None
