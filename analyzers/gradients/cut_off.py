"""Layers that an optimizer holds and that no gradient reaches, as a probe recorded it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.curve import Curve
from ..core.recording import LayerCurve, Recording, recordings
from ..core.view import RunView
from .left_out import listed, stands_still

LEAST_RECORDS = 5


@dataclass(frozen=True, slots=True)
class CutOff:
    """What gets nothing while the rest learns."""

    recording: Recording
    layers: tuple[str, ...]
    of: int
    """Layers of which gradients are known."""
    curve: Curve
    """The gradient of the first of them."""
    first: int
    """Position from which on it is 0."""
    is_front: bool
    """They are all layers from the input up to some point."""
    is_used: bool
    """Data was seen to go through one of them."""

    @property
    def names(self) -> str:
        """The first of them, by name."""
        return listed(self.layers)

    @property
    def reason(self) -> str:
        """What it can come from; the recording does not tell these apart."""
        them = "it" if len(self.layers) == 1 else "them"
        if not self.is_used:
            return f"nothing calls {them}"
        if self.is_front:
            return (
                f"a detach() behind {self.layers[-1]}, or a part that runs under no_grad() and "
                "need not be in the optimizer"
            )
        return f"a detach(), no_grad() or an operation without a gradient cuts {them} off"


def cut_off_layers(view: RunView) -> CutOff | None:
    """Layers in an optimizer whose gradient is 0 to the end, and whose weights stay the same."""
    for recording in recordings(view):
        layers = [one for one in recording.layers("grad_norm") if len(one.curve)]
        if recording.stated:
            held = set(recording.trained)
            layers = [one for one in layers if one.layer in held]
        since = {one.layer: _zero_from(one.curve) for one in layers}
        still = [
            one
            for one in layers
            if (first := since[one.layer]) is not None and _is_left(recording, one, first)
        ]
        if not still or len(still) == len(layers):
            continue
        # What nothing calls is no part of the way from the data to the loss.
        called = [one.layer for one in layers if _is_called(recording, one.layer)]
        used = [one for one in still if one.layer in called]
        still = used or still
        names = tuple(one.layer for one in still)
        return CutOff(
            recording, names, len(layers), still[0].curve, since[names[0]] or 0,
            is_front=names == tuple(called[: len(names)]),
            is_used=bool(used),
        )  # fmt: skip
    return None


def _is_left(recording: Recording, layer: LayerCurve, first: int) -> bool:
    """True unless something moves the weights: steps between the records, or an average."""
    return stands_still(recording, layer.layer, layer.curve.step(first)) is not None


def _zero_from(curve: Curve) -> int | None:
    """Where the zeros begin that last to the end, if they are many."""
    other = np.flatnonzero(curve.y != 0.0)
    first = int(other[-1]) + 1 if len(other) else 0
    return first if len(curve) - first >= max(LEAST_RECORDS, len(curve) // 4) else None


def _is_called(recording: Recording, layer: str) -> bool:
    """True if outputs of it, of what it is in or of what is in it were recorded, or of nothing."""
    seen = [series.layer for series in recording.series.get("act_mean", ())]
    return not seen or any(
        name == layer or layer.startswith(f"{name}.") or name.startswith(f"{layer}.")
        for name in seen
    )
