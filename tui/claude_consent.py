"""Before anything is sent: what it would be, where to, and whether the person agrees."""

from __future__ import annotations

import contextlib
import sys
import termios
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mltd.diagnosis.client.errors import ConsultError

from .consent_text import LABEL_WIDTH, facts, headline
from .escaping import printable

if TYPE_CHECKING:
    from mltd.diagnosis.preview import Preview

_MOST_LEFT_OUT = 8


def has_terminal() -> bool:
    """Whether somebody can be shown something and can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def no_terminal() -> ConsultError:
    """Why nothing is sent where nobody can be asked."""
    return ConsultError(
        "Nothing was sent to Claude, as there is no terminal to ask on",
        hint="look at it with `mltd-tui pack WHAT`, then add --yes",
        kind="disabled",
    )


def is_agreed(preview: Preview, run: str, what: str) -> bool:
    """Show what would be sent and ask; anything but a yes is a no."""
    for line in (f"About {run}:", *consent_lines(preview, what)):
        sys.stderr.write(f"{printable(line)}\n")
    # Keys pressed before there was anything to read agree to nothing.
    with contextlib.suppress(termios.error, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stderr.write("Send it? [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()
    return answer in ("y", "yes")


def tell_destination(preview: Preview) -> None:
    """Say where it goes to somebody who agreed beforehand."""
    sys.stderr.write(f"Sending to {printable(preview.host)}, for {printable(preview.model)}\n")


def consent_lines(preview: Preview, what: str) -> Iterator[str]:
    """All that the decision needs, one thing a line."""
    yield headline(preview)
    for label, text in facts(preview, _MOST_LEFT_OUT):
        yield f"  {label:<{LABEL_WIDTH}}{text}"
    redact = " --redact" if preview.is_redacted else ""
    yield f"The text itself: mltd-tui pack {what} --tokens {preview.pack_tokens}{redact}"
