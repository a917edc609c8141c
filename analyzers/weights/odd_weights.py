"""odd_weights: layers of a checkpoint hold values that are far too large, too small or all alike.

What it sees: the root mean square of each weight matrix against its usual start (1/sqrt(fan in),
    or 0.02 where that is larger; 1 for embeddings) and against the same layer of its sibling
    blocks; norm weights beyond any usual size; matrices that are one number throughout.
Why it matters: such layers saturate, overflow in half precision, or give every unit the same
    gradient for ever; they are what a diverging run leaves behind.
Fires on:
    checkpoint: fc1.weight 512x512 rms=40 | fc2.weight 10x512 rms=0.04
    checkpoint: fc1.weight 512x512 rms=1e-7 | fc2.weight 10x512 rms=0.04
    checkpoint: fc1.weight 512x512 all=0.01 | fc2.weight 10x512 rms=0.04
Stays quiet:
    checkpoint: fc1.weight 512x512 rms=0.4 | fc2.weight 10x512 rms=0.04
    checkpoint: wte.weight 50257x768 rms=0.02 | h.0.lora_B.weight 768x8 all=0
Try next: compare with the checkpoint before; look at learning rate and weight decay of these
    layers; if it is the first checkpoint, at how they are initialised.
Limits: only `mltd-tui inspect` and the Model view make this finding, because logs hold no weights;
    `check` never does.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity, times
from .kinds import Kind
from .places import MOST_EVIDENCE, counted, some, tensor_evidence
from .silent import is_all_zero
from .usual import is_float, is_matrix, may_be_zero, usual_rms

ODD_WEIGHTS = "odd_weights"
TOO_LARGE = 100.0
"""Times the usual start; trained layers stay within about a tenth of that."""
TOO_SMALL = 1e-4
BESIDE_SIBLINGS = 30.0
"""Times the median of the same layer in the other blocks."""
LEAST_SIBLINGS = 4
LARGEST_NORM_WEIGHT = 300.0
LARGEST_BIAS = 1e3
LEAST_ELEMENTS = 32
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Odd:
    tensor: TensorFacts
    factor: float
    quote: str


def odd_sizes(summary: CheckpointSummary, kinds: Mapping[str, Kind]) -> Iterator[Finding]:
    """One finding for what is too large, one for what is too small."""
    large: list[_Odd] = []
    small: list[_Odd] = []
    middles = _middles(summary)
    for tensor in summary.parameters:
        rms = tensor.rms
        if rms is None or not is_float(tensor) or tensor.elements < LEAST_ELEMENTS:
            continue
        if (odd := _too_large(tensor, kinds[tensor.name], rms, middles)) is not None:
            large.append(odd)
        elif (odd := _too_small(tensor, kinds[tensor.name], rms)) is not None:
            small.append(odd)
    large.sort(key=lambda odd: -odd.factor)
    small.sort(key=lambda odd: odd.factor)
    if large:
        yield _report(summary, large, "exploded", f"{times(large[0].factor)} as large as usual")
    if small:
        share = f"{small[0].factor:.1g} of the usual size"
        yield _report(summary, small, "collapsed", share)


def constant_matrices(summary: CheckpointSummary, kinds: Mapping[str, Kind]) -> Iterator[Finding]:
    """Matrices of one number: all their units compute the same, and learn the same."""
    found = [
        t
        for t in summary.parameters
        if is_matrix(t)
        and t.stats is not None
        and t.stats.is_constant
        and not is_all_zero(t)
        and kinds[t.name] not in (Kind.NORM, Kind.OTHER)
        and t.shape[0] >= 4
        and not may_be_zero(t, Kind.OTHER)
    ]
    if not found:
        return
    quotes = [_Odd(t, 1.0, f"{t.stats.most:.6g} everywhere" if t.stats else "") for t in found]
    names = some([t.name for t in found])
    yield Finding(
        id=ODD_WEIGHTS,
        title=f"one number fills {names}: all units of such a layer compute and learn the same",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=tuple(tensor_evidence(summary, o.tensor, o.quote) for o in quotes[:MOST_EVIDENCE]),
        details={"kind": "constant", "name": found[0].name},
    )


def _middles(summary: CheckpointSummary) -> dict[tuple[str, tuple[int, ...]], float]:
    """The median size of each layer over its sibling blocks, where there are enough."""
    sizes: dict[tuple[str, tuple[int, ...]], list[float]] = {}
    for tensor in summary.parameters:
        if (rms := tensor.rms) is not None and is_matrix(tensor):
            sizes.setdefault(_family(tensor), []).append(rms)
    return {
        family: statistics.median(found)
        for family, found in sizes.items()
        if len(found) >= LEAST_SIBLINGS
    }


def _family(tensor: TensorFacts) -> tuple[str, tuple[int, ...]]:
    return _NUMBERS.sub("#", tensor.name), tensor.shape


def _too_large(
    tensor: TensorFacts,
    kind: Kind,
    rms: float,
    middles: Mapping[tuple[str, tuple[int, ...]], float],
) -> _Odd | None:
    usual = usual_rms(tensor, kind)
    if usual is not None and rms > TOO_LARGE * usual[0]:
        return _Odd(tensor, rms / usual[0], f"rms {rms:.3g}, usual at the start {usual[1]}")
    middle = middles.get(_family(tensor), 0.0)
    if middle > 0 and rms > BESIDE_SIBLINGS * middle and not may_be_zero(tensor, Kind.OTHER):
        return _Odd(tensor, rms / middle, f"rms {rms:.3g}, {middle:.3g} in its sibling blocks")
    if kind is Kind.NORM and rms > LARGEST_NORM_WEIGHT:
        return _Odd(tensor, rms, f"rms {rms:.3g}, usual at the start 1")
    if usual is None and tensor.name.endswith("bias") and rms > LARGEST_BIAS:
        return _Odd(tensor, rms, f"rms {rms:.3g}, biases are usually near 0")
    return None


def _too_small(tensor: TensorFacts, kind: Kind, rms: float) -> _Odd | None:
    usual = usual_rms(tensor, kind)
    if usual is None or is_all_zero(tensor) or may_be_zero(tensor, Kind.OTHER):
        return None
    if rms >= TOO_SMALL * usual[0]:
        return None
    return _Odd(tensor, rms / usual[0], f"rms {rms:.3g}, usual at the start {usual[1]}")


def _report(summary: CheckpointSummary, odd: list[_Odd], kind: str, how: str) -> Finding:
    worst = odd[0].tensor.name
    others = f"; {counted(len(odd) - 1, 'more layer')}" if len(odd) > 1 else ""
    return Finding(
        id=ODD_WEIGHTS,
        title=f"the weights of {worst} have {kind}: {how}{others}",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.8),
        basis=Basis.OBSERVATION,
        evidence=tuple(tensor_evidence(summary, o.tensor, o.quote) for o in odd[:MOST_EVIDENCE]),
        details={"kind": kind, "name": worst, "factor": odd[0].factor},
    )
