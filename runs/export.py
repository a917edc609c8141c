"""The columns of a run as a table, written by pandas."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING

import numpy as np

from .errors import InputError
from .harvest import AXES
from .name_text import escape_undecodable, escape_unprintable
from .run import Run

if TYPE_CHECKING:
    import pandas as pd

_FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula; the last four are full-width forms."""


def to_frame(
    run: Run, *, wide: bool = False, as_text: Callable[[str], str] = escape_undecodable
) -> pd.DataFrame:
    """All points: one row per value, or one row per record with a column per metric.

    `as_text` turns what others have named, files and metrics, into what a cell may hold.
    """
    return _wide(run, as_text) if wide else _long(run, as_text)


def _long(run: Run, as_text: Callable[[str], str]) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for series in run.series:
        columns: dict[str, object] = {
            "file": as_text(run.files[series.file].path),
            "metric": as_text(series.name),
            "role": as_text(series.role) if series.role else series.role,
            "rank": series.rank,
            "unit": as_text(series.unit) if series.unit else None,
        }
        columns |= {axis: series.axis(axis) for axis in AXES}
        columns["generation"] = series.coordinates.generation.view()[series.rows]
        columns["line"] = series.lines
        columns["value"] = series.values
        parts.append(pd.DataFrame(columns))
    names = ["file", "metric", "role", "rank", "unit", *AXES, "generation", "line", "value"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def _wide(run: Run, as_text: Callable[[str], str]) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for number, source in enumerate(run.files):
        coordinates = source.coordinates
        rows = np.arange(len(coordinates), dtype=np.int64)
        columns: dict[str, object] = {"file": as_text(source.path)}
        columns |= {axis: coordinates.axis(axis, rows) for axis in AXES}
        columns["generation"] = coordinates.generation.view()
        columns["line"] = coordinates.line.view()
        for series in run.series:
            if series.file == number:
                values = np.full(len(rows), np.nan)
                values[series.rows] = series.values
                columns[as_text(series.name)] = values
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def write_csv(run: Run, target: IO[bytes], *, wide: bool = False) -> None:
    """Write CSV with every digit of every value."""
    to_frame(run, wide=wide, as_text=inert_cell).to_csv(_Utf8Writer(target), index=False)


def inert_cell(text: str) -> str:
    """A text cell that no terminal acts on and no spreadsheet takes for a formula."""
    text = escape_unprintable(text)
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


class _Utf8Writer(io.TextIOBase):
    """Takes text for a binary file; an `io.TextIOWrapper` would close the file when it fails."""

    mode = "w"

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target

    def write(self, text: str) -> int:
        """Write text as UTF-8."""
        self._target.write(text.encode())
        return len(text)


def check_parquet() -> None:
    """Raise `InputError` unless the package that writes Parquet is installed."""
    if find_spec("pyarrow") is None:
        raise InputError(
            "writing Parquet needs the package pyarrow", hint="pip install mltd-tui[parquet]"
        )


def write_parquet(run: Run, target: IO[bytes], *, wide: bool = False) -> None:
    """Write Parquet; `check_parquet` says whether that is possible."""
    to_frame(run, wide=wide).to_parquet(target, index=False)
