"""The call by which a pickle would rebuild a tensor, read as the tensor that it would be."""

from __future__ import annotations

from typing import NamedTuple

from .inert_pickle import Call, Name, PickleProblem, Reference
from .tensor_info import checked_shape

_DTYPES = {
    "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Double": "float64",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
    "Bool": "bool", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
    "QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32",
}  # fmt: skip
_REBUILDS = ("_rebuild_tensor_v2", "_rebuild_tensor", "_rebuild_tensor_v3", "_rebuild_qtensor")
_WRAPPERS = ("_rebuild_parameter", "_rebuild_parameter_with_state")
_TYPED = "_rebuild_from_type_v2"
_DTYPE_PLACE = 6
"""Where `_rebuild_tensor_v3` is told the element type."""


class StoredTensor(NamedTuple):
    """Shape and type of a tensor, and its place in a storage."""

    shape: tuple[int, ...]
    dtype: str
    storage: str
    """Key of the storage in its file; empty if there is none."""
    offset: int
    """In elements, from the beginning of the storage."""
    strides: tuple[int, ...] | None
    storage_kind: str
    """Element type of the storage; empty for one of plain bytes."""
    storage_length: int
    """In elements of its own type."""


def stored_tensor(name: str, value: object) -> StoredTensor | None:
    """The tensor that a call would rebuild; None for any other value."""
    for _ in range(6):
        if not isinstance(value, Call) or not isinstance(value.function, Name):
            return None
        arguments = value.arguments if isinstance(value.arguments, tuple) else ()
        called = value.function.name
        if called in _WRAPPERS and arguments:
            value = arguments[0]
        elif called == _TYPED and len(arguments) > 2:
            value = Call(arguments[0], arguments[2])
        elif called in _REBUILDS and len(arguments) > 2:
            return _rebuilt(name, called, arguments)
        else:
            return None
    return None


def _rebuilt(name: str, called: str, arguments: tuple[object, ...]) -> StoredTensor:
    shape = checked_shape(_plain_size(arguments[2]))
    if shape is None:
        raise PickleProblem(f"the shape of tensor {name[:80]!r} makes no sense")
    kind, key, length = _storage(arguments[0])
    dtype = kind
    if called == "_rebuild_tensor_v3" and len(arguments) > _DTYPE_PLACE:
        said = arguments[_DTYPE_PLACE]
        dtype = said.name if isinstance(said, Name) else ""
    offset = arguments[1]
    if not isinstance(offset, int) or not 0 <= offset < 1 << 60:
        raise PickleProblem(f"the place of tensor {name[:80]!r} makes no sense")
    strides = checked_shape(_plain_size(arguments[3])) if len(arguments) > 3 else None
    return StoredTensor(shape, dtype, key, int(offset), strides, kind, length)


def _plain_size(size: object) -> object:
    """`torch.Size((2, 3))` is a call, too."""
    if isinstance(size, Call) and isinstance(size.arguments, tuple) and size.arguments:
        return size.arguments[0]
    return size


def _storage(reference: object) -> tuple[str, str, int]:
    """Element type, key and length of a storage."""
    identity = reference.identity if isinstance(reference, Reference) else None
    if not isinstance(identity, tuple) or len(identity) < 3:
        return "", "", 0
    label, key = identity[1], identity[2]
    length = identity[4] if len(identity) > 4 else 0
    kind = label.name.removesuffix("Storage") if isinstance(label, Name) else ""
    dtype = "" if kind == "Untyped" else _DTYPES.get(kind, kind.lower())
    is_key = isinstance(key, str) or (isinstance(key, int) and key.bit_length() <= 64)
    is_length = isinstance(length, int) and 0 <= length < 1 << 60
    return dtype, str(key)[:80] if is_key else "", int(length) if is_length else 0
