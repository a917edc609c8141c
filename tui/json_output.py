"""JSON documents on stdout, one a line."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import orjson


def write_json(content: Mapping[str, object]) -> None:
    """One JSON document on one line of stdout."""
    sys.stdout.buffer.write(orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.flush()
