"""JSON as it is found in logs: with NaN, cut off in the middle, spread over lines."""

from __future__ import annotations

import json
import re

import numpy as np
import orjson

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)|[\[\]{},]', re.DOTALL)
"""A string that nobody ended goes on to the end, and is looked at once."""
_CLOSER = {b"{": b"}", b"[": b"]"}


def parse_json(data: bytes) -> object:
    """The value of a whole document, NaN and Infinity allowed; ValueError if it is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_json_head(head: bytes) -> tuple[object, bytes]:
    """The value of a document's first bytes, as far as they go, and what follows it.

    A document that goes on past `head` is cut after its last complete member and closed.
    """
    closers: list[bytes] = []
    cut, cut_closers = 0, b""
    for token in _TOKEN.finditer(head):
        text = token.group()
        if text in _CLOSER:
            closers.append(_CLOSER[text])
            cut, cut_closers = token.end(), b"".join(reversed(closers))
        elif text in (b"}", b"]"):
            if not closers or closers.pop() != text:
                raise ValueError("brackets do not match")
            if not closers:
                return parse_json(head[: token.end()]), head[token.end() :]
            cut, cut_closers = token.end(), b"".join(reversed(closers))
        elif text == b"," and closers:
            cut, cut_closers = token.start(), b"".join(reversed(closers))
        if len(closers) > 100:
            break
    return parse_json(head[:cut] + cut_closers), b""


def object_lines(data: bytes) -> list[list[int]]:
    """For every list that holds objects, in order: the 1-based lines where they begin."""
    newlines = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    lists: list[list[int]] = []
    open_lists: list[list[int] | None] = []
    for token in _TOKEN.finditer(data):
        text = token.group()
        if text == b"[":
            lists.append([])
            open_lists.append(lists[-1])
        elif text == b"{":
            if open_lists and (parent := open_lists[-1]) is not None:
                parent.append(token.start())
            open_lists.append(None)
        elif text in (b"}", b"]") and open_lists:
            open_lists.pop()
    return [
        (np.searchsorted(newlines, np.array(starts)) + 1).tolist() for starts in lists if starts
    ]
