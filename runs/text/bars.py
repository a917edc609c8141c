"""Progress bars: tqdm, Keras, mmcv and the like, as drawn on a terminal or in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .reading import Span

_TQDM = re.compile(
    r"""
    \d{1,3}%\|[^|]*\|\s*
    (?P<n>\d+(?:\.\d+)?)(?P<n_scale>[kMG]?)/(?P<total>\d+(?:\.\d+)?)(?P<total_scale>[kMG]?)\s*
    (?:
        \[\s*[\d:?]+<\s*[\d:?]+(?:\ days?,\ [\d:]+)?         # passed<remaining
        (?:,\s*(?:[\d.]++|\?)\s*(?:\w+/s|s/\w+))?,?\s*       # rate
    )?
    """,
    re.VERBOSE,
)
"""`desc:  7%|▋    | 40/600 [00:10<02:20,  3.99it/s, loss=0.5]`."""
_ENDLESS_TQDM = re.compile(
    r"(?<!\d)(?P<n>\d+)it\s\[[\d:]+(?:,\s*(?:[\d.]+|\?)\s*(?:it/s|s/it))?,?\s*"
)
"""`29948it [35:34,  7.00s/it]`: the total is not known."""
_KERAS = re.compile(
    r"(?<!\d)(?P<n>\d+)/(?P<total>\d+)(?:\s*\[[=>.#\-\s]*\]|[━─╸╺\s]{6,})\s*(?:-\s)?"
    r"(?:\s*ETA:\s*\S+)?(?=\s|$|-|\d)"
)
"""`256/10000 [>.....] - ETA: 57s - loss: 0.68`, `12/40 ━━━━━━ 3s 66ms/step - loss: 0.6`."""
_MMCV = re.compile(
    r"\[[>=#\s.\-]{8,}\]\s*(?P<n>\d+)/(?P<total>\d+),\s*[\d.]++\s*\w+/s(?:,\s*elapsed:\s*\d+s)?"
    r"(?:,\s*ETA:\s*\d+s)?"
)
"""`[>>>>    ] 10/60, 3.2 task/s, elapsed: 3s, ETA:  5s`."""
_BARS = (_TQDM, _ENDLESS_TQDM, _KERAS, _MMCV)


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a bar stands in the text and how far it is."""

    span: Span
    n_span: Span
    total_span: Span | None
    is_scaled: bool = False
    """The count is abbreviated (1.2k/5.0k), so it is no exact coordinate."""


def find_bar(text: str) -> Bar | None:
    """The first progress bar in a text."""
    if "[" not in text and "━" not in text and "|" not in text:
        return None
    for pattern in _BARS:
        if found := pattern.search(text):
            groups = found.groupdict()
            total_span = found.span("total") if "total" in groups else None
            is_scaled = bool(groups.get("n_scale") or groups.get("total_scale"))
            return Bar(found.span(), found.span("n"), total_span, is_scaled)
    return None
