"""From what a series is called to the series itself."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mltd.analyzers.core.view import preference
from mltd.runs.roles import normalise

from .wording import number, place

if TYPE_CHECKING:
    from mltd.runs.run import Run
    from mltd.runs.series import Series

_FEW = 5


def find_series(run: Run, name: str, path: str = "") -> list[Series]:
    """Series with this name or role, the one that is meant first; none if nothing has it."""
    known = [s for s in run.series if len(s) and (not path or run.files[s.file].path == path)]
    words = normalise(name)
    for same in (
        [s for s in known if s.name == name],
        [s for s in known if s.role == name],
        [s for s in known if normalise(s.name) == words],
    ):
        if same:
            return sorted(same, key=preference)
    return []


def close_names(run: Run, name: str) -> list[str]:
    """Names and roles that may have been meant."""
    known: dict[str, str] = {}
    for series in run.series:
        for called in (series.name, series.role or ""):
            known.setdefault(normalise(called), called)
    words = normalise(name)
    close = difflib.get_close_matches(words, filter(None, known), _FEW, 0.5)
    close += [one for one in known if one and set(one.split()) & set(words.split())]
    return [known[one] for one in dict.fromkeys(close)][:_FEW]


def described(run: Run, series: Series) -> str:
    """One series in a line: name, role, axis, points, first and last value, file."""
    role = f" [{series.role}]" if series.role else ""
    x, values = series.axis(series.axis_name), series.values
    ends = f"{number(values[0])} .. {number(values[-1])}"
    where = f"{series.axis_name} {place(x[0])}..{place(x[-1])}"
    file = run.files[series.file].path.rpartition("/")[2]
    return f"{series.name}{role}: {len(series):,} points, {where}, values {ends}, from {file}"
