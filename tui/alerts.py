"""Notices about findings that turned critical while someone was looking elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mltd.analyzers.core.finding import Finding, Severity

from .ascii_filter import to_ascii
from .escaping import printable
from .settings import ScreenSettings
from .terminal import Terminal

SECONDS_BETWEEN = 10.0
"""A run that falls apart has many findings in a moment; nobody wants a bell for each."""
MOST_NAMED = 3
MOST_CHARACTERS = 200
"""Terminals cut desktop notifications at about this length."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What to tell the user; `text` is safe for a terminal, and it is no markup."""

    title: str
    text: str
    run: int
    """The run that it is about, the last one if there are several."""
    findings: frozenset[tuple[int, str]] = frozenset()
    """Runs and ids of the findings that it announces."""


@dataclass(slots=True)
class AlertBook:
    """Knows which critical findings were told already; it looks at no clock of its own."""

    _told: dict[int, set[str]] = field(default_factory=dict)
    _waiting: list[tuple[int, str, str]] = field(default_factory=list)
    """Run, id and text of what was not told yet."""
    _last: float = float("-inf")

    def judge(
        self,
        run: int,
        name: str,
        findings: Iterable[Finding],
        now: float,
        *,
        is_catching_up: bool = False,
    ) -> Notice | None:
        """Take a new verdict; the answer is a notice if it is time for one.

        The first verdict about a run, and those made while an old log is still being read, tell
        what was there before: it is on the screen anyway. A finding that comes and goes is told
        once for its run.
        """
        is_first = run not in self._told
        told = self._told.setdefault(run, set())
        for finding in findings:
            if finding.severity is not Severity.CRITICAL or finding.id in told:
                continue
            told.add(finding.id)
            if not (is_first or is_catching_up):
                text = f"{printable(finding.title)} ({printable(name)})"
                self._waiting.append((run, finding.id, text))
        return self.due(now)

    def due(self, now: float) -> Notice | None:
        """The notice that had to wait, if it is time for it; ask now and then."""
        if not self._waiting or now - self._last < SECONDS_BETWEEN:
            return None
        self._last = now
        run = self._waiting[-1][0]
        texts = [text for _, _, text in self._waiting]
        findings = frozenset((number, name) for number, name, _ in self._waiting)
        self._waiting.clear()
        more = len(texts) - MOST_NAMED
        lines = [*texts[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]
        title = "✖ critical" if len(texts) == 1 else f"✖ {len(texts)} critical findings"
        return Notice(title, "\n".join(lines), run, findings)


def signals(notice: Notice, settings: ScreenSettings, terminal: Terminal) -> str:
    """What to send to the terminal besides the notice on the screen; empty if nothing is wished."""
    bell = "\a" if settings.bell else ""
    title, text = (_one_line(part, terminal) for part in (notice.title, notice.text))
    match settings.desktop_notifications:
        case "osc9":
            return terminal.passed_on(f"\x1b]9;{title}: {text}\a") + bell
        case "osc777":
            return terminal.passed_on(f"\x1b]777;notify;{title};{text}\a") + bell
    return bell


def _one_line(text: str, terminal: Terminal) -> str:
    # A semicolon ends a field of OSC 777, and "9;4;" is a progress bar to some terminals.
    line = printable(", ".join(text.splitlines())).replace(";", ",")[:MOST_CHARACTERS]
    return line if terminal.is_unicode else to_ascii(line)
