"""What a checkpoint says about memory, as plain values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..core.finding import Evidence, EvidenceKind

WIDTHS = {
    "float64": 8.0, "f64": 8.0, "double": 8.0, "float32": 4.0, "f32": 4.0, "float": 4.0,
    "float16": 2.0, "f16": 2.0, "half": 2.0, "bfloat16": 2.0, "bf16": 2.0, "int8": 1.0, "i8": 1.0,
    "uint8": 1.0, "u8": 1.0, "float8": 1.0, "f8": 1.0, "fp32": 4.0, "fp16": 2.0,
}  # fmt: skip
"""Bytes of one number, by the names of element types."""


@dataclass(frozen=True, slots=True)
class WeightFacts:
    """The numbers of one checkpoint; what it does not say is None."""

    name: str
    parameters: int
    trainable: int | None = None
    dtypes: tuple[tuple[str, int], ...] = ()
    """Element types and how many parameters have them."""
    optimizer_kind: str = ""
    optimizer_bytes: int | None = None
    """Size of the saved optimizer state, of all ranks together."""
    settings: tuple[tuple[str, str], ...] = ()
    """What the files beside the weights state about the model."""

    @property
    def width(self) -> float | None:
        """Bytes of one parameter as it was saved, on average."""
        known = [(width_of(dtype), count) for dtype, count in self.dtypes if count > 0]
        if not known or any(width is None for width, _ in known):
            return None
        return sum((width or 0.0) * count for width, count in known) / sum(c for _, c in known)

    @property
    def evidence(self) -> Evidence:
        """The checkpoint as evidence."""
        quote = f"{self.parameters:,} parameters"
        return Evidence(EvidenceKind.CHECKPOINT, self.name, quote)


def width_of(dtype: str) -> float | None:
    """Bytes of one number of an element type; None if it is not known."""
    name = dtype.casefold().removeprefix("torch.").strip()
    return WIDTHS.get(name) or (1.0 if name.startswith(("float8", "f8_")) else None)


class _Tensor(Protocol):
    @property
    def dtype(self) -> str: ...
    @property
    def elements(self) -> int: ...


class _Optimizer(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def bytes(self) -> int: ...


def weight_facts(
    path: str, parameters: Iterable[_Tensor], optimizers: Sequence[_Optimizer] = ()
) -> WeightFacts | None:
    """The facts of a checkpoint from its parameters, tied ones once; None if it has none."""
    counts: dict[str, int] = {}
    for tensor in parameters:
        counts[tensor.dtype] = counts.get(tensor.dtype, 0) + tensor.elements
    total = sum(counts.values())
    if total <= 0:
        return None
    size = sum(optimizer.bytes for optimizer in optimizers)
    return WeightFacts(
        os.path.basename(path.rstrip("/")) or path,
        total,
        dtypes=tuple(sorted(counts.items(), key=lambda item: -item[1])),
        optimizer_kind=optimizers[0].kind if optimizers else "",
        optimizer_bytes=size or None,
    )
