"""What the values of a tensor come to, in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings.spans import Line, Span, hang
from ..quantities import short_value

if TYPE_CHECKING:
    from ..engine.model_protocol import ModuleRow, TensorValues

_LABEL = 12


def value_facts(row: ModuleRow, width: int) -> Iterator[Line]:
    """What is wrong first, then the sizes."""
    values = row.values
    assert values is not None
    elements = row.dtypes[0][1] if row.dtypes else 0
    for label, text, meaning in _said(values, row.shape, elements):
        yield from hang((Span(f"{label:<{_LABEL}} ", "quiet"),), text, width, meaning)


def _said(
    values: TensorValues, shape: tuple[int, ...], elements: int
) -> Iterator[tuple[str, str, str]]:
    if values.nans or values.infs:
        said = f"{values.nans:,} NaN, {values.infs:,} infinite of {elements:,}"
        yield "not finite", said, "severity-critical"
    if values.is_constant and elements > 1:
        yield "constant", "all values are the same number", "severity-warning"
    if values.dead_rows:
        which = ", ".join(map(str, values.first_dead))
        more = ", …" if values.dead_rows > len(values.first_dead) else ""
        rows = f" of {shape[0]:,}" if shape else ""
        said = f"{values.dead_rows:,}{rows} output rows are all zero: {which}{more}"
        yield "dead", said, "severity-warning"
    if values.least is not None and values.most is not None:
        yield "range", f"{short_value(values.least)} to {short_value(values.most)}", ""
    if values.mean is not None and values.std is not None:
        yield (
            "mean",
            f"{short_value(values.mean)}, standard deviation {short_value(values.std)}",
            "",
        )
    if values.norm is not None:
        rms = f", rms {short_value(values.rms)}" if values.rms is not None else ""
        yield "norm", f"{short_value(values.norm)}{rms}", ""
    zeros = values.zeros / elements if elements else 0.0
    yield "zeros", f"{values.zeros:,} ({zeros:.1%})", ""
