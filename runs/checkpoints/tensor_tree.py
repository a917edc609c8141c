"""The tensors in what a pickle describes, named by the keys that lead to them."""

from __future__ import annotations

from collections.abc import Iterator

from .inert_pickle import Call, Name, PickleProblem, Reference
from .tensor_info import MOST_TENSORS, TensorInfo, checked_shape

MOST_OBJECTS = 2_000_000
_DTYPES = {
    "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Double": "float64",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
    "Bool": "bool",
}  # fmt: skip
_REBUILDS = ("_rebuild_tensor_v2", "_rebuild_tensor", "_rebuild_tensor_v3")
_WRAPPERS = ("_rebuild_parameter", "_rebuild_parameter_with_state")
_LONGEST_NAME = 300


def named_tensors(saved: object) -> list[TensorInfo]:
    """All tensors in the saved object, each once, in the order in which they were saved."""
    found: list[TensorInfo] = []
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [("", saved)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str | bytes | int | float | None):
            continue
        if (tensor := _tensor(name, value)) is not None:
            found.append(tensor)
            if len(found) > MOST_TENSORS:
                raise PickleProblem("it describes more tensors than is sensible")
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        waiting.extend(reversed([(_join(name, key), item) for key, item in _parts(value)]))
        if len(seen) > MOST_OBJECTS or len(waiting) > MOST_OBJECTS:
            raise PickleProblem("it describes more objects than is sensible")
    return found


def _join(name: str, key: object) -> str:
    joined = f"{name}.{key}" if name and key != "" else name or str(key)
    return joined[:_LONGEST_NAME]


def _parts(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    elif isinstance(value, Call):
        yield from value.items.items()
        yield from enumerate(value.members)
        if not _is_plain_container(value.function):
            yield "", value.arguments
        if isinstance(value.state, dict):
            yield from ((k, v) for k, v in value.state.items() if k != "_metadata")


def _is_plain_container(function: object) -> bool:
    return isinstance(function, Name) and function.name in ("OrderedDict", "defaultdict")


def _tensor(name: str, value: object) -> TensorInfo | None:
    """A call that would rebuild a tensor, as the tensor that it would be."""
    for _ in range(4):
        if not isinstance(value, Call) or not isinstance(value.function, Name):
            return None
        arguments = value.arguments if isinstance(value.arguments, tuple) else ()
        called = value.function.name
        if called in _WRAPPERS and arguments:
            value = arguments[0]
            continue
        if called not in _REBUILDS or len(arguments) < 3:
            return None
        shape = checked_shape(_plain_size(arguments[2]))
        if shape is None:
            raise PickleProblem(f"the shape of tensor {name[:80]!r} makes no sense")
        dtype, storage = _storage(arguments[0])
        return TensorInfo(name, shape, dtype, f"{storage}@{arguments[1]}" if storage else "")
    return None


def _plain_size(size: object) -> object:
    """`torch.Size((2, 3))` is a call, too."""
    if isinstance(size, Call) and isinstance(size.arguments, tuple) and size.arguments:
        return size.arguments[0]
    return size


def _storage(reference: object) -> tuple[str, str]:
    identity = reference.identity if isinstance(reference, Reference) else None
    if not isinstance(identity, tuple) or len(identity) < 3:
        return "", ""
    label: object = identity[1]
    kind = label.name if isinstance(label, Name) else ""
    return _DTYPES.get(kind.removesuffix("Storage"), kind.lower()), str(identity[2])[:80]
