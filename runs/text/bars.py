"""Progress bars: tqdm, Keras, mmcv and the like, as drawn on a terminal or in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COUNT = r"\d+(?:\.\d+)?"
_BARS = (
    # tqdm with a total: `desc:  7%|▋    | 40/600 [00:10<02:20,  3.99it/s, loss=0.5]`
    re.compile(
        rf"""\d{{1,3}}%\|[^|]*\|\s*(?P<n>{_COUNT})(?P<nk>[kMG]?)/(?P<total>{_COUNT})(?P<tk>[kMG]?)\s*
        (?:\[\s*[\d:?]+<\s*[\d:?]+(?:\ days?,\ [\d:]+)?(?:,\s*(?P<rate>[\d.]+|\?)\s*(?P<rate_unit>\w+/s|s/\w+))?,?\s*)?""",
        re.VERBOSE,
    ),
    # tqdm without a total: `29948it [35:34,  7.00s/it]`
    re.compile(
        r"(?P<n>\d+)it\s\[[\d:]+(?:,\s*(?P<rate>[\d.]+|\?)\s*(?P<rate_unit>it/s|s/it))?,?\s*"
    ),
    # Keras: `256/10000 [>.....] - ETA: 57s - loss: 0.68`, `12/40 ━━━━━ 3s 66ms/step - loss: 0.6`
    re.compile(
        r"(?P<n>\d+)/(?P<total>\d+)\s*(?:\[[=>.#\-\s]*\]|[━─╸╺\s]{6,})\s*(?:-\s)?"
        r"(?:\s*ETA:\s*\S+)?(?=\s|$|-|\d)"
    ),
    # mmcv: `[>>>>    ] 10/60, 3.2 task/s, elapsed: 3s, ETA:  5s`
    re.compile(
        r"\[[>=#\s.]{8,}\]\s*(?P<n>\d+)/(?P<total>\d+),\s*[\d.]+\s*\w+/s(?:,\s*elapsed:\s*\d+s)?"
        r"(?:,\s*ETA:\s*\d+s)?"
    ),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a bar stands in the text and how far it is."""

    span: tuple[int, int]
    n_span: tuple[int, int]
    total_span: tuple[int, int] | None
    is_scaled: bool = False
    """The count is abbreviated (1.2k/5.0k), so it is no exact coordinate."""


def find_bar(text: str) -> Bar | None:
    """The first progress bar in a text."""
    if "[" not in text and "━" not in text and "|" not in text:
        return None
    for pattern in _BARS:
        if found := pattern.search(text):
            groups = found.groupdict()
            total = found.span("total") if groups.get("total") else None
            scaled = bool(groups.get("nk") or groups.get("tk"))
            return Bar(found.span(), found.span("n"), total, scaled)
    return None
