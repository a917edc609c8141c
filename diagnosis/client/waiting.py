"""How long to wait before a question is sent again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def wait_asked_for(headers: Mapping[str, str] | None) -> float | None:
    """The seconds that the service names in its headers, in any of the forms it may use."""
    if headers is None:
        return None
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    named = headers.get("retry-after")
    if (seconds := _number(named)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(named or "").timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def wait_before(attempt: int, asked_for: float | None, first: float) -> float:
    """Seconds before the attempt after this one (the first is 1)."""
    return asked_for if asked_for is not None else min(first * 2 ** (attempt - 1), 30.0)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
