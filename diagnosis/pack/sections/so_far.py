"""What people believe by now, and what they have tried."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.sessions.model.experiment import Experiment
from mltd.sessions.model.hypothesis import Hypothesis

from ...tools.tool import Page, Row
from ..material import PackMaterial

MOST_REFS = 4
MOST_NOTES = 12


def so_far(material: PackMaterial) -> Iterator[Page]:
    """Hypotheses with their experiments, then decisions and notes."""
    session = material.session
    if session is None:
        return
    rows = [row for one in session.hypotheses for row in _hypothesis(one)]
    if rows:
        yield Page("hypotheses", "Hypotheses so far:", rows, {"what": "hypotheses"})
    rows = [row for one in session.experiments for row in _experiment(one)]
    if rows:
        yield Page("experiments", "Experiments so far:", rows, {"what": "experiments"})
    rows = [
        Row(f"{one.id} decided: {one.text}" + (f", because {one.because}" if one.because else ""))
        for one in session.decisions[-MOST_NOTES:]
    ]
    rows += [Row(f"{one.id} note: {one.text}") for one in session.notes[-MOST_NOTES:]]
    if rows:
        yield Page("decisions and notes", "Decisions and notes:", rows, {"what": "notes"})


def _hypothesis(one: Hypothesis) -> Iterator[Row]:
    cause = f" ({one.cause})" if one.cause else ""
    where = f", about {one.run}" if one.run else ""
    yield Row(
        f"{one.id} [{one.status.value}] {one.statement}{cause}; confidence {one.confidence}; "
        f"from {one.source}{where}"
    )
    for how, refs in (("for", one.evidence), ("against", one.against)):
        yield from (Row(f"  {how}: {ref.ref}: {ref.quote}") for ref in refs[:MOST_REFS])
    if one.history:
        last = one.history[-1]
        yield Row(f"  last change: {last.reason} ({last.source})")


def _experiment(one: Experiment) -> Iterator[Row]:
    tests = f" tests {one.hypothesis}" if one.hypothesis else ""
    yield Row(f"{one.id} [{one.status.value}]{tests}: {one.change}")
    wanted = "; ".join(map(str, one.success))
    if wanted:
        yield Row(f"  passes if: {wanted}")
    if one.result is not None:
        hasty = f", {one.result.preliminary}" if one.result.is_preliminary else ""
        yield Row(f"  result ({one.result.outcome.value}{hasty}): {one.result.summary}")
