"""One file of a checkpoint, whatever its format; its first bytes tell, not its name."""

from __future__ import annotations

from ...errors import FormatError
from ...open_artifact import ANYWHERE, Roots
from ...remote.names import shown
from ..errors import UnsafeCheckpoint
from ..inert_pickle import PickleProblem, read_with_names
from ..limits import Limits
from .caps import allow_mapping
from .handle import Handle
from .leaf import Leaf, Node, Opaque
from .loaded import Loaded
from .numpy_archive import read_numpy_archive
from .safetensors_file import read_safetensors_file
from .torch_archive import read_archive
from .torch_legacy import MAGIC, read_legacy
from .with_torch import TorchProblem, check_torch, torch_node

_OTHERS = {
    b"\x89HDF\r\n\x1a\n": "HDF5 (Keras)",
    b"GGUF": "GGUF",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"version https://git-lfs": "a Git LFS pointer, not the file itself:",
}
_PICKLE_BYTES = 1 << 26
REBUILT = "_rebuild"
"""How the names of torch's functions begin that make a tensor of its parts."""


def open_file(path: str, limits: Limits, *, needs_values: bool, root: Roots = ANYWHERE) -> Loaded:
    """What the file holds; nothing in it is run."""
    handle = Handle(path, root)
    try:
        return _read(handle, limits, needs_values=needs_values)
    except BaseException:
        handle.close()
        raise


def _read(handle: Handle, limits: Limits, *, needs_values: bool) -> Loaded:
    head = handle.read(300, 0)
    if head.startswith(b"PK\x03\x04"):
        if b".npy" in head[30:300].split(b"\x93NUMPY")[0]:
            return read_numpy_archive(handle, limits)
        return _by_torch(read_archive(handle, limits), limits, needs_values=needs_values)
    if head.startswith(MAGIC):
        return _by_torch(read_legacy(handle, limits), limits, needs_values=needs_values)
    if head[8:9] == b"{":
        return read_safetensors_file(handle, limits)
    if head[257:262] == b"ustar":
        raise FormatError(
            f"{handle.name} was saved in torch's oldest format, a tar archive",
            hint="load it and save it again with torch.save or safetensors",
        )
    for beginning, kind in _OTHERS.items():
        if head.startswith(beginning):
            raise FormatError(
                f"{handle.name} is {kind}, which is not read here",
                hint="safetensors files and those of torch.save can be read",
            )
    if head[:1] == b"\x80" and head[1:2] <= b"\x05":
        _refuse_pickle(handle)
    raise FormatError(
        f"{shown(handle.path)} is in no checkpoint format that is known here",
        hint="safetensors files and those of torch.save can be read",
    )


def _by_torch(loaded: Loaded, limits: Limits, *, needs_values: bool) -> Loaded:
    """The same with the tensors of torch, if it is wanted and there.

    It is wanted where it knows more: it takes seconds to come, and far longer than our own reader
    for the same values, the more so the more tensors there are.
    """
    if not needs_values or limits.reader == "own":
        return loaded
    if limits.reader == "auto" and not _unread(loaded.node):
        return loaded
    is_legacy = loaded.layout == "torch legacy"
    handle = loaded.handle
    if is_legacy and handle.size > limits.memory_bytes // 2:
        return loaded  # torch would copy all of it into memory
    try:
        check_torch()
        if not is_legacy:
            allow_mapping(handle.size)
        loaded.node = torch_node(handle, is_legacy=is_legacy)
    except TorchProblem as problem:
        if limits.reader == "torch":
            raise FormatError(f"{handle.name}: {problem}", hint=problem.hint) from None
        if count := _unread(loaded.node):
            loaded.notes.append(
                f"{handle.name}: the values of {count:,} tensors can be read with torch alone, "
                f"but {problem}: {problem.hint}"
            )
    return loaded


def _unread(node: Node) -> int:
    """Tensors whose values our own reader cannot have: sparse and quantised ones, for example."""
    count = 0
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Leaf):
            count += value.source is None
        elif isinstance(value, Opaque):
            count += value.kind.startswith(REBUILT)
        elif isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return count


def _refuse_pickle(handle: Handle) -> None:
    """A bare pickle: anything may be in it."""
    try:
        _, names = read_with_names(handle.read(_PICKLE_BYTES, 0))
    except PickleProblem as problem:
        raise FormatError(f"{handle.name} is a pickle, and {problem}") from None
    asked = f" that asks for {', '.join(names[:8])}" if names else ""
    raise UnsafeCheckpoint(
        f"{handle.name} is a bare pickle{asked}, not a file of torch.save",
        hint="if you trust it, load it yourself and save the weights with torch.save",
        names=names,
    )
