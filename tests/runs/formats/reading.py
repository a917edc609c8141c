"""Helpers to read bytes with a format and look at what came out."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence

from mltd.runs.event import Event
from mltd.runs.formats.format import Reader
from mltd.runs.harvest import AXES, Column, Harvest


def feed_whole(reader: Reader, data: bytes) -> Harvest:
    harvest = reader.feed(data, final=True)
    assert harvest.consumed == len(data)
    return harvest


def feed_in_pieces(reader: Reader, data: bytes, cuts: Iterable[int]) -> list[Harvest]:
    """Feed as a follower does: what was not consumed comes again before the next bytes."""
    edges = sorted({cut % (len(data) + 1) for cut in cuts} | {len(data)})
    harvests, kept, start = [], b"", 0
    for edge in edges:
        shown = kept + data[start:edge]
        harvest = reader.feed(shown, final=edge == len(data))
        assert 0 <= harvest.consumed <= len(shown)
        harvests.append(harvest)
        kept, start = shown[harvest.consumed :], edge
    assert kept == b""
    return harvests


def column(harvest: Harvest, name: str, split: str = "") -> Column:
    (found,) = [c for c in harvest.columns if c.key.name == name and c.key.split == split]
    return found


def values(harvest: Harvest, name: str, split: str = "") -> list[float]:
    return [float(value) for value in column(harvest, name, split).values]


def axis(harvest: Harvest, name: str) -> list[float]:
    return [float(value) for value in harvest.axes[name]]


def _text(number: float) -> str:
    return repr(float(number))  # so that NaN equals NaN and -0.0 differs from 0.0


def describe(harvests: Sequence[Harvest]) -> dict[str, object]:
    """Everything a sequence of harvests says, in a form that does not depend on the cuts."""
    points: dict[str, list[tuple[str, ...]]] = {}
    rows: list[tuple[str, ...]] = []
    events: list[tuple[str, str, int, int]] = []
    lines = offset = 0
    config: dict[str, object] = {}
    totals: dict[str, float] = {}
    for harvest in harvests:
        check_shape(harvest)
        coordinates = [
            tuple(_text(harvest.axes[a][row]) if a in harvest.axes else "nan" for a in AXES)
            for row in range(len(harvest.line))
        ]
        numbers = [str(number + lines) for number in harvest.line.tolist()]
        rows.extend((ln, *c) for ln, c in zip(numbers, coordinates, strict=True))
        for found in harvest.columns:
            points.setdefault(repr(found.key), []).extend(
                (numbers[row], *coordinates[row], _text(value))
                for row, value in zip(found.rows, found.values, strict=True)
            )
        events.extend(_event(event, lines, offset) for event in harvest.events)
        lines += harvest.lines
        offset += harvest.consumed
        config.update(harvest.config)
        totals.update(harvest.totals)
    return {
        "points": points,
        "rows": rows,
        "events": events,
        "config": repr(sorted(config.items())),
        "totals": totals,
        "lines": lines,
        "consumed": offset,
    }


def _event(event: Event, lines: int, offset: int) -> tuple[str, str, int, int]:
    return (
        str(event.kind),
        event.title,
        event.line + lines,
        event.offset + (offset if event.offset >= 0 else 0),
    )


def check_shape(harvest: Harvest) -> None:
    size = len(harvest.line)
    assert all(len(coordinates) == size for coordinates in harvest.axes.values())
    assert set(harvest.axes) <= set(AXES)
    keys = [found.key for found in harvest.columns]
    assert len(keys) == len(set(keys))
    for found in harvest.columns:
        assert len(found.rows) == len(found.values) > 0
        assert found.rows.min() >= 0
        assert found.rows.max() < size


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def message(*fields: tuple[int, int | float | bytes | str]) -> bytes:
    """A protocol buffer message: int as varint, float as double, text and bytes as they are."""
    out = b""
    for number, value in fields:
        if isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value % (1 << 64))
        else:
            raw = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(raw)) + raw
    return out


def float_field(number: int, value: float) -> bytes:
    return varint(number << 3 | 5) + struct.pack("<f", value)


def count_non_finite(numbers: Iterable[float]) -> int:
    return sum(not math.isfinite(number) for number in numbers)
