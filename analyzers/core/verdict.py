"""The answer for one run, in plain values that any process can read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .cause import Fix, RootCause
from .finding import Finding

MAX_FIXES = 12


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer for one run."""

    status: str
    """healthy, diagnosis_complete, needs_more_data or no_metrics."""
    findings: tuple[Finding, ...] = ()
    root_causes: tuple[RootCause, ...] = ()
    requests: tuple[str, ...] = ()
    ties: tuple[tuple[str, str], ...] = ()
    """Pairs of causes that the evidence does not tell apart."""
    problems: tuple[str, ...] = ()
    """Analyzers that failed, in a sentence each."""

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """All fixes, those of the best cause first; none twice."""
        seen: dict[str, Fix] = {}
        for cause in self.root_causes:
            for fix in cause.fixes:
                seen.setdefault(fix.change, fix)
        return tuple(seen.values())[:MAX_FIXES]

    @property
    def has_alarm(self) -> bool:
        """True if someone should look at the run."""
        return any(finding.is_alarm for finding in self.findings)

    def for_display(self) -> Diagnosis:
        """The same in built-in types alone: whoever shows it needs no numpy."""
        return replace(
            self,
            findings=tuple(
                replace(
                    finding,
                    confidence=float(finding.confidence),
                    first_step=_plain(finding.first_step),
                    last_step=_plain(finding.last_step),
                    details={},
                )
                for finding in self.findings
            ),
            root_causes=tuple(
                replace(
                    cause,
                    confidence=float(cause.confidence),
                    first_step=_plain(cause.first_step),
                )
                for cause in self.root_causes
            ),
        )


def _plain(step: float | None) -> float | None:
    return None if step is None else float(step)
