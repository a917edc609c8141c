"""A page of the catalogue, read from the docstring of the module that it is about."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import dataclass

_SECTION = re.compile(
    r"^(What it sees|What it is|Why it matters|Fires on|Stays quiet|Try next|"
    r"Told apart by|Limits):\s*(.*)$"
)

EXAMPLES = ("Fires on", "Stays quiet")
"""Sections whose lines are examples."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the catalogue says about one id."""

    id: str
    summary: str
    sections: dict[str, list[str]]
    """Heading to its lines, in the order of the docstring."""

    @property
    def fires_on(self) -> list[str]:
        """Examples on which the finding must be made."""
        return self.sections.get("Fires on", [])

    @property
    def stays_quiet(self) -> list[str]:
        """Examples on which it must not be made."""
        return self.sections.get("Stays quiet", [])


def page_of(part: object) -> Page:
    """The page of an analyzer or a cause."""
    identity = str(getattr(part, "id"))  # noqa: B009 - any third party's class
    ours = inspect.getdoc(sys.modules[type(part).__module__]) or ""
    # A module with several analyzers has a page in each class instead.
    text = ours if ours.startswith(f"{identity}:") else inspect.getdoc(type(part)) or ours
    return parse_page(identity, text)


def parse_page(identity: str, text: str) -> Page:
    """Split a docstring into its summary and its sections."""
    lines = text.strip().splitlines() or [""]
    summary = lines[0].partition(":")[2].strip() or lines[0]
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in lines[1:]:
        if found := _SECTION.match(line):
            heading = found[1]
            sections[heading] = [found[2]] if found[2] else []
        elif heading and line.strip():
            if heading in EXAMPLES and line.startswith("  ") and not _more(line):
                sections[heading].append(line.strip())
            elif sections[heading]:
                sections[heading][-1] += " " + line.strip()
            else:
                sections[heading].append(line.strip())
    return Page(identity, summary, sections)


def _more(line: str) -> bool:
    """Continuation lines are indented further than the examples."""
    return line.startswith("      ")
