"""What a user asked of a probe, put right where it makes no sense."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

LEAST_BYTES = 16 << 10
"""Below this not even a header and a few records would fit."""


def check_names(options: Mapping[str, object]) -> None:
    """Say at once, not when a training begins, that `watch` has no such option."""
    known = {field.name for field in fields(Options)} - {"path"}
    for name in options:
        if name not in known:
            raise TypeError(f"the probe has no option {name!r}; it has {', '.join(sorted(known))}")


@dataclass(slots=True)
class Options:
    """The arguments of `watch`."""

    path: str | os.PathLike[str]
    every: int
    max_bytes: int
    scaler: Any = None
    all_ranks: bool = False
    layers: str | Iterable[str] | Callable[[str], bool] | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        """Bring numbers into their range."""
        self.path = os.path.abspath(os.fspath(self.path))
        self.every = max(1, int(self.every))
        self.max_bytes = max(LEAST_BYTES, int(self.max_bytes))

    def wanted(self) -> Callable[[str], bool]:
        """A test for names of layers."""
        chosen = self.layers
        if chosen is None:
            return lambda name: True
        if callable(chosen):
            return chosen
        patterns = [chosen] if isinstance(chosen, str) else [str(one) for one in chosen]
        # A pattern also takes in what is inside of the layers that it names.
        patterns += [f"{pattern}.*" for pattern in patterns]
        return lambda name: any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
