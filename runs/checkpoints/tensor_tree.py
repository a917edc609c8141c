"""The tensors in what a pickle describes, named by the keys that lead to them."""

from __future__ import annotations

from collections.abc import Iterator

from .inert_pickle import Call, Name, PickleProblem
from .stored_tensor import stored_tensor
from .tensor_info import MOST_TENSORS, TensorInfo

MOST_OBJECTS = 2_000_000
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
        if (tensor := stored_tensor(name, value)) is not None:
            place = f"{tensor.storage}@{tensor.offset}" if tensor.storage else ""
            found.append(TensorInfo(name, tensor.shape, tensor.dtype, place))
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
    if isinstance(key, int) and key.bit_length() > 64:
        key = "large"  # Python refuses to write numbers with very many digits
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
