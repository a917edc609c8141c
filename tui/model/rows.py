"""Each line of the list at some width; only those in sight are ever laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mltd.analyzers.resources.shortage import shown_bytes

from ..findings.names import GLYPHS, spoken
from ..findings.spans import Line, Span, cells, clean, clip, fit, middle, spread
from ..quantities import short_age, short_count
from .items import Item

if TYPE_CHECKING:
    from ..engine.model_protocol import CheckpointRow, MemoryRow, MisfitRow, ModuleRow, MoveRow

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LARGEST_INDENT = 24
MARKS = {"measured": "=", "derived": "≈", "estimated": "~", "": "?"}
"""How a number is known, beside the word for it."""


class Columns(NamedTuple):
    """Cells of what stands at the right of a module; 0: there is no room for it."""

    number: int
    share: int
    bar: int
    so_far: int
    kind: int

    @property
    def width(self) -> int:
        """All of them together."""
        return sum(self)


def columns_for(width: int) -> Columns:
    """As much as there is room for beside the names."""
    for least, columns in (
        (100, Columns(8, 7, 15, 8, 18)),
        (78, Columns(8, 7, 11, 8, 16)),
        (66, Columns(7, 7, 9, 7, 14)),
        (52, Columns(7, 7, 7, 7, 0)),
        (40, Columns(7, 7, 0, 0, 0)),
    ):
        if width >= least:
            return columns
    return Columns(0, 7, 0, 0, 0)


def line_of(item: Item, width: int, *, now: float, largest: float = 0.0) -> Line:
    """One line; `largest` is the furthest that any layer moved."""
    if item.is_heading:
        return _heading(item, width)
    if item.finding is not None:
        return _finding(item, width)
    if item.checkpoint is not None:
        return _checkpoint(item.checkpoint, width, now, is_shown=item.is_open)
    if item.module is not None:
        return _module(item.module, item.depth, width, is_open=item.is_open)
    if item.move is not None:
        return _move(item.move, width, largest)
    if item.misfit is not None:
        return _misfit(item.misfit, width)
    if item.memory is not None:
        return _memory(item.memory, width)
    return fit((Span("  " * item.depth), Span("▸ ", "key"), Span(item.text, "quiet")), width)


def share_bar(share: float, width: int) -> str:
    """A share as a bar; anything above nothing is seen."""
    share = min(max(share, 0.0), 1.0)
    eighths = max(round(share * width * 8), 1 if share else 0)
    full, part = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[part] if part else "")).ljust(width)


def share_text(share: float) -> str:
    """A share in at most six characters."""
    return f"{share:.1%}" if share == 0 or share >= 0.001 else "<0.1%"


def _heading(item: Item, width: int) -> Line:
    left: Line = (Span(item.text, "heading"),)
    match item.columns:
        case "modules":
            c = columns_for(width)
            said = f"{'params':>{c.number}}" if c.number else ""
            said += f"{'share':>{c.share}}{' ' * c.bar}"
            said += f"{'so far':>{c.so_far}}" if c.so_far else ""
            said += f" {'kind':<{c.kind - 1}}" if c.kind else ""
            return spread(left, (Span(said, "quiet"),), width)
        case "moves":
            said = f"{'update/norm':>11} {' ' * _move_bar(width)}{'norm':>9}"
            return spread(left, (Span(said, "quiet"),), width)
        case "checkpoints" if width >= 40 and item.text.endswith(")"):
            return spread(left, (Span("n older  N newer  d compares", "quiet"),), width)
        case "memory":
            return spread(left, (Span("= measured  ≈ derived  ~ estimated", "quiet"),), width)
    return fit(left, width)


def _finding(item: Item, width: int) -> Line:
    finding = item.finding
    assert finding is not None
    meaning = f"severity-{finding.severity.value}"
    name = "" if finding.is_alarm else "quiet"
    left: Line = (
        Span(f"{GLYPHS[finding.severity.value]} ", meaning),
        Span(spoken(finding.id), name),
    )
    if width >= 56:
        left = (*left, Span(f"  {clean(finding.title)}", "quiet"))
    return spread(left, (Span(f"{finding.confidence:.2f}", "confidence"),), width)


def _checkpoint(row: CheckpointRow, width: int, now: float, *, is_shown: bool) -> Line:
    mark = Span("● " if is_shown else "  ", "key")
    facts = []
    if row.step is not None:
        facts.append(f"step {row.step:,}")
    elif row.epoch is not None:
        facts.append(f"epoch {row.epoch:g}")
    if row.copy_command:
        facts.append("on its host")
    size = shown_bytes(row.bytes) if row.bytes is not None else "?"
    old = short_age(max(0.0, now - row.modified)) if row.modified is not None else "?"
    right = f"{'  '.join(facts)}  {size:>9}  {old:>4}"
    name = middle(clean(row.name), max(8, width - 3 - len(right)))
    return spread((mark, Span(name)), (Span(right, "quiet"),), width)


def _module(row: ModuleRow, depth: int, width: int, *, is_open: bool) -> Line:
    c = columns_for(width)
    indent = min(2 * depth, _LARGEST_INDENT, width // 4)
    fold = ("▾ " if is_open else "▸ ") if row.children else "  "
    room = max(4, width - c.width - indent - 3)
    label = middle(clean(row.label), room)
    left: Line = (
        Span(" " * indent + fold, "quiet"),
        Span(label, "severity-critical" if row.bad else ""),
    )
    numbers = f"{short_count(row.parameters) if row.parameters else '-':>{c.number}}"
    right: list[Span] = [Span(numbers)] if c.number else []
    right.append(Span(f"{share_text(row.share):>{c.share}}"))
    if c.bar:
        right.append(Span(f" {share_bar(row.share, c.bar - 1)}", "chart-1"))
    if c.so_far:
        right.append(Span(f"{share_text(row.cumulative):>{c.so_far}}", "quiet"))
    if c.kind:
        right += _kind(row, c.kind)
    elif row.bad:
        left = (*left, Span(" NaN", "severity-critical"))
    return spread(left, tuple(right), width)


def _kind(row: ModuleRow, width: int) -> Line:
    if row.bad:
        said = "NaN/Inf" if row.sort == "tensor" else f"{row.bad:,} with NaN"
        return _column(said, width, "severity-critical")
    said = row.kind
    if row.sort == "tensor" and row.kind not in ("tied", "buffer"):
        said = "x".join(map(str, row.shape)) or "scalar"
    if row.parameters and row.frozen == row.parameters:
        said = f"frozen, {said}"
    return _column(said, width, "quiet")


def _column(text: str, width: int, meaning: str) -> Line:
    text = clip(text, width - 1)
    return Span(" "), Span(text, meaning), Span(" " * (width - 1 - cells((Span(text),))))


def _move_bar(width: int) -> int:
    return max(4, min(24, width // 4))


def _move(row: MoveRow, width: int, largest: float) -> Line:
    name = Span(f"  {middle(clean(row.name), max(8, width - 24 - _move_bar(width)))}")
    share = (row.relative or 0.0) / largest if largest > 0 else 0.0
    bar = Span(f" {share_bar(share, _move_bar(width))}", "chart-2")
    if row.is_still:
        said = Span("not moved", "severity-warning")
        bar = Span(" " * (_move_bar(width) + 1))
    elif row.relative is None:
        said = Span("from zero", "quiet")
    elif not row.update:
        # Something differs, and no finite number does.
        said = Span("NaN or Inf", "severity-critical")
    else:
        said = Span(f"{row.relative:.2e}")
    pad = Span(" " * (11 - len(said.text)))
    return spread((name,), (pad, said, bar, Span(f"{row.norm:>9.3g}", "quiet")), width)


def _misfit(row: MisfitRow, width: int) -> Line:
    name = middle(clean(row.name), max(12, width // 2))
    said = clean(row.text)
    if row.closest:
        said = f"only in the {row.sort}, closest there {clean(row.closest)}"
    return fit((Span("▲ ", "severity-warning"), Span(name), Span(f"  {said}", "quiet")), width)


def _memory(row: MemoryRow, width: int) -> Line:
    mark = MARKS.get(row.origin, "?")
    left: Line = (Span(f"{mark} ", "key"), Span(clean(row.name)))
    right: Line = (Span(clean(row.size), "" if row.origin else "quiet"),)
    if width >= 60:
        right = (*right, Span(f"  {row.origin or 'not known':<9}", "quiet"))
    if cells(left) + cells(right) + 1 > width:
        right = fit(right, max(8, width - 12))
    return spread(left, right, width)
