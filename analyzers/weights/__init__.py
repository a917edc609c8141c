"""Weights judged: modules, balance, health and movement, from what the checkpoint reader says."""

from __future__ import annotations

from .balance import Balance, KindShare, balance_of
from .folding import TreeRow, tree_rows
from .inspection import Inspection, inspect_weights
from .kinds import Kind, kinds_of
from .movement import LayerMove, layer_moves
from .tree import ModuleNode, module_tree

__all__ = [
    "Balance", "Inspection", "Kind", "KindShare", "LayerMove", "ModuleNode", "TreeRow",
    "balance_of", "inspect_weights", "kinds_of", "layer_moves", "module_tree", "tree_rows",
]  # fmt: skip
