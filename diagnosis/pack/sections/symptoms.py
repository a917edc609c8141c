"""What the analyzers found, with their evidence, and the causes that they think of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Evidence, Finding

from ...tools.tool import Page, Row
from ...tools.wording import place
from ..material import PackMaterial, Subject

MOST_EVIDENCE = 6
_REST = "the tool `findings` has them all"


def symptoms(material: PackMaterial) -> Iterator[Page]:
    """The alarms of every run, then the causes, then what is only worth knowing."""
    subjects = [one for one in material.subjects() if one.diagnosis is not None]
    for subject in subjects:
        yield _findings(subject, "alarm", is_alarm=True)
    for subject in subjects:
        yield _causes(subject)
    for subject in subjects:
        quiet = _findings(subject, "remark", is_alarm=False)
        if quiet.rows:
            yield quiet


def _findings(subject: Subject, word: str, *, is_alarm: bool) -> Page:
    assert subject.diagnosis is not None
    known = [one for one in subject.diagnosis.findings if one.is_alarm is is_alarm]
    called = subject.called
    what = "Findings" if is_alarm else "Remarks"
    return Page(
        brief=f"{word}s of {called}",
        head=f"{what} in {called} (rules' opinions: check them):"
        if known
        else f"The analyzers raise no {word} about {called}.",
        rows=[row for finding in known for row in _finding(subject, finding)],
        about={"run": called, "what": "findings"},
        rest=_REST,
    )


def _finding(subject: Subject, finding: Finding) -> Iterator[Row]:
    since = f", from step {place(finding.first_step)}" if finding.first_step is not None else ""
    until = f" to step {place(finding.last_step)}" if finding.last_step is not None else ""
    sure = f"confidence {finding.confidence:.2f} ({finding.basis.value})"
    yield Row(f"{finding.id} [{finding.severity.value}] {finding.title}; {sure}{since}{until}")
    yield from _evidence(subject, "", finding.evidence)


def _causes(subject: Subject) -> Page:
    assert subject.diagnosis is not None
    causes, called = subject.diagnosis.root_causes, subject.called
    rows = [row for rank, one in enumerate(causes, 1) for row in _cause(subject, rank, one)]
    rows += [
        Row(f"the evidence does not tell {first} from {second}")
        for first, second in subject.diagnosis.ties
    ]
    return Page(
        brief=f"root causes of {called}",
        head=f"Root causes that the analyzers consider for {called}, the likeliest first:"
        if causes
        else f"The analyzers name no root cause for {called}.",
        rows=rows,
        about={"run": called, "what": "root causes"},
        rest=_REST,
    )


def _cause(subject: Subject, rank: int, cause: RootCause) -> Iterator[Row]:
    sure = f"confidence {cause.confidence:.2f} ({cause.basis.value})"
    explains = ", ".join(cause.explains)
    yield Row(f"{rank}. {cause.id} [{cause.severity.value}] {cause.issue}; {sure}")
    yield Row(f"  explains: {explains}")
    yield from _evidence(subject, "for: ", cause.evidence)
    yield from _evidence(subject, "against: ", cause.against)
    if not cause.against:
        yield Row("  against: nothing seen")


def _evidence(subject: Subject, how: str, evidence: Iterable[Evidence]) -> Iterator[Row]:
    known = list(evidence)
    for one in known[:MOST_EVIDENCE]:
        yield Row(f"{subject.ref(one)}: {one.quote}", f"  {how}{one.kind.value} ")
    if len(known) > MOST_EVIDENCE:
        yield Row(f"  {how}{len(known) - MOST_EVIDENCE} more, by the id")
