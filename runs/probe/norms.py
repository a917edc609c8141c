"""Norms and samples of many tensors with few kernels, and one transfer at the end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SAMPLE = 16_384
"""Elements of a tensor that stand for all of it: an error of about one per cent."""


def norms(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The 2-norm of each, in single precision or better, still on its device."""
    import torch

    groups: dict[tuple[object, object], list[int]] = {}
    plain = [torch.view_as_real(t) if t.is_complex() else t for t in tensors]
    for number, tensor in enumerate(plain):
        groups.setdefault((tensor.device, tensor.dtype), []).append(number)
    found: list[Tensor | None] = [None] * len(plain)
    for numbers in groups.values():
        group = [plain[n] for n in numbers]
        # Half precision would overflow at a norm of 65,504.
        precise = torch.float64 if group[0].dtype == torch.float64 else torch.float32
        with torch.no_grad():
            try:
                measured: Iterable[Tensor] = torch._foreach_norm(group, 2, dtype=precise)
            except (AttributeError, TypeError, RuntimeError):
                measured = [torch.linalg.vector_norm(one, dtype=precise) for one in group]
        for number, norm in zip(numbers, measured, strict=True):
            found[number] = norm
    return [norm for norm in found if norm is not None]


def to_floats(scalars: Sequence[Tensor]) -> list[float]:
    """The values of many scalars: one transfer for each device, not one for each of them."""
    import torch

    values = [math.nan] * len(scalars)
    by_device: dict[object, list[int]] = {}
    for number, scalar in enumerate(scalars):
        by_device.setdefault(scalar.device, []).append(number)
    for numbers in by_device.values():
        together = torch.stack([scalars[n].float() for n in numbers])
        for number, value in zip(numbers, together.tolist(), strict=True):
            values[number] = value
    return values


def sample(tensor: Tensor, most: int = SAMPLE) -> Tensor:
    """Evenly spread elements of a tensor, as a view of it."""
    tensor = tensor.detach()
    size = tensor.numel()
    if size <= most or tensor.dim() == 0:
        return tensor
    if tensor.is_contiguous():
        return tensor.view(-1)[:: -(-size // most)]
    # Slices of a view keep it a view, whatever its memory format.
    row = size // tensor.shape[0]
    return tensor[:: max(1, -(-tensor.shape[0] * row // most))]


def dense(gradient: Tensor) -> Tensor:
    """The values of a gradient; of a sparse one those that are stored, summed by place."""
    import torch

    if gradient.layout == torch.strided:
        return gradient
    is_by_place = gradient.layout == torch.sparse_coo
    return gradient.coalesce().values() if is_by_place else gradient.values()


def count_bad(tensor: Tensor) -> tuple[int, int]:
    """How many elements are NaN and how many are infinite."""
    values = tensor.detach()
    return int(values.isnan().sum()), int(values.isinf().sum())
