"""The values inside a TensorBoard summary: numbers, text, hyperparameters."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from .protobuf import as_bytes, as_floating, as_signed, as_text, iter_fields, read_varint

# TensorProto's dtype to how one element is packed in `tensor_content`.
_PACKED = {
    1: "<f", 2: "<d", 3: "<i", 4: "<B", 5: "<h", 6: "<b", 9: "<q", 10: "<?", 17: "<H", 19: "<e",
    22: "<I", 23: "<Q",
}  # fmt: skip
_DOUBLE, _FLOAT = struct.Struct("<d"), struct.Struct("<f")
_STRING, _BFLOAT16, _HALF = 7, 14, 19


@dataclass(slots=True)
class Value:
    """One tagged value of a summary."""

    tag: str = ""
    number: float = math.nan
    has_number: bool = False
    plugin: str = ""
    content: bytes = b""
    """Data of the plugin that owns the value."""
    text: bytes = b""


class LoneScalar(NamedTuple):
    """An event that holds one plain scalar, as nearly all of them do."""

    wall_time: float
    step: int
    tag: str
    number: float


def read_lone_scalar(event: bytes) -> LoneScalar | None:
    """The usual event by its fixed layout; nothing if it is laid out in any other way."""
    size = len(event)
    if size < 22 or event[0] != 0x09 or event[size - 5] != 0x15:
        return None
    position, step = 9, 0
    if event[9] == 0x10:
        step, position = read_varint(event, 10)
    # summary > value > tag, each a one-byte length that reaches to the end of its parent
    if size < position + 11 or event[position] != 0x2A or event[position + 1] > 127:
        return None
    tag_length = event[position + 5]
    if (
        event[position + 1] != size - position - 2
        or event[position + 2] != 0x0A
        or event[position + 3] != size - position - 4
        or event[position + 4] != 0x0A
        or tag_length != size - position - 11
    ):
        return None
    tag = event[position + 6 : size - 5].decode("utf-8", "replace")
    (wall_time,) = _DOUBLE.unpack_from(event, 1)
    (number,) = _FLOAT.unpack_from(event, size - 4)
    return LoneScalar(wall_time, as_signed(step), tag, number)


def read_value(data: bytes) -> Value:
    """Decode one `Summary.Value`."""
    value = Value()
    for number, raw in iter_fields(data):
        if number == 1:
            value.tag = as_text(raw)
        elif number == 2:
            value.number, value.has_number = as_floating(raw), True
        elif number == 8:
            _read_tensor(as_bytes(raw), value)
        elif number == 9:
            _read_metadata(as_bytes(raw), value)
    return value


def _read_metadata(data: bytes, value: Value) -> None:
    for number, raw in iter_fields(data):
        if number != 1:
            continue
        for inner, part in iter_fields(as_bytes(raw)):
            if inner == 1:
                value.plugin = as_text(part)
            elif inner == 2:
                value.content = as_bytes(part)


def _read_tensor(data: bytes, value: Value) -> None:
    """Take the only element of a tensor; a tensor of several is no scalar."""
    dtype, elements = 0, 1
    packed = b""
    listed: list[tuple[int, int | bytes]] = []
    for number, raw in iter_fields(data):
        if number == 1:
            dtype = as_signed(raw)
        elif number == 2:
            elements = _count_elements(as_bytes(raw))
        elif number == 4:
            packed = as_bytes(raw)
        elif number in (5, 6, 7, 8, 10, 11, 13, 16, 17):
            listed.append((number, raw))
    if elements != 1:
        return
    if dtype == _STRING:
        value.text = next((as_bytes(raw) for number, raw in listed if number == 8), b"")
    elif packed:
        if dtype == _BFLOAT16 and len(packed) == 2:
            value.number, value.has_number = _bfloat16(packed), True
        elif dtype in _PACKED and struct.calcsize(_PACKED[dtype]) == len(packed):
            value.number = float(struct.unpack(_PACKED[dtype], packed)[0])
            value.has_number = True
    elif len(listed) == 1:
        element = _listed_number(dtype, *listed[0])
        if element is not None:
            value.number, value.has_number = element, True


def _count_elements(shape: bytes) -> int:
    count = 1
    for number, raw in iter_fields(shape):
        if number == 2:
            sizes = [as_signed(part) for inner, part in iter_fields(as_bytes(raw)) if inner == 1]
            count *= sizes[0] if sizes else 0
    return count


def _listed_number(dtype: int, number: int, raw: int | bytes) -> float | None:
    """The element of a typed list, packed or not."""
    if number in (5, 6):
        return as_floating(raw) if len(as_bytes(raw)) == (4 if number == 5 else 8) else None
    if isinstance(raw, bytes):
        whole, end = read_varint(raw, 0)
        if end != len(raw):
            return None
    else:
        whole = raw
    if number == 13:
        bits = struct.pack("<H", whole & 0xFFFF)
        return _bfloat16(bits) if dtype == _BFLOAT16 else float(struct.unpack("<e", bits)[0])
    return float(whole if number in (16, 17) else as_signed(whole))


def _bfloat16(bits: bytes) -> float:
    return float(struct.unpack("<f", b"\0\0" + bits)[0])


def read_hparams(content: bytes) -> dict[str, object]:
    """Hyperparameters from the `hparams` plugin's session start."""
    found: dict[str, object] = {}
    for number, raw in iter_fields(content):
        if number != 3:
            continue
        for inner, entry in iter_fields(as_bytes(raw)):
            if inner == 1:
                pair = dict(iter_fields(as_bytes(entry)))
                if 1 in pair and 2 in pair:
                    found[as_text(pair[1])] = _plain_value(as_bytes(pair[2]))
    return found


def _plain_value(data: bytes) -> object:
    for number, raw in iter_fields(data):
        if number == 2:
            value = as_floating(raw)
            return int(value) if value.is_integer() and abs(value) < 1e15 else value
        if number == 3:
            return as_text(raw)
        if number == 4:
            return bool(raw)
    return None


def read_text_config(value: Value) -> dict[str, object]:
    """Settings that a trainer wrote as JSON text, such as the `args` of Hugging Face."""
    if not value.text.lstrip().startswith(b"{"):
        return {}
    try:
        document = orjson.loads(value.text)
    except orjson.JSONDecodeError:
        return {}
    name = value.tag.removesuffix("/text_summary")
    if not isinstance(document, dict):
        return {}
    return {str(k): v for k, v in document.items()} if name == "args" else {name: document}
