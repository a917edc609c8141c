"""The modules of a model as a tree, with their own and all their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from .kinds import Kind, kinds_of

DEEPEST = 40
"""Levels of a tree; what is deeper stays in one name."""

MOST_LEAVES = 4


@dataclass(slots=True)
class ModuleNode:
    """A module: what it holds itself, and together with all below it."""

    name: str
    path: str
    own: int = 0
    """Parameters directly in it; tied ones are counted where they were saved first."""
    total: int = 0
    bytes: int = 0
    """Of parameters and buffers, with all below."""
    tensors: int = 0
    bad: int = 0
    """Tensors with NaN or infinity, with all below."""
    frozen: int = 0
    """Parameters that no optimizer changes, where that is known."""
    share: float = 0.0
    """Of the whole model."""
    dtypes: dict[str, int] = field(default_factory=dict)
    """Parameters by element type."""
    kinds: dict[Kind, int] = field(default_factory=dict)
    """Parameters by what they are for."""
    children: dict[str, ModuleNode] = field(default_factory=dict)
    leaves: list[str] = field(default_factory=list)
    """Names of some parameters directly in it."""
    signature: int = 0
    """Equal for modules that hold the same names, shapes and types."""

    @property
    def kind(self) -> Kind | None:
        """What most of its parameters are for."""
        return max(self.kinds, key=self.kinds.__getitem__, default=None)


def module_tree(summary: CheckpointSummary, kinds: Mapping[str, Kind] | None = None) -> ModuleNode:
    """The tree of all parameters and buffers of a checkpoint."""
    tensors = summary.model
    kinds = kinds_of(tensors) if kinds is None else kinds
    root = ModuleNode("", "")
    shapes: dict[int, list[tuple[object, ...]]] = {}
    for tensor in tensors:
        node = _node_at(root, tensor.name)
        _add(node, tensor, kinds)
        leaf = tensor.name.rpartition(".")[2]
        shapes.setdefault(id(node), []).append((leaf, tensor.shape, tensor.dtype, tensor.role))
    for node in _from_below(root):
        _sum_up(node, shapes.get(id(node), []))
    for node in _from_below(root):
        node.share = node.total / root.total if root.total else 0.0
    return root


def _node_at(root: ModuleNode, name: str) -> ModuleNode:
    node = root
    for part in name.split(".", DEEPEST)[:-1]:
        child = node.children.get(part)
        if child is None:
            path = f"{node.path}.{part}" if node.path else part
            child = node.children[part] = ModuleNode(part, path)
        node = child
    return node


def _add(node: ModuleNode, tensor: TensorFacts, kinds: Mapping[str, Kind]) -> None:
    node.tensors += 1
    node.bad += tensor.stats is not None and tensor.stats.is_bad
    if tensor.tied_to:
        return
    node.bytes += tensor.bytes
    if tensor.role == "parameter":
        node.own += tensor.elements
        if len(node.leaves) < MOST_LEAVES:
            node.leaves.append(tensor.name.rpartition(".")[2])
        kind = kinds[tensor.name]
        node.dtypes[tensor.dtype] = node.dtypes.get(tensor.dtype, 0) + tensor.elements
        node.kinds[kind] = node.kinds.get(kind, 0) + tensor.elements
        node.frozen += tensor.elements if tensor.is_trainable is False else 0


def _from_below(root: ModuleNode) -> list[ModuleNode]:
    """All nodes, children before their parents; no recursion, names may be deep."""
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(node.children.values())
    return order[::-1]


def _sum_up(node: ModuleNode, shapes: list[tuple[object, ...]]) -> None:
    node.total = node.own
    for child in node.children.values():
        node.total += child.total
        node.bytes += child.bytes
        node.tensors += child.tensors
        node.bad += child.bad
        node.frozen += child.frozen
        for dtype, count in child.dtypes.items():
            node.dtypes[dtype] = node.dtypes.get(dtype, 0) + count
        for kind, count in child.kinds.items():
            node.kinds[kind] = node.kinds.get(kind, 0) + count
    below = tuple((name, child.signature) for name, child in node.children.items())
    node.signature = hash((tuple(shapes), below, node.bad > 0, node.frozen > 0))
