"""loss_spike: up and back."""

from __future__ import annotations

from mltd.analyzers.core.finding import Severity

from .judging import alarms, found, judge


def test_begin_and_end_are_named() -> None:
    finding = found("train/loss: 4>2~0.05*300 6 7 6.5 5 4 3 2~0.05*100", "loss_spike")
    assert (finding.first_step, finding.last_step) == (300, 306)
    assert finding.severity is Severity.WARNING
    assert "from 2" in finding.title


def test_a_hard_batch_is_no_alarm() -> None:
    assert alarms("train/loss: 4>2~0.05*300 2.9 2~0.05*100") == set()


def test_a_single_value_above_all_that_was_is_one() -> None:
    assert "loss_spike" in alarms("train/loss: 4>2~0.05*300 30 2~0.05*100")
    assert "loss_spike" not in alarms("train/loss: 4>2~0.05*300 7 2~0.05*100")


def test_a_step_that_sticks_out_once_an_epoch_is_a_hard_batch() -> None:
    assert alarms("train/loss: 4>2~0.05*300 (30 2~0.05*139)*4") == set()
    assert "loss_spike" in alarms("train/loss: 4>2~0.05*300 30 2~0.05*40 30 2~0.05*200 30 2*90")


def test_each_spike_is_reported_once() -> None:
    example = "train/loss: 4>2~0.05*300 (6 7 6.5 5 2~0.05*150)*3"
    spikes = [f for f in judge(example).findings if f.id == "loss_spike"]
    assert len(spikes) == 3


def test_noise_is_no_spike() -> None:
    assert alarms("train/loss: 4>2~0.6*1000") == set()
