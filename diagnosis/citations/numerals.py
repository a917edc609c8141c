"""Numbers as somebody states them: a value, and how exactly it is given."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<whole>\d{1,3}(?:[,_]\d{3})+|\d{0,40})(?:\.(?P<part>\d{0,40}))?"
    r"(?:[eE](?P<power>[-+]?\d{1,4}))?\s*(?P<unit>%|[A-Za-zµ][A-Za-zµ/.*^-]{0,15})?"
)
_SPECIAL = {
    f"{sign}{name}": -value if sign == "-" else value
    for name, value in (("nan", math.nan), ("inf", math.inf), ("infinity", math.inf))
    for sign in ("", "+", "-")
}


class Stated(NamedTuple):
    """A number with its rounding."""

    value: float
    half_digit: float = 0.0
    """Half of one in its last digit: 2.31 stands for 2.305 to 2.315."""
    is_percent: bool = False


def stated(text: str) -> Stated | None:
    """The number that a text is, with a unit behind it at most; None if it is none."""
    said = text.strip().strip("\"'`").strip().lstrip("~≈=").strip().replace("\u2212", "-")
    if said.casefold() in _SPECIAL:
        return Stated(_SPECIAL[said.casefold()])
    found = _NUMBER.fullmatch(said)
    if found is None or not (found["whole"] or found["part"]):
        return None
    whole = re.sub("[,_]", "", found["whole"] or "0")
    part, power = found["part"] or "", int(found["power"] or 0)
    # By way of text: ten to a power that no number can hold is infinite or nothing, not an error.
    value = float(f"{found['sign']}{whole}.{part or 0}e{power}")
    return Stated(value, float(f"5e{power - len(part) - 1}"), found["unit"] == "%")


def fits(said: Stated, actual: float) -> bool:
    """True if a value rounds to what was said."""
    if said.is_percent and fits(Stated(said.value / 100, said.half_digit / 100), actual):
        return True
    if math.isnan(said.value) or math.isnan(actual):
        return math.isnan(said.value) and math.isnan(actual)
    if math.isinf(said.value) or math.isinf(actual):
        return said.value == actual
    if said.value == 0:
        # Who says zero does not mean a learning rate of 3e-4, though that rounds to it.
        return actual == 0
    return abs(actual - said.value) <= said.half_digit * (1 + 1e-9) + 1e-12 * abs(actual)


def is_same(said: Stated, actual: float) -> bool:
    """True if two numbers are the same, but for the last bits of a float."""
    if math.isnan(said.value) or math.isnan(actual):
        return math.isnan(said.value) and math.isnan(actual)
    return math.isclose(said.value, actual, rel_tol=1e-6)
