"""The table `[claude]` of the user's configuration file.

[claude]
enabled = false             # nothing is ever sent, whatever a key or a flag says
model = "claude-opus-5-5"   # otherwise the newest Sonnet that the installed SDK lists
pack_tokens = 24000         # size of the evidence that is sent first
budget_tokens = 300000      # tokens of one question with all its looks, cached ones not counted
max_dollars = 2.0           # the same in money, where the price of the model is known
seconds = 300               # time until the model is told to answer with what it has
rounds = 12                 # times it may look further
answer_tokens = 16000       # the longest single reply, thoughts included
sources = ["~/project"]     # folders of code that the model may read in; none unless named
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mltd.runs.config_file import ConfigFile, read_config
from mltd.runs.errors import SettingsError

MODEL_VARIABLE = "MLTD_MODEL"


@dataclass(frozen=True, slots=True)
class ConsultSettings:
    """What a user may change about a consultation, and its limits."""

    is_enabled: bool = True
    model: str = ""
    """Empty: the newest Sonnet that the installed SDK lists."""
    pack_tokens: int = 24_000
    budget_tokens: int = 300_000
    max_dollars: float = 2.0
    seconds: float = 300.0
    rounds: int = 12
    answer_tokens: int = 16_000
    sources: tuple[str, ...] = ()
    """Folders of code that may be read in."""
    grace_seconds: float = 60.0
    """What an answer that is under way gets on top of `seconds`."""
    silence_seconds: float = 90.0
    """The service sends a sign of life every few seconds; this long without one is a cut line."""
    retry_seconds: float = 1.0
    """The first wait after a failure that may pass, doubled each time."""


def load(
    *,
    model: str = "",
    is_disabled: bool = False,
    sources: Sequence[str] = (),
    path: Path | None = None,
) -> ConsultSettings:
    """Settings by flag, then environment, then file; `SettingsError` if the file is no TOML."""
    settings = settings_of(read_config(path))
    chosen = model.strip() or os.environ.get(MODEL_VARIABLE, "").strip() or settings.model
    return replace(
        settings,
        model=chosen,
        # A switch that a site has turned off cannot be turned on again by a flag.
        is_enabled=settings.is_enabled and not is_disabled,
        sources=tuple(dict.fromkeys((*map(_folder, sources), *settings.sources))),
    )


def _folder(name: str) -> str:
    """A folder that somebody has just named, so a slip is told; the file may serve many hosts."""
    folder = os.path.abspath(os.path.expanduser(name))
    if not os.path.isdir(folder):
        raise SettingsError(f"--source: there is no folder {folder}", hint="name one of code")
    return folder


def settings_of(config: ConfigFile) -> ConsultSettings:
    """Settings from the valid part of a file."""
    claude = config.table.get("claude", {})
    known = {_FIELDS.get(name, name): value for name, value in claude.items()}
    if "sources" in known:
        known["sources"] = tuple(os.path.expanduser(folder) for folder in known["sources"])
    return replace(ConsultSettings(), **known)


_FIELDS = {"enabled": "is_enabled"}
