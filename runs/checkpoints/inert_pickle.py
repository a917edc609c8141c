"""A pickle read as data: names stay names, calls are noted and never made.

Opening a stranger's checkpoint with `pickle` runs whatever it says. This reader knows the
opcodes alone: a global becomes a `Name`, a call a `Call` of its arguments, and nothing else in
this process is touched.
"""

from __future__ import annotations

import io
import pickletools
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

MOST_OPCODES = 5_000_000


class PickleProblem(Exception):
    """Why a pickle cannot be read."""


@dataclass(eq=False, slots=True)
class Name:
    """A global that the pickle refers to, for example `torch.FloatStorage`."""

    module: str
    name: str


@dataclass(eq=False, slots=True)
class Call:
    """A call that unpickling would make: what is called, with what, and the state set later."""

    function: object
    arguments: object
    state: object = None
    items: dict[object, object] = field(default_factory=dict)
    members: list[object] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Reference:
    """A persistent id: torch puts the storages of tensors there."""

    identity: object


class Stream(Protocol):
    """What is needed of an open file."""

    def read(self, count: int, /) -> bytes:
        """So many bytes, or what is left."""

    def readline(self) -> bytes:
        """Up to the end of a line."""

    def tell(self) -> int:
        """The place of the next byte."""


class _Mark:
    pass


_MARK = _Mark()


def read_pickle(data: bytes) -> object:
    """The object that the pickle describes, as plain containers and the classes above."""
    return read_with_names(data)[0]


def read_with_names(
    data: bytes | Stream, most_opcodes: int = MOST_OPCODES
) -> tuple[object, tuple[str, ...]]:
    """The object, and every global that the pickle names, for example `os.system`.

    Of a stream no more is read than the pickle itself.
    """
    machine = _Machine()
    stream: Any = io.BytesIO(data) if isinstance(data, bytes) else data
    read, known = stream.read, _STEPS
    try:
        # A hundred thousand tensors are millions of opcodes: nothing here is done twice for one.
        for _ in range(most_opcodes):
            code = read(1)
            if code == _STOP:
                return machine.pop(), tuple(machine.names)
            if code not in known:
                raise PickleProblem(_unknown(code))
            argument, step = known[code]
            step(machine, argument(stream) if argument is not None else None)
        raise PickleProblem("its description is longer than is sensible")
    except PickleProblem:
        raise
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, struct.error) as error:
        raise PickleProblem(f"its description is damaged: {error}") from None


def _unknown(code: bytes) -> str:
    if not code:
        return "its description has no end"
    opcode = _OPCODES.get(code)
    if opcode is None:
        return f"its description is damaged: no instruction is {code!r}"
    return f"its description uses {opcode.name}, which no checkpoint needs"


