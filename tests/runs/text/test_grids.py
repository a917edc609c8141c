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
    for label in ("train", "vali", "test"):
        record = reader.feed(1, f"│ {label}      │ 0.4790 │    0.8123 │     0.7712 │")
        assert record is not None
        assert record.values[f"{label}/loss"] == 0.479


def records_of(*lines: str) -> list[dict[str, float]]:
    reader = GridReader(shipped())
    found = [reader.feed(number, line) for number, line in enumerate(lines)]
    return [record.values for record in found if record is not None]


def test_columns_may_be_splits_and_rows_metrics() -> None:
    lines = ["┃ metric ┃ train ┃ val ┃", "│ loss │ 0.5 │ 0.6 │", "│ top-1 acc │ 0.9 │ 0.8 │"]
    assert records_of(*lines) == [
        {"train/loss": 0.5, "val/loss": 0.6},
        {"train/top-1 acc": 0.9, "val/top-1 acc": 0.8},
    ]


@pytest.mark.parametrize("header", ["split  loss  acc  f1", "       loss  acc  f1"])
def test_rows_may_be_splits(header: str) -> None:
    assert records_of(header, "train  0.5  0.9  0.7", "val  0.6  0.8  0.6") == [
        {"train/loss": 0.5, "train/acc": 0.9, "train/f1": 0.7},
        {"val/loss": 0.6, "val/acc": 0.8, "val/f1": 0.6},
    ]


def test_rows_of_splits_may_have_two_numbers() -> None:
    assert records_of("split  loss  acc", "val  0.6  0.8") == [{"val/loss": 0.6, "val/acc": 0.8}]


def test_an_index_without_a_name_is_left_out() -> None:
    lines = ["   epoch  train_loss  valid_loss", "0      1     2.5     2.6"]
    assert records_of(*lines) == [{"train_loss": 2.5, "valid_loss": 2.6}]


@pytest.mark.parametrize(
    "header",
    ["# epoch  loss  acc", "epoch ║ loss ║ acc", "| epoch | loss | acc |"],
)
def test_headers_may_be_comments_or_drawn(header: str) -> None:
    edge = "║" if "║" in header else " "
    assert records_of(header, f"1 {edge} 2.5 {edge} 0.5") == [{"loss": 2.5, "acc": 0.5}]


def test_names_may_have_units() -> None:
    lines = ["epoch | loss [nats] | acc (%)", "1 | 2.5 | 50.1"]
    assert records_of(*lines) == [{"loss [nats]": 2.5, "acc (%)": 50.1}]


def test_an_empty_cell_between_edges_says_nothing() -> None:
    lines = ["| epoch | loss | val_loss |", "| 1 | 2.5 |  |", "| 2 | 2.4 | 2.6 |"]
    assert records_of(*lines) == [{"loss": 2.5}, {"loss": 2.4, "val_loss": 2.6}]


def test_a_header_may_take_two_lines() -> None:
    lines = [
        "|  Epoch  |   Elapsed  |  Mini-batch  |  Validation  |  Base Learning  |",
        "|         | (hh:mm:ss) |     Loss     |     Loss     |      Rate       |",
        "|       1 |   00:01:40 |       2.4615 |       2.4977 |          0.0010 |",
    ]
    names = {"Mini-batch Loss": 2.4615, "Validation Loss": 2.4977, "Base Learning Rate": 0.001}
    assert records_of(*lines) == [names]


def test_names_that_fill_their_columns_are_told_apart_by_the_numbers_below() -> None:
    reader = GridReader(shipped())
    assert reader.feed(1, "    ep  tr_loss  va_loss  val_acc test_acc       lr") is None
    record = reader.feed(2, "     1   1.5897   1.5933    0.225    0.142  1.0e-02")
    assert record is not None
    assert record.axes["epoch"][1] == 1
    assert record.values == {
        "tr_loss": 1.5897, "va_loss": 1.5933, "val_acc": 0.225, "test_acc": 0.142, "lr": 0.01,
    }  # fmt: skip


def test_an_index_before_names_with_spaces_is_still_an_index() -> None:
    reader = GridReader(shipped())
    assert reader.feed(1, "   epoch  train loss   acc") is None
    record = reader.feed(2, "0      1      1.5897  0.22")
    assert record is not None
    assert record.axes["epoch"][1] == 1
    assert record.values == {"train loss": 1.5897, "acc": 0.22}
