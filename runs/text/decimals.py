"""Decimal numbers in a buffer to floats, a whole column at once and exact to the last bit.

Numbers that one format string printed have the same number of decimals (`%.4f`, `%.3e`, `%d`),
so their digits stand at the same places when counted from the right. The digits make an
integer below 2**53, which a float holds exactly; one division by an exact power of ten then
rounds correctly, once. Whatever does not fit this is parsed number by number.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..harvest import Floats, Ints
from .pieces import Codes, Places, cut_out

MOST_DIGITS = 15
"""Every integer of so many digits is a float, and so are all sums on the way to it."""
_MOST_POWER = 22
"""Powers of ten up to this one are floats."""
POWERS = 10.0 ** np.arange(_MOST_POWER + 1)
_ZERO, _DOT, _MINUS, _PLUS = np.frombuffer(b"0.-+", dtype=np.uint8)
_EXPONENT = 4
"""Length of an exponent as C prints it: `e-05`."""


def parse_column(codes: Codes, starts: Places, ends: Places) -> Floats | None:
    """The numbers at `codes[start:end]`, first one first; None if one of them is no number."""
    exact = _parse_alike(codes, starts, ends)
    return _parse_each(codes, starts, ends) if exact is None else exact


def _parse_alike(codes: Codes, starts: Places, ends: Places) -> Floats | None:
    """All at once, if all are printed alike; None if they are not."""
    first = codes[int(starts[0]) : int(ends[0])].tobytes()
    if first[-_EXPONENT : 1 - _EXPONENT] in (b"e", b"E"):
        power = _exponents(codes, ends)
        if power is None:
            return None
        first, ends = first[:-_EXPONENT], ends - _EXPONENT
    else:
        power = None
    decimals = len(first) - 1 - first.rfind(b".") if b"." in first else -1
    mantissa = _mantissas(codes, starts, ends, decimals)
    if mantissa is None:
        return None
    if power is None:
        return mantissa / POWERS[decimals] if decimals > 0 else mantissa
    power = power - max(decimals, 0)
    size = np.abs(power)
    if int(size.max()) > _MOST_POWER:
        return None
    return np.where(power < 0, mantissa / POWERS[size], mantissa * POWERS[size])


def _exponents(codes: Codes, ends: Places) -> Ints | None:
    """The exponents `e-05` at the end of every number; None if one has another form."""
    letter, sign, tens, ones = cut_out(codes, ends - _EXPONENT, _EXPONENT).T
    tens, ones = tens - _ZERO, ones - _ZERO
    is_negative = sign == _MINUS
    is_regular = (letter == letter[0]) & (is_negative | (sign == _PLUS)) & (tens <= 9) & (ones <= 9)
    if not is_regular.all():
        return None
    size: Ints = tens.astype(np.int64) * 10 + ones
    signed: Ints = np.where(is_negative, -size, size)
    return signed


def _mantissas(codes: Codes, starts: Places, ends: Places, decimals: int) -> Floats | None:
    """Signed integers of the digits, the dot left out; None if anything else is there.

    The dot is expected before the last `decimals` digits; -1 expects none.
    """
    lengths = ends - starts
    shortest, longest = int(lengths.min()), int(lengths.max())
    needed = 2 if decimals == 0 else decimals + 1  # a lone dot is no number
    if shortest < needed or longest > MOST_DIGITS + 2:
        return None
    if int(ends[0]) < longest:  # no room in front of the first number
        codes, ends = np.concatenate([np.zeros(longest, dtype=np.uint8), codes]), ends + longest
    text = cut_out(codes, ends - longest, longest)
    digits = text - _ZERO  # unsigned: whatever is below "0" wraps to a large number
    places = np.arange(longest)
    if decimals >= 0:
        dot = longest - 1 - decimals
        if not (text[:, dot] == _DOT).all():
            return None
        digits[:, dot] = 0
        places = np.delete(places, dot)
    if shortest < longest:
        digits *= np.arange(longest) >= (longest - lengths)[:, None]
    is_negative = _take_signs(text, digits, longest - lengths, int(places[-1]))
    if is_negative is None:
        return None
    mantissa = np.zeros(len(text))
    for power, place in enumerate(places[::-1]):
        mantissa += digits[:, place] * POWERS[power]
    if float(mantissa.max()) >= POWERS[MOST_DIGITS]:
        return None
    return np.where(is_negative, -mantissa, mantissa) if is_negative.any() else mantissa


def _take_signs(
    text: Codes, digits: Codes, firsts: Places, last: int
) -> npt.NDArray[np.bool_] | None:
    """Which numbers have a minus in front, its digit made zero; None if a sign is elsewhere."""
    is_negative = np.zeros(len(text), dtype=bool)
    is_wrong = digits > 9
    if is_wrong.any():
        rows, places = np.nonzero(is_wrong)
        signs = text[rows, places]
        is_in_front = (places == firsts[rows]) & (places < last)
        if not (is_in_front & ((signs == _MINUS) | (signs == _PLUS))).all():
            return None
        digits[rows, places] = 0
        is_negative[rows] = signs == _MINUS
    return is_negative


def _parse_each(codes: Codes, starts: Places, ends: Places) -> Floats | None:
    """One number after the other, with Python's own parser."""
    text = codes.tobytes()
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    try:
        return np.array([float(text[start:end]) for start, end in spans])
    except ValueError:
        return None
