"""What the screen remembers from one start to the next, without being told to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from mltd.runs.state_files import replace_privately, state_directory

_LARGEST = 1 << 16
"""Bytes; a longer file is not one of ours."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Choices that a user made by key rather than in the configuration file."""

    theme: str = ""
    hints_seen: int = 0
    """How often the hint for newcomers was shown."""


class Memory:
    """Keeps preferences in a file; if that fails, it says so once and the app goes on."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_directory() / "preferences.json"
        self._has_complained = False
        self.notice = ""
        """What a user should know about the file as it was found; empty if all is well."""
        self.preferences = self._read() or Preferences()

    def remember(self, **changes: Any) -> str:
        """Keep some choices; the answer is a notice at the first failure, else empty."""
        # Read again: another window may have remembered something else meanwhile.
        newest = None if self._has_complained else self._read()
        self.preferences = replace(newest or self.preferences, **changes)
        try:
            data = json.dumps(asdict(self.preferences), indent=1).encode()
            replace_privately(self._path, data)
        except OSError as error:
            if not self._has_complained:
                self._has_complained = True
                return f"choices cannot be remembered in {self._path}: {error.strerror or error}"
        return ""

    def _read(self) -> Preferences | None:
        try:
            with self._path.open("rb") as file:
                known = json.loads(file.read(_LARGEST))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self.notice = f"{self._path} cannot be read and is ignored: {error}"
            return None
        if not isinstance(known, dict):
            self.notice = f"{self._path} cannot be read and is ignored: it holds no object"
            return None
        usual = Preferences()
        kept = {
            field.name: known[field.name]
            for field in fields(Preferences)
            if type(known.get(field.name)) is type(getattr(usual, field.name))
        }
        return Preferences(**kept)
