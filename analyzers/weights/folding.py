"""The tree as rows: alike numbered modules are one row, chains of single children one name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .tree import ModuleNode

MOST_CHILDREN = 16
"""Rows that one module may have below it; the smallest of more are summed up."""
_LONGEST_CHAIN = 60
_NUMBERED = re.compile(r"(.*?)(\d{1,9})")

Group = list[ModuleNode]
"""Modules that are alike and numbered in a row."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One line of the tree; its numbers are those of all modules that it stands for."""

    depth: int
    label: str
    count: int
    """How many alike modules it stands for."""
    parameters: int
    share: float
    cumulative: float | None
    """Share of the model up to here, in its own order; None inside alike modules."""
    bytes: int
    node: ModuleNode
    is_rest: bool = False
    """It stands for smaller modules that are not shown, or for what a module holds itself."""


def tree_rows(root: ModuleNode, depth: int) -> list[TreeRow]:
    """Rows down to a depth, from one for the first modules."""
    return list(_Walk(root.total, depth).rows(root, 0, 1))


@dataclass(slots=True)
class _Walk:
    whole: int
    depth: int
    before: int = 0
    """Parameters of all rows so far, in the model's order."""

    def rows(self, node: ModuleNode, level: int, factor: int) -> Iterator[TreeRow]:
        groups = alike_groups(node)
        if node.own and (groups or not level):
            yield self._own(node, level, factor)
        hidden = _smallest(groups)
        for group in groups:
            if id(group) in hidden:
                self.before += _total(group) if factor == 1 else 0
                continue
            yield from self._group(group, level, factor)
        rest = [group for group in groups if id(group) in hidden]
        if rest:
            total = sum(_total(group) for group in rest) * factor
            size = sum(one.bytes for group in rest for one in group) * factor
            count = sum(len(group) for group in rest)
            label = f"and {count:,} smaller modules"
            share = self._share(total)
            yield TreeRow(level, label, count, total, share, None, size, rest[0][0], is_rest=True)

    def _own(self, node: ModuleNode, level: int, factor: int) -> TreeRow:
        total = node.own * factor
        self.before += total if factor == 1 else 0
        end = self._share(self.before) if factor == 1 else None
        label = f"= {', '.join(node.leaves)}"
        return TreeRow(level, label, 1, total, self._share(total), end, 0, node, is_rest=True)

    def _group(self, group: Group, level: int, factor: int) -> Iterator[TreeRow]:
        size = sum(one.bytes for one in group) * factor
        total = _total(group) * factor
        label, group = chained(group)
        count = len(group)
        end = self.before + total
        cumulative = self._share(end) if factor == 1 else None
        share = self._share(total)
        yield TreeRow(level, label, count, total, share, cumulative, size, group[0])
        if level + 1 < self.depth:
            yield from self.rows(group[0], level + 1, factor * count)
        if factor == 1:
            self.before = end

    def _share(self, parameters: int) -> float:
        return parameters / self.whole if self.whole else 0.0


def _total(group: Group) -> int:
    return sum(one.total for one in group)


def alike_groups(node: ModuleNode) -> list[Group]:
    """Children, those that are numbered in a row and alike together."""
    groups: list[Group] = []
    for child in node.children.values():
        if groups and _follows(groups[-1][-1], child):
            groups[-1].append(child)
        else:
            groups.append([child])
    return groups


def _follows(before: ModuleNode, child: ModuleNode) -> bool:
    if before.signature != child.signature:
        return False
    one, two = _NUMBERED.fullmatch(before.name), _NUMBERED.fullmatch(child.name)
    if one is None or two is None or one[1] != two[1]:
        return False
    return int(two[2]) == int(one[2]) + 1


def _smallest(groups: list[Group]) -> set[int]:
    """Which groups of too many are not shown, by identity."""
    if len(groups) <= MOST_CHILDREN:
        return set()
    ranked = sorted(groups, key=_total, reverse=True)
    return {id(group) for group in ranked[MOST_CHILDREN - 1 :]}


def chained(group: Group) -> tuple[str, Group]:
    """A module that holds nothing but one other, or alike ones, is shown with it."""
    label = _label(group)
    while len(group) == 1 and not group[0].own and len(label) < _LONGEST_CHAIN:
        inner = alike_groups(group[0])
        if len(inner) != 1 or sum(one.tensors for one in inner[0]) != group[0].tensors:
            break
        group = inner[0]
        label = f"{label}.{_label(group)}"
    return label, group


def _label(group: Group) -> str:
    first = group[0].name
    if len(group) == 1:
        return first
    last = _NUMBERED.fullmatch(group[-1].name)
    return f"{first}-{last[2] if last else ''} ({len(group)}x)"
