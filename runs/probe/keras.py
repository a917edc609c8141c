"""The probe as a callback of Keras: `model.fit(..., callbacks=[ProbeCallback()])`.

Keras shows callbacks weights and the learning rate: norms of weights, how far they moved in a
batch, and the first layer whose weights are not finite. With torch as its backend gradients are
there as well, as the backward pass left them. Activations it keeps to itself.
"""

from __future__ import annotations

import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from . import DEFAULT_PATH, EVERY, MAX_BYTES
from .context import warn
from .keras_weights import (
    Before,
    before,
    gradient_norm,
    is_finite,
    layers_of,
    moved,
    number_in,
    size_of,
    synchronise,
)
from .options import Options
from .writer import Writer, number

if TYPE_CHECKING:
    Base = object
else:
    try:
        from keras.callbacks import Callback as Base
    except ImportError:
        from tensorflow.keras.callbacks import Callback as Base


class ProbeCallback(Base):
    """Records the first step and every `every`-th one."""

    def __init__(
        self,
        path: str | os.PathLike[str] = DEFAULT_PATH,
        *,
        every: int = EVERY,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        super().__init__()
        self._options = Options(path, every, max_bytes)
        self._writer: Writer | None = None
        self._layers: list[tuple[str, Any]] = []
        self._before: list[Before] | None = None
        self._batch = 0
        self._batches = 1
        """Batches to a step of the optimizer."""
        self._stride = 1
        """Batches between two calls of this callback; Keras can take several at once."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin the file."""
        try:
            self._end("the training broke off")  # of the last one, if nobody has said so
            optimizer = _model(self).optimizer
            self._batch = _batches_of(optimizer)
            self._stride = getattr(_model(self), "steps_per_execution", None) or 1
            self._batches = getattr(optimizer, "gradient_accumulation_steps", None) or 1
            self._layers = []
            self._writer = Writer(str(self._options.path), self._options.max_bytes)
        except Exception as problem:  # noqa: BLE001 - a training must not fail for its recorder
            self._fail(problem)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Keep samples of the weights if the batch is to be recorded."""
        try:
            if self._writer is None or not self._is_due():
                return
            synchronise(_model(self))
            if not self._layers:
                self._layers = list(layers_of(_model(self)))
            self._before = [before(layer) for _, layer in self._layers]
        except Exception as problem:  # noqa: BLE001
            self._fail(problem)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Record how far they moved."""
        try:
            self._batch += self._stride
            if self._writer is not None and self._before is not None:
                synchronise(_model(self))
                # The last execution of an epoch may have been a shorter one.
                self._batch = _batches_of(_model(self).optimizer) or self._batch
                self._record(self._writer, self._before)
        except Exception as problem:  # noqa: BLE001
            self._fail(problem)
        self._before = None

    def on_train_end(self, logs: Any = None) -> None:
        """The last batch was seen."""
        self._end("closed")

    @property
    def _step(self) -> int:
        return self._batch // self._batches

    def _is_due(self) -> bool:
        writer, then = self._writer, self._batch + self._stride
        if self._stride == 1 and then % self._batches:
            return False  # gradients are only added up, and nothing moves
        if writer is None or not writer.has_header:
            return True
        every = self._options.every * writer.thinning
        return then // self._batches // every > self._step // every

    def _record(self, writer: Writer, then: list[Before]) -> None:
        if not writer.has_header:
            writer.write_header(_heading(self._layers, self._options.every))
        ratios = [moved(layer, old) for (_, layer), old in zip(self._layers, then, strict=True)]
        distances = [(ratio or 0.0) * old.norm for ratio, old in zip(ratios, then, strict=True)]
        size = math.hypot(*(old.norm for old in then))
        total = {"weight_norm": number(size)}
        if size and self._stride == 1:
            total["update_ratio"] = number(math.hypot(*distances) / size)
        record: dict[str, object] = {
            "kind": "step",
            "step": self._step,
            "time": round(time.time(), 3),
            "total": total,
            "weight_norm": [number(old.norm) for old in then],
        }
        if self._stride == 1:  # else it would be the way of several steps
            record["update_ratio"] = [number(ratio) for ratio in ratios]
        gradients = self._gradients()
        known = [norm for norm in gradients if norm is not None]
        if known:
            record["grad_norm"] = [number(norm) for norm in gradients]
            total["grad_norm"] = number(math.hypot(*known))
        rate = getattr(_model(self).optimizer, "learning_rate", None)
        if rate is not None:
            record["lr"] = [number(number_in(rate))]
        bad = [name for name, layer in self._layers if not is_finite(layer)]
        if bad:
            weights = {"count": len(bad), "layers": bad[:20]}
            first = {"kind": "weight", "layer": bad[0]}
            record["nonfinite"] = {"first": first, "weights": weights}
        writer.write(record)

    def _gradients(self) -> list[float | None]:
        """Norms of gradients that are those of a step: neither parts of a sum nor scaled."""
        if self._batches > 1 or hasattr(_model(self).optimizer, "inner_optimizer"):
            return []
        return [gradient_norm(layer) for _, layer in self._layers]

    def _fail(self, problem: Exception) -> None:
        reason = f"{type(problem).__name__}: {problem}"
        path = self._options.path
        warn(f"stopped recording to {path}: {reason}. The training goes on without it.")
        self._end(reason)

    def _end(self, reason: str) -> None:
        writer, self._writer = self._writer, None
        try:
            if writer is not None and writer.has_header:
                last = {"kind": "end", "step": self._step, "reason": reason[:500]}
                writer.write(last, is_last=True)
        except Exception:  # noqa: BLE001 - it was said on stderr; there is nobody else to tell
            return


def _model(callback: Any) -> Any:
    return callback.model


def _batches_of(optimizer: Any) -> int:
    """Batches that an optimizer has seen; in public Keras tells the steps that it made of them."""
    steps = getattr(optimizer, "iterations", 0)
    return int(number_in(getattr(optimizer, "_iterations", steps)))


def _heading(layers: list[tuple[str, Any]], every: int) -> dict[str, object]:
    from importlib import import_module

    keras = import_module("keras" if "keras" in sys.modules else "tensorflow.keras")
    return {
        "time": round(time.time(), 3),
        "keras": str(getattr(keras, "__version__", "")),
        "rank": 0,
        "world_size": 1,
        "every": every,
        "order": "registration",
        "layers": [name for name, _ in layers],
        "parameters": [size_of(layer.weights) for _, layer in layers],
        "trainable": [size_of(layer.trainable_weights) for _, layer in layers],
        "modules": [],
        "activations": "none: Keras does not show them to callbacks",
    }
