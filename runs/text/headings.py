"""Headings on lines of their own: `Validation:`, `Test Error:`, `*** Eval at step 100 ***`.

What they say about the data holds for the lines below them that do not say it themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..roles import Roles

_WORDS = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 5
_MOST_LENGTH = 120
_DECORATION = re.compile(r"^[\s*=\-#>+~_]{3,}(?=\w)|[\s*=\-#<+~_]+$")
_BANNER = re.compile(r"([*=#~-])\1{2,}\s.*\s\1{3,}")
_CLAUSE = re.compile(r"\s[-–|]+\s|[:;,\]]\s+")
_BRACKETED = re.compile(r"\[\w+\]")
_IDLE = frozenset({
    "set", "error", "errors", "result", "results", "metric", "metrics", "phase", "stats", "summary",
    "statistics", "performance", "scores", "loop", "report", "data", "dataset", "on", "the", "at",
    "after", "for", "of", "running", "start", "starting", "model", "evaluate", "info",
})  # fmt: skip
"""Words that may stand in a heading beside the split and the place."""
LONGEST = 12
"""Lines below a heading that still belong to it,"""
LONGEST_INDENTED = 64
"""or so many that stand further right than it does."""


def heading_split(text: str, roles: Roles, *, has_values: bool = False) -> str:
    """The split that a line announces if it says nothing else, else nothing.

    One that has values of its own must end as a heading does:
    `Epoch 3 - Evaluation time: 1.12 - Test metrics:`.
    """
    if has_values:
        return _split_of_clause(text, roles) if text.rstrip().endswith(":") else ""
    return _split_alone(text, roles) or _split_of_clause(text, roles)


def _split_of_clause(text: str, roles: Roles) -> str:
    """Of a heading by its form: `INFO - Validation scores:`, `--> EVAL PERFORMANCE`, `[val]`."""
    if len(text) > _MOST_LENGTH:
        return ""
    words = text.strip()
    is_called = words.endswith(":")
    clause = _CLAUSE.split(_DECORATION.sub("", words[:-1] if is_called else words))[-1]
    found = _WORDS.findall(clause)
    if not 0 < len(found) < _MOST_WORDS or any(map(str.isdigit, clause)):
        return ""
    is_banner = clause.isupper() or _DECORATION.match(words) is not None
    is_banner |= _BRACKETED.fullmatch(words) is not None
    return roles.split_of(clause) if is_called or is_banner else ""


def _split_alone(text: str, roles: Roles) -> str:
    if len(text) > _MOST_LENGTH:
        return ""
    words = _WORDS.findall(text)
    if not 0 < len(words) <= _MOST_WORDS:
        return ""
    splits = {split for word in words if (split := roles.split_of(word))}
    if len(splits) != 1:
        return ""
    others = (word for word in words if not roles.split_of(word))
    # `***** Evaluating perplexity, Epoch 1/3 *****`: a banner may say what is measured.
    is_banner = _BANNER.fullmatch(text.strip()) is not None
    if not all(
        w.casefold() in _IDLE or roles.axis_of(w) is not None or (is_banner and roles.is_outcome(w))
        for w in others
    ):
        return ""
    return splits.pop()


@dataclass(slots=True)
class Section:
    """The lines below one heading, gone through one by one."""

    split: str
    indent: int
    left: int = LONGEST
    inner_indent: int | None = None
    """Columns before the first line, if it stands further right than the heading."""
    is_begun: bool = False

    def takes(self, line: bytes) -> bool:
        """True if the next line belongs to the heading; after the first that does not, none."""
        indent = _indent(line)
        is_blank = not line.strip()
        if is_blank and (not self.is_begun or self.inner_indent is not None):
            return True  # between the heading and its lines, or between lines that are indented
        if not self.is_begun:
            self.is_begun = True
            if indent > self.indent:
                self.inner_indent, self.left = indent, LONGEST_INDENTED
        is_outside = self.inner_indent is not None and indent < self.inner_indent
        self.left = 0 if is_blank or is_outside else self.left - 1
        return self.left > 0


def section_below(line: bytes, split: str) -> Section:
    """The section that a heading opens."""
    return Section(split, _indent(line))


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
