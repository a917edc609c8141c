"""Programs that print their own source into their log."""

from __future__ import annotations

import pytest

from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader
from mltd.runs.text.source_code import may_open_source, source_end

SOURCE = '''import os, sys
import torch
from torch import nn
# 3 layers
"""loss 2.5
step 3 loss 4
"""
batch_size = 64
class Net(nn.Module):
    def loss(self, m, b, beta=.05):
        o = m(b[0]); iou = 0.5
        if not math.isfinite(loss): raise ValueError("loss is nan")

    lr: 0.1
x[0], y = 1, 2
print(f"step:{step} loss:{0.3:.2f}")
'''.splitlines()
LOG = ["=" * 80, *(f"step:{n}/9 train_loss:{4 / n:.4f} step_avg:149.3ms" for n in range(1, 9))]


@pytest.mark.parametrize(
    ("line", "is_it"),
    [
        ("import os", True),
        ("import numpy as np", True),
        ("from torch import nn, optim", True),
        ("import of 300 files took 2.1 s", False),
        ("from step 3 on", False),
        ("    import os", False),
    ],
)
def test_where_source_may_begin(line: str, is_it: bool) -> None:
    assert may_open_source(line) is is_it


def test_source_ends_where_the_log_begins() -> None:
    assert source_end([*SOURCE, *LOG], 0, final=True) == len(SOURCE)
    assert source_end(SOURCE, 0, final=True) == len(SOURCE)
    assert source_end(SOURCE[:7], 0, final=False) == 0


def test_an_import_alone_is_no_source() -> None:
    assert source_end(["import os", *LOG], 0, final=True) is None
    settings = [f"setting_{n} = {n}" for n in range(9)]
    assert source_end(["import os", *settings, *LOG], 0, final=True) is None


@pytest.mark.parametrize(
    "line", ["step={n} loss={n}.5 lr=0.1", "train(step {n}): loss={n}.5", "loss = {n}.5"]
)
def test_lines_that_only_differ_by_their_numbers_are_printed(line: str) -> None:
    log = [line.format(n=n) for n in range(20)]
    assert source_end([*SOURCE, *log], 0, final=True) == len(SOURCE)
    told = ["from x import y", *(text for one in log for text in (one, "  note"))]
    assert source_end(told, 0, final=True) is None


@pytest.mark.parametrize("size", [1 << 20, 100, 7])
def test_nothing_in_source_is_measured_or_happens(size: int) -> None:
    data = "".join(f"{line}\n" for line in [*SOURCE, *LOG]).encode()
    run, reader, waiting = Run("test"), TextReader(), b""
    file = run.add_file(SourceFile("log.txt"))
    for start in range(0, len(data), size):
        waiting += data[start : start + size]
        harvest = reader.feed(waiting, final=start + size >= len(data))
        run.append(file, harvest)
        waiting = waiting[harvest.consumed :]
    found = {one.name: one.axis("step").tolist() for one in run.series}
    assert found == {"train_loss": [*range(1, 9)], "step_avg": [*range(1, 9)]}
    assert not run.events
