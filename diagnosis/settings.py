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

import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

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
    """Settings by flag, then environment, then file; `SettingsError` tells everything wrong."""
    settings = _from_file(path or _config_path())
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


def _config_path() -> Path:
    # Not taken from `mltd.runs.settings`: that module needs numpy, and the screen has none.
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(base, "mltd", "config.toml")


def _from_file(path: Path) -> ConsultSettings:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ConsultSettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}", hint="correct or remove it"
        ) from None
    return parse(table, str(path))


def parse(table: Mapping[str, Any], path: str) -> ConsultSettings:
    """Settings from a parsed file; other tables of the file are not looked at."""
    claude = table.get("claude", {})
    if not isinstance(claude, dict):
        raise SettingsError(f"{path}: [claude] must be a table", hint="write `[claude]` above it")
    faults = [fault for name, value in claude.items() if (fault := _fault(name, value))]
    if faults:
        raise SettingsError(f"{path}: {', '.join(faults)}", hint="see `docs/configuration.md`")
    known = {_FIELDS.get(str(name), str(name)): value for name, value in claude.items()}
    if "sources" in known:
        known["sources"] = tuple(os.path.expanduser(folder) for folder in known["sources"])
    return replace(ConsultSettings(), **known)


_FIELDS = {"enabled": "is_enabled"}
_RANGES: dict[str, tuple[type[int] | type[float], float, float]] = {
    "pack_tokens": (int, 1_000, 500_000),
    "budget_tokens": (int, 1_000, 100_000_000),
    "max_dollars": (float, 0.01, 10_000),
    "seconds": (float, 1, 3600),
    "rounds": (int, 0, 200),
    "answer_tokens": (int, 1_024, 128_000),
}


def _fault(name: str, value: object) -> str:
    if name == "enabled":
        return "" if isinstance(value, bool) else "claude.enabled must be true or false"
    if name == "model":
        is_name = isinstance(value, str) and bool(value.strip())
        return "" if is_name else 'claude.model must be a name such as "claude-sonnet-5-5"'
    if name == "sources":
        is_list = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        return "" if is_list else 'claude.sources must be a list of folders: ["~/project"]'
    if name not in _RANGES:
        near = get_close_matches(name, (*_RANGES, "enabled", "model", "sources"), 1)
        return f"claude.{name} is not known" + (f" (did you mean {near[0]}?)" if near else "")
    kind, low, high = _RANGES[name]
    is_number = isinstance(value, int if kind is int else (int, float))
    if isinstance(value, bool) or not is_number or not low <= _number(value) <= high:
        what = "a whole number" if kind is int else "a number"
        return f"claude.{name} must be {what} from {low:g} to {high:g}"
    return ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
