"""What a map of layers can show: names, values in words, and scales."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .engine.curve_protocol import Heat
from .heat_scale import SHARES, HeatScale, scale_of

_NAMES = {
    "grad_norm": ("gradient norm", "norm"),
    "weight_norm": ("weight norm", "norm"),
    "update_ratio": ("update ratio", "ratio"),
    "act_dead": ("dead units", "dead"),
    "act_saturated": ("saturated outputs", "saturated"),
}
"""What stands in the title, and the word before a value."""
_SHARES = frozenset({"act_dead", "act_saturated"})


def title_of(heat: Heat | None) -> str:
    """What is shown, and which of how many quantities it is."""
    if heat is None:
        return f"{_NAMES['grad_norm'][0]} per layer"
    name = _NAMES.get(heat.quantity, (heat.quantity, ""))[0]
    count = len(heat.quantities)
    place = heat.quantities.index(heat.quantity) + 1 if heat.quantity in heat.quantities else 0
    return f"{name} per layer" + (f" ({place} of {count})" if count > 1 and place else "")


def value_text(quantity: str, value: float) -> str:
    """A cell's value in words."""
    word = _NAMES.get(quantity, ("", quantity))[1]
    if math.isnan(value):
        return f"no {word}"
    return f"{word} {value:.0%}" if quantity in _SHARES else f"{word} {value:.3g}"


def scale_for(heat: Heat) -> HeatScale:
    """Shares lie between 0 and 1; everything else has a scale that holds it."""
    return SHARES if heat.quantity in _SHARES else scale_of(heat.cells)


def following(heat: Heat | None) -> str | None:
    """The quantity after the one that is shown; None if there is no other."""
    known: Sequence[str] = heat.quantities if heat is not None else ()
    if heat is None or len(known) < 2 or heat.quantity not in known:
        return None
    return known[(known.index(heat.quantity) + 1) % len(known)]
