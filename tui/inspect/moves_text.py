"""What moved between two checkpoints, and what does not fit, as text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from mltd.analyzers.weights import LayerMove
from mltd.runs.checkpoints import Comparison, Position

from ..wording import count
from .layout import Layout

MOST_LAYERS = 24
MOST_NAMES = 12


def moves_lines(
    comparison: Comparison, moves: Sequence[LayerMove], layout: Layout
) -> Iterator[str]:
    """From the first to the second, layer by layer."""
    yield "  What moved"
    yield from layout.wrap(
        f"from {os.path.relpath(comparison.path)} ({_where(comparison.position)}) to "
        f"{os.path.relpath(comparison.other_path)} ({_where(comparison.other_position)})",
        "    ",
        "      ",
    )
    if _is_backwards(comparison):
        yield from layout.wrap("the first is the later one: name them the other way round", "    ")
    shown = [move for move in moves if not move.is_still]
    largest = max((move.relative or 0.0 for move in shown), default=0.0)
    if shown:
        yield from _table(shown, largest, layout)
    still = [move for move in moves if move.is_still]
    if still and not shown:
        yield "    nothing moved: all that both have is equal"
    elif still:
        said = ", ".join(move.name for move in still[:MOST_NAMES])
        more = f" and {len(still) - MOST_NAMES:,} more" if len(still) > MOST_NAMES else ""
        yield from layout.wrap(f"did not move: {said}{more}", "    ", "      ")
    yield from _misfits(comparison, layout)
    for note in comparison.notes[:MOST_NAMES]:
        yield from layout.wrap(f"note: {note}", "    ", "      ")


def _table(shown: list[LayerMove], largest: float, layout: Layout) -> Iterator[str]:
    bars = 24 if layout.columns >= 110 else 12 if layout.columns >= 72 else 6
    name = min(max(len(move.name) for move in shown) + 1, layout.columns - 4 - 30 - bars)
    name = max(name, 12)
    yield f"    {'':<{name}}{'update/norm':>12}{'norm':>10}"
    ranked = sorted(shown, key=lambda move: -(move.relative or 0.0))
    kept = {id(move) for move in ranked[:MOST_LAYERS]}
    for move in shown:
        if id(move) not in kept:
            continue
        relative = move.relative
        said = "from zero" if relative is None else f"{relative:.2e}"
        share = (relative or 0.0) / largest if largest else 0.0
        line = f"    {layout.middle(move.name, name)}{said:>12}{move.norm:>10.4g} "
        yield (line + layout.bar(share, bars)).rstrip()
    if len(shown) > MOST_LAYERS:
        yield f"    and {len(shown) - MOST_LAYERS:,} layers that moved less (all: --json)"


def _misfits(comparison: Comparison, layout: Layout) -> Iterator[str]:
    closest = {(near.name, near.is_in_first): near for near in comparison.closest}
    for mismatch in comparison.mismatches[:MOST_NAMES]:
        text = f"{mismatch.name}: {list(mismatch.shape)} and {list(mismatch.other_shape)}"
        yield from layout.wrap(f"two shapes: {text}", "    ", "      ")
    for names, label, is_first in (
        (comparison.only_first, "only in the first", True),
        (comparison.only_second, "only in the second", False),
    ):
        for name in names[:MOST_NAMES]:
            near = closest.get((name, is_first))
            hint = f"; closest there: {near.closest}" if near is not None else ""
            yield from layout.wrap(f"{label}: {name}{hint}", "    ", "      ")
        if len(names) > MOST_NAMES:
            yield f"    {label}: {count(len(names) - MOST_NAMES, 'more name')}"


def _where(position: Position) -> str:
    if position.step is not None:
        return f"step {position.step:,}"
    return f"epoch {position.epoch:g}" if position.epoch is not None else "step not stated"


def _is_backwards(comparison: Comparison) -> bool:
    before, after = comparison.position.step, comparison.other_position.step
    return before is not None and after is not None and before > after
