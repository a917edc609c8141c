"""What a kept opinion says, whatever a newer version or an editor made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from mltd.analyzers.core.finding import Basis

from ..pieces import Described, number, parts, text, texts

CONFIRMED = ("confirmed", "elsewhere")
WRONG = "wrong"


class Sureness(NamedTuple):
    """How sure a cause may be called, and how sure Claude called it."""

    confidence: float | None
    said: float | None
    basis: Basis

    @property
    def is_lowered(self) -> bool:
        """True if less is left than Claude gave."""
        return self.said is not None and self.confidence is not None and self.confidence < self.said


def part(described: Described, name: str) -> Described:
    """One of its objects; an empty one if there is none."""
    found = described.get(name)
    return found if isinstance(found, Mapping) else {}


def opinion_in(body: Described) -> Described | None:
    """The checked opinion in a kept diagnosis; None if that says nothing about the run.

    Where the whole of it is missing, what the contract's diagnosis object has is put in its form.
    """
    whole = part(body, "opinion")
    if whole:
        return whole
    if any(body.get(name) for name in ("root_causes", "quick_fixes", "recommended_fixes")):
        return _from_contract(body)
    return None


def sureness_of(cause: Described) -> Sureness:
    """Never more than the ceiling of its basis, whatever is written there."""
    named = text(part(cause, "cause"), "basis")
    basis = Basis(named) if named in [one.value for one in Basis] else Basis.INFERENCE
    return Sureness(_share(cause, "confidence", basis.ceiling), _share(cause, "said"), basis)


def citations_of(opinion: Described) -> list[Described]:
    """All citations, for and against."""
    return [
        one
        for cause in parts(opinion, "causes")
        for one in (*parts(cause, "evidence"), *parts(cause, "against"))
    ]


def tally_of(opinion: Described) -> str:
    """How many citations held: `5 of 6 citations confirmed, 1 wrong`."""
    cited = citations_of(opinion)
    verdicts = [verdict for one in cited if (verdict := text(one, "verdict"))]
    if not verdicts:
        return "verdicts not kept" if cited else "no citations"
    good = sum(one in CONFIRMED for one in verdicts)
    bad = verdicts.count(WRONG)
    rest = len(verdicts) - good - bad
    told = f"{good} of {len(verdicts)} citation{'s' * (len(verdicts) > 1)} confirmed"
    told += f", {bad} wrong" if bad else ""
    return told + (f", {rest} could not be checked" if rest else "")


def _share(described: Described, name: str, most: float = 1.0) -> float | None:
    found = number(described, name)
    return None if found is None or not math.isfinite(found) else max(0.0, min(most, found))


def _from_contract(body: Described) -> Described:
    return {
        "status": text(body, "status"),
        "opinion": {"needed_data": [{"what": one} for one in texts(body, "requests")]},
        "causes": [_cause(one) for one in parts(body, "root_causes")],
        "quick_fixes": [{"text": one} for one in texts(body, "quick_fixes")],
        "recommended_fixes": [_fix(one) for one in parts(body, "recommended_fixes")],
    }


def _cause(one: Described) -> Described:
    return {
        "cause": {**one, "failure_mode": text(one, "id")},
        "confidence": one.get("confidence"),
        "evidence": [{"citation": piece} for piece in parts(one, "evidence")],
        "against": [{"citation": piece} for piece in parts(one, "against")],
    }


def _fix(one: Described) -> Described:
    done = part(one, "implementation")
    is_dangerous = one.get("destructive") is True
    return {
        "fix": {
            **one,
            "change": text(done, "change"),
            "example": text(done, "example"),
            "is_reversible": one.get("reversible") is not False,
        },
        "dangers": [{"reason": "may destroy or run something"}] if is_dangerous else [],
    }
