"""The answer first: what is wrong with the weights, or what was looked at without finding it."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.analyzers.core.cause import Fix
from mltd.analyzers.core.ranking import ENOUGH
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.weights import Inspection

from ..answer_text import AnswerText
from .layout import Layout

MOST_FIXES = 3


class WeightsAnswer(AnswerText):
    """Lays out findings, causes and fixes as `check` does, for weights."""

    def __init__(self, found: Inspection, layout: Layout) -> None:
        is_sure = any(cause.confidence >= ENOUGH for cause in found.causes)
        status = "diagnosis_complete" if is_sure else "needs_more_data"
        diagnosis = Diagnosis(status, findings=found.findings, root_causes=found.causes)
        super().__init__(diagnosis, columns=layout.columns, unicode=layout.unicode)
        self._found = found
        self._layout = layout

    def lines(self) -> Iterator[str]:
        """Health, findings, causes, fixes."""
        for line in self._all():
            yield self._layout.safe(line)

    def _all(self) -> Iterator[str]:
        yield from self._verdict()
        yield from self._findings()
        yield from self._causes()
        yield from self._advice(self._found.fixes)

    def _verdict(self) -> Iterator[str]:
        found = self._found
        if found.has_alarm:
            yield from self._health()
        elif not found.summary.model:
            text = "there are no weights in it, so there is nothing to judge"
            yield from self._wrap(f"{self._marks['unknown']} {text}", "  ", "    ")
        elif not found.summary.has_values:
            text = "nothing found that should worry you, but the values were not looked at"
            yield from self._wrap(f"{self._marks['unknown']} {text}", "  ", "    ")
        else:
            text = "nothing found that should worry you"
            yield from self._wrap(f"{self._marks['fine']} {text}", "  ", "    ")
        for label, parts in (
            ("looked at", found.looked_at),
            ("not looked at", found.not_looked_at),
        ):
            if parts:
                yield from self._wrap("; ".join(parts), f"    {label:<13} ", " " * 18)

    def _advice(self, fixes: tuple[Fix, ...]) -> Iterator[str]:
        if not fixes:
            return
        yield "  What to do"
        for number, fix in enumerate(fixes[:MOST_FIXES], start=1):
            yield from self._fix(number, fix)
        yield from self._rest(len(fixes) - MOST_FIXES, "fixes")
