"""Signals that end a command in an orderly way, so that it removes what it has copied."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Turn signals into `SystemExit` with 128 and their number; ignored ones (`nohup`) stay so."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    wanted = [number for number, handler in before.items() if handler == signal.SIG_DFL]
    try:
        for number in wanted:
            signal.signal(number, _leave)
    except ValueError:
        wanted = []  # only the main thread may have handlers
    try:
        yield
    finally:
        for number in wanted:
            # After one has come the others stay ignored until the process has ended.
            if signal.getsignal(number) is _leave:
                signal.signal(number, before[number])


def _leave(number: int, _frame: object) -> None:
    for each in SIGNALS:
        # A second one must not interrupt the cleaning up.
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)
