"""Whole-document JSON: histories in every shape, and documents that are none."""

from __future__ import annotations

import json
import math

import pytest

from mltd.runs.errors import FormatError
from mltd.runs.formats.json_document import JsonDocumentFormat, JsonDocumentReader
from mltd.runs.harvest import Harvest
from tests.runs.formats.reading import axis, feed_whole, values
from tests.runs.formats.samples import TRAINER_STATE


def read(document: object, indent: int | None = None) -> Harvest:
    return feed_whole(JsonDocumentReader("x.json"), json.dumps(document, indent=indent).encode())


def test_trainer_state() -> None:
    harvest = feed_whole(JsonDocumentReader("trainer_state.json"), TRAINER_STATE)
    assert values(harvest, "loss")[0] == 2.5
    assert math.isnan(values(harvest, "loss")[1])
    assert values(harvest, "eval_loss") == [2.0]
    assert axis(harvest, "step") == [10, 20, 20]
    assert axis(harvest, "epoch") == [0.5, 1, 1]
    assert harvest.totals == {"step": 40, "epoch": 2}
    assert harvest.config["global_step"] == 20
    lines = TRAINER_STATE.decode().splitlines()
    for number, loss in zip(harvest.line.tolist(), ("2.5", "NaN", "2.0"), strict=True):
        assert lines[number - 1].strip() == "{"
        assert any(f'loss": {loss}' in line for line in lines[number : number + 3])


def test_records_in_a_list_nested_one_level() -> None:
    harvest = read([{"epoch": 1, "train": {"loss": 2.0}, "val": {"loss": 3.0}, "note": "x"}])
    assert values(harvest, "train/loss") == [2.0]
    assert values(harvest, "val/loss") == [3.0]
    assert axis(harvest, "epoch") == [1]


@pytest.mark.parametrize(
    "document",
    [
        {"history": {"loss": [2.0, 1.0], "val_loss": [3.0, None]}, "epoch": [0, 1]},
        {"loss": [2.0, 1.0], "val_loss": [3.0]},
    ],
)
def test_histories_by_column(document: object) -> None:
    harvest = read(document)
    assert values(harvest, "loss") == [2.0, 1.0]
    assert values(harvest, "val_loss") == [3.0]


def test_histories_by_split() -> None:
    harvest = read({"train": {"loss": [2.0, 1.0]}, "val": [{"epoch": 1, "loss": 3.0}]})
    assert values(harvest, "train/loss") == [2.0, 1.0]
    assert values(harvest, "val/loss") == [3.0]


def test_settings_beside_the_history_are_the_config() -> None:
    harvest = read({"args": {"lr": 0.1}, "seed": 7, "logs": [{"step": 1, "loss": 2.0}]})
    assert harvest.config == {"lr": 0.1, "seed": 7}
    assert values(harvest, "loss") == [2.0]


def test_a_step_of_minus_one_says_nothing() -> None:
    harvest = read([{"epoch": 1, "step": -1, "loss": 2.0}])
    assert "step" not in harvest.axes
    assert values(harvest, "step") == [-1]


def test_words_for_nan_and_numbers_too_big() -> None:
    text = b'[{"step": 1, "loss": "NaN"}, {"step": 2, "loss": 1' + b"0" * 400 + b"}]"
    loss = values(feed_whole(JsonDocumentReader("x"), text), "loss")
    assert math.isnan(loss[0])
    assert loss[1] == math.inf


def test_an_incomplete_document_is_not_yet_there_unless_it_is_final() -> None:
    for end in (1, 40, len(TRAINER_STATE) // 2, len(TRAINER_STATE) - 1):
        reader = JsonDocumentReader("state.json")
        harvest = reader.feed(TRAINER_STATE[:end], final=False)
        assert (harvest.columns, harvest.consumed, harvest.lines) == ([], 0, 0)
        with pytest.raises(FormatError, match=r"state\.json is not a complete JSON document"):
            reader.feed(TRAINER_STATE[:end], final=True)


def test_an_empty_file_is_no_error() -> None:
    assert JsonDocumentReader("x").feed(b"", final=True).columns == []


@pytest.mark.parametrize(
    "document",
    [
        TRAINER_STATE,
        TRAINER_STATE[:200],
        b'[\n  {"main/loss": 0.5, "iteration": 600, "epoch": 1}\n]',
        b'[{"epoch": 1, "loss": 2.5}, {"epoch": 2, "lo',
        b'{"history": {"loss": [2.5, 1.0], "acc": [0.1',
        b'\xef\xbb\xbf{"loss": [1, 2]}',
    ],
)
def test_histories_are_claimed(document: bytes) -> None:
    assert JsonDocumentFormat().sniff(document, "x") >= 0.5


@pytest.mark.parametrize(
    "document",
    [
        b'{"lr": 0.1, "epochs": 10, "betas": [0.9, 0.999], "milestones": [30, 60]}',
        b'{"architectures": ["Llama"], "hidden_size": 4096, "rope": {"factor": 8.0}}',
        b'{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.4}\n',
        b'{"step": 1, "loss": 0.5}\n',
        b'[{"epoch": 1, "loss": 2.5}]\n[{"epoch": 2, "loss": 2.0}]\n',
        b'[{"id": 1, "price": 2.5}]',
        b'{"images": [{"id": 1, "width": 640}], "annotations": [{"id": 1, "area": 5.0}]}',
        b"[2024-01-01 10:00:00,123] INFO loss: 0.5\n",
        b"[1, 2, 3]",
        b"{}",
        b"",
        b"{'loss': 2.5}",
    ],
)
def test_other_documents_are_not_claimed(document: bytes) -> None:
    assert JsonDocumentFormat().sniff(document, "trainer_state.json") == 0.0
