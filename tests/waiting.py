"""How tests wait for what nobody announces."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds until a wait gives up.

Only a test that fails waits so long: it is more than anything takes on a machine that is six times
overloaded, and less than `faulthandler_timeout`, so that the test says what did not come.
"""


def wait_until(is_true: Callable[[], object], what: str = "", pause: float = 0.02) -> None:
    """Look again and again until it is so; fail with `what` if it never is."""
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline, what or "it never came to that"
        time.sleep(pause)
