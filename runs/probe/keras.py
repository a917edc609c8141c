"""The probe as a callback of Keras: `model.fit(..., callbacks=[ProbeCallback()])`.

Keras shows callbacks weights and the learning rate: norms of weights, how far they moved in a
batch, and the first layer whose weights are not finite. Gradients and activations it keeps to
itself, so the records have none. With torch as its backend, use `probe.watch` beside it.
"""

from __future__ import annotations

import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from . import DEFAULT_PATH, EVERY, MAX_BYTES
from .context import warn
from .options import Options
from .writer import Writer, number

if TYPE_CHECKING:
    Base = object
else:
    try:
        from keras.callbacks import Callback as Base
    except ImportError:
        from tensorflow.keras.callbacks import Callback as Base

_STRIDE_OVER = 16_384
"""Elements of a weight that are kept to see how far it moves."""


class ProbeCallback(Base):
    """Records the first batch and every `every`-th one."""

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
        self._before: list[list[Any]] | None = None
        self._step = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin the file."""
        try:
            self._step = _whole(getattr(_model(self).optimizer, "iterations", 0))
            self._writer = Writer(str(self._options.path), self._options.max_bytes)
        except Exception as problem:  # noqa: BLE001 - a training must not fail for its recorder
            self._fail(problem)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Keep samples of the weights if the batch is to be recorded."""
        try:
            if self._writer is None or not self._is_due():
                return
            if not self._layers:
                self._layers = list(_layers_of(_model(self)))
            self._before = [[_sample(w) for w in layer.weights] for _, layer in self._layers]
        except Exception as problem:  # noqa: BLE001
            self._fail(problem)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Record how far they moved."""
        try:
            self._step += 1
            if self._writer is not None and self._before is not None:
                self._record(self._writer, self._before)
        except Exception as problem:  # noqa: BLE001
            self._fail(problem)
        self._before = None

    def on_train_end(self, logs: Any = None) -> None:
        """The last batch was seen."""
        self._end("closed")

    def _is_due(self) -> bool:
        writer = self._writer
        if writer is None or not writer.has_header:
            return True
        return (self._step + 1) % (self._options.every * writer.thinning) == 0

    def _record(self, writer: Writer, before: list[list[Any]]) -> None:
        if not writer.has_header:
            writer.write_header(_heading(self._layers, self._options.every))
        norms, ratios = [], []
        for (_, layer), kept in zip(self._layers, before, strict=True):
            norm = _norm([_array(weight) for weight in layer.weights])
            pairs = zip(layer.weights, kept, strict=True)
            moved = _norm([_sample(weight) - old for weight, old in pairs])
            size = _norm(kept)
            norms.append(norm)
            ratios.append(moved / size if size else None)
        record: dict[str, object] = {
            "kind": "step",
            "step": self._step,
            "time": round(time.time(), 3),
            "total": {"weight_norm": number(math.sqrt(sum(n * n for n in norms)))},
            "weight_norm": [number(norm) for norm in norms],
            "update_ratio": [number(ratio) for ratio in ratios],
        }
        rate = _rate(_model(self).optimizer)
        if rate is not None:
            record["lr"] = [number(rate)]
        bad = [name for (name, _), n in zip(self._layers, norms, strict=True) if not _is_finite(n)]
        if bad:
            weights = {"count": len(bad), "layers": bad[:20]}
            first = {"kind": "weight", "layer": bad[0]}
            record["nonfinite"] = {"first": first, "weights": weights}
        writer.write(record)

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


def _layers_of(model: Any, prefix: str = "") -> Any:
    """Layers with weights, those of models inside of models too."""
    for layer in model.layers:
        name = f"{prefix}{layer.name}"
        if getattr(layer, "layers", None):
            yield from _layers_of(layer, f"{name}/")
        elif layer.weights:
            yield name, layer


def _heading(layers: list[tuple[str, Any]], every: int) -> dict[str, object]:
    from importlib import import_module

    keras = import_module("keras" if "keras" in sys.modules else "tensorflow.keras")
    sizes = [sum(math.prod(w.shape) for w in layer.weights) for _, layer in layers]
    learning = [sum(math.prod(w.shape) for w in layer.trainable_weights) for _, layer in layers]
    return {
        "time": round(time.time(), 3),
        "keras": str(getattr(keras, "__version__", "")),
        "rank": 0,
        "world_size": 1,
        "every": every,
        "order": "registration",
        "layers": [name for name, _ in layers],
        "parameters": sizes,
        "trainable": learning,
        "modules": [],
        "activations": "none: Keras does not show them to callbacks",
    }


def _array(weight: Any) -> Any:
    import numpy as np

    value = weight.numpy() if hasattr(weight, "numpy") else weight
    return np.asarray(value, dtype=np.float64)


def _sample(weight: Any) -> Any:
    flat = _array(weight).reshape(-1)
    return flat[:: max(1, -(-flat.size // _STRIDE_OVER))].copy()


def _norm(arrays: list[Any]) -> float:
    return math.sqrt(sum(float((array * array).sum()) for array in arrays))


def _is_finite(value: float) -> bool:
    return math.isfinite(value)


def _whole(value: Any) -> int:
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


def _rate(optimizer: Any) -> float | None:
    rate = getattr(optimizer, "learning_rate", None)
    if rate is None:
        return None
    return float(rate.numpy() if hasattr(rate, "numpy") else rate)
