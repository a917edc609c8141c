"""Lines with numbers that no training loop printed as metrics."""

from __future__ import annotations

import pytest

from mltd.runs.text.foreign import is_foreign, is_setting_like
from mltd.runs.text.prefix import Prefix, read_prefix


@pytest.mark.parametrize(
    ("line", "is_it"),
    [
        ("+ python train.py", True),
        (">>> x = 3", True),
        (">>> loss: 3", False),
        ("  (fc): Linear(3, 4)", True),
        ("MASTER_PORT=29500", True),
        ("run --lr 0.1 --epochs 3", True),
        ("run --lr 0.1", False),
        ("| 33C | 141W | 5304MiB |", True),
        ("| loss 0.5 | lr: 1e-4 |", False),
        ("loss 0.5", False),
    ],
)
def test_foreign_lines(line: str, is_it: bool) -> None:
    assert is_foreign(line, line) is is_it


@pytest.mark.parametrize(
    ("line", "is_it"),
    [
        ("model = Net(3)", True),
        ("    return 3", True),
        ("# 3 layers", True),
        ("#3 loss 2", False),
        ("  'lr': 0.1,", True),
        ("lr = 0.1", True),
        ("layers = [", True),
        ("  eval_loss   =   0.32", False),
        ("10:00:00 lr = 0.1", False),
        ("loss: 0.5 lr: 0.1", False),
    ],
)
def test_lines_of_code_and_settings(line: str, is_it: bool) -> None:
    prefix = read_prefix(line)
    assert is_setting_like(line, line[prefix.end :], prefix) is is_it


def test_code_is_code_even_behind_a_timestamp() -> None:
    assert is_setting_like("10:00:00 import os", "import os", Prefix(9, stamp="clock"))
