"""Tables with a header line and a record per row."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.text.grids import MAX_WIDTH, GridReader, header_cells, row_cells


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("epoch  train_loss  valid_acc  dur", ["epoch", "train_loss", "valid_acc", "dur"]),
        ("| epoch | train loss | valid acc |", ["epoch", "train loss", "valid acc"]),
        ("epoch loss", ["epoch", "loss"]),
        ("the loss was high", None),
        ("loss accuracy", None),
        ("epoch 3 loss", None),
        ("epoch", None),
        ("epoch  loss  accuracy" + " " * MAX_WIDTH, None),
    ],
)
def test_headers(line: str, cells: list[str] | None) -> None:
    assert header_cells(line, shipped()) == cells


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("1  2.30  0.10  3.21", ["1", "2.30", "0.10", "3.21"]),
        ("| 1 | 2.30 | 00:03 |", ["1", "2.30", "00:03"]),
        ("all  128  0.5  0.6", ["all", "128", "0.5", "0.6"]),
        ("1/100  2.1G  0.5", ["1/100", "2.1G", "0.5"]),
        ("loss 2.30", None),
        ("all 128 good 0.6", None),
        ("1", None),
        ("1 2" + " " * MAX_WIDTH, None),
    ],
)
def test_rows(line: str, cells: list[str] | None) -> None:
    assert row_cells(line) == cells


def test_rows_below_a_header_are_records() -> None:
    reader = GridReader(shipped())
    assert reader.feed(0, "epoch  train_loss  valid_acc") is None
    assert reader.feed(1, "-----  ----------  ---------") is None
    record = reader.feed(2, "    1        2.50       0.25")
    assert record is not None
    assert record.line == 2
    assert {axis: value for axis, (_, value) in record.axes.items()} == {"epoch": 1}
    assert record.values == {"train_loss": 2.5, "valid_acc": 0.25}
    assert record.is_certain


def test_a_row_before_its_header_or_of_another_width_is_none() -> None:
    reader = GridReader(shipped())
    assert reader.feed(0, "1  2.50  0.25") is None
    reader.feed(1, "epoch  train_loss  valid_acc")
    assert reader.feed(2, "1  2.50") is None


def test_a_row_is_taken_when_its_bar_is_full() -> None:
    reader = GridReader(shipped())
    reader.feed(0, "Epoch  box_loss  cls_loss")
    assert reader.feed(1, "1/100  0.5  0.6:  50%|█████     | 5/10") is None
    record = reader.feed(2, "1/100  0.5  0.6: 100%|██████████| 10/10")
    assert record is not None
    assert record.axes["epoch"][1] == 1
    assert record.values == {"box_loss": 0.5, "cls_loss": 0.6}


def test_columns_may_be_headed_by_a_sign() -> None:
    reader = GridReader(shipped())
    reader.feed(0, "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE ")
    reader.feed(1, "---  ------  ------------  --------  ------  ------")
    record = reader.feed(2, "  1     200         35.70   2163.45   83.16    0.83")
    assert record is not None
    assert {axis: value for axis, (_, value) in record.axes.items()} == {"epoch": 1, "step": 200}
    assert record.values["LOSS NER"] == 2163.45


def test_rows_that_are_called_like_splits_are_of_those() -> None:
    reader = GridReader(shipped())
    reader.feed(0, "│ Survived   │   loss │   roc_auc │   accuracy │")
    splits = {}
    for label in ("train", "vali", "test"):
        record = reader.feed(1, f"│ {label}      │ 0.4790 │    0.8123 │     0.7712 │")
        assert record is not None
        splits[label] = record.split
    assert splits == {"train": "train", "vali": "val", "test": "test"}
