"""The modules as a tree with bars, the balance, and on request every tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mltd.analyzers.resources.shortage import shown_bytes
from mltd.analyzers.weights import Balance, ModuleNode, TreeRow, tree_rows
from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from ..quantities import short_count, short_value
from .layout import Layout

DEPTH = 3
MOST_ROWS = 60
WIDE_FROM = 110
"""Columns of a terminal that has room for whole numbers."""


def tree_lines(root: ModuleNode, layout: Layout, depth: int) -> Iterator[str]:
    """The tree, cut where it would fill several screens."""
    rows = tree_rows(root, depth)
    if not rows:
        return
    form = _Form.fitting(layout, max(2 * row.depth + len(row.label) for row in rows))
    yield "  Modules"
    yield form.head()
    for row in rows[:MOST_ROWS]:
        yield form.line(row)
    if len(rows) > MOST_ROWS:
        yield f"    and {len(rows) - MOST_ROWS:,} more rows (fewer: --depth 1; all: --json)"


@dataclass(frozen=True, slots=True)
class _Form:
    """The columns of the tree's table in a terminal of some width."""

    layout: Layout
    is_wide: bool
    name: int
    bars: int
    count: int
    size: int

    @classmethod
    def fitting(cls, layout: Layout, longest: int) -> _Form:
        is_wide = layout.columns >= WIDE_FROM
        bars, count, size = (10, 15, 11) if is_wide else (10, 8, 0)
        room = layout.columns - (4 + count + 8 + 1 + bars + 1 + 7 + size + 2 + 20)
        name = min(max(12, longest + 1), max(12, room))
        # In a narrow terminal the words at the end are worth more than long bars.
        bars = max(3, bars + min(14, room - name))
        return cls(layout, is_wide, name, bars, count, size)

    def head(self) -> str:
        count = "parameters" if self.is_wide else "params"
        size = f"{'bytes':>{self.size}}" if self.size else ""
        line = f"    {'':<{self.name}}{count:>{self.count}}{'share':>8} {'':<{self.bars}} "
        return f"{line}{'so far':>7}{size}  kind"

    def line(self, row: TreeRow) -> str:
        label = self.layout.middle(f"{'  ' * row.depth}{row.label}", self.name)
        so_far = f"{row.cumulative:.1%}" if row.cumulative is not None else ""
        size = shown_bytes(row.bytes) if row.bytes and self.size else ""
        count = f"{row.parameters:,}" if self.is_wide else short_count(row.parameters)
        line = f"    {label}{count:>{self.count}}{row.share:>8.1%} "
        line += f"{self.layout.bar(row.share, self.bars)} {so_far:>7}{size:>{self.size}}  "
        return (line + _kind(row)).rstrip()


def _kind(row: TreeRow) -> str:
    node = row.node
    kind = "" if row.is_rest or node.kind is None else node.kind.value
    if not row.parameters:
        kind = "tied" if not row.bytes else "buffers"
    if row.is_rest:
        return kind
    if node.bad:
        kind += f", {node.bad:,} bad"
    return f"{kind}, frozen" if node.total and node.frozen == node.total else kind


def balance_lines(balance: Balance, layout: Layout) -> Iterator[str]:
    """The shares of kinds, the largest first."""
    if not balance.shares:
        return
    yield "  Balance"
    bars = 40 if layout.columns >= WIDE_FROM else 24
    for share in sorted(balance.shares, key=lambda one: -one.parameters):
        line = (
            f"    {share.kind.value:<13}{share.share:>6.1%} {layout.bar(share.share, bars)} "
            f"{short_count(share.parameters):>6}  "
        )
        room = layout.columns - len(line)
        yield line + (layout.middle(share.largest, room).rstrip() if room > 12 else "")


def tensor_lines(summary: CheckpointSummary, layout: Layout) -> Iterator[str]:
    """Every tensor of the model with what is known about its values."""
    tensors = [tensor for tensor in summary.tensors if not tensor.is_optimizer]
    if not tensors:
        return
    is_wide = layout.columns >= WIDE_FROM
    shape, dtype, cell = (20, 10, 11) if is_wide else (14, 0, 9)
    values = 4 * cell if summary.has_values else 0
    longest = max(len(tensor.name) for tensor in tensors)
    name = max(12, min(longest, layout.columns - 4 - 1 - shape - dtype - values))
    yield "  Tensors"
    head = f"    {'':<{name}} {'shape':<{shape}}{'type' if dtype else '':<{dtype}}"
    words = ("rms", "least", "most", "zeros") if summary.has_values else ()
    yield (head + "".join(f"{word:>{cell}}" for word in words)).rstrip()
    for tensor in tensors:
        sizes = "x".join(str(size) for size in tensor.shape) or "scalar"
        row = f"    {layout.middle(tensor.name, name)} {layout.left(sizes, shape)}"
        row += layout.left(tensor.dtype, dtype)
        row += _values(tensor, cell) if summary.has_values else ""
        yield layout.safe(row).rstrip()


def _values(tensor: TensorFacts, cell: int) -> str:
    stats = tensor.stats
    if tensor.tied_to:
        return f"  = {tensor.tied_to}"
    if stats is None:
        return f"{'not read':>{cell}}"
    if stats.is_bad:
        return f"  {stats.nans:,} NaN, {stats.infs:,} infinite"
    zeros = f"{stats.zeros / tensor.elements:.0%}" if tensor.elements and stats.zeros else "0"
    cells = (_short(tensor.rms), _short(stats.least), _short(stats.most), zeros)
    return "".join(f"{text:>{cell}}" for text in cells)


def _short(value: float | None) -> str:
    return "-" if value is None else short_value(value)
