"""The diagnosis as plain text: the answer first, then why, then what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .escaping import printable
from .findings.verdict import unexplained

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import Fix, RootCause
    from mltd.analyzers.core.finding import Evidence, Finding
    from mltd.analyzers.diagnosis import Diagnosis

MOST_FINDINGS = 10
MOST_CAUSES = 4
MOST_FIXES = 6
MOST_EVIDENCE = 3
QUOTE_WIDTH = 160
_MARKS = {"critical": "✖", "warning": "▲", "info": "●", "fine": "✔", "unknown": "?"}
_ASCII_MARKS = {"critical": "X", "warning": "!", "info": "i", "fine": "+", "unknown": "?"}


class AnswerText:
    """Lays a diagnosis out for a terminal of some width."""

    def __init__(
        self, diagnosis: Diagnosis, *, columns: int, unicode: bool = True, state: str = ""
    ) -> None:
        """`state` is what the run is seen to do: one that hangs is not called healthy."""
        self._diagnosis = diagnosis
        self._state = state
        self._columns = columns
        self._marks = _MARKS if unicode else _ASCII_MARKS

    def lines(self) -> Iterator[str]:
        """All of it: the health, findings, causes, ties, fixes, requests."""
        yield from self._health()
        yield from self._findings()
        yield from self._causes()
        yield from self._fixes()
        if self._diagnosis.requests:
            is_sure = self._diagnosis.status != "needs_more_data"
            yield "  More could be said with" if is_sure else "  To be surer, provide"
            for request in self._diagnosis.requests:
                yield from self._wrap(request, "    - ", "      ")

    def _health(self) -> Iterator[str]:
        diagnosis = self._diagnosis
        alarms = [finding for finding in diagnosis.findings if finding.is_alarm]
        if not alarms:
            if diagnosis.status == "no_metrics":
                text = f"{self._marks['unknown']} nothing to judge: no metrics were found"
            elif open_end := unexplained(diagnosis, self._state):
                text = f"{self._marks['unknown']} {open_end}"
            else:
                text = f"{self._marks['fine']} healthy: nothing found that calls for action"
            yield from self._wrap(text, "  ", "    ")
            return
        worst = max(alarms, key=lambda finding: finding.severity.rank).severity.value
        counted = ", ".join(
            f"{sum(f.severity.value == severity for f in alarms)} {severity}"
            for severity in ("critical", "warning")
            if any(f.severity.value == severity for f in alarms)
        )
        verdict = "the cause is not certain"
        if not diagnosis.root_causes:
            verdict = "the cause is not known"
        elif diagnosis.status == "diagnosis_complete":
            verdict = "the cause is clear"
        if diagnosis.root_causes:
            best = diagnosis.root_causes[0]
            verdict += f": {best.issue} ({best.confidence:.2f})"
        yield from self._wrap(f"{self._marks[worst]} {counted}; {verdict}", "  ", "    ")

    def _findings(self) -> Iterator[str]:
        findings = self._diagnosis.findings
        if not findings:
            return
        yield "  Findings"
        for finding in findings[:MOST_FINDINGS]:
            yield from self._finding(finding)
        yield from self._rest(len(findings) - MOST_FINDINGS, "findings")

    def _finding(self, finding: Finding) -> Iterator[str]:
        severity = finding.severity.value
        yield from self._wrap(
            f"{self._marks[severity]} {severity} {finding.id}, "
            f"{finding.confidence:.2f} by {finding.basis.value}",
            "    ",
            "      ",
        )
        yield from self._wrap(finding.title, "      ", "      ")
        yield from self._evidence("at", finding.evidence)

    def _causes(self) -> Iterator[str]:
        causes = self._diagnosis.root_causes
        if not causes:
            return
        yield "  Likely causes, the best first"
        for rank, cause in enumerate(causes[:MOST_CAUSES], start=1):
            explained = ", ".join(cause.explains)
            yield from self._wrap(
                f"{rank}. {cause.id}, {cause.confidence:.2f} by {cause.basis.value}; "
                f"explains {explained}",
                "    ",
                "       ",
            )
            yield from self._wrap(cause.issue, "       ", "       ")
            yield from self._evidence("for", cause.evidence, "       ")
            yield from self._evidence("against", cause.against, "       ")
        yield from self._rest(len(causes) - MOST_CAUSES, "causes")
        for pair in self._diagnosis.ties:
            yield from self._tie(*pair)

    def _tie(self, first: str, rival: str) -> Iterator[str]:
        by_id = {cause.id: cause for cause in self._diagnosis.root_causes}
        yield from self._wrap(
            f"tie: {first} and {rival} explain this equally well; "
            f"{_separates(by_id[first], by_id[rival])}",
            "    ",
            "      ",
        )

    def _fixes(self) -> Iterator[str]:
        fixes = self._diagnosis.fixes
        if not fixes:
            return
        yield "  What to do"
        for number, fix in enumerate(fixes[:MOST_FIXES], start=1):
            yield from self._fix(number, fix)
        yield from self._rest(len(fixes) - MOST_FIXES, "fixes")

    def _fix(self, number: int, fix: Fix) -> Iterator[str]:
        quick = "; quick" if fix.is_quick else ""
        lasting = "" if fix.reversible else "; cannot be undone"
        head = f"{number}. {fix.change} ({fix.addresses}{quick}{lasting})"
        yield from self._wrap(head, "    ", "       ")
        for line in fix.example.splitlines():
            yield from self._wrap(f"> {line}", "       ", "         ")
        for label, text in (
            ("expect", fix.expected_impact),
            ("verify", fix.verify),
            ("else", fix.if_it_fails),
        ):
            yield from self._wrap(f"{label:<6} {text}", "       ", "              ")

    def _evidence(
        self, label: str, evidence: Sequence[Evidence], indent: str = "      "
    ) -> Iterator[str]:
        for piece in evidence[:MOST_EVIDENCE]:
            quote = " ".join(piece.quote.split())
            if len(quote) > QUOTE_WIDTH:
                quote = quote[: QUOTE_WIDTH - 3] + "..."
            yield from self._wrap(f"{label} {piece.ref}: {quote}", indent, indent + "  ")
        if len(evidence) > MOST_EVIDENCE:
            yield f"{indent}{label} {len(evidence) - MOST_EVIDENCE} more"

    def _rest(self, count: int, what: str) -> Iterator[str]:
        if count > 0:
            yield f"    and {count} more {what} (all of them: --json)"

    def _wrap(self, text: str, first: str, rest: str) -> Iterable[str]:
        return textwrap.wrap(
            printable(text),
            self._columns,
            initial_indent=first,
            subsequent_indent=rest,
            break_on_hyphens=False,
        )


def _separates(first: RootCause, rival: RootCause) -> str:
    """The observation that would tell two causes apart."""
    for cause in (first, rival):
        if cause.requests:
            return f"what tells them apart: {cause.requests[0]}"
    from mltd.analyzers.catalogue.catalogue import pages

    for entry in pages(rival.id):
        if told := entry.page.sections.get("Told apart by"):
            return f"{rival.id} is told by {' '.join(told)}"
    return "nothing in these files tells them apart"
