"""The memory of a training: what fills the device, measured, derived or estimated."""

from __future__ import annotations

from .account import MemoryAccount, account_of, memory_account
from .amount import Amount, Origin, Part
from .remedies import Remedy
from .text import Row, lines, remedy_rows, rows
from .weights import WeightFacts, weight_facts

__all__ = [
    "Amount", "MemoryAccount", "Origin", "Part", "Remedy", "Row", "WeightFacts", "account_of",
    "lines", "memory_account", "remedy_rows", "rows", "weight_facts",
]  # fmt: skip
