"""Steps that a loss scaler skips: the optimizer never hears of them, the backward pass does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .context import loss_scale

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from torch.utils.hooks import RemovableHandle


class SkippedSteps:
    """Counts backward passes without a step, and looks at the scale now and then.

    A scale that fell is the proof: many backward passes may also be gradient accumulation.
    """

    def __init__(
        self,
        scaler: Any,
        every: int,
        on_skipped: Callable[[float], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._scaler = scaler
        self._every = every
        self._on_skipped = on_skipped
        self._on_error = on_error
        self._hook: RemovableHandle | None = None
        self._backwards = self._usual = 0
        self._scale = loss_scale(scaler, None) if scaler is not None else None

    def watch(self, optimizer: Optimizer) -> None:
        """Hook the first parameter, which usually gets its gradient last."""
        if self._scale is None:
            return
        tensors = (p for group in optimizer.param_groups for p in group["params"])
        first = next((p for p in tensors if p.requires_grad and p.is_leaf), None)
        if first is not None:
            self._hook = first.register_post_accumulate_grad_hook(self._count)

    def note_step(self) -> None:
        """A step was made after all."""
        self._usual, self._backwards = self._backwards, 0

    def _count(self, parameter: Any) -> None:
        self._backwards += 1
        if self._backwards % max(self._every, 2 * self._usual):
            return
        try:
            scale = loss_scale(self._scaler, None)
            if scale is not None and self._scale is not None and 0 < scale < self._scale:
                self._on_skipped(scale)
            self._scale = scale
        except Exception as problem:  # noqa: BLE001 - this runs inside of the backward pass
            self._on_error(problem)

    def close(self) -> None:
        """Take the hook off."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
