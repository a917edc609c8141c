"""Where a rise began: two lines through the points around it, with a jump or a bend between them.

A climb leaves the noise long after its first step, and so does a small jump. Lines fitted to all
points before and behind a place find that place where a threshold is late.
"""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats

LEAST = 12
"""Points below which lines fit anything."""
MOST = 256
"""Points that places are tried on: means of neighbours where there are more."""


def rise_begins(values: Floats) -> int | None:
    """Position of the first point behind the best place; None where nothing rises."""
    finite = np.flatnonzero(np.isfinite(values))
    if len(finite) < LEAST:
        return None
    size = -(-len(finite) // MOST)
    whole = finite[len(finite) % size :]
    # Squares of the largest numbers would be infinite.
    largest = float(np.abs(values[whole]).max()) or 1.0
    points = (values[whole] / largest).reshape(-1, size).mean(axis=1)
    place = _best_place(points)
    return None if place is None else int(whole[place * size])


def is_raised(before: Floats, between: Floats) -> bool:
    """Whether points lie above those just before them by more than two standard errors."""
    before, between = before[np.isfinite(before)], between[np.isfinite(between)]
    near = before[-max(8, len(between) // 4) :]
    if len(near) < 2 or len(between) == 0:
        return False
    noise = 1.4826 * float(np.median(np.abs(np.diff(before)))) / np.sqrt(2)
    error = noise * np.sqrt(1 / len(near) + 1 / len(between))
    return bool(between.mean() - near.mean() > 2 * error)


def _best_place(points: Floats) -> int | None:
    """The place behind which the points are best told by another line."""
    x = np.arange(len(points), dtype=np.float64)
    places = np.arange(2, len(points) - 1)
    jumps = x[:, None] >= places
    # A bend begins to rise at the point before the first that is higher.
    bends = np.maximum(0.0, x[:, None] - (places - 1))
    changes = np.concatenate([jumps, bends], axis=1)
    # What one line cannot tell, and how much of that each change can.
    line, _ = np.linalg.qr(np.stack([np.ones_like(x), x], axis=1))
    rest = points - line @ (line.T @ points)
    changes = changes - line @ (line.T @ changes)
    agreement = rest @ changes
    gain = np.where(agreement > 0, agreement**2 / (changes**2).sum(axis=0), 0.0)
    best = int(np.argmax(gain))
    return int(places[best % len(places)]) if gain[best] > 0 else None
