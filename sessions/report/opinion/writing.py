"""A checked opinion as Markdown in which nothing that was said is more than text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ..markdown import bullets
from ..pen import Pen
from ..pieces import Described, parts, text, texts
from .citation import cited
from .reading import part, sureness_of

PARAGRAPH = 3000
MOST = 8
"""Causes, fixes, notes, needs; an opinion that was not tampered with has fewer."""
MOST_CITATIONS = 12
_EXAMPLE_LINES = 40
_FACT = 1000

_Item = TypeVar("_Item")


class OpinionWriter:
    """Writes the parts of one opinion below a heading of some level."""

    def __init__(self, opinion: Described, pen: Pen, level: int) -> None:
        self._checked = opinion
        self._given = part(opinion, "opinion")
        self._level = max(1, min(level, 5))
        self._pen = pen

    def blocks(self) -> Iterator[str]:
        """All of it: status, summary, causes, fixes, needs, and the word on the analyzers."""
        checked, pen = self._checked, self._pen
        yield f"**Status:** {pen.text(text(checked, 'status'), 60) or 'not stated'}"
        yield from pen.paragraphs(text(self._given, "summary"), PARAGRAPH)
        if notes := [pen.text(note) for note in texts(checked, "notes")]:
            yield bullets(some(notes, MOST, "note"))
        causes = parts(checked, "causes")
        if causes:
            yield self._heading("Root causes, according to Claude", 1)
        for place, cause in enumerate(causes[:MOST], start=1):
            yield from self._cause(place, cause)
        yield from left_out(causes, MOST, "root cause")
        yield from self._fixes()
        yield from self._rest()

    def _cause(self, place: int, checked: Described) -> Iterator[str]:
        cause, pen, sure = part(checked, "cause"), self._pen, sureness_of(checked)
        yield self._heading(f"{place}. {pen.text(text(cause, 'issue')) or 'not stated'}", 2)
        value = "not stated" if sure.confidence is None else f"{sure.confidence:.2f}"
        said = f" (Claude said {sure.said:.2f})" if sure.is_lowered else ""
        severity = pen.text(text(cause, "severity"), 60)
        lines = [
            f"confidence {value}{said}, by {sure.basis.value}, which bears "
            f"{sure.basis.ceiling:.2f} at most{f'; {severity}' if severity else ''}",
        ]
        if mode := pen.code(text(cause, "failure_mode")):
            unknown = " (not in the catalogue)" if checked.get("is_known") is False else ""
            lines.append(f"failure mode {mode}{unknown}")
        if explains := [pen.code(one) for one in texts(cause, "explains") if one.strip()]:
            lines.append("explains " + ", ".join(some(explains, MOST, "finding")))
        notes = [said for note in texts(checked, "notes") if (said := pen.text(note))]
        yield bullets([*lines, *(f"**{note}**" for note in notes[:MOST])])
        yield from pen.paragraphs(text(cause, "explanation"), PARAGRAPH)
        if evidence := [cited(pen, one) for one in parts(checked, "evidence")]:
            yield "Evidence:"
            yield bullets(some(evidence, MOST_CITATIONS, "citation"))
        if against := list(self._against(checked)):
            yield "Against it:"
            yield bullets(some(against, MOST_CITATIONS, "objection"))

    def _against(self, checked: Described) -> Iterator[str]:
        """Citations, and considerations in words."""
        found = checked.get("against")
        for one in found if isinstance(found, list) else []:
            if isinstance(one, str) and one.strip():
                yield self._pen.text(one)
            elif isinstance(one, dict):
                yield cited(self._pen, one)

    def _fixes(self) -> Iterator[str]:
        pen, quick = self._pen, parts(self._checked, "quick_fixes")
        if quick:
            yield self._heading("Quick fixes, according to Claude", 1)
            lines = [
                (pen.text(text(one, "text")) or "not stated") + self._warning(one) for one in quick
            ]
            yield bullets(some(lines, MOST, "quick fix", "quick fixes"))
        fixes = parts(self._checked, "recommended_fixes")
        if fixes:
            yield self._heading("Recommended fixes, according to Claude", 1)
        for place, fix in enumerate(fixes[:MOST], start=1):
            yield from self._fix(place, fix)
        yield from left_out(fixes, MOST, "fix", "fixes")

    def _fix(self, place: int, checked: Described) -> Iterator[str]:
        fix, pen = part(checked, "fix"), self._pen
        change = text(fix, "change")
        title = text(fix, "title") or change
        yield self._heading(f"{place}. {pen.text(title) or 'not stated'}", 2)
        if warning := self._warning(checked).strip():
            yield warning
        impact = (text(fix, "metric"), text(fix, "expected_impact"))
        facts = {
            "change": change if change != title else "",
            "addresses": text(fix, "addresses"),
            "expected": ": ".join(one for one in impact if one),
            "verify": text(fix, "verify"),
            "if it fails": text(fix, "if_it_fails"),
            "reversible": "no: it cannot be taken back"
            if fix.get("is_reversible") is False
            else "",
        }
        told = [f"{name}: {pen.text(value, _FACT)}" for name, value in facts.items() if value]
        if told:
            yield bullets(told)
        if text(fix, "example").strip():
            yield pen.fence(text(fix, "example"), lines=_EXAMPLE_LINES)

    def _warning(self, checked: Described) -> str:
        dangers = parts(checked, "dangers")[:MOST]
        if not dangers:
            return ""
        return f" **Careful: this {', '.join(map(self._danger, dangers))}.**"

    def _danger(self, danger: Described) -> str:
        reason = self._pen.text(text(danger, "reason")) or "may be dangerous"
        match = self._pen.code(text(danger, "match"))
        return f"{reason} ({match})" if match else reason

    def _rest(self) -> Iterator[str]:
        needs = [said for one in parts(self._given, "needed_data") if (said := self._need(one))]
        if needs:
            yield self._heading("What Claude would need", 1)
            yield bullets(some(needs, MOST, "wish", "wishes"))
        if stances := [self._stance(one) for one in parts(self._given, "agreement")]:
            yield self._heading("Claude on the analyzers' verdict", 1)
            yield bullets(some(stances, MOST_CITATIONS, "remark"))

    def _need(self, need: Described) -> str:
        told = (text(need, name).strip().rstrip(".") for name in ("what", "why", "how"))
        return self._pen.text(". ".join(one for one in told if one), 900)

    def _stance(self, one: Described) -> str:
        pen = self._pen
        about, why = pen.code(text(one, "id")) or "not stated", pen.text(text(one, "why"))
        stance = pen.text(text(one, "stance"), 60) or "not stated"
        return f"{stance}: {about}{f' {why}' if why else ''}"

    def _heading(self, said: str, deeper: int = 0) -> str:
        return f"{'#' * min(6, self._level + deeper)} {said}"


def some(items: Sequence[str], most: int, noun: str, plural: str = "") -> list[str]:
    """The first of too many, and how many are left out."""
    return [*items[:most], *left_out(items, most, noun, plural)]


def left_out(items: Sequence[_Item], most: int, noun: str, plural: str = "") -> Iterator[str]:
    """A note about what is beyond the first `most`."""
    more = len(items) - most
    if more > 0:
        yield f"and {more:,} more {noun if more == 1 else plural or f'{noun}s'} left out"
