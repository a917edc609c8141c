"""Bounds that the kernel keeps for the worker process."""

from __future__ import annotations

import contextlib
import resource

_allowed = [0]


def set_caps(memory_bytes: int, cpu_seconds: float) -> None:
    """Bound what this process may allocate, calculate and write; for good.

    Data, not address space: a mapped file of a hundred gigabytes costs nothing.
    """
    _allowed[0] = memory_bytes
    _bound(resource.RLIMIT_DATA, memory_bytes)
    _bound(resource.RLIMIT_CPU, int(cpu_seconds) + 60)
    # Whatever happens in here, not one byte can be written to a file.
    _bound(resource.RLIMIT_FSIZE, 0)
    _bound(resource.RLIMIT_CORE, 0)
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def allow_mapping(size: int) -> None:
    """Leave room for a private mapping of a file: the kernel counts it as data."""
    if _allowed[0]:
        _allowed[0] += size
        _bound(resource.RLIMIT_DATA, _allowed[0])


def _bound(what: int, value: int) -> None:
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (value if hard < 0 else min(value, hard), hard))
