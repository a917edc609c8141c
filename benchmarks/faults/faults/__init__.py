"""All fault classes that happen inside a training; crashes of whole scripts are elsewhere."""

from __future__ import annotations

from . import architecture, data, degenerate, numerics, optimisation, resources, resume
from .fault import Fault, Injection

FAULTS: dict[str, Fault] = {
    one.id: one
    for module in (optimisation, numerics, architecture, data, resume, degenerate, resources)
    for one in module.FAULTS
}

__all__ = ["FAULTS", "Fault", "Injection"]
