"""The tensors of a checkpoint file, from its header alone; torch is not needed."""

from __future__ import annotations

import os

from ..errors import FormatError
from ..open_artifact import ANYWHERE, Roots
from ..sources.inputs import open_input
from .safetensors import read_safetensors
from .tensor_info import TensorInfo
from .torch_zip import read_torch_zip

__all__ = ["TensorInfo", "tensor_shapes"]

_LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19"
"""How torch.save began its files before version 1.6: a pickled magic number."""


def tensor_shapes(path: str | os.PathLike[str], root: Roots = ANYWHERE) -> list[TensorInfo]:
    """Names, shapes and types of the tensors in a safetensors or torch file.

    Only headers are read, nothing in the file is ever executed, and time and memory are bounded
    whatever the file claims; `FormatError` says why one cannot be used.
    """
    name = os.path.basename(os.fspath(path))
    with os.fdopen(open_input(path, root), "rb") as file:
        head = file.read(16)
        file.seek(0)
        if head.startswith(b"PK\x03\x04"):
            return read_torch_zip(file, name)
        if head.startswith(_LEGACY[:2]) and head.startswith(_LEGACY[: len(head)]):
            raise FormatError(
                f"{name} was saved in torch's format before version 1.6",
                hint="load it and save it again with torch.save or safetensors",
            )
        if head[8:9] == b"{":
            return read_safetensors(file, name)
        file.seek(257)
        if file.read(5) == b"ustar":
            raise FormatError(
                f"{name} was saved in torch's oldest format, a tar archive",
                hint="load it and save it again with torch.save or safetensors",
            )
    raise FormatError(
        f"{name} is in no checkpoint format that is known here",
        hint="safetensors files and those of torch.save can be read",
    )
