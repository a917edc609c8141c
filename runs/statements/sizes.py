"""Numbers of parameters and sizes of memory as people write them: 124.44M, 1,234,567, 79.15 GiB."""

from __future__ import annotations

import math
import re

NUMBER = r"\d{1,3}(?:,\d{3}){1,6}(?!\d)|\d{1,18}(?:\.\d{1,12})?(?:[eE]\+?\d{1,2})?"
"""With commas between thousands or without; bounded, so that no line makes it slow or huge."""
TIMES = r"(?:[kKMGBT](?![\w/])|[Tt]housand|[Mm]illion|[Bb]illion)"
"""What follows a count."""
UNIT = r"(?:[kKMGT]i?B|[KMGT]|bytes|B)(?![\w/])"
"""What follows a size of memory."""
_FACTORS = {"k": 1e3, "t": 1e12, "m": 1e6, "g": 1e9, "b": 1e9}
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
LEAST_PARAMETERS, MOST_PARAMETERS = 100, 1e15
"""Fewer are a list of names, not a model."""
MOST_BYTES = 2.0**60
_PLAIN = re.compile(NUMBER)


def plain_number(text: str) -> float | None:
    """A number that may have commas; None if it is none, or not finite."""
    if _PLAIN.fullmatch(text.strip()) is None:
        return None
    value = float(text.replace(",", ""))
    return value if math.isfinite(value) else None


def count_of(number: str, times: str | None) -> float | None:
    """How many parameters `124.44` and `M` are; None for what no model has."""
    value = plain_number(number)
    if value is None:
        return None
    word = (times or "").strip().casefold()
    # `thousand` and `T` begin alike and mean a thousand and a trillion.
    value *= 1e3 if word == "thousand" else _FACTORS.get(word[:1], 1.0)
    return float(round(value)) if LEAST_PARAMETERS <= value <= MOST_PARAMETERS else None


def bytes_of(number: str, unit: str | None) -> float | None:
    """Bytes of `79.15` and `GiB`; programs that write GB mean powers of 1024 as well."""
    value = plain_number(number)
    if value is None:
        return None
    value *= 1024.0 ** _POWERS.get((unit or "").strip().casefold()[:1], 0)
    return value if 1 <= value <= MOST_BYTES else None
