"""Reads a block of a purely numeric table at the speed of a parser in C or Rust.

Returns nothing for a block with anything unusual in it, so that the careful reader of
`tabular` takes over; where it does answer, both give the same values to the last digit.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import orjson

from ..harvest import Floats
from ..packing import pack_floats

_PLAIN = b"0123456789.+-eE \n"


_QUOTED_CELL = {
    d: re.compile(rb'(?<![^%b\n])"([^"%b\n]*)"(?![^%b\n])' % (d, d, d))
    for d in (b",", b"\t", b";", b"|")
}
_NAN_END = re.compile(rb"[nN][aA][nN](?=[ ,;|\t\n])")

# NaN words are read as a number that nobody logs: an empty cell is also NaN to the parser, but
# it is no point at all.
# With its sign it cannot join a digit before it.
_NAN_TEXT = b"+1.2345678987654321e-301"
_NAN_STAND_IN = float(_NAN_TEXT)
_NAN_HINT = b"e-301"

_GUESS_BYTES = 1 << 14

Missing = npt.NDArray[np.bool_]


def read_numeric_block(
    block: bytes, delimiter: bytes, width: int
) -> tuple[Floats, Missing | None] | None:
    """Values (rows by columns) of complete lines and which cells are empty, or nothing."""
    plain = _tidy(block, delimiter)
    strange = plain.translate(None, _PLAIN + delimiter)
    if strange:
        if strange.translate(None, b"nafityNAFITY") or _NAN_HINT in plain:
            return None
        plain = _NAN_END.sub(_NAN_TEXT, plain)
    # The parser reads "17e 0" as 17.
    if b" " in plain and (b"e " in plain or b"E " in plain):
        return None
    if not _is_rectangular(plain, delimiter, width):
        return None
    missing = values = None
    # Only a guess, to save a vain attempt.
    if delimiter * 2 not in plain[:_GUESS_BYTES]:
        values = _parse_dense(plain, delimiter, width)
        if values is None:
            values = _parse(plain, delimiter, width, has_gaps=False)
    if values is None:
        values = _parse(plain, delimiter, width, has_gaps=True)
        if values is None:
            return None
        missing = np.isnan(values)
    if strange:
        values[values == _NAN_STAND_IN] = np.nan
    return values, missing


def _tidy(block: bytes, delimiter: bytes) -> bytes:
    """The same cells without carriage returns, decimal commas and quotes around a cell."""
    if not block.endswith(b"\n"):
        block += b"\n"
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if delimiter == b";" and b"," in block:
        block = block.replace(b",", b".")
    if b'"' in block:
        block = _QUOTED_CELL[delimiter].sub(rb"\1", block)
    return block


def _is_rectangular(block: bytes, delimiter: bytes, width: int) -> bool:
    """True if every line has as many delimiters as the header."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == 10)
    delimiters = np.flatnonzero(data == delimiter[0])
    if len(delimiters) != len(ends) * (width - 1):
        return False
    table = delimiters.reshape(len(ends), width - 1)
    starts = np.concatenate(([-1], ends[:-1]))
    return bool((table[:, 0] > starts).all() and (table[:, -1] < ends).all())


def _parse_dense(block: bytes, delimiter: bytes, width: int) -> Floats | None:
    """A table whose every cell is a number as JSON writes it, which is what Python prints."""
    cells = block[:-1].replace(b"\n", b",")
    if delimiter != b",":
        cells = cells.replace(delimiter, b",")
    try:
        numbers = orjson.loads(b"[" + cells + b"]")
        values = pack_floats(numbers, len(numbers))
    except ValueError:
        return None
    return values.reshape(-1, width) if len(values) % width == 0 else None


def _parse(block: bytes, delimiter: bytes, width: int, *, has_gaps: bool) -> Floats | None:
    import pandas as pd  # a third of a second to import, needed for big files only

    options: dict[str, Any] = {"na_filter": False}
    if has_gaps:
        options = {"keep_default_na": False, "na_values": [""]}
    if int(pd.__version__.split(".")[0]) < 3:
        options["float_precision"] = "round_trip"
    try:
        frame = pd.read_csv(
            io.BytesIO(block),
            sep=delimiter.decode(),
            header=None,
            names=list(range(width)),
            index_col=False,
            dtype=np.float64,
            engine="c",
            low_memory=False,
            skip_blank_lines=False,
            skipinitialspace=b" " in block,
            quoting=csv.QUOTE_NONE,
            **options,
        )
    except (ValueError, OverflowError):
        return None
    return cast(Floats, frame.to_numpy(dtype=np.float64, copy=True))
