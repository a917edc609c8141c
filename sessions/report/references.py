"""What the references of evidence point to: a stretch of a metric, or a line of a file."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_STRETCH = re.compile(rf"^(?P<name>.*)@(?P<first>{_NUMBER})(?:\.\.(?P<last>{_NUMBER}))?$", re.S)
_LINE = re.compile(r"^(?P<name>.*):(?P<line>\d{1,15})(?:[-.]+\d+)?$", re.S)


class Stretch(NamedTuple):
    """A metric from one place of its axis to another."""

    name: str
    first: float | None = None
    last: float | None = None


class Line(NamedTuple):
    """A line of a file."""

    name: str
    number: int


def stretch_of(ref: str) -> Stretch:
    """`train/loss@24590..25010`; the metric alone if no place is named."""
    found = _STRETCH.match(ref)
    if found is None:
        return Stretch(ref)
    first = float(found["first"].replace(",", ""))
    last = float(found["last"].replace(",", "")) if found["last"] else first
    return Stretch(found["name"], first, last)


def line_of(ref: str) -> Line | None:
    """`train.err:812`; None if no line is named."""
    found = _LINE.match(ref)
    return Line(found["name"], int(found["line"])) if found else None
