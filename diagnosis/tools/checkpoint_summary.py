"""checkpoint_summary: which tensors a checkpoint holds, from its headers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from ..artifacts import ArtifactError
from .tool import Arguments, Bench, Page, Row, Tool
from .wording import plural

if TYPE_CHECKING:
    from ..artifacts.weights import Tensor


class CheckpointSummary(Arguments):
    """Which checkpoint, and which part of it."""

    artifact: str = Field(
        description="Name of the checkpoint file or folder as list_artifacts gives it."
    )
    module: str | None = Field(
        None,
        description="Beginning of tensor names (`model.layers.0`): each tensor below it is shown "
        "with its shape. Leave it out for a summary by module.",
    )


def work(bench: Bench, wish: CheckpointSummary) -> Page:
    """Parameters by module, or the tensors of one module."""
    name = bench.book.resolve(wish.artifact).name
    tensors, problems = bench.book.tensors(name)
    if not tensors:
        raise ArtifactError("; ".join(problems) or f"{name} holds no tensors")
    chosen = tensors
    if wish.module is not None:
        chosen = [t for t in tensors if f"{t.name}.".startswith(wish.module.rstrip(".") + ".")]
        if not chosen:
            parts = ", ".join(list(_by_module(tensors, 1))[:8])
            raise ArtifactError(f"{name} has nothing below {wish.module!r}", hint=f"it has {parts}")
    total = _elements(tensors)
    rows = (
        [_tensor_row(tensor) for tensor in chosen]
        if wish.module is not None
        else _module_rows(chosen, total)
    )
    types = Counter(tensor.dtype for tensor in chosen)
    kinds = ", ".join(f"{count:,} of {dtype or '?'}" for dtype, count in types.most_common(4))
    what = f" below {wish.module}" if wish.module is not None else ""
    return Page(
        brief=f"checkpoint {name}{what}: {plural(len(chosen), 'tensor')}",
        head=f"{plural(len(chosen), 'tensor')}{what} with {_elements(chosen):,} numbers ({kinds}), "
        "from the headers alone: no values were read. Tied tensors are counted once.",
        rows=rows,
        about={"artifact": name, "what": "tensors"},
        rest="ask for one module by its name",
        tail="; ".join(problems),
    )


def _module_rows(tensors: Sequence[Tensor], total: int) -> list[Row]:
    found: dict[str, list[Tensor]] = {}
    for depth in (2, 1):
        found = _by_module(tensors, depth)
        if len(found) <= 120:
            break
    counted = [(name, _elements(own), len(own)) for name, own in found.items()]
    return [
        Row(f"{name}: {size:,} numbers ({size / max(1, total):.1%}) in {plural(count, 'tensor')}")
        for name, size, count in sorted(counted, key=lambda one: -one[1])
    ]


def _by_module(tensors: Sequence[Tensor], depth: int) -> dict[str, list[Tensor]]:
    """Tensors by the beginning of their names, wrappers such as `model` not counted."""
    common = _common(tensors)
    found: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        parts = tensor.name.split(".")
        name = ".".join(parts[: max(1, min(common + depth, len(parts) - 1))])
        found.setdefault(name, []).append(tensor)
    return found


def _common(tensors: Sequence[Tensor]) -> int:
    """How many parts all names begin with alike."""
    names = [tensor.name.split(".")[:-1] for tensor in tensors]
    shortest, longest = min(names), max(names)
    alike = 0
    while alike < min(len(shortest), len(longest)) and shortest[alike] == longest[alike]:
        alike += 1
    return alike


def _elements(tensors: Sequence[Tensor]) -> int:
    sizes = {(t.storage and f"{t.storage}{t.shape}") or f"{t.file} {t.name}": t for t in tensors}
    return sum(math.prod(tensor.shape) for tensor in sizes.values())


def _tensor_row(tensor: Tensor) -> Row:
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    return Row(f"{tensor.name}: {shape} {tensor.dtype}, {math.prod(tensor.shape):,} numbers")


CHECKPOINT_SUMMARY = Tool(
    "checkpoint_summary",
    "Which tensors a checkpoint holds: names, shapes, types and how many numbers each module has, "
    "from the file's headers (safetensors and torch.save). Nothing is loaded or executed, and the "
    "values are not read, so it cannot tell NaN or dead weights.",
    CheckpointSummary,
    work,
    reads_runs=False,
)
