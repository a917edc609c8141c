"""One sign that a model's outputs have lost their variety."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.finding import Basis, Evidence, Severity


@dataclass(frozen=True, slots=True)
class Sign:
    """What a finding is made of, before it has an id."""

    way: str
    """samples, predictions, adversarial, policy, latent, representation, routing, codebook or
    attention."""
    title: str
    severity: Severity
    basis: Basis
    raw: float
    evidence: tuple[Evidence, ...]
    first_step: float | None = None
    details: Mapping[str, float | str] = field(default_factory=dict)
