"""All pieces of evidence about a run: those of the hypotheses first, then what analyzers saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model.evidence import EvidenceRef
from ..model.session import Session


class Piece(NamedTuple):
    """One fact, where it stands, and what it is about: a hypothesis, a finding, the timeline."""

    kind: str
    ref: str
    quote: str
    why: str


Described = Mapping[str, object]
"""A part of the contract's diagnosis object."""


def pieces_about(session: Session, run: str, diagnosis: Described | None) -> list[Piece]:
    """What is evidence for something and stands in this run, nothing twice."""
    found: dict[tuple[str, str], Piece] = {}
    for piece in (*_of_session(session, run), *_of_diagnosis(diagnosis)):
        found.setdefault((piece.kind, piece.ref), piece)
    return list(found.values())


def _of_session(session: Session, run: str) -> Iterator[Piece]:
    first = session.run("")
    incident = first.id if first else ""

    def stands_here(ref: EvidenceRef, owner: str) -> bool:
        return (ref.run or owner or incident) == run

    for hypothesis in session.hypotheses:
        for ref in (*hypothesis.evidence, *hypothesis.against):
            if stands_here(ref, hypothesis.run):
                yield Piece(ref.kind.value, ref.ref, ref.quote, hypothesis.id)
    for entry in session.constraints.timeline:
        # What the app put there is evidence of something else already, or a matter of course.
        is_told = entry.source == "person"
        if is_told and entry.evidence is not None and stands_here(entry.evidence, ""):
            ref = entry.evidence
            yield Piece(ref.kind.value, ref.ref, ref.quote, "timeline")


def _of_diagnosis(diagnosis: Described | None) -> Iterator[Piece]:
    if diagnosis is None:
        return
    for name in ("findings", "root_causes"):
        for one in parts(diagnosis, name):
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
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number and isinstance(found, int | float) else None


def texts(described: Described, name: str) -> list[str]:
    """The texts in one of its lists."""
    found = described.get(name)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
