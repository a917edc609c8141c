"""Which rule a line falls under, if any; asked once per shape of line."""

from __future__ import annotations

import re

from .prefix import is_code, split_label
from .rule import EventRule
from .rulebook import candidates, rules

_REACH = 4096
"""Characters looked at from either end of a line: messages glued to a progress bar stand at
the end, and no pattern may be made slow by a line of megabytes."""


_BLANKS = re.compile(r" {2,}")


def classify(line: str) -> EventRule | None:
    """The rule for a line of clean text; depends on its words, not on its numbers."""
    found = match_rule(line)
    return found[0] if found else None


def match_rule(line: str) -> tuple[EventRule, re.Match[str]] | None:
    """The rule for a line, with what its pattern found in the line's body."""
    if len(line) > 2 * _REACH:
        line = f"{line[:_REACH]} … {line[-_REACH:]}"
    body = split_label(line.strip()).body.strip()
    if "  " in body:
        body = _BLANKS.sub(" ", body)
    code: bool | None = None
    book = rules()
    for number in candidates(body.lower()):
        rule = book[number]
        found = rule.find(body)
        if found is None:
            continue
        if rule.is_guarded:
            code = is_code(body) if code is None else code
            if code:
                continue
        return rule, found
    return None
