"""How much memory the device has: as a message or a table says, else by the name of the device."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mltd.runs.run import Run
from mltd.runs.statements import StatementKind

from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView
from .amount import Amount, Origin, exactly
from .counts import statement_evidence
from .oom import Oom

_GIB = 1024.0**3
_IN_NAME = re.compile(r"(?<![\w.])(\d{1,3}) ?G(?:i?B)?\b")
_NOMINAL: tuple[tuple[str, float], ...] = (
    (r"GB200|B200", 192), (r"GH200", 96), (r"H200", 141), (r"H100 NVL", 94), (r"H100|H800", 80),
    (r"A800", 80), (r"A100", 40), (r"L40S?", 48), (r"L4", 24), (r"A40|A6000|6000 Ada", 48),
    (r"A30", 24), (r"A10G?", 24), (r"A16", 16), (r"A2", 16), (r"A5000", 24), (r"A4500", 20),
    (r"A4000", 16), (r"V100", 16), (r"P100", 16), (r"P40", 24), (r"P4", 8), (r"T4", 16),
    (r"K80", 12), (r"M60", 8), (r"M40", 12), (r"RTX 8000", 48), (r"RTX 6000", 24),
    (r"RTX 5000", 16), (r"5090", 32), (r"5080", 16), (r"4090", 24), (r"4080", 16),
    (r"4070 Ti SUPER", 16), (r"4070", 12), (r"3090", 24), (r"3080 Ti", 12), (r"3080", 10),
    (r"3070", 8), (r"3060 Ti", 8), (r"3060", 12), (r"2080 Ti", 11), (r"2080", 8), (r"2070", 8),
    (r"2060", 6), (r"1080 Ti", 11), (r"1080", 8), (r"1070", 8), (r"1060", 6),
    (r"TITAN RTX", 24), (r"TITAN (?:V|X|Xp)", 12), (r"MI300X", 192), (r"MI250X?", 64),
    (r"MI210", 64), (r"MI100", 32),
)  # fmt: skip
"""Gigabytes that a device of this name has at least; sizes in a name count more."""


@dataclass(frozen=True, slots=True)
class Device:
    """The accelerator: its name if it is known, and the size of its memory."""

    name: str
    size: Amount | None
    is_nominal: bool = False
    """The size goes by the name alone."""


def nominal_size(name: str) -> float | None:
    """Bytes of a device by its name: 80 GiB of an A100-SXM4-80GB; None for an unknown one."""
    if (found := _IN_NAME.search(name)) is not None and 1 <= int(found[1]) <= 512:
        return int(found[1]) * _GIB
    for pattern, size in _NOMINAL:
        if re.search(rf"(?<![A-Za-z0-9])(?:{pattern})(?![0-9])", name):
            return size * _GIB
    return None


def device_of(view: RunView, oom: Oom | None) -> Device | None:
    """The device of the run; None if nothing names it."""
    name, source = _name(view.run)
    if oom is not None and oom.total is not None:
        return Device(name, oom.total)
    if (size := _stated_size(view.run)) is not None:
        return Device(name, size)
    nominal = nominal_size(name) if name else None
    if nominal is None or source is None:
        return Device(name, None) if name else None
    how = f"nominal size of {name}; what can be used is a little less"
    return Device(name, exactly(nominal, Origin.ESTIMATED, how, (source,)), is_nominal=True)


def _name(run: Run) -> tuple[str, Evidence | None]:
    for stated in run.statements:
        if stated.kind is StatementKind.DEVICE and stated.subject:
            return stated.subject, statement_evidence(run, stated)
    for key in ("gpu", "gpu_name", "gpu_type", "device_name", "_wandb.gpu"):
        value = run.config.get(key)
        if isinstance(value, str) and nominal_size(value) is not None:
            return value[:80], Evidence(EvidenceKind.CONFIG, f"config:{key}", value[:80])
    return "", None


def _stated_size(run: Run) -> Amount | None:
    """The smallest that is stated: on unequal devices the smallest decides."""
    found = [s for s in run.statements if s.kind is StatementKind.DEVICE and s.value]
    if not found:
        return None
    least = min(found, key=lambda stated: stated.value or 0.0)
    source = statement_evidence(run, least)
    return exactly(least.value or 0.0, Origin.MEASURED, "as the log says", (source,))
