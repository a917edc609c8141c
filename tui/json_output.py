"""JSON documents on stdout, one a line."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import orjson

from mltd.runs.name_text import escape_undecodable
from mltd.runs.remote.names import roots, shown


def write_json(content: Mapping[str, object]) -> None:
    """One JSON document on one line of stdout."""
    try:
        written = orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # A name that is no text. Rare, so that nobody else pays for looking at every string.
        written = orjson.dumps(_decodable(content), option=orjson.OPT_APPEND_NEWLINE)
    if roots():
        written = shown(written.decode()).encode()
    sys.stdout.buffer.write(written)
    sys.stdout.flush()


def _decodable(value: object) -> object:
    """The same value with every string in it as JSON can hold it."""
    if isinstance(value, str):
        return escape_undecodable(value)
    if isinstance(value, Mapping):
        return {_decodable(key): _decodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_decodable(item) for item in value]
    return value
