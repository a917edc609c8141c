"""Several runs together: what repetitions of one training say about each of them.

Runs whose settings are equal but for the seed (and names, paths, dates) form a group. Their
final metric (validation accuracy, else validation loss, else the training's) is compared at the
last step that all of them reached. The effect is what the training achieved: the distance from
the first values to the mean of the last.

- Different seeds: an outlier is more than 3.5 robust deviations and more than a tenth of the
  effect away from the median of at least five; of three or four, one that misses half of the
  effect while the others agree. Without outliers, the spread is large if the
  standard deviation of at least three runs is over a tenth of the effect and its bootstrap
  interval stays over a twentieth.
- The same seed: results that differ by more than 2 % of the effect are worth knowing, by more
  than a tenth a warning. First losses that differ by more than rounding are one, too: the seed
  was not applied to weights or data. Where the first record comes some steps later, the losses
  must also rise and fall on their own from record to record: they saw other batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mltd.runs.run import Run

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.view import RunView
from .siblings import Ending, are_copies, endings, siblings
from .spread import LARGE, outliers, summarise

ID = "nondeterminism"
LEAST_FOR_SPREAD = 3
NOTABLE = 0.02
AT_ONCE = 0.003
"""Share by which first losses of one start may differ: half precision has three digits."""
SOON = 20
"""Steps within which runs on the same batches have not parted by more than that."""
UNLIKE = 0.5
"""Correlation of two losses from record to record that those of the same batches exceed."""
_LEAST_RECORDS = 16
_MOST_SHOWN = 6


def compare(runs: Sequence[Run]) -> Mapping[str, tuple[Finding, ...]]:
    """Findings for the diagnosis of each run, by its name; nothing for runs without siblings."""
    found: dict[str, list[Finding]] = {}
    for group in siblings(runs):
        results = endings(group)
        for name, finding in (*_by_seed(results), *_across_seeds(results)):
            found.setdefault(name, []).append(finding)
    return {name: tuple(findings) for name, findings in found.items()}


def _effect(results: Sequence[Ending]) -> float:
    finals = np.array([r.value for r in results])
    starts = np.array([r.start for r in results])
    finals, starts = finals[np.isfinite(finals)], starts[np.isfinite(starts)]
    if len(finals) == 0:
        return 0.0
    start = float(np.median(starts)) if len(starts) else 0.0
    return abs(start - float(np.median(finals)))


def _across_seeds(results: Sequence[Ending]) -> Iterator[tuple[str, Finding]]:
    seeds = {result.seed for result in results}
    if len(results) < LEAST_FOR_SPREAD or (len(seeds) == 1 and None not in seeds):
        return
    values = np.array([result.value for result in results])
    effect = _effect(results)
    if not effect > 0:
        return
    apart = outliers(values, effect)
    rest = values[~apart & np.isfinite(values)]
    if len(rest) < 2:
        return
    spread = summarise(rest)
    is_wide = (
        spread.count >= LEAST_FOR_SPREAD
        and spread.deviation > LARGE * effect
        and spread.deviation_interval.low > LARGE / 2 * effect
    )
    if not apart.any() and not is_wide:
        return
    name = results[0].curve.name
    usual = (
        f"{spread.mean:.4g} ± {spread.deviation:.2g} (95 % of the mean "
        f"{spread.mean_interval.low:.4g}..{spread.mean_interval.high:.4g})"
    )
    named = ", ".join(
        f"{r.run.name} {r.value:.4g}" for r, is_out in zip(results, apart, strict=True) if is_out
    )
    for result, is_outlier in zip(results, apart, strict=True):
        if is_outlier:
            title = (
                f"{name} ends at {result.value:.4g}, {spread.count} other runs with the same "
                f"settings at {usual}"
            )
        elif named:
            title = (
                f"{name} of {spread.count} runs that differ in the seed: {usual}; apart: {named}"
            )
        else:
            title = (
                f"{name} of {spread.count} runs that differ in the seed alone: {usual}, a spread "
                f"of {spread.deviation / effect:.0%} of what the training achieves"
            )
        is_alarm = bool(is_outlier) or not named
        yield (
            result.run.name,
            Finding(
                id=ID,
                title=title,
                severity=Severity.WARNING if is_alarm else Severity.INFO,
                confidence=finding_confidence(Basis.RESEARCH, 0.8),
                basis=Basis.RESEARCH,
                evidence=_evidence(results, result),
                details={
                    "kind": "seeds",
                    "runs": float(len(results)),
                    "deviation": spread.deviation,
                    "effect": effect,
                    "is_outlier": float(is_outlier),
                    "metric": name,
                },
            ),
        )


def _by_seed(results: Sequence[Ending]) -> Iterator[tuple[str, Finding]]:
    groups: dict[float, list[Ending]] = {}
    for result in results:
        if result.seed is not None and np.isfinite(result.value):
            groups.setdefault(result.seed, []).append(result)
    effect = _effect(results)
    for seed, group in groups.items():
        values = [result.value for result in group]
        span = max(values) - min(values)
        if len(group) >= 2 and (first := _first_losses(group)) is not None:
            yield from _unlike_at_once(seed, group, *first)
            continue
        if len(group) < 2 or not effect > 0 or span <= max(NOTABLE * effect, 1e-3 * abs(values[0])):
            continue
        name = group[0].curve.name
        for result in group:
            yield (
                result.run.name,
                Finding(
                    id=ID,
                    title=f"{name} of {len(group)} runs with the same settings and seed {seed:g}: "
                    f"{min(values):.4g} to {max(values):.4g}, {span / effect:.0%} of what the "
                    "training achieves",
                    severity=Severity.WARNING if span > LARGE * effect else Severity.INFO,
                    confidence=finding_confidence(Basis.OBSERVATION, 0.9),
                    basis=Basis.OBSERVATION,
                    evidence=_evidence(group, result),
                    details={
                        "kind": "same seed",
                        "runs": float(len(group)),
                        "span": span,
                        "effect": effect,
                        "seed": seed,
                        "metric": name,
                    },
                ),
            )


def _first_losses(group: Sequence[Ending]) -> tuple[float, float] | None:
    """The lowest and highest first training loss, where they cannot be of the same start.

    Sums in another order move the last digits; other weights or another first batch move more.
    """
    if not are_copies([result.run for result in group]):
        return None
    firsts, losses = [], []
    for result in group:
        loss = RunView(result.run).curve("train/loss")
        # A mean over many steps may have parted within them.
        if loss is None or len(loss) == 0 or loss.axis_name != "step" or not loss.step(0) <= SOON:
            return None
        firsts.append((loss.step(0), float(loss.y[0])))
        losses.append(loss)
    values = [value for _, value in firsts]
    is_finite = all(np.isfinite(value) for value in values)
    if not is_finite or len({step for step, _ in firsts}) > 1:
        return None
    low, high = min(values), max(values)
    if firsts[0][0] > 1 and not _saw_other_batches(losses):
        return None
    return (low, high) if high - low > AT_ONCE * max(abs(low), abs(high)) else None


def _saw_other_batches(losses: Sequence[Curve]) -> bool:
    """What one run finds hard from record to record says nothing about what another does."""
    count = min(len(loss) for loss in losses)
    first = losses[0]
    if count // 2 < _LEAST_RECORDS or any(
        not np.array_equal(loss.x[:count], first.x[:count]) for loss in losses
    ):
        return False
    # The fall at the beginning is common to all.
    moves = np.array([np.diff(loss.y[:count])[count // 2 :] for loss in losses])
    if not np.isfinite(moves).all() or not np.all(moves.std(axis=1) > 0):
        return False
    return bool(np.min(np.corrcoef(moves)) < UNLIKE)


def _unlike_at_once(
    seed: float, group: Sequence[Ending], low: float, high: float
) -> Iterator[tuple[str, Finding]]:
    for result in group:
        loss = RunView(result.run).curve("train/loss")
        if loss is None:
            continue
        yield (
            result.run.name,
            Finding(
                id=ID,
                title=f"{loss.name} of {len(group)} runs with the same settings and seed {seed:g} "
                f"differs at {loss.axis_name} {loss.step(0):.10g}, the first one logged: {low:.5g} "
                f"to {high:.5g}; the seed is not applied",
                severity=Severity.WARNING,
                confidence=finding_confidence(Basis.OBSERVATION, 0.9),
                basis=Basis.OBSERVATION,
                evidence=(loss.evidence(0), *_evidence(group, result)),
                first_step=loss.step(0),
                details={
                    "kind": "same seed",
                    "runs": float(len(group)),
                    "span": high - low,
                    "seed": seed,
                    "metric": loss.name,
                },
            ),
        )


def _evidence(results: Sequence[Ending], own: Ending) -> tuple[Evidence, ...]:
    """The run's own result first, then those of others."""
    ordered = [own, *(result for result in results if result is not own)]
    return tuple(
        Evidence(
            EvidenceKind.SERIES,
            f"{r.run.name}: {r.curve.name}@{r.step:.10g}",
            f"{r.value:.4g}" + (f" (seed {r.seed:g})" if r.seed is not None else ""),
        )
        for r in ordered[:_MOST_SHOWN]
    )
