"""The last row of the pane: what the curves say at the cursor, or which charts there are."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.curve_protocol import Mark
from ..escaping import printable
from .face import glyph_of
from .rows import Bit, Row, cut_name, fitted, width_of

Value = tuple[str, int, str]
"""Name, colour and reading of one curve."""


def readout_row(
    place: str, full: Sequence[Value], brief: Sequence[Value], marks: Sequence[Mark], width: int
) -> Row:
    """`step 24,590  loss 2.314  val 2.441` and the marks there, brief if room is short."""
    noted = _noted(marks)
    choices = [
        [*_values(place, full), *noted],
        [*_values(place, brief), *noted],
        [*_values(place, [(cut_name(n, 8), c, v) for n, c, v in brief]), *noted],
    ]
    return fitted(next((c for c in choices if width_of(c) <= width), choices[-1]), width)


def _values(place: str, values: Sequence[Value]) -> list[Bit]:
    bits: list[Bit] = [(place, "!heading")]
    for name, colour, value in values:
        bits += [(f"  {name}", f"chart-{colour}"), (f" {value}", "")]
    return bits


def _noted(marks: Sequence[Mark]) -> list[Bit]:
    bits: list[Bit] = []
    for mark in marks:
        glyph, meaning = glyph_of(mark)
        bits += [(f"  {glyph} ", meaning), (printable(mark.label), meaning)]
    return bits


def strip_row(
    titles: Sequence[str], selected: int, are_all_shown: bool, settings: Sequence[str], width: int
) -> Row:
    """`loss · ▸gradients · lr · 2/6` if not all charts are in sight, and the settings."""
    told = "  ".join(settings)
    if are_all_shown:
        return fitted([(told, "quiet")], width)
    ends: list[Bit] = [(f" · {selected + 1}/{len(titles)}", "quiet")]
    room = width - width_of(ends)
    first, last = selected, selected + 1
    while True:
        # Neighbours join in turns for as long as there is room.
        wider = [(first, min(last + 1, len(titles))), (max(first - 1, 0), last)]
        better = [
            w
            for w in wider
            if w != (first, last) and width_of(_names(titles, selected, *w)) <= room
        ]
        if not better:
            break
        first, last = better[0]
    row = [*_names(titles, selected, first, last), *ends]
    spare = width - width_of(row) - len(told) - 2
    if spare >= 0:
        row += [(" " * (spare + 2), ""), (told, "quiet")]
    return fitted(row, width)


def _names(titles: Sequence[str], selected: int, first: int, last: int) -> list[Bit]:
    bits: list[Bit] = []
    for place in range(first, last):
        bits.append((" · " if place > first else "", "quiet"))
        is_selected = place == selected
        name = f"▸{titles[place]}" if is_selected else titles[place]
        bits.append((name, "!heading" if is_selected else "quiet"))
    if first > 0:
        bits.insert(0, ("… ", "quiet"))
    if last < len(titles):
        bits.append((" …", "quiet"))
    return [bit for bit in bits if bit[0]]
