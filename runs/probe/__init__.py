"""A recorder for training scripts: what happens inside the model, as JSON lines.

    from mltd.runs import probe

    probe.watch(model, optimizer, "runs/7/mltd-probe.jsonl")

It needs torch and nothing else, and imports it only when `watch` is called. It never raises into
the training, and never changes gradients, random numbers or results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Probe

__all__ = ["DEFAULT_PATH", "watch"]

DEFAULT_PATH = "mltd-probe.jsonl"
MAX_BYTES = 64 << 20
EVERY = 10

Layers = str | Iterable[str] | Callable[[str], bool] | None


def watch(
    model: Any,
    optimizer: Any = None,
    path: str | os.PathLike[str] = DEFAULT_PATH,
    *,
    every: int = EVERY,
    scaler: Any = None,
    max_bytes: int = MAX_BYTES,
    all_ranks: bool = False,
    layers: Layers = None,
    step: int | None = None,
) -> Probe:
    """Record the model at its first optimizer step and at every multiple of `every`.

    `optimizer` may be one, several, or None for whichever steps the model's parameters. `scaler`
    is the GradScaler, `layers` the names to watch (patterns, or a function of the name), `step`
    the number of steps done before, if the optimizer does not know it.
    """
    from .options import Options
    from .recorder import Probe

    # Made inside of the probe: a number that is none must not end a training, either.
    return Probe(
        model,
        optimizer,
        lambda: Options(
            path=path,
            every=every,
            scaler=scaler,
            max_bytes=max_bytes,
            all_ranks=all_ranks,
            layers=layers,
            step=step,
        ),
    )
