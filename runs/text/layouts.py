"""Lines whose numbers stand in the same columns, recognised and read without looking for them.

Most lines of a training differ in nothing but their digits: the same words, and as many digits
in every number. Such lines are found by comparing whole lines at once, and their numbers are
cut out of fixed columns. Whatever does not fit is read by the template as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..harvest import Floats, Ints
from .cleaning import CleanChunk
from .decimals import MOST_DIGITS, POWERS
from .pieces import Codes, cut_out
from .template import Template, token_spans

_MOST_LAYOUTS = 12
"""Remembered at a time: numbers of two or three lengths in one or two kinds of lines."""
_ENOUGH_LINES = 16
"""Fewer lines of a layout in one chunk are not worth the calls."""
_MOST_IDLE = 4
"""Chunks without such lines after which a layout is forgotten: counters have grown."""
_MOST_WIDTH = 1024
"""Bytes; numbers in longer lines hardly ever keep their columns."""
_MOST_TRIES = 200
"""Layouts learned in vain before a log counts as one without any."""
_PLAIN = re.compile(rb"(?P<sign>[+-]?)(?P<digits>\d*\.?\d*)(?P<power>[eE][+-]\d\d)?")
_ZERO, _NINE = np.uint8(48), np.uint8(9)


class _Number(NamedTuple):
    """Where a number stands in its line, and how its digits are weighed."""

    start: int
    weights: Floats
    """For every column from `start` on; zero for the sign and the dot."""
    decimals: int
    is_negative: bool
    exponent: int | None
    """Column of the two digits of an exponent."""
    is_exponent_negative: bool


@dataclass(slots=True, eq=False)
class Layout:
    """One arrangement of words and digits, and what its numbers are."""

    plan: int
    template: Template
    width: int
    folded: Codes
    """The line, every digit as the same number."""
    numbers: list[_Number]
    """One for each used token of the template."""
    idle: int = 0
    """Chunks in a row that had no such lines."""

    def read(self, digits: Codes) -> Floats | None:
        """Matrix lines x fields; None if a number is too small or large for exact arithmetic."""
        columns = {}
        for used, number in zip(self.template.used, self.numbers, strict=True):
            column = _read_number(digits, number)
            if column is None:
                return None
            columns[used] = column
        return self.template.assemble(columns, len(digits))


class Fitting(NamedTuple):
    """Lines of a chunk that have a layout, ascending, and their bytes less the code of `0`."""

    layout: Layout
    indices: Ints
    digits: Codes


@dataclass(slots=True)
class Layouts:
    """The layouts that lines of one log have had lately."""

    _known: list[Layout] = field(default_factory=list)
    _tries: int = 0

    def fit(self, chunk: CleanChunk) -> list[Fitting]:
        """All lines of a chunk that have a known layout."""
        fittings: list[Fitting] = []
        if not self._known:
            return fittings
        starts = chunk.pieces.starts
        lengths = np.diff(starts) - 1
        codes = np.frombuffer(chunk.joined, dtype=np.uint8)
        for width in dict.fromkeys(layout.width for layout in self._known):
            indices = np.flatnonzero(lengths == width)
            if len(indices) < _ENOUGH_LINES:
                continue
            digits, folded = _fold(codes, starts[indices], width)
            for layout in self._known:
                if layout.width == width and len(indices) >= _ENOUGH_LINES:
                    fits = _rows_like(folded, layout.folded)
                    if fits is None:
                        fittings.append(Fitting(layout, indices, digits))
                        break
                    if np.count_nonzero(fits) >= _ENOUGH_LINES:
                        fittings.append(Fitting(layout, indices[fits], digits[fits]))
                        indices, digits, folded = indices[~fits], digits[~fits], folded[~fits]
        busy = {id(fitting.layout) for fitting in fittings}
        for layout in self._known:
            layout.idle = 0 if id(layout) in busy else layout.idle + 1
        # Those that are met come first, so that few lines are left to compare with the others.
        self._known = sorted(
            (layout for layout in self._known if layout.idle <= _MOST_IDLE),
            key=lambda layout: layout.idle,
        )
        if 2 * sum(len(fitting.indices) for fitting in fittings) > len(lengths):
            self._tries = 0
        return fittings

    def learn(self, plan: int, template: Template, chunk: CleanChunk, indices: Ints) -> None:
        """Remember the commonest layout of lines that a template has read."""
        if template.anchors or template.json_places is not None or not template.token_count:
            return
        if len(indices) < _ENOUGH_LINES or len(self._known) >= _MOST_LAYOUTS:
            return
        if self._tries >= _MOST_TRIES:
            return
        starts = chunk.pieces.starts
        lengths = starts[indices + 1] - starts[indices] - 1
        width = int(np.bincount(np.minimum(lengths, _MOST_WIDTH + 1)).argmax())
        alike = indices[lengths == width]
        if width > _MOST_WIDTH or len(alike) < _ENOUGH_LINES:
            return
        self._tries += 1
        # The last one: what has just begun goes on.
        line = chunk.pieces[int(alike[-1])]
        numbers = _numbers_of(line, template)
        _, folded = _fold(np.frombuffer(line, dtype=np.uint8), np.zeros(1, np.int64), width)
        is_known = any(
            one.plan == plan and np.array_equal(one.folded, folded[0]) for one in self._known
        )
        if numbers is not None and not is_known:
            self._known.append(Layout(plan, template, width, folded[0], numbers))


class Part(NamedTuple):
    """Lines of one template, ascending, and their numbers."""

    indices: Ints
    matrix: Floats


def without(fittings: Iterable[Fitting], skipped: npt.NDArray[np.bool_], end: int) -> list[Fitting]:
    """The same fittings, less the lines that are skipped or behind `end`."""
    left: list[Fitting] = []
    for layout, indices, digits in fittings:
        kept = ~skipped[indices] & (indices < end)
        if kept.any():
            left.append(Fitting(layout, indices[kept], digits[kept]))
    return left


def indices_besides(indices: Ints, parts: Sequence[Part]) -> Ints:
    """Those of some lines that no part holds."""
    if not parts:
        return indices
    if sum(len(part.indices) for part in parts) == len(indices):
        return indices[:0]
    is_left = np.zeros(int(indices[-1]) + 1, dtype=bool)
    is_left[indices] = True
    for part in parts:
        is_left[part.indices] = False
    return np.flatnonzero(is_left)


def in_order(parts: Sequence[Part]) -> Part:
    """All parts as one, in the order of the file."""
    if len(parts) == 1:
        return parts[0]
    indices = np.concatenate([part.indices for part in parts])
    order = np.argsort(indices, kind="stable")
    joined = np.empty((len(indices), parts[0].matrix.shape[1]), order="F")
    for column in range(joined.shape[1]):
        joined[:, column] = np.concatenate([part.matrix[:, column] for part in parts])[order]
    return Part(indices[order], joined)


def _fold(codes: Codes, starts: Ints, width: int) -> tuple[Codes, Codes]:
    """Lines less the code of `0`, and the same with every digit as 9: nothing else is below 10."""
    digits = cut_out(codes, starts, width) - _ZERO  # unsigned: what is below "0" wraps around
    return digits, np.maximum(digits, _NINE)


def _rows_like(folded: Codes, line: Codes) -> npt.NDArray[np.bool_] | None:
    """Which rows are equal to a line; None if all are."""
    differs = folded != line
    if not differs.any():
        return None
    fits = np.ones(len(folded), dtype=bool)
    # Much faster than to reduce row by row: rows are short.
    fits[np.flatnonzero(differs) // len(line)] = False
    return fits


def _numbers_of(line: bytes, template: Template) -> list[_Number] | None:
    """The places of the used tokens in one line; None if a number has an unusual form."""
    spans = token_spans(line)
    if len(spans) != template.token_count:
        return None
    numbers = []
    for token, before, after in template.used:
        start, end = spans[token][0] + len(before), spans[token][1] - len(after)
        text = line[start:end]
        if template.has_trailing_dots and text.endswith(b"."):
            text = text[:-1]
        found = _PLAIN.fullmatch(text)
        if found is None or not 0 < sum(48 <= c <= 57 for c in found["digits"]) <= MOST_DIGITS:
            return None
        numbers.append(_number(start, found))
    return numbers


def _number(start: int, found: re.Match[bytes]) -> _Number:
    sign, digits, power = found["sign"], found["digits"], found["power"]
    whole, _, decimals = digits.partition(b".")
    count = len(whole) + len(decimals)
    weights = np.zeros(len(sign) + len(digits))
    weights[len(sign) : len(sign) + len(whole)] = POWERS[len(decimals) : count][::-1]
    weights[len(weights) - len(decimals) :] = POWERS[: len(decimals)][::-1]
    exponent = start + found.start("power") + 2 if power else None
    return _Number(
        start, weights, len(decimals), sign == b"-", exponent, bool(power) and power[1:2] == b"-"
    )


def _read_number(digits: Codes, number: _Number) -> Floats | None:
    # Sums of integers below 2**53 are exact in any order.
    written = digits[:, number.start : number.start + len(number.weights)]
    mantissa: Floats = written @ number.weights
    if number.is_negative:
        mantissa = -mantissa
    if number.exponent is None:
        return mantissa / POWERS[number.decimals] if number.decimals else mantissa
    size: Ints = digits[:, number.exponent] * np.int64(10) + digits[:, number.exponent + 1]
    power = (-size if number.is_exponent_negative else size) - number.decimals
    low, high = int(power.min()), int(power.max())
    if max(-low, high) >= len(POWERS):
        return None
    size = np.abs(power)
    if high <= 0:
        return mantissa / POWERS[size]
    return np.where(power < 0, mantissa / POWERS[size], mantissa * POWERS[size])
