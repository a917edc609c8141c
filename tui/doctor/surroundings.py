"""Everything that the checks look at; a test makes up its own."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mltd.runs.config_file import read_config
from mltd.runs.errors import SettingsError

from ..terminal import Terminal, own_environment, terminal_of
from . import programs

PATIENCE = 1.8
"""Seconds for one program to answer: what is slower than this makes no lively screen."""

_GLANCE = 0.3
"""Seconds for a look at the home directory, which may be on a file server that is down."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the doctor was called."""

    environment: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = (".",)
    size: tuple[int, int] | None = None
    """Columns and lines of the terminal; None if there is none."""
    is_unicode: bool | None = None
    """What the configuration file says, which knows better than the locale."""
    poll_seconds: float | None = None
    """How often the configuration file wants files to be looked at."""
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


def here(paths: tuple[str, ...], size: tuple[int, int] | None) -> Surroundings:
    """The surroundings of this process, with a terminal of this size."""
    from mltd.runs.state_files import state_directory

    from ..settings import config_directory

    config = config_directory() / "config.toml"
    wishes = _wishes(config)
    return Surroundings(
        environment=own_environment(),
        paths=paths or (os.curdir,),
        size=size,
        is_unicode=wishes.is_unicode,
        poll_seconds=wishes.poll_seconds,
        state=state_directory(),
        config=config,
    )


class _Wishes(NamedTuple):
    """What the configuration file says that other checks need."""

    is_unicode: bool | None = None
    poll_seconds: float | None = None


def _wishes(path: Path) -> _Wishes:
    """The wishes of the user, if the file can be read at once."""
    found: list[_Wishes] = []

    def read() -> None:
        # What is wrong with the file, its own check tells.
        with contextlib.suppress(SettingsError):
            table = read_config(path).table
            found.append(
                _Wishes(
                    table.get("screen", {}).get("unicode"),
                    table.get("follow", {}).get("poll_seconds"),
                )
            )

    try:
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(_GLANCE)
    except RuntimeError:
        read()
    return found[0] if found else _Wishes()


def terminal_size() -> tuple[int, int] | None:
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
