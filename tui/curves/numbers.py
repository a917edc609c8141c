"""Numbers as short text: last values, ticks, and exact read-outs."""

from __future__ import annotations

import math
import re
import time

_SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_EXPONENT = re.compile(r"e([+-])0*(?=\d)")
_FIRST_MOMENT = 1e8
"""Seconds; a time axis that starts below this counts from zero, not from 1970."""
_DAY = 86_400
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def compact(value: float) -> str:
    """A number in four digits: `2.314`, `24.59k`, `3e-5`."""
    if not math.isfinite(value):
        return "NaN" if value != value else "Inf" if value > 0 else "-Inf"
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-3 or size >= 9.9995e14:
        return short_exponent(f"{value:.3g}")
    if size < 9999.5:
        return f"{value:.4g}"
    unit, suffix = next((u, s) for u, s in _SUFFIXES if size >= u * 0.99995)
    return f"{value / unit:.4g}{suffix}"


def narrow(value: float, width: int) -> str:
    """A number in so many columns, with as many digits as that leaves."""
    text = compact(value)
    for digits in (3, 2, 1):
        if len(text) <= width:
            break
        text = compact(float(f"{value:.{digits}g}")) if math.isfinite(value) else text
    if len(text) > width and math.isfinite(value):
        text = short_exponent(f"{value:.0e}")
    return text[:width]


def exact(value: float) -> str:
    """A number as it was logged, as far as six digits tell."""
    if not math.isfinite(value):
        return compact(value)
    size = abs(value)
    if size < 1e15 and value == int(value):
        return f"{value:,.0f}"
    if 1e6 <= size < 1e15:
        return f"{value:,.1f}"
    return short_exponent(f"{value:,.6g}")


def place(axis: str, x: float) -> str:
    """A place of the axis: `step 24,590`, `14:32:05`, `+1:20:00`."""
    if axis != "time":
        # A bucket of several points lies between them; there is no half step.
        return f"{axis} {exact(x if axis == 'epoch' else round(x))}"
    if not is_moment(x):
        return f"+{elapsed(x)}"
    moment = time.localtime(x)
    day = f"{_MONTHS[moment.tm_mon - 1]} {moment.tm_mday}"
    return f"{day} {time.strftime('%H:%M:%S', moment)}"


def axis_word(axis: str) -> str:
    """What an axis is called on screen."""
    return "wall time" if axis == "time" else axis


def is_moment(x: float) -> bool:
    """Is this place of a time axis a moment, rather than seconds since the start?"""
    return x >= _FIRST_MOMENT


def clock(x: float, step: float) -> str:
    """A moment, as fine as ticks `step` seconds apart need it."""
    moment = time.localtime(x)
    is_midnight = moment.tm_hour == moment.tm_min == moment.tm_sec == 0
    if step >= _DAY or is_midnight:
        return f"{_MONTHS[moment.tm_mon - 1]} {moment.tm_mday}"
    return time.strftime("%H:%M" if step >= 60 else "%H:%M:%S", moment)


def elapsed(seconds: float) -> str:
    """A duration as hours, minutes and seconds: `1:02:03`."""
    whole = round(abs(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    sign = "-" if seconds < 0 and whole else ""
    text = f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
    return sign + text


def tick_labels(values: list[float], step: float, most: int) -> list[str]:
    """Labels of ticks `step` apart, alike in form, each at most `most` wide (else empty)."""
    largest = max(map(abs, values), default=0.0)
    forms = _forms(largest, step)
    for form in forms:
        labels = [form(v) for v in values]
        if max(map(len, labels), default=0) <= most and len(set(labels)) == len(labels):
            return labels
    # Too many digits for the room: name what can be named.
    labels = [short_exponent(f"{v:.1e}") if v else "0" for v in values]
    return [
        label if len(label) <= most and label not in labels[:place] else ""
        for place, label in enumerate(labels)
    ]


def _forms(largest: float, step: float) -> list[_Form]:
    forms: list[_Form] = []
    if 1e-3 <= largest < 1e15:
        if largest >= 1e4:
            unit, suffix = next((u, s) for u, s in _SUFFIXES if largest >= u)
            if _decimals(step / unit) <= 1:
                forms.append(_Form(_decimals(step / unit), unit, suffix))
        forms.append(_Form(_decimals(step)))
    forms += [_Form(digits, is_exponent=True) for digits in (0, 1, 2)]
    return forms if largest else [_Form(0)]


class _Form:
    def __init__(
        self, digits: int, unit: float = 1.0, suffix: str = "", *, is_exponent: bool = False
    ) -> None:
        self._digits, self._unit, self._suffix = digits, unit, suffix
        self._is_exponent = is_exponent

    def __call__(self, value: float) -> str:
        if value == 0:
            return "0"
        if self._is_exponent:
            return short_exponent(f"{value:.{self._digits}e}")
        return f"{value / self._unit:,.{self._digits}f}{self._suffix}"


def _decimals(step: float) -> int:
    return min(12, max(0, -math.floor(math.log10(step) + 1e-9))) if step > 0 else 0


def short_exponent(text: str) -> str:
    """`1e-05` as `1e-5`, `1e+30` as `1e30`."""
    return _EXPONENT.sub(lambda m: "e-" if m[1] == "-" else "e", text)
