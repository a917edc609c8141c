"""The verdict on an experiment: how it ended, by which numbers, and each criterion."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from ..cells import fitted
from ..escaping import printable

if TYPE_CHECKING:
    from mltd.sessions.model.result import BeforeAfter, CriterionResult

_GLYPHS = {"passed": "✔", "failed": "✖", "inconclusive": "◐"}
_MEANINGS = {
    "passed": "severity-fine", "failed": "severity-critical", "inconclusive": "severity-warning"
}  # fmt: skip
_WIDE, _TALL = 120, 36
_Piece = str | tuple[str, str]


class VerdictBanner(Static):
    """As many lines as it takes on a large screen, the most important few on a small one."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as widgets call it
        super().__init__(id=id, markup=False)
        self.verdict: BeforeAfter | None = None
        self.title = ""

    def show(self, verdict: BeforeAfter | None, title: str) -> None:
        """Show this verdict, or that there is none yet."""
        self.verdict, self.title = verdict, title
        self._draw()

    def on_resize(self, event: Resize) -> None:
        """Lines are broken where the screen ends."""
        self._draw()

    def _draw(self) -> None:
        width = self.content_size.width or self.app.size.width - 2
        content = told(self.verdict, self.title, width, self.app.size.height)
        if content != self.content:
            self.update(content)


def told(verdict: BeforeAfter | None, title: str, width: int, height: int) -> Content:
    """The lines of a banner."""
    is_tall = height >= _TALL
    lines: list[list[_Piece]] = []
    if title:
        lines.append([(fitted(title, width).rstrip(), "bold")])
    if verdict is None:
        lines.append([("comparing...", "$quiet")])
        return _joined(lines)
    word = f"{_GLYPHS[verdict.outcome]} {verdict.outcome}"
    word += " so far" if verdict.is_preliminary else ""
    lines += _summary(word, verdict, width, 6 if is_tall else 3)
    if verdict.is_preliminary:
        lines.append([(fitted(verdict.preliminary, width).rstrip(), "bold $severity-warning")])
    listed = sorted(verdict.criteria, key=lambda one: (one.is_guard, one.outcome == "passed"))
    if width >= _WIDE:
        lines += _one_each(listed, width, 12 if is_tall else 4)
    else:
        lines += _in_a_row(listed, width, 6 if is_tall else 2)
    from mltd.sessions.comparison.wording import cost_text

    if is_tall and (cost := cost_text(verdict.cost)):
        lines.append([(fitted(f"cost: {cost}", width).rstrip(), "$quiet")])
    return _joined(lines)


def _summary(word: str, verdict: BeforeAfter, width: int, most: int) -> list[list[_Piece]]:
    """The outcome, and behind it the sentence, broken into lines below each other."""
    meaning = _MEANINGS[verdict.outcome]
    indent = " " * (cell_len(word) + 2) if width >= _WIDE else "  "
    room = max(20, width)
    said = textwrap.wrap(
        printable(verdict.summary),
        room,
        initial_indent="." * (cell_len(word) + 2),
        subsequent_indent=indent,
        max_lines=most,
        placeholder=" …",
    )
    first = said[0][cell_len(word) + 2 :] if said else ""
    lines: list[list[_Piece]] = [[(word, f"bold ${meaning}"), "  ", first]]
    return lines + [[line] for line in said[1:]]


def _one_each(listed: list[CriterionResult], width: int, most: int) -> list[list[_Piece]]:
    """A line for each criterion, with its numbers."""
    column = min(48, max((cell_len(printable(one.criterion)) for one in listed), default=0))
    lines: list[list[_Piece]] = []
    shown = listed if len(listed) <= most else listed[: most - 1]
    for one in shown:
        asked = fitted(one.criterion, column)
        said = fitted(one.said, width - column - 6).rstrip()
        lines.append([_mark(one), f" {asked}", (f"  {said}", "$quiet")])
    if len(shown) < len(listed):
        lines.append([(f"  and {len(listed) - len(shown)} more", "$quiet")])
    return lines


def _in_a_row(listed: list[CriterionResult], width: int, most: int) -> list[list[_Piece]]:
    """Criteria beside each other, as many as there is room for."""
    lines: list[list[_Piece]] = [[]]
    used = 0
    for number, one in enumerate(listed):
        asked = printable(one.criterion)
        needed = cell_len(asked) + 4
        rest = f" +{len(listed) - number} more"
        is_last_line = len(lines) == most
        room = width - (len(rest) if is_last_line and number + 1 < len(listed) else 0)
        if used and used + needed > room:
            if is_last_line:
                lines[-1].append((rest, "$quiet"))
                break
            lines.append([])
            used = 0
        lines[-1] += [_mark(one), f" {fitted(asked, min(width - 4, cell_len(asked)))}  "]
        used += needed
    return [line for line in lines if line]


def _mark(one: CriterionResult) -> tuple[str, str]:
    return _GLYPHS[one.outcome], f"${_MEANINGS[one.outcome]}"


def _joined(lines: list[list[_Piece]]) -> Content:
    return Content("\n").join(Content.assemble(*line) for line in lines)
