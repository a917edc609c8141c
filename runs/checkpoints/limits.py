"""How much a look at a checkpoint may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reader = Literal["auto", "torch", "own"]
"""`auto`: files of torch.save by our own reader, and by torch where that alone has the values."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time and memory for one look; the file itself is never copied into memory."""

    seconds: float = 600.0
    memory_bytes: int = 2 << 30
    """Beside what is mapped from the file."""
    most_tensors: int = 200_000
    reader: Reader = "auto"
