"""References to artifacts: nothing is believed without a place where it shows."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from mltd.analyzers.core.finding import Evidence

from .base import Part


class RefKind(StrEnum):
    """Where a piece of evidence stands."""

    SERIES = "series"
    """`train/loss@24590..25010`"""
    LOG = "log"
    """`train.err:812`"""
    CONFIG = "config"
    """`config:optimizer.lr`"""
    CHECKPOINT = "checkpoint"
    """`step-500.pt:blocks.0.weight`"""
    JOB = "job"
    """`job:48213`"""
    EXPERIMENT = "experiment"
    """`E2`"""


class EvidenceRef(Part):
    """One fact, where it stands, and the text or value as it stands there."""

    kind: RefKind
    ref: str = Field(min_length=1)
    quote: str = ""
    run: str = ""
    """Id of the session's run that it is about; empty: the first one."""


def referred(evidence: Evidence, run: str = "") -> EvidenceRef:
    """What an analyzer saw, as a reference."""
    return EvidenceRef(
        kind=RefKind(evidence.kind.value), ref=evidence.ref, quote=evidence.quote, run=run
    )
