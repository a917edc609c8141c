"""A masker that several threads use: what one has learned, all call by the same name."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from mltd.sessions.masking import Masker


class SharedMasker(Masker):
    """The same, one text at a time."""

    def __init__(
        self,
        redact: bool = False,
        known_paths: Sequence[str] = (),
        known_names: Sequence[str] = (),
    ) -> None:
        self._turn = threading.RLock()
        super().__init__(redact, known_paths, known_names)

    def clean(self, text: str) -> str:
        """The text as it may be shown to others."""
        with self._turn:
            return super().clean(text)

    def clean_value(self, value: Any) -> Any:
        """The same for all that JSON can hold."""
        with self._turn:
            return super().clean_value(value)
