"""Scripts that really crash; what they leave is what the interpreter printed."""

from __future__ import annotations

from dataclasses import replace

from .crash import Crash
from .mistakes import MISTAKES
from .running import run_script

__all__ = ["Crash", "crash_runs", "run_script"]


def crash_runs(seed_base: int) -> list[Crash]:
    """All of them, numbered."""
    return [replace(one, number=number, seed_base=seed_base) for number, one in enumerate(MISTAKES)]
