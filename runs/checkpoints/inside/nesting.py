"""Tables inside tables, made again from the keys that led to each value."""

from __future__ import annotations

from collections.abc import Iterable

from .leaf import Node

GROUPS = "param_groups"


def nested(values: Iterable[tuple[tuple[str, ...], Node]]) -> dict[str, Node]:
    """What was saved before it was flattened; groups of an optimizer are a list again."""
    root: dict[str, Node] = {}
    for path, value in values:
        table = root
        for key in path[:-1]:
            inner = table.setdefault(key, {})
            if not isinstance(inner, dict):
                break
            table = inner
        else:
            table[path[-1]] = value
    _list_groups(root)
    return root


def _list_groups(root: dict[str, Node]) -> None:
    waiting = [root]
    while waiting:
        table = waiting.pop()
        groups = table.get(GROUPS)
        if isinstance(groups, dict):
            table[GROUPS] = list(groups.values())
            _name_members(table)
        waiting += [inner for inner in table.values() if isinstance(inner, dict)]


def _name_members(optimizer: dict[str, Node]) -> None:
    """Which parameters are in a group was saved as bytes; of a single one it is clear."""
    groups, state = optimizer[GROUPS], optimizer.get("state")
    if isinstance(groups, list) and len(groups) == 1 and isinstance(state, dict):
        group = groups[0]
        if isinstance(group, dict) and not isinstance(group.get("params"), list):
            group["params"] = list(state)
