"""Tables: what is a point, what is a coordinate, and what is no training table."""

from __future__ import annotations

import io
import math
import random
from pathlib import Path

import pytest

from mltd.runs.event import EventKind
from mltd.runs.formats.tabular import TabularFormat, TabularReader
from mltd.runs.formats.tabular_fast import read_numeric_block
from mltd.runs.harvest import Harvest
from tests.runs.formats.reading import axis, column, describe, feed_in_pieces, feed_whole, values


def read(text: str) -> Harvest:
    return feed_whole(TabularReader(), text.encode())


def test_empty_cells_are_no_points_but_nan_words_are() -> None:
    harvest = read("step,loss,val_loss\n1,2.5,\n2,NaN,inf\n3,,-inf\n")
    assert values(harvest, "loss")[0] == 2.5
    assert math.isnan(values(harvest, "loss")[1])
    assert values(harvest, "val_loss") == [math.inf, -math.inf]
    assert column(harvest, "val_loss").rows.tolist() == [1, 2]
    assert harvest.line.tolist() == [2, 3, 4]


def test_axis_columns_are_coordinates_and_columns() -> None:
    harvest = read("epoch,step,loss\n0,10,1\n1,20,0.5\n")
    assert axis(harvest, "step") == [10, 20]
    assert axis(harvest, "epoch") == values(harvest, "epoch") == [0, 1]


def test_a_step_of_minus_one_says_nothing() -> None:
    harvest = read("epoch,steps,loss\n0,-1,1\n1,-1,0.5\n")
    assert "step" not in harvest.axes
    assert values(harvest, "steps") == [-1, -1]


@pytest.mark.parametrize("cell", ["1700000000", "1700000000000", "2023-11-14 22:13:20"])
def test_moments_become_the_time_axis_and_no_metric(cell: str) -> None:
    harvest = read(f"timestamp,step,loss\n{cell},1,0.5\n")
    assert axis(harvest, "time") == [1.7e9]
    assert {c.key.name for c in harvest.columns} == {"step", "loss"}


def test_a_wall_time_since_the_start_stays_a_column() -> None:
    harvest = read("wall_time,step,loss\n12.5,1,0.5\n")
    assert "time" not in harvest.axes
    assert values(harvest, "wall_time") == [12.5]


def test_a_header_in_the_middle_is_a_restart_with_new_columns() -> None:
    harvest = read("epoch,loss\n0,2\n1,1\nepoch,loss,acc\n0,2.5,0.1\n")
    (restart,) = harvest.events
    assert (restart.kind, restart.line, restart.offset) == (EventKind.RESTART, 4, 19)
    assert values(harvest, "loss") == [2, 1, 2.5]
    assert values(harvest, "acc") == [0.1]


def test_cells_that_are_no_numbers_are_skipped() -> None:
    harvest = read("epoch,loss,model\n0,oops,resnet\n1,1_000,resnet\n2,0.5,٣\n")
    assert values(harvest, "loss") == [0.5]
    assert axis(harvest, "epoch") == [0, 1, 2]


def test_a_column_that_names_the_split_tells_curves_apart() -> None:
    harvest = read("phase,epoch,loss\ntrain,0,2\nval,0,3\ntrain,1,1\n")
    assert values(harvest, "loss", "train") == [2, 1]
    assert values(harvest, "loss", "val") == [3]


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("step;loss\n1;0,5\n", 0.5),
        ("step\tloss\n1\t0.5\n", 0.5),
        ('"step","loss"\n"1","0.5"\n', 0.5),
        ("   step,   loss\n      1,    0.5\n", 0.5),
        ("\ufeffstep,loss\r\n1,0.5\r\n", 0.5),
        ("# by a tool, v1\n\nstep,loss\n1,0.5\n", 0.5),
        (",step,loss\n0,1,0.5\n", 0.5),
        ('step, "loss"\n1, "0.5"', 0.5),
        ("step,loss,loss\n1,0.5,0.25\n", 0.5),
        ("step,loss\n1,0.5,\n", 0.5),
    ],
)
def test_dialects(text: str, loss: float) -> None:
    assert TabularFormat().sniff(text.encode(), "x") >= 0.5
    harvest = read(text)
    assert values(harvest, "loss") == [loss]
    assert axis(harvest, "step") == [1]


def test_an_unfinished_last_row_waits_for_its_end() -> None:
    reader = TabularReader()
    first = reader.feed(b"step,loss\n1,0.5\n2,0.2", final=False)
    assert first.consumed == len(b"step,loss\n1,0.5\n")
    assert values(reader.feed(b"2,0.25\n", final=False), "loss") == [0.25]


def test_a_stray_quote_does_not_swallow_the_file() -> None:
    rows = "".join(f"{i},{i}\n" for i in range(500))
    harvest = read(f'step,loss\n0,"oops\n{rows}')
    assert len(values(harvest, "loss")) == 500


@pytest.mark.parametrize(
    "text",
    [
        "date,region,sales,profit\n2024-01-01,north,5,2\n2024-01-02,south,6,3\n",
        "time,temperature,humidity\n1,20.5,40\n2,20.6,41\n",
        "id,price,quantity\n1,2.5,3\n",
        "name,value\nalpha,1\n",
        "date,profit,loss\n2024-01-01,5,2\n",
        "step,type,amount,nameOrig\n1,PAYMENT,9839.6,C12\n1,TRANSFER,181.0,C13\n",
        "1,2,3\n4,5,6\n",
        "Loading data, please wait\nEpoch 1, loss 0.5\n",
        "epoch, loss and friends\nthis is, only text\n",
        "loss\n0.5\n",
        "epoch: 1, loss: 0.5\n",
        "epoch 1, train loss 0.5",
        '{"iteration": 19, "total_loss": 2.0}\n',
        "",
    ],
)
def test_other_tables_are_not_claimed(text: str) -> None:
    assert TabularFormat().sniff(text.encode(), "metrics.csv") < 0.5


