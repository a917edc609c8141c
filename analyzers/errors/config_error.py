"""config_error: a setting is unknown, missing or unusable.

What it sees: errors of argument parsers, Hydra, OmegaConf, Pydantic, YAML and launchers, and
    exceptions where the code reads the config.
Why it matters: the program does not start.
Fires on:
    log: train.py: error: unrecognized arguments: --bacth-size 3
    log: omegaconf.errors.ConfigAttributeError: Key 'optimzer' is not in struct
Stays quiet:
    log: Namespace(lr=0.1, epochs=3) | step 1 loss 2.5
Try next: correct the name or value that the message gives; start from a config that worked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding
from ..core.registry import analyzer
from ..core.view import RunView
from .told import report


@analyzer
@dataclass(frozen=True, slots=True)
class ConfigError:
    """Settings that cannot be used, by message."""

    id: ClassVar[str] = "config_error"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
