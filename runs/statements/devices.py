"""Lines that name an accelerator or say how much memory it has, and how much was in use at most."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .sizes import NUMBER, UNIT, bytes_of
from .statement import Statement, StatementKind

_BRAND = r"(?:NVIDIA|Tesla|GeForce|Quadro|TITAN|AMD Instinct)"
_NAME = rf"(?P<name>{_BRAND} (?=[\w -]{{0,40}}\d)[A-Za-z0-9][\w. -]{{0,40}}?)"
_SIZE = rf"(?P<n>{NUMBER}) ?(?P<unit>{UNIT})"
_DEVICES = (
    # nvidia-smi: a row with the name, and one below it with the memory.
    re.compile(
        rf"^\| {{1,8}}\d{{1,3}} {{1,8}}(?P<name>(?:{_BRAND}|[A-Z][\w-]{{1,30}})[^|]{{0,40}}?)"
        r" {1,20}(?:On|Off|N/A) {0,8}\| {0,20}[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:"
    ),
    re.compile(r"\| {0,10}\d{1,9}MiB {0,4}/ {0,6}(?P<n>\d{1,9})(?P<unit>MiB) {0,4}\|"),
    re.compile(rf"total memory = {_SIZE} ?;\s{{0,4}}name = (?P<name>[\w .-]{{1,60}}?)\s*$"),
    re.compile(rf"CUDA capacity: {_NAME} with {_SIZE}"),
    re.compile(rf"\bCUDA:\d{{1,6}} \({_NAME}, {_SIZE}\)"),
    re.compile(rf"device: \d{{1,6}}, name: {_NAME}, pci bus id"),
    re.compile(rf"\bGPU \d{{1,3}}(?:,\d{{1,3}}){{0,16}}: {_NAME}(?=\s*(?:\(UUID|$))"),
    re.compile(
        r"(?:[Uu]sing|[Rr]unning on|[Dd]evice|GPU)(?: name| device| type| GPU){0,2}"
        rf"(?: ?[:=] ?| on | ){_NAME}(?=[,;.()\s]*$)"
    ),
)
_DEVICE_WORDS = re.compile(rf"{_BRAND}|MiB ?/|total memory =|CUDA capacity")
_PEAK_WORDS = re.compile(
    r"(?i)\b(?:peak|max(?:imum)?)[ _](?:gpu[ _]|cuda[ _])?mem(?:ory)?|\bMax_MA\b"
)
_PEAKS = (
    re.compile(rf"\bMax_MA {{0,4}}{_SIZE}"),
    re.compile(
        r"(?i:\b(?:peak|max(?:imum)?)[ _](?:gpu[ _]|cuda[ _])?mem(?:ory)?(?:[ _](?:consumption|"
        r"usage|used|allocated|reserved|cached|in[ _]use)){0,2}(?: \((?P<inside>[kMGT]i?B)\))?)"
        rf"(?: ?[:=]{{1,2}} ?| was | is |  {{0,8}})(?P<n>{NUMBER}) ?(?P<unit>{UNIT})?"
    ),
)
_RESERVED = re.compile(rf"\breserved[:=]? {{1,4}}{_SIZE}|\bMax_CA {{0,4}}(?P<n2>{NUMBER}) ?GB")


def is_about_devices(text: str) -> bool:
    """True if lines of this shape may name a device or a peak; looks at words alone."""
    return _DEVICE_WORDS.search(text) is not None or _PEAK_WORDS.search(text) is not None


def device_statements(text: str) -> Iterator[Statement]:
    """The device that a line names, with its memory if the line says that too."""
    for pattern in _DEVICES:
        if (found := pattern.search(text)) is None:
            continue
        groups = found.groupdict()
        size = bytes_of(groups["n"], groups["unit"]) if groups.get("n") else None
        name = (groups.get("name") or "").strip()
        if name or size is not None:
            yield Statement(StatementKind.DEVICE, name, size, found[0].strip()[:200])
        return


def peak_statements(text: str) -> Iterator[Statement]:
    """The most memory that a line says was in use, where it also says in which unit."""
    for pattern in _PEAKS:
        if (found := pattern.search(text)) is None:
            continue
        groups = found.groupdict()
        unit = groups.get("inside") or groups["unit"]
        size = bytes_of(groups["n"], unit) if unit else None
        if size is not None:
            is_reserved = re.search(r"(?i)reserved|cached", found[0]) is not None
            subject = "reserved" if is_reserved else "allocated"
            yield Statement(StatementKind.PEAK, subject, size, found[0].strip()[:200])
            rest = _RESERVED.search(text, found.end())
            number = (rest["n"] or rest["n2"]) if rest is not None else None
            if rest is not None and number and not is_reserved:
                more = bytes_of(number, rest["unit"] or "GB")
                if more is not None:
                    yield Statement(StatementKind.PEAK, "reserved", more, rest[0].strip()[:200])
        return
