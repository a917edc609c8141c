"""Compares documents with labels: pure arithmetic, no files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .truth import Truth

SEVERITIES = {"info": 0, "warning": 1, "critical": 2}
BINS = 10
RESAMPLES = 1000


@dataclass
class Judged:
    """One run: its label beside what we said about it."""

    truth: Truth
    findings: list[dict[str, Any]] = field(default_factory=list)
    """Those of at least warning, most severe and most certain first."""
    causes: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    runs: int = 1
    """How many runs were discovered in the one directory."""
    problem: str = ""
    """Why there is no document; such a run is a miss."""
    broken: list[str] = field(default_factory=list)
    """Analyzers that failed on this run; the figures are then not those of a working program."""

    @classmethod
    def from_document(cls, truth: Truth, document: dict[str, Any], seconds: float = 0.0) -> Judged:
        """Keep what counts of a contract document."""
        alarms = [one for one in document["findings"] if SEVERITIES[one["severity"]] >= 1]
        alarms.sort(key=lambda one: (-SEVERITIES[one["severity"]], -one["confidence"]))
        judged = cls(truth, alarms, list(document["root_causes"]), seconds)
        judged.broken = list(document.get("broken", ()))
        return judged

    @property
    def matching(self) -> list[dict[str, Any]]:
        """The alarms that name the injected fault's symptom."""
        return [one for one in self.findings if one["id"] in self.truth.findings]

    @property
    def is_found(self) -> bool:
        """Some alarm is acceptable."""
        return bool(self.matching)

    def names_cause(self, within: int) -> bool:
        """An acceptable cause is among the first few."""
        return any(one["id"] in self.truth.causes for one in self.causes[:within])

    @property
    def onset_error(self) -> float | None:
        """Steps between the first logged step of the fault and what the best alarm says."""
        if self.truth.onset is None:
            return None
        steps = [one["first_step"] for one in self.matching if one.get("first_step") is not None]
        return abs(float(steps[0]) - self.truth.onset) if steps else None


def claims(judged: Sequence[Judged], *, lenient: bool = False) -> list[tuple[float, bool]]:
    """Confidence and correctness of every alarm and every best cause that can be judged.

    Confidence is a share of being true: a cause is right if it names what was really done. To
    count every acceptable cause as right (lenient) asks whether an expert would agree instead.
    """
    pairs: list[tuple[float, bool]] = []
    for one in judged:
        if one.truth.verdict == "ambiguous":
            continue
        if one.truth.verdict != "unobservable":
            right = {*one.truth.findings, *one.truth.also}
            pairs += [(found["confidence"], found["id"] in right) for found in one.findings]
        if one.causes:
            best = one.causes[0]
            names = one.truth.causes if lenient else one.truth.done
            pairs.append((best["confidence"], best["id"] in names))
    return pairs


