"""Which records are metrics, which are settings, and what they say."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.text.reading import Reading
from mltd.runs.text.record_lines import read_record


def read(line: str) -> Reading:
    reading = Reading()
    assert read_record(line, 0, shipped(), reading) == (
        reading.is_record or reading.config is not None
    )
    return reading


@pytest.mark.parametrize(
    "line",
    [
        "{'loss': 0.5}",
        "{'step': 3, 'apples': 0.5}",
        "{'step': 3, 'a': {'b': {'c': 0.5}}}",
        "{'loss': 0.5, 'phase': 'train'}",
        'apples: {"value": 0.5}',
    ],
)
def test_metrics(line: str) -> None:
    reading = read(line)
    assert reading.is_record
    assert reading.config is None
    assert reading.slots


@pytest.mark.parametrize(
    "line",
    [
        "{'model': 'gpt', 'optimizer': 'adam', 'seed': 1, 'device': 'cuda'}",
        "[{'label': 'POSITIVE', 'score': 0.99}]",
    ],
)
def test_settings_and_data(line: str) -> None:
    reading = read(line)
    assert reading.config == {}
    assert not reading.slots


@pytest.mark.parametrize("line", ["no record", "{'apples': 3}", "{'a': 'b'}", "{'a': 1}}"])
def test_neither(line: str) -> None:
    assert read(line) == Reading()


def test_a_time_is_a_coordinate_if_it_is_a_moment() -> None:
    moment = read("{'loss': 0.5, 'time': 1700000000}")
    assert [(c.axis, c.value) for c in moment.coordinates] == [("time", 1700000000)]
    duration = read("{'loss': 0.5, 'time': 17}")
    assert [slot.name for slot in duration.slots] == ["loss", "time"]


def test_a_planned_total_is_no_value() -> None:
    reading = read("{'loss': 0.5, 'step': 3, 'max_steps': 100}")
    assert [(c.axis, c.value) for c in reading.coordinates] == [("step", 3), ("total step", 100)]
    assert [slot.name for slot in reading.slots] == ["loss", "step"]


def test_the_heading_places_the_record() -> None:
    reading = read("Validation at epoch 3: {'loss': 0.5}")
    assert [(c.axis, c.value) for c in reading.coordinates] == [("epoch", 3)]
    assert reading.level == "epoch"
    assert reading.split == "val"


@pytest.mark.parametrize(
    ("line", "split"), [("{'accuracy': 0.5}", "val"), ("{'accuracy': 0.5, 'loss': 2}", "")]
)
def test_scores_alone_are_an_evaluation(line: str, split: str) -> None:
    assert read(line).split == split


def test_a_step_inside_an_envelope_is_the_step_of_the_record() -> None:
    reading = read('{"event": "train_step", "data": {"step": 30, "loss": 2.1}}')
    assert [(c.axis, c.value) for c in reading.coordinates] == [("step", 30)]
    timing = read('{"epoch": 1, "loss": 2.1, "seconds": {"step": 30}}')
    assert [c.axis for c in timing.coordinates] == ["epoch"]


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ('{"event": "eval", "data": {"step": 30, "loss": 2.1}}', "val"),
        ('{"step": 30, "loss": 2.1, "tags": {"split": "test"}}', "test"),
        ('{"step": 30, "loss": 2.1, "host": "test"}', ""),
    ],
)
def test_a_text_may_tell_the_split(line: str, split: str) -> None:
    assert read(line).split == split


def test_a_text_may_name_the_value() -> None:
    reading = read('{"name": "loss", "value": 2.1, "step": 30}')
    assert {slot.name: slot.value for slot in reading.slots} == {"loss": 2.1, "step": 30}
