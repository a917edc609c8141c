"""param_imbalance: most of the model's parameters are in its embedding.

What it sees: at least 60 % of the parameters in embedding tables, for a model with more than ten
    thousand: from the shapes in the newest checkpoint (tied weights count once) or from a probe's
    recording, else estimated from vocabulary size, width and depth in the config.
Why it matters: what is left has too little capacity to use the vocabulary; such a model tends to
    fall back to the most common token. On its own it is a choice, and only worth knowing.
Fires on:
    config: vocab_size=50000, d_model=64, n_layers=2
Stays quiet:
    config: vocab_size=256, d_model=64, n_layers=2
    config: vocab_size=50257, n_embd=768, n_layer=12
    config: lr=0.1, hidden=64
Try next: shrink the vocabulary or the embedding's width (project up to the model's), tie input
    and output embedding, or give the parameters to the layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .embedding import embedding_share
from .sampled_signs import sampled_signs


@analyzer
@dataclass(frozen=True, slots=True)
class ParamImbalance:
    """Report the embedding's share once it is the larger part by far."""

    id: ClassVar[str] = "param_imbalance"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ()
    least_share: float = 0.6
    least_parameters: int = 10_000

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Compare the embedding with the whole."""
        found = embedding_share(view)
        if found is None or found.share < self.least_share:
            return
        if found.total <= self.least_parameters:
            return
        # By itself it is a design; beside samples that repeat one token it is a suspect.
        is_suspect = any(sign.severity is not Severity.INFO for sign in sampled_signs(view))
        about = "" if found.basis is Basis.OBSERVATION else "about "
        yield Finding(
            id=self.id,
            title=f"{about}{found.share:.0%} of the {found.total:,} parameters are in the "
            f"embedding ({found.name})",
            severity=Severity.WARNING if is_suspect else Severity.INFO,
            confidence=finding_confidence(
                found.basis, 0.93 if found.basis is Basis.OBSERVATION else 0.6
            ),
            basis=found.basis,
            evidence=found.evidence,
            details={
                "share": found.share,
                "embedding": float(found.embedding),
                "total": float(found.total),
                "name": found.name,
            },
        )