def calibration_error(pairs: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error over ten equal bins of confidence."""
    if not pairs:
        return float("nan")
    confidence = np.array([one for one, _ in pairs])
    right = np.array([float(one) for _, one in pairs])
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [
        abs(confidence[place == bin_].mean() - right[place == bin_].mean()) * (place == bin_).mean()
        for bin_ in range(BINS)
        if (place == bin_).any()
    ]
    return float(sum(gaps))


def error_within_ceilings(judged: Sequence[Judged]) -> float:
    """Calibration error without what ceilings forbid to say: shares right above them count as they.

    An observation that is right 99 times in a hundred may still not be surer than 0.95.
    """
    held = [(pair, ceiling) for pair, ceiling in zip(claims(judged), ceilings(judged), strict=True)]
    if not held:
        return float("nan")
    total = 0.0
    for bin_ in range(BINS):
        inside = [one for one in held if min(int(one[0][0] * BINS), BINS - 1) == bin_]
        if inside:
            said = mean([pair[0] for pair, _ in inside])
            right = mean([float(pair[1]) for pair, _ in inside])
            total += abs(said - min(right, mean([top for _, top in inside]))) * len(inside)
    return total / len(held)


def ceilings(judged: Sequence[Judged]) -> list[float]:
    """The ceilings of all claims, in the same order."""
    found: list[float] = []
    for one in judged:
        if one.truth.verdict == "ambiguous":
            continue
        if one.truth.verdict != "unobservable":
            found += [alarm.get("ceiling", 1.0) for alarm in one.findings]
        found += [cause.get("ceiling", 1.0) for cause in one.causes[:1]]
    return found


def brier(pairs: Sequence[tuple[float, bool]]) -> float:
    """Mean squared distance of confidence and outcome."""
    return mean([(confidence - float(right)) ** 2 for confidence, right in pairs])


def reliability(pairs: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """Mean confidence, share of right ones and count, for each bin that is used."""
    table = []
    for bin_ in range(BINS):
        inside = [one for one in pairs if min(int(one[0] * BINS), BINS - 1) == bin_]
        if inside:
            table.append(
                (
                    mean([one[0] for one in inside]),
                    mean([float(one[1]) for one in inside]),
                    len(inside),
                )
            )
    return table


def mean(values: Sequence[float]) -> float:
    """The mean, NaN of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")


def false_alarm_share(judged: Sequence[Judged]) -> float:
    """Share of runs that should be silent and are not; a run that failed counts as an alarm."""
    quiet = [one for one in judged if one.truth.expects_silence]
    return mean([float(bool(one.findings or one.problem)) for one in quiet])


def macro_recall(judged: Sequence[Judged]) -> float:
    """Mean over classes of the share of their runs that are found."""
    return mean(list(recall_by_class(judged).values()))


def recall_by_class(judged: Sequence[Judged]) -> dict[str, float]:
    """Share found, for each class that has observable runs."""
    classes: dict[str, list[float]] = {}
    for one in _faults(judged):
        classes.setdefault(one.truth.kind, []).append(float(one.is_found))
    return {kind: mean(hits) for kind, hits in sorted(classes.items())}


def cause_share(judged: Sequence[Judged], within: int) -> float:
    """Share of observable faults, found or not, whose cause is among the first few."""
    return mean([float(one.names_cause(within)) for one in _faults(judged)])


def onset_quantile(judged: Sequence[Judged], quantile: float) -> float:
    """A quantile of the onset errors of found faults that have an onset."""
    errors = [one.onset_error for one in _faults(judged)]
    known = [error for error in errors if error is not None]
    return float(np.quantile(known, quantile)) if known else float("nan")


def onset_points(judged: Sequence[Judged]) -> float:
    """The median onset error, counted in logged points instead of steps."""
    known = [
        one.onset_error / one.truth.interval
        for one in _faults(judged)
        if one.onset_error is not None
    ]
    return float(np.median(known)) if known else float("nan")


def overclaim_share(judged: Sequence[Judged]) -> float:
    """Share of unobservable faults answered with a wrong cause at 0.5 or more."""
    hidden = [one for one in judged if one.truth.verdict == "unobservable"]
    return mean(
        [
            float(
                any(
                    cause["confidence"] >= 0.5 and cause["id"] not in one.truth.causes
                    for cause in one.causes[:1]
                )
            )
            for one in hidden
        ]
    )


def _faults(judged: Sequence[Judged]) -> list[Judged]:
    return [one for one in judged if one.truth.verdict == "fault"]


@dataclass(frozen=True)
class Figure:
    """One figure with its bar and its interval."""

    name: str
    value: float
    low: float
    high: float
    bar: float | None
    is_ceiling: bool

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is reached; None without one."""
        if self.bar is None or self.value != self.value:
            return None
        return self.value <= self.bar if self.is_ceiling else self.value >= self.bar


Measure = Callable[[Sequence[Judged]], float]
HEADLINES: tuple[tuple[str, Measure, float | None, bool], ...] = (
    ("healthy runs alarmed", false_alarm_share, 0.02, True),
    ("macro recall, observable faults", macro_recall, 0.92, False),
    ("root cause, best", lambda judged: cause_share(judged, 1), 0.80, False),
    ("root cause, among first three", lambda judged: cause_share(judged, 3), 0.93, False),
    ("onset error, median (steps)", lambda judged: onset_quantile(judged, 0.5), 1.0, True),
    ("onset error, 90 % (steps)", lambda judged: onset_quantile(judged, 0.9), 5.0, True),
    ("onset error, median (logged points)", onset_points, None, True),
    ("calibration error", lambda judged: calibration_error(claims(judged)), 0.05, True),
    ("calibration error, within the ceilings", error_within_ceilings, None, True),
    (
        "calibration error, acceptable causes count as right",
        lambda judged: calibration_error(claims(judged, lenient=True)),
        None,
        True,
    ),
    ("Brier score", lambda judged: brier(claims(judged)), None, True),
    ("unobservable faults overclaimed", overclaim_share, None, True),
)


def figures(judged: Sequence[Judged], resamples: int = RESAMPLES) -> list[Figure]:
    """All headline figures with bootstrap 95 % intervals over runs."""
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, len(judged), len(judged)) for _ in range(resamples)] if judged else []
    samples = [[judged[place] for place in draw] for draw in draws]
    results = []
    for name, measure, bar, is_ceiling in HEADLINES:
        spread = np.array([measure(sample) for sample in samples])
        spread = spread[np.isfinite(spread)]
        low, high = np.quantile(spread, [0.025, 0.975]) if len(spread) else (np.nan, np.nan)
        results.append(Figure(name, measure(judged), float(low), float(high), bar, is_ceiling))
    return results
