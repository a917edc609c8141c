"""Tables with a header line and a record per row."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader
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


def read_all(lines: list[str]) -> dict[str, tuple[str | None, list[float], list[float]]]:
    """Role, steps and values of each series of a log."""
    run = Run("test")
    file = run.add_file(SourceFile("train.log"))
    run.append(file, TextReader().feed("\n".join(lines).encode(), final=True))
    return {s.name: (s.role, s.axis("step").tolist(), s.values.tolist()) for s in run.series}


def test_losses_of_spacy_are_those_of_its_tasks_and_its_scores_are_measured_on_held_out_data() -> (
    None
):
    found = read_all([
        "E    #       LOSS TOK2VEC  LOSS TEXTCAT  LOSS NER  CATS_SCORE  ENTS_F  SCORE ",
        "---  ------  ------------  ------------  --------  ----------  ------  ------",
        "  0       0          0.00          2.27      9.10        3.82    0.00    0.04",
        "  0      40         28.57         92.17    301.20       13.74   10.10    0.14",
        "  1      80         20.58         72.18    201.20       36.62   20.20    0.37",
        "  2     120         10.58         42.19    101.20       55.24   30.30    0.55",
    ])  # fmt: skip
    assert found["LOSS TOK2VEC"][0] is None
    # Its first row is that of one batch; all others add up those since the row before.
    assert found["LOSS TEXTCAT"] == ("train/loss", [40, 80, 120], [92.17, 72.18, 42.19])
    assert found["LOSS NER"][0] == "train/loss"
    assert found["CATS_SCORE"] == ("val/score", [0, 40, 80, 120], [3.82, 13.74, 36.62, 55.24])
    assert (found["ENTS_F"][0], found["SCORE"][0]) == ("val/score", "val/score")


def test_a_table_of_classes_is_that_of_an_evaluation() -> None:
    lines = []
    for epoch in range(1, 5):
        lines += [
            "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size",
            f"        {epoch}/4      2.31G      0.{9 - epoch}2     0.{9 - epoch}7     {30 + epoch}"
            "        640: 100%|##########| 50/50 [00:10<00:00,  4.92it/s]",
            "              Class     Images  Instances      Box(P          R      mAP50  mAP50-95):"
            " 100%|##########| 10/10 [00:02<00:00,  4.76it/s]",
            f"                   all        300        241       0.{epoch}2     0.{epoch}03     "
            f"0.{epoch}3     0.{epoch}1",
        ]
    found = read_all(lines)
    assert found["mAP50"][0] == "val/score"
    assert found["mAP50"][2] == [0.13, 0.23, 0.33, 0.43]
    assert found["box_loss"][0] == "train/loss"
    assert found["Instances"][2] == [31, 32, 33, 34]


def test_a_metric_that_one_split_has_not_is_still_one_of_the_other() -> None:
    said = "2024-05-25 21:23:46,823 - INFO - allennlp.training.callbacks.console_logger - "
    lines = []
    for epoch in range(4):
        lines += [
            f"2024-05-25 21:23:23,839 - INFO - allennlp.training.trainer - Epoch {epoch}/3",
            f"{said}                       Training |  Validation",
            f"{said}accuracy           |     0.{epoch}32  |     0.{epoch}38",
            f"{said}gpu_0_memory_MB    |  1201.31{epoch}  |       N/A",
            f"{said}loss               |     1.{9 - epoch}40  |     2.{9 - epoch}81",
            f"{said}worker_0_memory_MB |  {2000 + epoch}.200  |       N/A",
        ]
    found = read_all(lines)
    assert found["Training/worker_0_memory_MB"][0] == "memory"
    assert found["Training/worker_0_memory_MB"][2] == [2000.2, 2001.2, 2002.2, 2003.2]
    assert found["Validation/loss"][0] == "val/loss"
    assert "Validation/worker_0_memory_MB" not in found
