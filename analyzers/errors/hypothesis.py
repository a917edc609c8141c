"""Causes that a message names: how sure it makes them, and the fixes that the book has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Finding
from .book import Advice, Entry, by_rule, fill

_SETTINGS = {
    "classes": "num_classes",
    "vocab_size": "vocab_size",
    "batch_size": "batch_size",
    "workers": "num_workers",
    "hidden": "hidden_size",
    "resume": "resume",
    "precision": "precision",
    "lr": "lr",
}
"""Settings that templates may name, and what they are called if the config is not known."""
MOST = 5
"""Fixes per cause."""


class MessageCause:
    """A cause that the message itself gives away; special causes add their own clues."""

    id: ClassVar[str]

    def clues(self, case: Case) -> Iterator[Clue]:
        """Messages that name this cause."""
        yield from clues_of(self.id, case)
        yield from self.more_clues(case)

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """Evidence beyond the message."""
        yield from ()

    def issue(self, case: Case) -> str:
        """What the book says about the message."""
        return issue_of(self.id, case) or self.general_issue(case)

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        raise NotImplementedError

    def fixes(self, case: Case) -> Iterator[Fix]:
        """The book's fixes for these messages, then what always helps."""
        made = fixes_of(self.id, case)
        for fix in self.general_fixes(case):
            made.setdefault(fix.change, fix)
        yield from list(made.values())[:MOST]

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Fixes that do not depend on the message."""
        yield from ()

    def requests(self, case: Case) -> Iterator[str]:
        """What would tell this cause from its rivals."""
        yield from ()


def clues_of(cause: str, case: Case) -> Iterator[Clue]:
    """Messages that name a cause, and how strongly."""
    for finding, entry in _told(cause, case):
        is_first = bool(finding.number("is_first"))
        is_fatal = bool(finding.number("fatal"))
        share = 1.0 if is_first or not is_fatal else 0.5
        states = entry.states and share == 1.0
        yield Clue(entry.causes[cause] * share, finding.evidence[0], states=states)


def issue_of(cause: str, case: Case) -> str:
    """What the book says about the message whose first cause this is; else empty."""
    for finding, entry in _told(cause, case):
        if entry.issue and next(iter(entry.causes)) == cause:
            return fill(entry.issue, values_in(finding, case))
    return ""


def fixes_of(cause: str, case: Case) -> dict[str, Fix]:
    """The book's fixes against a cause, by what they change."""
    made: dict[str, Fix] = {}
    for finding, entry in _told(cause, case):
        for advice in entry.fixes:
            if advice.cause == cause:
                fix = _made(advice, cause, values_in(finding, case))
                made.setdefault(fix.change, fix)
    return made


def _told(cause: str, case: Case) -> Iterator[tuple[Finding, Entry]]:
    for finding in case.findings:
        entry = by_rule().get(str(finding.details.get("rule", "")))
        if entry is not None and cause in entry.causes:
            yield finding, entry


def values_in(finding: Finding, case: Case) -> dict[str, str]:
    """What templates may use: the message's parts and the run's own settings."""
    values = {
        name.removeprefix("said_"): str(value)
        for name, value in finding.details.items()
        if name.startswith("said_")
    }
    for meaning, name in _SETTINGS.items():
        setting = case.setting(meaning)
        known = setting is not None and not isinstance(setting.value, dict | list)
        shown = f"{setting.path} {setting.value}" if setting is not None and known else name
        values.setdefault(f"s_{meaning}", shown[:80])
        path = setting.path if setting is not None and known else name
        values.setdefault(f"n_{meaning}", path)
    return values


def _made(advice: Advice, cause: str, values: dict[str, str]) -> Fix:
    return Fix(
        addresses=cause,
        change=fill(advice.change, values),
        example=fill(advice.example, values) or "see the change",
        expected_impact=fill(advice.impact, values),
        verify=fill(advice.verify, values),
        if_it_fails=fill(advice.next, values),
        is_quick=advice.is_quick,
    )
