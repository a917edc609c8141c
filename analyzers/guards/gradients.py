"""Gradient norms that are not what they seem."""

from __future__ import annotations

import numpy as np

from mltd.runs.harvest import Floats

from ..core.facts import Facts
from ..core.view import RunView

NEAR = 16
"""Points on either side of a change of the loss scale that have a level."""
RECENT = 65536
"""Points in which skipped steps are looked for, so that a long run costs no more."""


def printed_as_zero(view: RunView, facts: Facts) -> None:
    """Guard 12: `grad norm: 0.000` throughout means too few digits, or not reported at all."""
    curve = view.curve("grad_norm")
    if curve is None or len(curve) < 3:
        return
    _, _, _, low, high, _ = curve.bins
    if np.all(low == 0.0) and np.all(high == 0.0) and _loss_moves(view):
        facts.grad_norm_flaw = (
            f"{curve.name} is printed as 0 throughout while the loss moves: it is not reported"
        )
        facts.notes["zero_grad_norm"] = curve.remark(facts.grad_norm_flaw)


def _loss_moves(view: RunView) -> bool:
    loss = view.curve("train/loss")
    if loss is None:
        return True
    mean = loss.bins[2]
    finite = mean[np.isfinite(mean)]
    if len(finite) < 3:
        return True
    few = max(1, len(finite) // 5)
    head, tail = float(np.median(finite[:few])), float(np.median(finite[-few:]))
    return abs(head - tail) > 0.03 * abs(head)


def times_loss_scale(view: RunView, facts: Facts) -> None:
    """Guard 11: fp16 runs may log the norm multiplied by the loss scale; divide before judging."""
    norm, scale = view.curve("grad_norm"), view.curve("loss_scale")
    if norm is None or scale is None or len(norm) != len(scale) or len(norm) < 16:
        return
    norms, scales = norm.bins[2], scale.bins[2]
    good = np.isfinite(norms) & np.isfinite(scales) & (norms > 0) & (scales > 1)
    if good.sum() < 16 or len(np.unique(scales[good])) < 2:
        return
    logs, factors = np.log(norms[good]), np.log(scales[good])
    if np.median(logs) > np.log(1e3) and (_is_calmer(logs, factors) or _jumps(logs, factors)):
        facts.is_grad_norm_scaled = True
        facts.notes["scaled_grad_norm"] = norm.remark(
            f"{norm.name} follows {scale.name}: it is logged multiplied by the loss scale"
        )


def _is_calmer(logs: Floats, factors: Floats) -> bool:
    """Divided by the scale, neighbours differ by less."""
    return float(np.std(np.diff(logs - factors))) < 0.8 * float(np.std(np.diff(logs)))


def _jumps(logs: Floats, factors: Floats) -> bool:
    """The level moves by the scale's own factor wherever that changes, seldom as it may be."""
    places = np.flatnonzero(np.abs(np.diff(factors)) > 0.1) + 1
    edges = [0, *places.tolist(), len(logs)]
    moves, turns = [], []
    for before, at, after in zip(edges, edges[1:], edges[2:], strict=False):
        near = slice(max(before, at - NEAR), at), slice(at, min(after, at + NEAR))
        moves.append(float(np.median(logs[near[1]]) - np.median(logs[near[0]])))
        turns.append(float(factors[at] - factors[at - 1]))
    if len(moves) < 3:
        return False
    turned, moved = np.array(turns), np.array(moves)
    share = float(turned @ moved) / float(turned @ turned)
    rest = moved - share * turned
    error = np.sqrt(float(rest @ rest) / (len(moves) - 1) / float(turned @ turned))
    return 0.6 < share < 1.4 and share > 4 * float(error)


def stale_on_skipped_steps(view: RunView, facts: Facts) -> None:
    """Guard 13: a value repeated to the last digit is that of a step that was skipped."""
    curve = view.curve("grad_norm")
    if curve is None or len(curve) < 8 or curve.grain > 0:
        return
    before = max(0, len(curve) - RECENT)
    recent = curve.y[before:]
    same = np.flatnonzero((recent[1:] == recent[:-1]) & (recent[1:] != 0)) + 1
    if 0 < len(same) < 0.5 * len(recent):
        facts.skipped = set((same[-4096:] + before).tolist())
        first = int(same[0]) + before
        facts.notes["stale"] = curve.evidence(
            first, None, f"{curve.y[first]:g} again, to the last digit: a skipped step"
        )
