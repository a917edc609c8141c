"""The columns of a run as a table, written by pandas."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from .errors import InputError
from .harvest import AXES
from .run import Run

if TYPE_CHECKING:
    import pandas as pd


def to_frame(run: Run, *, wide: bool = False) -> pd.DataFrame:
    """All points: one row per value, or one row per record with a column per metric."""
    return _wide(run) if wide else _long(run)


def _long(run: Run) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for series in run.series:
        columns: dict[str, object] = {
            "file": run.files[series.file].path,
            "metric": series.name,
            "role": series.role,
            "rank": series.rank,
            "unit": series.unit or None,
        }
        columns |= {axis: series.axis(axis) for axis in AXES}
        columns["generation"] = series.coordinates.generation.view()[series.rows]
        columns["line"] = series.lines
        columns["value"] = series.values
        parts.append(pd.DataFrame(columns))
    names = ["file", "metric", "role", "rank", "unit", *AXES, "generation", "line", "value"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def _wide(run: Run) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for number, source in enumerate(run.files):
        coordinates = source.coordinates
        rows = np.arange(len(coordinates), dtype=np.int64)
        columns: dict[str, object] = {"file": source.path}
        columns |= {axis: coordinates.axis(axis, rows) for axis in AXES}
        columns["generation"] = coordinates.generation.view()
        columns["line"] = coordinates.line.view()
        for series in run.series:
            if series.file == number:
                values = np.full(len(rows), np.nan)
                values[series.rows] = series.values
                columns[series.name] = values
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def write_csv(run: Run, target: Path | IO[bytes], *, wide: bool = False) -> None:
    """Write CSV with every digit of every value."""
    try:
        to_frame(run, wide=wide).to_csv(target, index=False)
    except OSError as error:
        raise _cannot_write(target, error) from None


def write_parquet(run: Run, target: Path, *, wide: bool = False) -> None:
    """Write Parquet, if the package for it is installed."""
    if find_spec("pyarrow") is None:
        raise InputError(
            "writing Parquet needs the package pyarrow", hint="pip install mltd-tui[parquet]"
        )
    try:
        to_frame(run, wide=wide).to_parquet(target, index=False)
    except OSError as error:
        raise _cannot_write(target, error) from None


def _cannot_write(target: object, error: OSError) -> InputError:
    return InputError(f"{target} cannot be written: {error.strerror or error}")
