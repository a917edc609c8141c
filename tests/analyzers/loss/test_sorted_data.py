"""Losses that follow the order of the data, and means that only look like it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from mltd.analyzers.diagnosis import Diagnosis, diagnose
from tests.analyzers.made import read_log

_NOISE = np.random.default_rng(3)


def _judge(losses: Iterable[float], norms: Iterable[float] | None = None) -> Diagnosis:
    lines = [f"step {n + 1} loss {loss:.5f}" for n, loss in enumerate(losses)]
    if norms is not None:
        lines = [f"{a} grad_norm {b:.4f}" for a, b in zip(lines, norms, strict=True)]
    return diagnose(read_log("\n".join(lines) + "\n"))


def _alarms(diagnosis: Diagnosis) -> list[str]:
    return [finding.id for finding in diagnosis.findings if finding.is_alarm]


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e3])
def test_blocks_of_classes_that_come_again_in_every_epoch_swing(scale: float) -> None:
    classes = np.array([0.2, 1.1, 0.6, 1.6, 0.4, 0.9])
    # What a block teaches lowers its own loss until the next one begins.
    block = np.linspace(0.15, -0.15, 6)
    epoch = (classes[:, None] + block).ravel()
    falling = np.linspace(2.5, 1.2, 16 * len(epoch))
    losses = falling * np.tile(epoch, 16) + 0.02 * _NOISE.standard_normal(len(falling))
    found = _judge(scale * losses)
    assert _alarms(found) == ["oscillating_loss"]
    assert found.root_causes[0].id == "sequential_training"


@pytest.mark.parametrize(("is_sorted", "alarms"), [(False, []), (True, ["oscillating_loss"])])
def test_the_same_batches_in_the_same_order_do_no_harm_unless_they_are_sorted(
    is_sorted: bool, alarms: list[str]
) -> None:
    batches = np.array([0.04, 0.10, 0.05, -0.05, 0.0, 0.04, -0.06, 0.0, -0.12, -0.06])
    if is_sorted:
        batches = np.concatenate([np.sort(batches)[::2], np.sort(batches)[1::2][::-1]])
    level = 0.2 + 1.4 * np.exp(-np.arange(80) / 18)
    losses = level + np.tile(batches, 8)
    lines = [f"epoch {n // 10} it {n % 10 * 3} loss {loss:.4f}" for n, loss in enumerate(losses)]
    assert _alarms(diagnose(read_log("\n".join(lines) + "\n"))) == alarms


def test_means_that_begin_anew_in_every_epoch_do_not() -> None:
    losses: list[float] = []
    for epoch in range(16):
        level = 2.0 * 0.9**epoch
        batches = np.linspace(level, 0.7 * level, 36) + 0.1 * _NOISE.standard_normal(36)
        losses += (np.cumsum(batches) / np.arange(1, 37)).tolist()
    assert _alarms(_judge(losses)) == []


def _climbs(at_once: float) -> Diagnosis:
    falls = 2.2 + 0.8 * np.exp(-np.arange(40) / 8)
    rises = 2.25 + at_once + (1.3 - at_once) * np.linspace(0, 1, 120)
    losses = np.concatenate([falls, rises])
    losses += 0.03 * _NOISE.standard_normal(len(losses))
    norms = 2 + 0.15 * np.arange(len(losses)) + 0.1 * _NOISE.standard_normal(len(losses))
    return _judge(losses, norms)


def test_a_loss_that_creeps_up_is_no_change_of_the_data_and_no_batch() -> None:
    assert _climbs(0.1).root_causes[0].id not in ("data_pipeline_change", "bad_batch")
    assert "data_pipeline_change" in [cause.id for cause in _climbs(1.2).root_causes[:2]]


@pytest.mark.parametrize(("swings", "alarms"), [(0.0, []), (0.3, ["oscillating_loss"])])
def test_batches_that_differ_do_no_harm_while_validation_is_calm(
    swings: float, alarms: list[str]
) -> None:
    order = np.array([0.04, 0.15, 0.07, -0.07, 0.0, 0.06, -0.09, 0.0, -0.15, -0.09, 0.12])
    lines: list[str] = []
    for n in range(180):
        loss = 0.35 + 0.7 * np.exp(-n / 20) + order[n % len(order)]
        lines.append(f"it={10 * n} train_loss={loss:.3f}")
        if n % 15 == 14:
            measured = 0.32 + 0.4 * np.exp(-n / 20) + swings * (n // 15 % 2)
            lines.append(f"step {10 * n + 9} val loss {measured:.3f}")
    assert _alarms(diagnose(read_log("\n".join(lines) + "\n"))) == alarms
