"""The whole page that `inspect` prints: the answer, then what it rests on."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mltd.analyzers.memory import MemoryAccount
from mltd.analyzers.weights import Inspection
from mltd.runs.remote.names import shown

from .answer import WeightsAnswer
from .facts_text import facts_lines
from .layout import Layout
from .memory_text import memory_lines
from .modules_text import balance_lines, tensor_lines, tree_lines
from .moves_text import moves_lines
from .target import Target


def page(
    found: Inspection,
    account: MemoryAccount | None,
    target: Target,
    layout: Layout,
    *,
    depth: int,
    has_tensors: bool,
) -> Iterator[str]:
    """Lines about a checkpoint, or about the second of two."""
    # Whole, however long: a name that is cut or torn cannot be copied.
    yield layout.safe(_named(found.summary.path))
    if target.said:
        yield from layout.wrap(f"({target.said})", "  ")
    for line in _lines(found, account, layout, depth, has_tensors):
        yield layout.cut(line)


def _lines(
    found: Inspection,
    account: MemoryAccount | None,
    layout: Layout,
    depth: int,
    has_tensors: bool,
) -> Iterator[str]:
    summary = found.summary
    yield from WeightsAnswer(found, layout).lines()
    yield ""
    yield from facts_lines(summary, layout)
    yield from tree_lines(found.tree, layout, depth)
    yield from balance_lines(found.balance, layout)
    if found.remarks:
        yield "  Also"
        for remark in found.remarks:
            yield from layout.wrap(remark, "    ", "      ")
    if found.comparison is not None:
        yield from moves_lines(found.comparison, found.moves, layout)
    if account is not None:
        yield from memory_lines(account, layout)
    if has_tensors:
        yield from tensor_lines(summary, layout)


def _named(path: str) -> str:
    """As one would write it here; the copy of a remote one as it is called over there."""
    there = shown(path)
    return min(os.path.relpath(path), os.path.abspath(path), key=len) if there == path else there
