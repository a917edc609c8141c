r"""Lines that a container's runtime or a structured logger put into JSON, taken out again.

    {"log":"step 10 loss 2.1\n","stream":"stdout","time":"2026-01-01T10:00:00.123Z"}
    {"levelname": "ERROR", "message": "failed", "exc_info": "Traceback (most ...\n  File ..."}

The first are read as if the runtime had written `time line`; of the second the traceback is read
line by line, all of them pieces of the one line in the file.
"""

from __future__ import annotations

import re

import orjson

_BY_RUNTIME = re.compile(rb'^\{"log": ?"[^\n]*\}[ \t]*$', re.MULTILINE)
_TRACEBACK = b"Traceback (most recent call last):\\n"
"""As it is written inside a string of JSON."""
_SAMPLE = 65536
"""Bytes in which a container's runtime has written something, if it did."""
_DEEPEST = 3


def open_lines(data: bytes) -> bytes:
    """The same lines without their envelopes; several lines from one are parted like redraws."""
    if b'{"log":' in data[:_SAMPLE]:
        data = _BY_RUNTIME.sub(lambda line: _of_runtime(line[0]), data)
    return _with_tracebacks(data) if _TRACEBACK in data else data


def _of_runtime(line: bytes) -> bytes:
    record = _record(line)
    said, moment, stream = (record.get(key, "") for key in ("log", "time", "stream"))
    if not (isinstance(said, str) and isinstance(moment, str) and isinstance(stream, str)):
        return line
    if not stream.startswith("std"):
        return line
    return _in_one_line(f"{moment} {said}" if moment else said)


def _with_tracebacks(data: bytes) -> bytes:
    parts: list[bytes] = []
    done = 0
    position = data.find(_TRACEBACK)
    while position >= 0:
        start = data.rfind(b"\n", 0, position) + 1
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        record = _record(data[start:end])
        key, text = _traceback_in(record)
        if text:
            del record[key]
            parts += [data[done:start], orjson.dumps(record), b"\r", _in_one_line(text)]
            done = end
        position = data.find(_TRACEBACK, end)
    return b"".join([*parts, data[done:]])


def _traceback_in(record: dict[str, object]) -> tuple[str, str]:
    """The key of a record under which there is a traceback, and the text of that."""
    for key, value in record.items():
        if text := _told(value):
            return key, text
    return "", ""


def _told(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value if "Traceback (most recent call last):\n" in value else ""
    if depth < _DEEPEST and isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return next((text for one in inner if (text := _told(one, depth + 1))), "")
    return ""


def _in_one_line(text: str) -> bytes:
    lines = text.rstrip("\r\n").replace("\r\n", "\n")
    return lines.replace("\n", "\r").encode("utf-8", "replace")


def _record(line: bytes) -> dict[str, object]:
    """The object that a line is; empty if it is none."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
