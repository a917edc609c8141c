"""One module's output: a sample of it, and the statistics of the sample."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

MOST_ELEMENTS = 8_192
MOST_UNITS = 256
LEAST_ROWS = 8
"""Examples or places without which nothing can be said about a single unit."""
SATURATED = {"Tanh": (-0.9999, 0.9999), "Sigmoid": (0.0067, 0.9933), "Hardtanh": (-1.0, 1.0),
             "Hardsigmoid": (0.0, 1.0), "Softsign": (-0.9, 0.9)}  # fmt: skip
"""Outputs beyond which hardly any gradient gets through: inputs of -5 and 5."""
RECTIFYING = frozenset({"ReLU", "ReLU6", "Threshold", "Hardshrink"})
_NO_FUNCTION_BEHIND = frozenset({"Embedding", "EmbeddingBag"})
_OTHERS = ("LU", "Softplus", "Softmax", "Mish", "Swish", "Tanhshrink")


@dataclass(slots=True)
class Seen:
    """What was kept of an output."""

    name: str
    kind: str
    rows: Tensor
    """Examples and places by units."""
    total: Tensor | None = None
    sum: float = 0.0
    """The value of `total`, when it has been transferred."""
    nans: int = 0
    infs: int = 0
    gradient: Tensor | None = None
    """The sum of the gradient that came back to it: infinite or NaN if any element is."""
    came_behind: str = ""
    """The module before it, if what it got from there was not finite; only CPUs tell."""
    version: tuple[int, int] = (0, 0)
    """Where the output is in memory, and how often it had been changed there."""
    behind: Tensor | None = None
    """A sample of what the next module got: shows an activation function that is no module."""

    def look_behind(self, kind: str, given: Tensor) -> None:
        """Keep what the next module got, if a function may have been applied in between."""
        is_untouched = version_of(given) == self.version
        if is_untouched or _is_function(kind) or self.kind in _NO_FUNCTION_BEHIND:
            return
        if not _is_function(self.kind):
            self.behind = sample_rows(given, kind)

    def watch_gradient(self, output: Tensor) -> None:
        """Add up the gradient that comes back to the output, before anything clips it."""
        import torch

        if not output.requires_grad or output.grad_fn is None:
            return

        def add_up(gradient: Tensor) -> None:
            with contextlib.suppress(RuntimeError):  # a backward pass must not fail for this
                self.gradient = gradient.detach().sum(dtype=torch.float32)

        # Else torch would warn whoever saves the output.
        add_up.__torch_unserializable__ = True  # type: ignore[attr-defined]
        output.register_hook(add_up)  # type: ignore[no-untyped-call]

    def numbers(self) -> Iterator[Tensor]:
        """Scalars from which the statistics are made."""
        import torch

        spread, means = torch.var_mean(self.rows, dim=0, correction=0)
        within = spread.mean()
        between, mean = torch.var_mean(means, correction=0)
        yield mean
        yield within + between
        yield within
        yield self.total if self.total is not None else within
        if self.kind in RECTIFYING:
            yield from _silence(self.rows)
        elif self.kind in SATURATED:
            low, high = SATURATED[self.kind]
            yield ((self.rows <= low) | (self.rows >= high)).float().mean()

    def statistics(self, values: Iterator[float]) -> dict[str, float]:
        """The statistics by name; takes as many values as `numbers` gave scalars."""
        mean, variance, within, self.sum = (next(values) for _ in range(4))
        found = {"mean": mean, "std": _root(variance)}
        if len(self.rows) >= LEAST_ROWS:
            found["unit_std"] = _root(within)
        if self.kind in RECTIFYING:
            found["zero"], dead = next(values), next(values)
            if len(self.rows) >= LEAST_ROWS:
                found["dead"] = dead
        elif self.kind in SATURATED:
            found["saturated"] = next(values)
        elif self.behind is not None:
            found.update(_function_in(self.behind))
        return found

    def bad_counts(self) -> tuple[int, int] | None:
        """Counts of NaN and Inf, -1 for "some"; None if all is well. -Inf alone is a mask."""
        if math.isfinite(self.sum) or self.sum == -math.inf:
            return None
        if self.nans or self.infs:
            return self.nans, self.infs
        return (-1, 0) if self.sum != self.sum else (0, -1)


def _function_in(rows: Tensor) -> dict[str, float]:
    """What an activation function did, if the values look as if there was one.

    Waits for the device, but seldom goes on: most inputs are of no function.
    """
    import torch

    low, high = torch.stack(torch.aminmax(rows)).tolist()
    if low == 0.0 and high > 0.0:  # only a rectifier leaves zeros and nothing below
        zero, dead = (float(share) for share in _silence(rows))
        return {"zero": zero, "dead": dead} if len(rows) >= LEAST_ROWS else {"zero": zero}
    if low == high == 0.0 and len(rows) >= LEAST_ROWS:
        return {"zero": 1.0, "dead": 1.0}
    limit = SATURATED["Tanh"][1]
    if -1.0 <= low < 0.0 < high <= 1.0 and max(-low, high) >= limit:
        return {"saturated": float((rows.abs() >= limit).float().mean())}
    return {}


def _is_function(kind: str) -> bool:
    """True for modules that only apply an activation function."""
    return kind in SATURATED or kind in RECTIFYING or any(word in kind for word in _OTHERS)


def _silence(rows: Tensor) -> Iterator[Tensor]:
    """The share of elements that are not positive, and of units that never are."""
    silent = rows <= 0
    yield silent.float().mean()
    yield silent.all(dim=0).float().mean()


def _root(variance: float) -> float:
    return math.sqrt(variance) if variance >= 0 else (variance if variance != variance else 0.0)


def first_tensor(value: Any) -> Tensor | None:
    """A tensor, the first one of a tuple or list, or a model output's first."""
    import torch

    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list) and value:
        return value[0] if isinstance(value[0], torch.Tensor) else None
    return None


