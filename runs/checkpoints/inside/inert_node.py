"""What an inert pickle describes, as dicts, lists, plain values and leaves."""

from __future__ import annotations

import struct
from collections.abc import Callable

from ..inert_pickle import Call, Name, PickleProblem
from ..stored_tensor import StoredTensor, stored_tensor
from .leaf import SHORT, Leaf, Node, Opaque, text

MOST_OBJECTS = 5_000_000
DEEPEST = 60
Resolve = Callable[[StoredTensor], Leaf]
_SCALARS = {
    "f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q",
    "u4": "I", "u2": "H", "u1": "B", "b1": "?",
}  # fmt: skip


class InertNode:
    """Turns the classes of the inert pickle into nodes; shared containers stay shared."""

    def __init__(self, resolve: Resolve, most_tensors: int) -> None:
        self._resolve = resolve
        self._left = most_tensors
        self._seen: dict[int, Node] = {}

    def of(self, value: object, depth: int = 0) -> Node:
        """The node for a value; one that holds itself is cut there."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, bytes | bytearray):
            return Opaque("bytes")
        if isinstance(value, Name):
            return text(f"{value.module}.{value.name}")
        tensor = stored_tensor("", value)
        if tensor is not None:
            self._left -= 1
            if self._left < 0:
                raise PickleProblem("it describes more tensors than is sensible")
            return self._resolve(tensor)
        if id(value) in self._seen:
            return self._seen[id(value)]
        if depth > DEEPEST or len(self._seen) > MOST_OBJECTS:
            return Opaque("more of the same")
        self._seen[id(value)] = Opaque("itself")
        node = self._container(value, depth + 1)
        self._seen[id(value)] = node
        return node

    def _container(self, value: object, depth: int) -> Node:
        if isinstance(value, dict):
            return {text(key): self.of(item, depth) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(item, depth) for item in value]
        return self._call(value, depth) if isinstance(value, Call) else Opaque("reference")

    def _call(self, call: Call, depth: int) -> Node:
        """Objects that hold data, by what they hold."""
        name = call.function.name if isinstance(call.function, Name) else ""
        arguments = call.arguments if isinstance(call.arguments, tuple) else ()
        if name.endswith("Path"):
            return "/".join(part[:SHORT] for part in arguments if isinstance(part, str))
        if name == "device":
            return ":".join(str(part) for part in arguments if isinstance(part, str | int))
        if name == "scalar" and len(arguments) == 2:
            return _numpy_scalar(*arguments)
        if name == "Size" and arguments:
            return self.of(arguments[0], depth)
        if call.items:
            return {text(key): self.of(item, depth) for key, item in call.items.items()}
        if call.members:
            return [self.of(item, depth) for item in call.members]
        if isinstance(call.state, dict):
            return {text(key): self.of(item, depth) for key, item in call.state.items()}
        if name in ("OrderedDict", "defaultdict", "dict", "Namespace"):
            return {}
        return Opaque(name[:SHORT])


def _numpy_scalar(dtype: object, data: object) -> Node:
    """`numpy.float64(0.5)`: a type and some bytes, which older protocols write as text."""
    if isinstance(data, Call) and isinstance(data.arguments, tuple) and data.arguments:
        data = data.arguments[0]
    if isinstance(data, str):
        data = data.encode("latin-1", "replace")
    code = (
        dtype.arguments[0] if isinstance(dtype, Call) and isinstance(dtype.arguments, tuple) else ""
    )
    form = _SCALARS.get(code if isinstance(code, str) else "")
    if form is None or not isinstance(data, bytes) or len(data) != struct.calcsize(f"<{form}"):
        return Opaque("numpy scalar")
    value: int | float | bool = struct.unpack(f"<{form}", data)[0]
    return value
