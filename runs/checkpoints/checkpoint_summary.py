"""A checkpoint as plain values: nothing is needed to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from .optimizer_facts import OptimizerFacts
from .plain_json import from_json, to_json
from .tensor_facts import TensorFacts


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """A file that belongs to the checkpoint."""

    path: str
    bytes: int
    kind: str
    """`weights`, `optimizer`, `index`, `state`, `shard`, `settings` or `other`."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far the training was, and where that is written."""

    step: int | None = None
    epoch: float | None = None
    source: str = ""


class DtypeShare(NamedTuple):
    """How much of the model has one element type."""

    dtype: str
    tensors: int
    elements: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CheckpointSummary:
    """What is in a checkpoint; `tensors` are in the order in which they were saved."""

    path: str
    layout: str
    """`torch`, `torch legacy`, `safetensors`, `sharded`, `folder`, `deepspeed`, `distributed`,
    `numpy`."""
    framework: str
    """`lightning`, `huggingface`, `deepspeed`, `fsdp`, `mmengine`, `fairseq`, `torch`, `numpy`."""
    files: tuple[CheckpointFile, ...]
    tensors: tuple[TensorFacts, ...]
    optimizers: tuple[OptimizerFacts, ...]
    position: Position
    extras: tuple[tuple[str, str], ...]
    """Other things that were saved, as short text."""
    duplicates: tuple[tuple[str, ...], ...]
    """Names of tensors with equal bytes in different storages; constants are left out."""
    has_values: bool
    """Values were read, where the layout allows it: see `TensorFacts.stats`."""
    notes: tuple[str, ...]
    """Sentences about what could not be read, and what would help."""
    settings: tuple[tuple[str, str], ...] = ()
    """What the files beside the weights state about the model: `n_layer`, `hidden_size`."""

    @property
    def size_on_disk(self) -> int:
        """Bytes of all its files."""
        return sum(file.bytes for file in self.files)

    @property
    def model(self) -> tuple[TensorFacts, ...]:
        """Parameters and buffers, tied ones included."""
        return tuple(t for t in self.tensors if t.role in ("parameter", "buffer"))

    @property
    def parameters(self) -> tuple[TensorFacts, ...]:
        """The trained weights; tied ones appear once."""
        return tuple(t for t in self.tensors if t.role == "parameter" and not t.tied_to)

    @property
    def total(self) -> int:
        """How many numbers the model learns or has learnt."""
        return sum(tensor.elements for tensor in self.parameters)

    @property
    def dtypes(self) -> tuple[DtypeShare, ...]:
        """Element types of the model, the most common first; tied tensors count once."""
        found: dict[str, list[TensorFacts]] = {}
        for tensor in self.model:
            if not tensor.tied_to:
                found.setdefault(tensor.dtype, []).append(tensor)
        shares = (
            DtypeShare(dtype, len(own), sum(t.elements for t in own), sum(t.bytes for t in own))
            for dtype, own in found.items()
        )
        return tuple(sorted(shares, key=lambda share: -share.elements))

    @property
    def bad(self) -> tuple[TensorFacts, ...]:
        """Tensors with NaN or infinity."""
        return tuple(t for t in self.tensors if t.stats is not None and t.stats.is_bad)

    def ties(self) -> Iterator[tuple[str, ...]]:
        """Groups of names that share one storage."""
        groups: dict[str, list[str]] = {}
        for tensor in self.tensors:
            if tensor.tied_to:
                groups.setdefault(tensor.tied_to, [tensor.tied_to]).append(tensor.name)
        yield from map(tuple, groups.values())

    def to_json(self) -> bytes:
        """As JSON, from which `from_json` makes an equal summary."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """The summary that was written by `to_json`."""
        return from_json(cls, data)
