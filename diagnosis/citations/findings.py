"""Cited findings: did the analyzers really find that?"""

from __future__ import annotations

from ..answer.citation import FindingCitation
from .checked import CheckedCitation, Verdict
from .desk import Desk, Struck, closest


def check_finding(citation: FindingCitation, desk: Desk) -> CheckedCitation:
    """The citation, if it names a finding that there is."""
    wanted = citation.id.strip().casefold().rpartition("/")[2].removeprefix("finding:")
    found = {finding.id for one in desk.diagnoses for finding in one.findings}
    if wanted in found:
        return CheckedCitation(citation=citation, verdict=Verdict.CONFIRMED)
    if wanted in {cause.id for one in desk.diagnoses for cause in one.root_causes}:
        # A hypothesis of ours is no evidence for one of somebody else.
        raise Struck(f"{wanted} is a root cause that the analyzers suppose, not a finding")
    raise Struck(f"the analyzers did not find {citation.id!r}{closest(wanted, found)}")
