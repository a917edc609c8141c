"""config_mismatch: two artifacts of the run disagree about how it was configured.

What it sees: a folder or file name that claims a rate, batch size, seed, weight decay, dropout or
    model size (`lr1e-3_bs64_seed2`, `lr=0.001,model=gat`) that the config inside contradicts; a
    batch size that may be one device's share of the other is no contradiction; configuration
    files of one folder with different values; weights whose rows do not fit vocabulary or
    classes; a message whose own numbers differ from the configured features or classes; a
    logged batch size that is not the configured one; a logged rate that stays the same, five
    times off the configured one and not scaled by devices or batch; arguments that the log
    prints and a config file beside it contradicts.
Why it matters: results are filed under settings that were never used, or the run trains
    something else than was meant.
Fires on:
    config: num_classes=5, lr=0.1 ; log: IndexError: Target 7 is out of bounds.
    config: batch_size=64, lr=0.1 ; batch_size: 48*20 ; train/loss: 2>1*20
    config: lr=0.0003, batch_size=32 ; lr: 0.01*60 ; train/loss: 2>1*60
    config: lr=0.0003, batch_size=32, weight_decay=0.01 ; lr: 0.03*60 ; train/loss: 2>1*60
    config: n_features=24, lr=0.1 ; log: loading ... 24 columns requested, 20 columns found
Stays quiet:
    config: n_features=24, lr=0.1 ; log: loading ... 24 columns requested, 24 columns found
    config: n_features=20, lr=0.1 ; log: loading ... 24 columns requested, 20 columns found
    config: lr=0.0003, head_lr=0.01, batch_size=32 ; lr: 0.01*60 ; train/loss: 2>1*60
    config: num_classes=10, lr=0.1 ; log: IndexError: Target 7 is out of bounds.
    config: batch_size=64, lr=0.1 ; batch_size: 512*20 ; train/loss: 2>1*20
    config: lr=0.0003, batch_size=32 ; lr: 0.0024*60 ; train/loss: 2>1*60
    config: lr=0.0003, batch_size=32, lr_scale=100 ; lr: 0.03*60 ; train/loss: 2>1*60
    config: lr=0.01, batch_size=32 ; lr: 0.01>0.001*60 ; train/loss: 2>1*60
    config: lr=0.003, batch_size=32 ; lr: 0.002*60 ; train/loss: 2>1*60
Try next: print the resolved configuration at start; decide which artifact is right; rename the
    run or repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .file_claims import file_claims
from .logged_claims import logged_claims
from .message_claims import message_claims
from .name_claims import name_claims


@analyzer
@dataclass(frozen=True, slots=True)
class ConfigMismatch:
    """Report each setting about which the artifacts disagree."""

    id: ClassVar[str] = "config_mismatch"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")
    most: int = 5

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Compare names, files, weights, messages and logged values."""
        told: set[str] = set()
        claims = chain(
            file_claims(view), name_claims(view), message_claims(view), logged_claims(view)
        )
        for claim in claims:
            if claim.about in told or len(told) >= self.most:
                continue
            told.add(claim.about)
            yield Finding(
                id=self.id,
                title=claim.sentence,
                severity=Severity.WARNING,
                confidence=finding_confidence(Basis.OBSERVATION, claim.raw),
                basis=Basis.OBSERVATION,
                evidence=claim.evidence,
                details={"about": claim.about},
            )
