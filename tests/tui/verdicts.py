"""Diagnoses for the tests of what shows them: small ones by hand, real ones from recordings."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import mltd.tui.recordings
from mltd.analyzers.core.cause import Fix, RootCause
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import discover
from mltd.runs.ingest import load

RECORDINGS = Path(mltd.tui.recordings.__file__).parent


@cache
def recorded(name: str) -> Diagnosis:
    """What is said about one of the bundled recordings."""
    return diagnose(load(discover(str(RECORDINGS / name))[0]).run).for_display()


def place(ref: str = "loss@10..20", quote: str = "2.1 -> 9.4") -> Evidence:
    """Evidence in a metric."""
    return Evidence(EvidenceKind.SERIES, ref, quote)


def finding(
    identity: str = "loss_spike",
    *,
    title: str = "loss jumped to 9.4 at step 20",
    severity: Severity = Severity.WARNING,
    confidence: float = 0.9,
    basis: Basis = Basis.OBSERVATION,
    first_step: float | None = 20.0,
    evidence: tuple[Evidence, ...] = (place(),),
) -> Finding:
    """A finding."""
    return Finding(identity, title, severity, confidence, basis, evidence, first_step)


def fix(change: str = "lr 1.2 -> 0.4", example: str = "lr: 0.4") -> Fix:
    """Something to try."""
    return Fix("lr_too_high", change, example, "no spikes", "overlay both runs", "halve it again")


def cause(
    identity: str = "lr_too_high",
    *,
    confidence: float = 0.66,
    basis: Basis = Basis.INFERENCE,
    explains: tuple[str, ...] = ("loss_spike",),
    against: tuple[Evidence, ...] = (),
    fixes: tuple[Fix, ...] = (fix(),),
    requests: tuple[str, ...] = (),
) -> RootCause:
    """A cause."""
    return RootCause(
        identity,
        f"because of {identity}",
        Severity.WARNING,
        explains,
        confidence,
        basis,
        (place("grad_norm@18", "0.2 -> 193"),),
        against,
        fixes,
        requests,
    )


def verdict_of(*findings: Finding, causes: tuple[RootCause, ...] = ()) -> Diagnosis:
    """A diagnosis that is not certain."""
    return Diagnosis("needs_more_data", findings, causes)
