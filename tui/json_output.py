"""JSON documents on stdout, one a line."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import orjson

from mltd.runs.remote.names import roots, shown


def write_json(content: Mapping[str, object]) -> None:
    """One JSON document on one line of stdout."""
    written = orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
    if roots():
        written = shown(written.decode()).encode()
    sys.stdout.buffer.write(written)
    sys.stdout.flush()