class _Machine:
    """The stack machine of the pickle protocol, without its teeth."""

    def __init__(self) -> None:
        self._stack: list[object] = []
        self._memo: dict[object, object] = {}
        self.names: dict[str, None] = {}

    def pop(self) -> object:
        return self._stack.pop()

    def push(self, value: object) -> None:
        self._stack.append(value)

    def _since_mark(self) -> list[object]:
        taken: list[object] = []
        while (top := self._stack.pop()) is not _MARK:
            taken.append(top)
        return taken[::-1]

    # -- structure ------------------------------------------------------------------------

    def mark(self, _: object) -> None:
        self._stack.append(_MARK)

    def skip(self, _: object) -> None:
        pass

    def drop(self, _: object) -> None:
        self._stack.pop()

    def drop_to_mark(self, _: object) -> None:
        self._since_mark()

    def duplicate(self, _: object) -> None:
        self._stack.append(self._stack[-1])

    def remember(self, argument: object) -> None:
        self._memo[argument if isinstance(argument, int) else len(self._memo)] = self._stack[-1]

    def recall(self, argument: object) -> None:
        self._stack.append(self._memo[argument])

    # -- containers -----------------------------------------------------------------------

    def tuple_to_mark(self, _: object) -> None:
        self._stack.append(tuple(self._since_mark()))

    def list_to_mark(self, _: object) -> None:
        self._stack.append(self._since_mark())

    def dict_to_mark(self, _: object) -> None:
        items = self._since_mark()
        self._stack.append({})
        self._fill(items)

    def tuple_of(self, count: int) -> None:
        taken = tuple(self._stack[-count:])
        if len(taken) < count:
            raise IndexError("too few values")
        del self._stack[-count:]
        self._stack.append(taken)

    def append(self, _: object) -> None:
        value = self._stack.pop()
        self._extend([value])

    def extend(self, _: object) -> None:
        self._extend(self._since_mark())

    def _extend(self, values: list[object]) -> None:
        target = self._stack[-1]
        if isinstance(target, list):
            target.extend(values)
        elif isinstance(target, Call):
            target.members.extend(values)

    def put(self, _: object) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._fill([key, value])

    def put_all(self, _: object) -> None:
        self._fill(self._since_mark())

    def _fill(self, items: list[object]) -> None:
        target = self._stack[-1]
        table = target.items if isinstance(target, Call) else target
        if isinstance(table, dict):
            for key, value in zip(items[::2], items[1::2], strict=False):
                # What cannot be a key is no name of a tensor either.
                table[key if isinstance(key, str | int | float) else id(key)] = value

    # -- what would run code --------------------------------------------------------------

    def _named(self, module: str, name: str) -> Name:
        found = Name(module[:200], name[:200])
        self.names[f"{found.module}.{found.name}"] = None
        return found

    def name(self, argument: object) -> None:
        module, _, name = str(argument).partition(" ")
        self._stack.append(self._named(module, name))

    def name_from_stack(self, _: object) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        # Anything else as text could be endless: it may hold itself.
        if not isinstance(module, str) or not isinstance(name, str):
            raise PickleProblem("its description names something that has no name")
        self._stack.append(self._named(module, name))

    def call(self, _: object) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        self._stack.append(Call(function, arguments))

    def call_with_keywords(self, _: object) -> None:
        self._stack.pop()
        self.call(None)

    def instance(self, argument: object) -> None:
        arguments = tuple(self._since_mark())
        module, _, name = str(argument).partition(" ")
        self._stack.append(Call(self._named(module, name), arguments))

    def object_to_mark(self, _: object) -> None:
        function, *arguments = self._since_mark()
        self._stack.append(Call(function, tuple(arguments)))

    def set_state(self, _: object) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        if isinstance(target, Call):
            target.state = state

    def reference(self, _: object) -> None:
        self._stack.append(Reference(self._stack.pop()))

    def text_reference(self, argument: object) -> None:
        self._stack.append(Reference(argument))


_SELF_CONTAINED = frozenset(
    {
        "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
        "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE",
        "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
    }
)  # fmt: skip
_Step = Callable[[_Machine, object], None]
_HANDLERS: dict[str, _Step] = {
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "EMPTY_SET": lambda machine, _: machine.push([]),
    **dict.fromkeys(_SELF_CONTAINED, _Machine.push),
    "PROTO": _Machine.skip,
    "FRAME": _Machine.skip,
    "MARK": _Machine.mark,
    "POP": _Machine.drop,
    "POP_MARK": _Machine.drop_to_mark,
    "DUP": _Machine.duplicate,
    "PUT": _Machine.remember,
    "BINPUT": _Machine.remember,
    "LONG_BINPUT": _Machine.remember,
    "MEMOIZE": _Machine.remember,
    "GET": _Machine.recall,
    "BINGET": _Machine.recall,
    "LONG_BINGET": _Machine.recall,
    "TUPLE": _Machine.tuple_to_mark,
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "LIST": _Machine.list_to_mark,
    "DICT": _Machine.dict_to_mark,
    "FROZENSET": _Machine.list_to_mark,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.extend,
    "ADDITEMS": _Machine.extend,
    "SETITEM": _Machine.put,
    "SETITEMS": _Machine.put_all,
    "GLOBAL": _Machine.name,
    "STACK_GLOBAL": _Machine.name_from_stack,
    "REDUCE": _Machine.call,
    "NEWOBJ": _Machine.call,
    "NEWOBJ_EX": _Machine.call_with_keywords,
    "INST": _Machine.instance,
    "OBJ": _Machine.object_to_mark,
    "BUILD": _Machine.set_state,
    "BINPERSID": _Machine.reference,
    "PERSID": _Machine.text_reference,
}
_OPCODES = {opcode.code.encode("latin-1"): opcode for opcode in pickletools.opcodes}
_STOP = b"."
_STEPS: dict[bytes, tuple[Callable[[Any], Any] | None, _Step]] = {
    code: (opcode.arg.reader if opcode.arg is not None else None, _HANDLERS[opcode.name])
    for code, opcode in _OPCODES.items()
    if opcode.name in _HANDLERS
}
"""By its byte: what reads the argument that follows it, and what it does."""
