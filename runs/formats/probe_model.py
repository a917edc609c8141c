"""What the header of a probe's file states about the model: its layers, and which of them learn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ..statements import Statement, StatementKind
from ..statements.statement import FROZEN, LEFT_OUT, TRAINED, UNREACHED
from .records import as_number

MOST_LAYERS = 2000
"""Of more, none is stated: half of a model would be a wrong picture of it."""


def statements_of(
    header: Mapping[str, object], layers: Sequence[str], line: int
) -> Iterator[Statement]:
    """The size of the model, then each layer in forward order with its size and its state."""
    sizes, learning = _numbers(header.get("parameters")), _numbers(header.get("trainable"))
    for subject, numbers in (("total", sizes), ("trainable", learning)):
        count = sum(numbers)
        if count > 0:
            text = f"{count:,.0f} parameters" + (" are trainable" if subject != "total" else "")
            yield Statement(StatementKind.PARAMETERS, subject, count, text, line)
    tables = _named(header.get("embeddings"))
    inside = sum(size for layer, size in zip(layers, sizes, strict=False) if layer in tables)
    if inside > 0:
        largest = max(tables.intersection(layers), key=lambda layer: sizes[layers.index(layer)])
        yield Statement(StatementKind.PARAMETERS, "embedding", inside, largest, line)
    if len(layers) > MOST_LAYERS:
        return
    left_out, unreached = (_named(header.get(key)) for key in ("unoptimized", "unreached"))
    for number, layer in enumerate(layers):
        can_learn = number >= len(learning) or learning[number] > 0
        state = LEFT_OUT if layer in left_out else TRAINED if can_learn else FROZEN
        if state == LEFT_OUT and layer in unreached:
            state = UNREACHED
        size = sizes[number] if number < len(sizes) else None
        yield Statement(StatementKind.LAYER, layer, size, state, line)


def _named(value: object) -> set[str]:
    return {str(name)[:300] for name in value} if isinstance(value, list) else set()


def _numbers(value: object) -> list[float]:
    found = [as_number(item) or 0.0 for item in value] if isinstance(value, list) else []
    return [number if math.isfinite(number) else 0.0 for number in found]