def version_of(tensor: Tensor) -> tuple[int, int]:
    """Equal for two looks at a tensor in which nothing was changed in between."""
    import torch

    is_counted = not torch.is_inference(tensor)
    return tensor.data_ptr(), tensor._version if is_counted else 0


def is_plain(tensor: Tensor) -> bool:
    """True for tensors whose elements can be looked at here and now."""
    import torch

    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.is_floating_point()
        and tensor.layout == torch.strided
        and not tensor.is_meta
        and not tensor.is_nested
        and tensor.numel() > 0
        and not _is_transformed(tensor)
    )


def _is_transformed(tensor: Tensor) -> bool:
    """True inside of torch.func: a tensor of `vmap` or `grad` has no elements of its own."""
    import torch

    test = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    return bool(test(tensor)) if test is not None else False


def sample_rows(tensor: Tensor, kind: str, before: str = "") -> Tensor:
    """A copy of some examples and places, with units as columns.

    `kind` is the module's class, `before` that of the one that was called before it.
    """
    values = tensor.detach()
    if values.dim() == 0:
        return values.float().reshape(1, 1)
    if values.dim() == 1:
        return values[:MOST_ELEMENTS].float().reshape(-1, 1)
    if _has_channels_first(values.dim(), kind, before):
        values = values.movedim(1, -1)
    values = values[..., :: -(-values.shape[-1] // MOST_UNITS)]
    left = max(LEAST_ROWS, MOST_ELEMENTS // values.shape[-1])
    sizes = list(values.shape[:-1])
    step = -(-sizes[0] // left)
    values, left = values[::step], max(1, left // -(-sizes[0] // step))
    places = math.prod(sizes[1:])
    if places > left:
        step = math.ceil((places / left) ** (1 / len(sizes[1:])))
        values = values[(slice(None), *(slice(None, None, step) for _ in sizes[1:]))]
    # A copy, even where no conversion makes one: the original may be overwritten.
    return values.reshape(-1, values.shape[-1]).clone().float()


def _has_channels_first(dimensions: int, kind: str, before: str) -> bool:
    """Convolutions and what follows them have units in front of places."""
    for one in (kind, before):
        if "Linear" in one or "LayerNorm" in one or "Attention" in one:
            return False
        if one.endswith(("1d", "2d", "3d")):
            return dimensions >= 3
    return dimensions >= 4
