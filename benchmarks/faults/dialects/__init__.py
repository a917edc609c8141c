"""The styles in which runs are written down."""

from __future__ import annotations

from collections.abc import Callable

from ..voice import Log
from .frameworks import write_hf, write_lightning, write_megatron
from .prints import write_brackets, write_epochs, write_logging, write_pipes
from .slurm import write_slurm
from .tables import write_csv, write_jsonl

DIALECTS: dict[str, Callable[[Log], dict[str, str]]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "hf": write_hf,
    "lightning": write_lightning,
    "slurm": write_slurm,
    "pipes": write_pipes,
    "logging": write_logging,
    "epochs": write_epochs,
    "megatron": write_megatron,
    "brackets": write_brackets,
}
TEST_ONLY = frozenset({"megatron", "brackets"})
"""Dialects that nothing is ever tuned on."""
EPOCH_DIALECTS = frozenset({"epochs"})
EXACT_DIALECTS = ("csv", "jsonl", "pipes", "logging", "slurm")
"""Those that keep every signal with enough digits and number their steps."""
