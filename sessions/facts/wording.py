"""What a finding is called: in full once the run is over, by what stays true while it goes on."""

from __future__ import annotations

import re

from mltd.analyzers.core.finding import EvidenceKind, Finding

from .gathered import Seen

_GOING = ("running", "stalled")
_COUNT = re.compile(r",? \(?\d[\d,]* (?:more )?times\)?")


def is_going(seen: Seen) -> bool:
    """True if the log may still grow, and with it every number in a finding."""
    return seen.state in _GOING


def gist(finding: Finding, *, is_growing: bool) -> str:
    """A finding's title; of a growing series its name alone, for its values are never the last."""
    first = finding.evidence[0]
    if is_growing and first.kind is EvidenceKind.SERIES:
        return first.ref.partition("@")[0]
    return _COUNT.sub("", finding.title) if is_growing else finding.title