@pytest.mark.parametrize(
    "header",
    [
        "epoch,loss,accuracy,val_loss,val_accuracy",
        "epoch,train_loss,eval_loss,eval_top1,eval_top5,lr",
        "iteration,train-rmse,test-rmse",
        "Step,run-7 - train/loss,run-7 - train/loss__MIN",
        "_step,_runtime,_timestamp,train/loss",
        "iter\tRMSE",
        "train_loss,val_loss",
        '#{"t_start": 1.0, "env_id": "Cart"}\nr,l,t',
    ],
)
def test_tables_of_training_loops_are_claimed(header: str) -> None:
    names = header.split("\n")[-1]
    row = "\t".join("12") if "\t" in names else ",".join(["1"] * len(names.split(",")))
    assert TabularFormat().sniff(f"{header}\n{row}\n".encode(), "x") >= 0.5


def dense_table(rows: int, *, gaps: bool = False) -> bytes:
    chance = random.Random(7)
    out = io.StringIO()
    out.write("step,epoch,loss,lr,grad_norm,acc\n")
    for i in range(rows):
        acc = "" if gaps and i % 3 else "nan" if gaps and i % 7 == 0 else f"{chance.random():.4f}"
        out.write(f"{i},{i / 1000},{chance.random()!r},{chance.random() * 1e-5!r},")
        out.write(f"{chance.random() * 10:.6f},{acc}\n")
    return out.getvalue().encode()


@pytest.mark.parametrize("gaps", [False, True])
def test_big_pieces_are_exact_to_the_last_digit(gaps: bool) -> None:
    data = dense_table(3000, gaps=gaps)
    harvest = feed_whole(TabularReader(), data)
    rows = [line.split(b",") for line in data.splitlines()[1:]]
    for position, name in enumerate(["step", "epoch", "loss", "lr", "grad_norm", "acc"]):
        written = [float(row[position]) for row in rows if row[position]]
        assert [repr(v) for v in values(harvest, name)] == [repr(v) for v in written]


@pytest.mark.parametrize(
    "block",
    [b"1,2,3\n4,5\n", b"1\n2,3,4\n", b"1,2\n\n", b"1,x\n", b"1,1e 5\n", b"1,2e-301\n1,nan\n"],
)
def test_unusual_blocks_are_left_to_the_careful_way(block: bytes) -> None:
    assert read_numeric_block(block, b",", 2) is None
    assert read_numeric_block(b"1,2\n,nan\n", b",", 2) is not None


def test_odd_rows_in_a_big_piece_cost_only_themselves() -> None:
    data = dense_table(6000)
    lines = data.split(b"\n")
    lines[3000] = b'7,"a, b",0.125,,,"x'
    lines[3001] = b'y"'
    lines.insert(5000, lines[0])
    odd = b"\n".join(lines)
    harvest = feed_whole(TabularReader(), odd)
    assert describe([harvest]) == describe([feed_whole(TabularReader(fast_from=1 << 40), odd)])
    assert 0.125 in values(harvest, "loss")
    assert [event.line for event in harvest.events] == [5001]
    cuts = [len(b"\n".join(lines[:3001])) - 3, 100_000, 250_000]
    assert describe(feed_in_pieces(TabularReader(), odd, cuts)) == describe([harvest])


def test_dense_tables_go_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    read = TabularReader._read_carefully
    careful: list[bytes] = []

    def watched(self: TabularReader, block: bytes, *, final: bool) -> Harvest:
        careful.append(block)
        return read(self, block, final=final)

    monkeypatch.setattr(TabularReader, "_read_carefully", watched)
    data = dense_table(60_000)
    assert len(values(feed_whole(TabularReader(), data), "loss")) == 60_000
    assert b"".join(careful).count(b"\n") == 1, "the header alone"


def test_pandas_is_not_loaded_for_small_pieces(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from mltd.runs.formats.tabular import TabularReader;"
        "TabularReader().feed(b'step,loss\\n1,2\\n' * 100, final=True);"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("run-train-tag-epoch_loss.csv", "train/epoch_loss"),
        ("run_7-tag-eval_loss.csv", "eval_loss"),
        ("val_acc.csv", "val_acc"),
        ("export.csv", "Value"),
    ],
)
def test_a_column_that_is_only_a_value_is_named_by_its_file(file: str, name: str) -> None:
    reader = TabularFormat().open(f"/runs/a.b/{file}")
    harvest = feed_whole(reader, b"Wall time,Step,Value\n1700000000,1,2.5\n1700000001,2,2.25\n")
    assert values(harvest, name) == [2.5, 2.25]


@pytest.mark.parametrize("first", ["i", "idx", "No."])
def test_a_first_column_that_numbers_the_rows_counts_the_steps(first: str) -> None:
    text = f"{first},loss\n10,2.5\n20,2.25\n30,2.0\n"
    assert TabularFormat().sniff(text.encode(), "log.csv") > 0.5
    harvest = read(text)
    assert axis(harvest, "step") == [10, 20, 30]
    assert values(harvest, "loss") == [2.5, 2.25, 2.0]
    assert TabularFormat().sniff(text.replace("loss", "height").encode(), "log.csv") == 0
