"""Which parts of a log line deserve a colour; few of them, for every change costs bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

from mltd.runs.sources.line_level import ERROR, WARNING, level_of

LONGEST_LOOKED_AT = 4096
MOST_METRICS = 1
"""Every further one would cost some 50 bytes for each line that is sent."""
_BASE = {ERROR: "log-error", WARNING: "log-warning", "": "log-text"}
_NAN = re.compile(r"(?<![\w.])[-+]?(?:nan|inf|infinity)(?![\w(])", re.IGNORECASE)
_METRIC = re.compile(
    r"""
    (?: loss | grad_?\ ?norm | gnorm | ppl | perplexity | acc | accuracy | top1 ) \b
    [\]"']{0,2} \ {0,3} [:=]? \ {0,8}
    (?P<number> [-+]? (?: \d+\.?\d* | \.\d+ ) (?: e[-+]?\d+ )? ) (?![\w./])
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Part(NamedTuple):
    """A stretch of a line and what it means."""

    start: int
    end: int
    meaning: str


def highlight(text: str) -> tuple[str, list[Part]]:
    """What the line as a whole is, and its parts that are something else, in order."""
    text = text[:LONGEST_LOOKED_AT]
    level = level_of(text)
    if level:
        return _BASE[level], []
    parts = [Part(*match.span(), "log-nan") for match in _NAN.finditer(text)]
    if not parts:
        for match in _METRIC.finditer(text):
            parts.append(Part(*match.span("number"), "log-metric"))
            if len(parts) == MOST_METRICS:
                break
    return "log-text", parts
