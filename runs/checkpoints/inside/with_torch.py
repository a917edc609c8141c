"""Files of torch.save, read by torch itself with its own refusal to run anything."""

from __future__ import annotations

import importlib
import importlib.util
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .dtypes import RAW, Array
from .handle import Handle
from .leaf import SHORT, Leaf, Node, Opaque, text

INSTALL = "pip install 'mltd-tui[torch]'"
UPGRADE = "pip install -U 'torch>=2.10'"
_OLDEST = (2, 10)
"""Before 2.6, `weights_only=True` could be tricked into running code (CVE-2025-32434); before 2.10,
a file could corrupt memory in spite of it (CVE-2026-24747)."""
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)*(a|b|rc|\.?dev)?")
_DEEPEST = 60


class TorchProblem(Exception):
    """torch is missing, too old, or did not want the file."""

    def __init__(self, message: str, hint: str = INSTALL) -> None:
        super().__init__(message)
        self.hint = hint


def check_torch() -> None:
    """Raise `TorchProblem` unless there is a torch that can be trusted with a stranger's file."""
    if importlib.util.find_spec("torch") is None:
        raise TorchProblem("torch is not installed")
    _check_version(_version())


def _check_version(version: str) -> None:
    found = _VERSION.match(version)
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    # A build on the way to the oldest version may have been made before the repair.
    is_early = found is not None and found[3] is not None and numbers == _OLDEST
    if numbers < _OLDEST or is_early:
        raise TorchProblem(
            f"torch {version[:40] or 'of an unknown version'} is too old: before 2.10 a crafted "
            "checkpoint can corrupt memory while torch loads it (CVE-2026-24747)",
            UPGRADE,
        )


def _version() -> str:
    """Without importing it, which takes seconds."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def torch_node(handle: Handle, *, is_legacy: bool) -> Node:
    """What torch makes of the file; values are mapped, not copied, where the format allows it."""
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError) as error:
        raise TorchProblem(f"torch cannot be imported: {error}") from None
    # Another one may come before the installed one on the path.
    _check_version(str(torch.__version__))
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            saved = torch.load(
                handle.own_path, map_location="cpu", weights_only=True, mmap=not is_legacy
            )
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - torch raises anything; our own reader goes on
        raise TorchProblem(text(error, 200)) from None
    return _node(torch, saved, handle, 0, {})


def _node(torch: Any, value: Any, handle: Handle, depth: int, seen: dict[int, Node]) -> Node:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.Tensor):
        return _leaf(torch, value, handle)
    if not isinstance(value, dict | list | tuple | set):
        is_word = isinstance(value, torch.dtype | torch.device)
        return str(value) if is_word else Opaque(type(value).__name__[:SHORT])
    if id(value) in seen or depth > _DEEPEST:
        return seen.get(id(value), Opaque("more of the same"))
    seen[id(value)] = Opaque("itself")
    node: Node = (
        {text(k): _node(torch, v, handle, depth + 1, seen) for k, v in value.items()}
        if isinstance(value, dict)
        else [_node(torch, v, handle, depth + 1, seen) for v in value]
    )
    seen[id(value)] = node
    return node


def _leaf(torch: Any, tensor: Any, handle: Handle) -> Leaf:
    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = tuple(int(size) for size in tensor.shape)
    size = tensor.numel() * tensor.element_size()
    leaf = Leaf(shape, dtype, size, file=handle.name)
    is_plain = tensor.layout == torch.strided and not tensor.is_quantized and not tensor.is_meta
    if not is_plain or dtype not in RAW:
        return leaf
    storage = tensor.untyped_storage()
    leaf.storage = f"{handle.name}:{storage.data_ptr():x}@{tensor.storage_offset()}"
    if size <= storage.nbytes():
        leaf.source = _TorchSource(torch, tensor.detach(), RAW[dtype])
    return leaf


@dataclass(slots=True)
class _TorchSource:
    torch: Any
    tensor: Any
    raw: str

    def blocks(self, count: int) -> Iterator[Array]:
        """Views of the mapped file where the elements lie in order."""
        tensor = self.tensor if self.tensor.dim() else self.tensor.reshape(1)
        if not tensor.numel():
            return
        if tensor.is_contiguous():
            yield from self._pieces(tensor.view(-1), count)
            return
        rows = max(1, count * tensor.shape[0] // max(1, tensor.numel()))
        for first in range(0, tensor.shape[0], rows):
            yield from self._pieces(tensor[first : first + rows].reshape(-1), count)

    def _pieces(self, flat: Any, count: int) -> Iterator[Array]:
        for place in range(0, flat.numel(), count):
            piece = flat[place : place + count]
            # numpy does not know all types of torch, but it knows bytes.
            array: Array = piece.contiguous().view(self.torch.uint8).numpy().view(self.raw)
            yield array
