"""From a line of text to what it states; asked first whether its shape may state anything."""

from __future__ import annotations

from .devices import device_statements, is_about_devices, peak_statements
from .parameters import is_about_parameters, parameter_statements
from .statement import Statement

MOST_PER_SHAPE = 256
"""Lines of one shape that are looked at: every rank may say it, but not every step."""
_REACH = 1000
"""Characters of a line that are looked at."""


def may_state(text: str) -> bool:
    """True if lines with these words may state something; does not depend on numbers."""
    return is_about_parameters(text[:_REACH]) or is_about_devices(text[:_REACH])


def statements_in(text: str) -> tuple[Statement, ...]:
    """Everything that a line states, without its place."""
    text = text[:_REACH]
    return (*parameter_statements(text), *device_statements(text), *peak_statements(text))
