"""All pieces of evidence about a run: what analyzers see in it first, then the hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..model.evidence import EvidenceRef
from ..model.hypothesis import Hypothesis, HypothesisStatus
from ..model.session import Session

_GONE = (HypothesisStatus.REFUTED, HypothesisStatus.PARKED)
_SURE = HypothesisStatus.CONFIRMED
_AND = ", "


class Piece(NamedTuple):
    """One fact, where it stands, and what it is about: a hypothesis, a finding, the timeline."""

    kind: str
    ref: str
    quote: str
    why: str


Described = Mapping[str, object]
"""A part of the contract's diagnosis object."""


def pieces_about(session: Session, run: str, diagnosis: Described | None) -> list[Piece]:
    """What is evidence for something and stands in this run, nothing twice.

    What the run has now comes first, in the order of the findings; what somebody once thought
    or told comes last.
    """
    found: dict[tuple[str, str], Piece] = {}
    believed = {hypothesis.id for hypothesis in session.hypotheses}
    for piece in _in_order(session, run, diagnosis or {}):
        known = found.setdefault((piece.kind, piece.ref), piece)
        if piece.why in believed.difference(reasons(known)):
            found[piece.kind, piece.ref] = known._replace(why=f"{known.why}{_AND}{piece.why}")
    return list(found.values())


def reasons(piece: Piece) -> list[str]:
    """All that a piece is about, one by one."""
    return piece.why.split(_AND)


def _in_order(session: Session, run: str, diagnosis: Described) -> Iterator[Piece]:
    findings = parts(diagnosis, "findings")
    is_info = [text(one, "severity") == "info" for one in findings]
    yield from _of_parts(one for one, quiet in zip(findings, is_info, strict=True) if not quiet)
    yield from _of_parts(parts(diagnosis, "root_causes"))
    believed = sorted(
        session.hypotheses, key=lambda one: (one.status is not _SURE, -one.confidence.value)
    )
    alive = [one for one in believed if one.status not in _GONE]
    yield from _of_hypotheses(session, run, alive)
    yield from _of_parts(one for one, quiet in zip(findings, is_info, strict=True) if quiet)
    yield from _of_hypotheses(session, run, [one for one in believed if one.status in _GONE])
    for entry in session.constraints.timeline:
        # What the app put there is evidence of something else already, or a matter of course.
        if entry.source == "person" and entry.evidence is not None:
            yield from _here(session, run, entry.evidence, "", "timeline")


def _of_hypotheses(session: Session, run: str, those: Iterable[Hypothesis]) -> Iterator[Piece]:
    for hypothesis in those:
        for ref in (*hypothesis.evidence, *hypothesis.against):
            yield from _here(session, run, ref, hypothesis.run, hypothesis.id)


def _here(session: Session, run: str, ref: EvidenceRef, owner: str, why: str) -> Iterator[Piece]:
    """A reference, if it stands in this run."""
    first = session.run("")
    if (ref.run or owner or (first.id if first else "")) == run:
        yield Piece(ref.kind.value, ref.ref, ref.quote, why)


def _of_parts(described: Iterable[Described]) -> Iterator[Piece]:
    for one in described:
        for ref in (*parts(one, "evidence"), *parts(one, "against")):
            kind, place, quote = (text(ref, key) for key in ("kind", "ref", "quote"))
            if kind and place:
                yield Piece(kind, place, quote, text(one, "id"))


def parts(described: Described, name: str) -> list[Described]:
    """The objects in one of its lists; nothing if it is not as the contract has it."""
    found = described.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def text(described: Described, name: str) -> str:
    """One of its texts; empty if there is none."""
    found = described.get(name)
    return found if isinstance(found, str) else ""


def number(described: Described, name: str) -> float | None:
    """One of its numbers."""
    found = described.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        return float(found)
    except OverflowError:
        return None


def texts(described: Described, name: str) -> list[str]:
    """The texts in one of its lists."""
    found = described.get(name)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
