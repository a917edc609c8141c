"""What a program says once about its model and its machine: parameters, devices, peak memory."""

from __future__ import annotations

from .reading import MOST_PER_SHAPE, may_state, statements_in
from .statement import Statement, StatementKind

__all__ = ["MOST_PER_SHAPE", "Statement", "StatementKind", "may_state", "statements_in"]
