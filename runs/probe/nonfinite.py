"""Where the first NaN or Inf came from, and a cheap look for one on steps that are not recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .activations import INPUT
from .layers import plain_name
from .norms import count_bad

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .layers import LayerList

MOST_NAMED = 20
"""Layers that are listed by name."""
_SMALL = 1 << 12
"""Elements up to which a parameter is cheap enough to look at on every step."""


class Sentinel:
    """Looks at the gradients of a few small parameters on every step.

    What is not finite in the loss reaches all gradients, and what arises in the backward pass
    reaches those before it: the first layers' tell of almost everything. On a GPU the answer stays
    there until a step is recorded, so that nothing waits for it.
    """

    def __init__(self, layers: LayerList) -> None:
        tensors = [t for _, layer in layers.measured() for t in layer.tensors() if t.requires_grad]
        small = [t for t in tensors if t.numel() <= _SMALL] or sorted(tensors, key=_size)[:1]
        self._watched = [small[0], small[-1]] if len(small) > 1 else small
        self._first_bad: Tensor | None = None

    def look(self, step: int) -> bool:
        """True if something is not finite right now; only CPUs answer at once."""
        import torch

        for tensor in self._watched:
            gradient = tensor.grad
            if gradient is None or gradient.layout != torch.strided:
                continue
            total = gradient.sum()  # infinite or NaN if any element is
            if total.device.type != "cpu":
                self._note(total, step)
            elif not math.isfinite(total.item()) and any(count_bad(gradient)):
                return True
        return False

    def _note(self, total: Tensor, step: int) -> None:
        """Remember the first such step on the device."""
        import torch

        never = torch.full_like(total, math.inf, dtype=torch.float32)
        now = torch.where(torch.isfinite(total), never, float(step))
        first = self._first_bad
        if first is None or first.device != now.device:
            self._first_bad = now
        else:
            self._first_bad = torch.minimum(first, now)

    def since(self) -> int | None:
        """The first step with such a gradient since the last question."""
        first, self._first_bad = self._first_bad, None
        value = math.inf if first is None else float(first)
        return int(value) if math.isfinite(value) else None


def _size(tensor: Tensor) -> int:
    return tensor.numel()


def bad_buffer(model: nn.Module) -> str:
    """The first module with a running statistic that is not finite: its input was not, either."""
    import torch

    for name, module in model.named_modules():
        for buffer in module._buffers.values():
            if buffer is None or not buffer.is_floating_point() or buffer.is_meta:
                continue
            # Masks are buffers, too, and hold minus infinity by right.
            if type(buffer) is torch.Tensor and bool(buffer.isnan().any()):
                return plain_name(name)
    return ""


def describe(
    activations: dict[str, tuple[int, int]],
    gradients: Sequence[str],
    weights: Sequence[str],
    *,
    layers: int,
    buffer: str = "",
    behind: str = "",
    between: tuple[str, str] | None = None,
) -> dict[str, object]:
    """What is not finite, and where it began; layers are given in forward order."""
    first = _origin(activations, gradients, weights, layers, buffer)
    if behind and first["kind"] == "activation":
        first["behind"] = behind
    if between is not None and first.get("everywhere"):
        # Clipping multiplies all gradients by one number; what came back to outputs was not.
        first = {"kind": "gradient", "layer": between[1], "behind": between[0]}
    found: dict[str, object] = {"first": first}
    if activations:
        named = [[name, *counts] for name, counts in activations.items()]
        found["activations"] = {"count": len(named), "modules": named[:MOST_NAMED]}
    for kind, names in (("gradients", gradients), ("weights", weights)):
        if names:
            found[kind] = {"count": len(names), "layers": list(names[:MOST_NAMED])}
    return found


def _origin(
    activations: dict[str, tuple[int, int]],
    gradients: Sequence[str],
    weights: Sequence[str],
    layers: int,
    buffer: str,
) -> dict[str, object]:
    """The earliest place: weights make outputs bad, outputs the loss, the loss all gradients."""
    name, counts = next(iter(activations.items()), ("", (0, 0)))
    if name == INPUT:
        return {"kind": "input", "layer": list(activations)[1]}
    if name and name in weights:
        return {"kind": "weight", "layer": name}
    if name:
        return {"kind": "activation", "layer": name, "nan": counts[0], "inf": counts[1]}
    if buffer:
        return {"kind": "buffer", "layer": buffer}
    if gradients:
        # The backward pass goes from the last layer to the first.
        everywhere = len(gradients) >= layers
        return {"kind": "gradient", "layer": gradients[-1], "everywhere": everywhere}
    return {"kind": "weight", "layer": weights[0] if weights else ""}
