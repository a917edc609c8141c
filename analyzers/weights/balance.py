"""How the parameters are divided among embedding, layers, norms and head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..outputs.param_imbalance import ParamImbalance
from .kinds import Kind, kinds_of
from .places import shape_text, tensor_evidence
from .usual import is_adapter_alone, is_packed

HEAVY = 0.75
"""Share of the embedding from which on a model is lopsided enough to be told about."""
_LAYERS = (Kind.ATTENTION, Kind.RECURRENT, Kind.CONVOLUTION, Kind.FEED_FORWARD)
_SEQUENCE = (Kind.ATTENTION, Kind.RECURRENT)


@dataclass(frozen=True, slots=True)
class KindShare:
    """What parameters of one kind come to."""

    kind: Kind
    parameters: int
    share: float
    tensors: int
    largest: str
    """The name of the largest tensor among them."""


@dataclass(frozen=True, slots=True)
class Balance:
    """The shares of all kinds that there are; tied tensors are counted once."""

    total: int
    shares: tuple[KindShare, ...]
    ties: tuple[tuple[str, ...], ...]
    """Names of one tensor: shared in memory, or saved twice as table and head."""

    def of(self, kind: Kind) -> KindShare | None:
        """The share of one kind; None if there is none."""
        return next((share for share in self.shares if share.kind is kind), None)

    @property
    def embedding(self) -> float:
        """The embedding's share."""
        found = self.of(Kind.EMBEDDING)
        return found.share if found is not None else 0.0


def balance_of(summary: CheckpointSummary, kinds: Mapping[str, Kind] | None = None) -> Balance:
    """The balance of a checkpoint."""
    kinds = kinds_of(summary.model) if kinds is None else kinds
    copies = tuple(_copied_heads(summary, kinds))
    doubles = {name for names in copies for name in names[1:]}
    own: dict[Kind, list[TensorFacts]] = {}
    for tensor in summary.parameters:
        if tensor.name not in doubles:
            own.setdefault(kinds[tensor.name], []).append(tensor)
    total = sum(tensor.elements for tensors in own.values() for tensor in tensors)
    shares = tuple(
        KindShare(
            kind=kind,
            parameters=(count := sum(tensor.elements for tensor in own[kind])),
            share=count / total if total else 0.0,
            tensors=len(own[kind]),
            largest=max(own[kind], key=lambda tensor: tensor.elements).name,
        )
        for kind in Kind
        if kind in own
    )
    model = {tensor.name for tensor in summary.model}
    ties = tuple(names for names in summary.ties() if names[0] in model)
    return Balance(total, shares, (*ties, *copies))


def _copied_heads(
    summary: CheckpointSummary, kinds: Mapping[str, Kind]
) -> Iterator[tuple[str, ...]]:
    """A table and a head with equal numbers are one tensor that was saved twice."""
    for names in summary.duplicates:
        found = {kinds.get(name) for name in names}
        if Kind.EMBEDDING in found and Kind.HEAD in found:
            yield tuple(sorted(names, key=lambda name: kinds.get(name) is not Kind.EMBEDDING))


def lopsided(summary: CheckpointSummary, balance: Balance) -> Iterator[Finding]:
    """param_imbalance: most of the parameters are in the embedding."""
    rule = ParamImbalance()
    tables = balance.of(Kind.EMBEDDING)
    if tables is None or tables.share < rule.least_share or balance.total <= rule.least_parameters:
        return
    if is_adapter_alone(summary) or is_packed(summary):
        return  # the model itself is elsewhere, or nobody knows how many weights a number holds
    largest = next(tensor for tensor in summary.model if tensor.name == tables.largest)
    layers = sum(share.parameters for share in balance.shares if share.kind in _LAYERS)
    left = f"; {layers / balance.total:.0%} are in its layers" if layers else ""
    tied = " (tied with the head, counted once)" if _is_tied(largest.name, balance) else ""
    quote = (
        f"{shape_text(largest.shape)}{tied}; {tables.parameters:,} of {balance.total:,} parameters"
    )
    yield Finding(
        id=ParamImbalance.id,
        title=f"{tables.share:.0%} of the {balance.total:,} parameters are in the embedding "
        f"({largest.name}){left}",
        severity=Severity.WARNING if _is_suspect(balance) else Severity.INFO,
        confidence=finding_confidence(Basis.OBSERVATION, 0.93),
        basis=Basis.OBSERVATION,
        evidence=(tensor_evidence(summary, largest, quote),),
        details={
            "share": tables.share,
            "embedding": float(tables.parameters),
            "total": float(balance.total),
            "name": largest.name,
        },
    )


def _is_suspect(balance: Balance) -> bool:
    """Models of sequences need layers; recommenders and word vectors are tables by design."""
    has_layers = any(balance.of(kind) is not None for kind in _SEQUENCE)
    return balance.embedding >= HEAVY and has_layers


def _is_tied(name: str, balance: Balance) -> bool:
    return any(name in names for names in balance.ties)
