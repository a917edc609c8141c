"""Statistics of a tensor's values in one pass, a block at a time."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable

import numpy as np

from ..tensor_facts import TensorStats
from .dtypes import WHOLE, Array, decoded
from .leaf import Leaf

BLOCK = 1 << 18
"""Elements: what is calculated with stays in the processor's cache."""
MOST_DEAD_SHOWN = 8
Done = Callable[[int], None]


class _Sums:
    """What is known after some blocks."""

    def __init__(self) -> None:
        self.least = math.inf
        self.most = -math.inf
        self.total = self.squares = 0.0
        self.count = self.zeros = self.nans = self.infs = 0

    def add(self, values: Array) -> None:
        if not len(values):
            return
        least, most = float(values.min()), float(values.max())
        # NaN and infinities show in one of the two; hardly any tensor has them.
        if not (math.isfinite(least) and math.isfinite(most)):
            nans = int(np.count_nonzero(np.isnan(values)))
            kept = values[np.isfinite(values)]
            self.nans += nans
            self.infs += len(values) - len(kept) - nans
            self.add(kept)
            return
        self.least, self.most = min(self.least, least), max(self.most, most)
        wide = values.astype(np.float64)
        self.count += len(values)
        self.total += float(wide.sum())
        self.squares += float(np.dot(wide, wide))
        if least <= 0 <= most:
            self.zeros += int(np.count_nonzero(values == 0))

    def add_pairs(self, parts: Array) -> None:
        """Real and imaginary parts: each is measured, but zero, NaN and Inf are whole numbers."""
        before = self.zeros, self.nans, self.infs
        self.add(parts)
        pairs = parts.reshape(-1, 2)
        nans = np.isnan(pairs).any(axis=1)
        found = (pairs == 0).all(axis=1), nans, np.isinf(pairs).any(axis=1) & ~nans
        counts = [int(np.count_nonzero(one)) for one in found]
        self.zeros, self.nans, self.infs = (
            old + new for old, new in zip(before, counts, strict=True)
        )


def statistics(leaf: Leaf, done: Done, *, has_rows: bool) -> TensorStats | None:
    """Numbers about the values of a tensor; None if they cannot be had."""
    if leaf.source is None:
        return None
    sums, check = _Sums(), 0
    with np.errstate(all="ignore"):
        for raw in leaf.source.blocks(BLOCK):
            check = zlib.crc32(raw.view(np.uint8).data, check)
            values = decoded(raw, leaf.dtype)
            if len(values) != len(raw):
                sums.add_pairs(values)
            else:
                sums.add(values)
            done(raw.nbytes)
    rows = leaf.shape[0] if len(leaf.shape) > 1 and has_rows and leaf.dtype not in WHOLE else 0
    width = leaf.elements // rows if rows else 0
    dead: list[int] | None = [] if rows else None
    if dead is not None and width and sums.zeros >= width:
        dead = dead_rows(leaf, width)
    bad = sums.nans + sums.infs
    seen = f"{leaf.dtype}:{'x'.join(map(str, leaf.shape))}:{check:08x}:{sums.squares.hex()}"
    return TensorStats(
        **_moments(sums),
        zeros=sums.zeros,
        nans=sums.nans,
        infs=sums.infs,
        is_constant=sums.count > 0 and not bad and sums.least == sums.most,
        dead_rows=None if dead is None else len(dead),
        first_dead=tuple(dead[:MOST_DEAD_SHOWN]) if dead else (),
        fingerprint=f"{zlib.crc32(seen.encode()):08x}{check:08x}",
    )


def _moments(sums: _Sums) -> dict[str, float | None]:
    if not sums.count:
        return dict.fromkeys(("least", "most", "mean", "std", "norm"))
    mean = sums.total / sums.count
    # Sums of squares lose digits where all values are about the same; then they hardly vary.
    variance = max(0.0, sums.squares / sums.count - mean * mean)
    if sums.least == sums.most:
        variance = 0.0
    found = {
        "least": sums.least,
        "most": sums.most,
        "mean": mean,
        "std": math.sqrt(variance),
        "norm": math.sqrt(sums.squares),
    }
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def dead_rows(leaf: Leaf, width: int) -> list[int]:
    """Which slices along the first axis are all zero; only tensors with many zeros get here."""
    assert leaf.source is not None
    found: list[int] = []
    place, live = 0, False
    """Where we are in all elements, and whether the row there has shown a value."""
    for raw in leaf.source.blocks(BLOCK):
        hits = np.flatnonzero(decoded(raw, leaf.dtype) != 0)
        if leaf.dtype.startswith("complex"):
            hits = hits // 2
        alive = np.unique((hits + place) // width)
        end = place + len(raw)
        first, last = place // width, end // width
        flags = np.zeros(last - first + 1, bool)
        flags[0] = live
        flags[alive - first] = True
        found.extend((np.flatnonzero(~flags[:-1]) + first).tolist())
        live = bool(flags[-1])
        place = end
    return found
