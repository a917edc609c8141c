"""What holds for every analyzer and cause, ours and those to come, whatever the series are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.diagnosis import Diagnosis, Diagnostician, diagnose
from mltd.runs.run import Run
from tests.analyzers.made import extend, falling, make_run, noisy

NAMES = (
    "loss", "val_loss", "grad_norm", "lr", "train_accuracy", "val_accuracy", "loss_scale",
    "gpu_memory_gb", "step_time", "samples_per_sec", "grad_norm/layer0", "grad_norm/layer7",
    "zero_frac/relu1", "update_ratio/fc", "entropy", "reward", "d_loss", "g_loss", "batch_size",
)  # fmt: skip
ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 2.0, -3.0, 1e308, -1e308, 5e-324, 1e-300, 0.1]
VALUES = st.sampled_from(ODD) | st.floats(-10, 10) | st.floats()
STEPS = st.integers(0, 300) | st.sampled_from([np.nan, np.inf, 0, 0, 1e18, -5])
SHAPES: dict[str, Any] = {
    "noise": lambda n, level: noisy(level, n, 0.05 * abs(level) if abs(level) < 1e100 else 0.0),
    "falls": lambda n, level: falling(min(abs(level), 1e100) + 2, 1, n),
    "constant": lambda n, level: [level] * n,
    "rises": lambda n, level: np.linspace(0.5, min(abs(level), 1e100) + 0.6, n).tolist(),
    "explodes": lambda n, level: (1.5 ** np.minimum(np.arange(n), 1700)).tolist(),
    "alternates": lambda n, level: [level, -level] * (n // 2) + [level] * (n % 2),
    "nan": lambda n, level: [np.nan] * n,
}


@st.composite
def curves(draw: st.DrawFn, count: int) -> list[float]:
    """A course with odd points in it."""
    shape = draw(st.sampled_from(sorted(SHAPES)))
    values = list(SHAPES[shape](count, draw(st.sampled_from(ODD[3:]))))
    for place in draw(st.lists(st.integers(0, max(0, count - 1)), max_size=4)):
        stretch = draw(st.lists(VALUES, max_size=6))[: max(0, count - place)]
        values[place : place + len(stretch)] = stretch
    return values


@st.composite
def contents(draw: st.DrawFn) -> tuple[dict[str, list[float]], list[float]]:
    """Some series of one length and their steps, plain or odd."""
    count = draw(st.sampled_from([0, 1, 2, 3, 7, 13, 40, 120, 300]))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    series = {name: draw(curves(count)) for name in names}
    steps: list[float] = [float(step) for step in range(count)]
    for place in draw(st.lists(st.integers(0, max(0, count - 1)), max_size=4)):
        steps[place:] = [step + draw(STEPS) - steps[place] for step in steps[place:]][:count]
    if draw(st.booleans()):
        steps = [float(step) for step in range(count)]
    return series, steps


def ids(told: Diagnosis) -> list[str]:
    return [finding.id for finding in told.findings]


def verdict(told: Diagnosis) -> list[tuple[object, ...]]:
    return [
        (f.id, f.severity, round(f.confidence, 6), f.first_step, f.last_step) for f in told.findings
    ] + [(c.id, round(c.confidence, 6)) for c in told.root_causes]


@settings(max_examples=150)
@given(content=contents())
def test_no_series_breaks_an_analyzer(content: tuple[dict[str, list[float]], list[float]]) -> None:
    series, steps = content
    told = diagnose(make_run(series, steps))
    assert told.problems == ()


@settings(max_examples=60)
@given(content=contents(), cuts=st.lists(st.integers(0, 300), max_size=4))
def test_the_way_a_run_grows_changes_nothing(
    content: tuple[dict[str, list[float]], list[float]], cuts: list[int]
) -> None:
    series, steps = content
    run = make_run({name: [] for name in series})
    growing = Diagnostician(run)
    edges = [0, *sorted(min(cut, len(steps)) for cut in cuts), len(steps)]
    for start, stop in pairwise(edges):
        extend(run, {k: v[start:stop] for k, v in series.items()}, steps[start:stop])
        last = growing.diagnose()
    assert verdict(last) == verdict(diagnose(make_run(series, steps)))


# -- runs that look like runs -----------------------------------------------------------------


def faulty(kind: str, count: int = 600) -> dict[str, list[float]]:
    """A training with one fault, at two thirds."""
    loss = np.asarray(falling(4, 2, count))
    norm = np.abs(np.asarray(noisy(1, count, 0.15, seed=2)))
    rate = np.full(count, 1e-3)
    onset = 2 * count // 3
    if kind == "spike":
        loss[onset : onset + 6] += [3, 6, 5, 4, 2, 1]
        norm[onset : onset + 3] *= 30
    elif kind == "divergence":
        loss[onset:] += np.linspace(0, 40, count - onset)
        norm[onset:] *= np.linspace(1, 60, count - onset)
    elif kind == "nan":
        loss[onset:] = np.nan
    elif kind == "flat":
        loss = np.asarray(noisy(2.303, count, 0.002))
    elif kind == "oscillation":
        loss += 0.8 * np.sin(np.arange(count) * 2.4)
    return {"loss": loss.tolist(), "grad_norm": norm.tolist(), "lr": rate.tolist()}


FAULTS = ("spike", "divergence", "nan", "flat", "oscillation", "healthy")


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_the_unit_of_the_loss_does_not_matter(kind: str, factor: float) -> None:
    plain = faulty(kind)
    scaled = {**plain, "loss": [value * factor for value in plain["loss"]]}
    assert ids(diagnose(make_run(scaled))) == ids(diagnose(make_run(plain)))


def test_healthy_runs_of_many_kinds_raise_no_alarm() -> None:
    for seed in range(12):
        generator = np.random.default_rng(seed)
        count = int(generator.integers(150, 3000))
        noise = float(generator.choice([0.01, 0.05, 0.3]))
        first, last = float(generator.uniform(2, 11)), float(generator.uniform(0.05, 1.8))
        run = make_run(
            {
                "loss": falling(first, last, count, noise * last, seed),
                "grad_norm": np.exp(generator.normal(0, 0.4, count)).tolist(),
                "lr": (1e-3 * np.minimum(1, np.arange(1, count + 1) / 100)).tolist(),
            }
        )
        told = diagnose(run)
        assert told.problems == ()
        assert [f.title for f in told.findings if f.is_alarm] == [], seed


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind not in ("nan", "healthy")])
def test_healthy_points_never_raise_the_confidence_in_a_fault(kind: str) -> None:
    series = faulty(kind)
    count = len(series["loss"])
    run: Run = make_run(series)
    growing = Diagnostician(run)
    before = growing.diagnose()
    # What the run settles at after its trouble.
    level = 2.303 if kind == "flat" else 2.0
    for part in range(6):
        extend(
            run,
            {
                "loss": falling(level, level * 0.7, 600, 0.05, seed=9 + part)[part * 100 :][:100],
                "grad_norm": np.abs(noisy(1, 100, 0.15, seed=20 + part)).tolist(),
                "lr": [1e-3] * 100,
            },
            range(count + 100 * part, count + 100 * part + 100),
        )
        now = growing.diagnose()
        for finding in now.findings:
            known = [f for f in before.findings if f.id == finding.id]
            if known and finding.is_alarm:
                assert finding.confidence <= max(f.confidence for f in known) + 1e-9, finding.title
        # A divergence that comes back after all was a spike.
        allowed = {"loss_spike"} if kind == "divergence" else set()
        allowed |= {f.id for f in before.findings if f.is_alarm}
        assert {f.id for f in now.findings if f.is_alarm} <= allowed
