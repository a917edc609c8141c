"""The modules of a model as rows, level by level, as somebody unfolds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from mltd.analyzers.weights import Kind, ModuleNode
from mltd.analyzers.weights.folding import alike_groups, chained
from mltd.analyzers.weights.tree import DEEPEST
from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from ..model_protocol import ModuleRow, TensorValues

PIECE = 5_000
"""Rows that are sent at once."""
AT_FIRST = 5_000
"""Rows that are sent before anybody asks for them."""
_MOST_KINDS = 6
_Key = TypeVar("_Key", bound=str)


class _Place(NamedTuple):
    """What stands behind a row, and how many parameters come before it."""

    nodes: tuple[ModuleNode, ...]
    """One module, or alike ones."""
    before: int


class Branches:
    """Makes the rows below a row; nothing is made before it is asked for."""

    def __init__(
        self, summary: CheckpointSummary, tree: ModuleNode, kinds: Mapping[str, Kind]
    ) -> None:
        self._whole = tree.total
        self._kinds = kinds
        self._own: dict[str, list[TensorFacts]] = {}
        for tensor in summary.model:
            owner = ".".join(tensor.name.split(".", DEEPEST)[:-1])
            self._own.setdefault(owner, []).append(tensor)
        self._places = {"": _Place((tree,), 0)}
        self._made: tuple[str, list[ModuleRow]] = ("?", [])
        self.top = len(self._below(""))

    def rows(self, key: str, start: int = 0) -> tuple[ModuleRow, ...]:
        """Some rows below a row; none if there is no such row."""
        return tuple(self._below(key)[start : start + PIECE])

    def first(self) -> dict[str, tuple[ModuleRow, ...]]:
        """The first levels of the tree, as far as they are small."""
        found: dict[str, tuple[ModuleRow, ...]] = {}
        waiting, count = [""], 0
        while waiting:
            level, waiting = waiting, []
            for key in level:
                rows = self.rows(key)
                if found and count + len(rows) > AT_FIRST:
                    return found
                found[key] = rows
                count += len(rows)
                waiting += [row.key for row in rows if row.children]
        return found

    def _below(self, key: str) -> list[ModuleRow]:
        if self._made[0] != key:
            place = self._places.get(key)
            self._made = (key, list(self._make(place)) if place is not None else [])
        return self._made[1]

    def _make(self, place: _Place) -> Iterator[ModuleRow]:
        before = place.before
        if len(place.nodes) > 1:
            for node in place.nodes:
                yield self._module(node.name, (node,), before)
                before += node.total
            return
        node = place.nodes[0]
        for tensor in self._own.get(node.path, ()):
            row = self._tensor(tensor, _leaf(tensor), before)
            before += row.parameters
            yield row
        for group in alike_groups(node):
            label, nodes = chained(group)
            yield self._module(label, tuple(nodes), before)
            before += sum(one.total for one in group)

    def _module(self, label: str, nodes: tuple[ModuleNode, ...], before: int) -> ModuleRow:
        first = nodes[0]
        own = self._own.get(first.path, [])
        if len(nodes) == 1 and len(own) == 1 and not first.children:
            # A module of a single tensor has nothing to unfold.
            return self._tensor(own[0], f"{label}.{_leaf(own[0])}", before)
        key = f"{len(nodes)}:{first.path}"
        self._places[key] = _Place(nodes, before)
        total = sum(node.total for node in nodes)
        size = sum(node.bytes for node in nodes)
        is_group = len(nodes) > 1
        # Alike ones have the same kinds and types, so that the first one's stand for all.
        kinds = [(kind.value, n * len(nodes)) for kind, n in _largest(first.kinds)]
        return ModuleRow(
            key=key,
            label=label,
            name=f"{first.path} to {nodes[-1].path}" if is_group else first.path,
            sort="group" if is_group else "module",
            parameters=total,
            share=self._share(total),
            cumulative=self._share(before + total),
            bytes=size,
            tensors=sum(node.tensors for node in nodes),
            children=len(nodes) if is_group else len(own) + len(alike_groups(first)),
            kind=kinds[0][0] if kinds else "buffers" if size else "tied",
            bad=sum(node.bad for node in nodes),
            frozen=sum(node.frozen for node in nodes),
            dtypes=tuple((t, n * len(nodes)) for t, n in _largest(first.dtypes)),
            kinds=tuple(kinds),
        )

    def _tensor(self, tensor: TensorFacts, label: str, before: int) -> ModuleRow:
        is_counted = tensor.role == "parameter" and not tensor.tied_to
        count = tensor.elements if is_counted else 0
        kind = self._kinds[tensor.name].value
        stats = tensor.stats
        return ModuleRow(
            key=f"t:{tensor.name}",
            label=label,
            name=tensor.name,
            sort="tensor",
            parameters=count,
            share=self._share(count),
            cumulative=self._share(before + count),
            bytes=tensor.bytes,
            tensors=1,
            children=0,
            kind="tied" if tensor.tied_to else kind if is_counted else tensor.role,
            bad=int(stats is not None and stats.is_bad),
            frozen=count if tensor.is_trainable is False else 0,
            dtypes=((tensor.dtype, tensor.elements),),
            shape=tensor.shape,
            notes=tuple(_notes(tensor, kind)),
            values=_values(tensor),
        )

    def _share(self, parameters: int) -> float:
        return parameters / self._whole if self._whole else 0.0


def _largest(counts: Mapping[_Key, int]) -> list[tuple[_Key, int]]:
    return sorted(counts.items(), key=lambda pair: -pair[1])[:_MOST_KINDS]


def _leaf(tensor: TensorFacts) -> str:
    return tensor.name.split(".", DEEPEST)[-1]


def _notes(tensor: TensorFacts, kind: str) -> Iterator[tuple[str, str]]:
    yield "for", f"{kind} ({tensor.role})"
    if tensor.tied_to:
        yield "tied to", f"{tensor.tied_to}: its numbers are counted there"
    if tensor.is_trainable is not None:
        yield "trained", "yes" if tensor.is_trainable else "no: the optimizer does not hold it"
    if tensor.section:
        yield "saved under", tensor.section
    if tensor.file:
        yield "file", tensor.file


def _values(tensor: TensorFacts) -> TensorValues | None:
    stats = tensor.stats
    if stats is None:
        return None
    return TensorValues(
        stats.least, stats.most, stats.mean, stats.std, stats.norm, tensor.rms, stats.zeros,
        stats.nans, stats.infs, stats.is_constant, stats.dead_rows, stats.first_dead,
    )  # fmt: skip
