"""Two-column tables, one record each."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.text.tables import TableReader, is_row, is_rule

STABLE_BASELINES = """\
-----------------------------
| time/           |         |
|    iterations   | 10      |
|    total_timesteps | 20480 |
| train/          |         |
|    loss         | 0.0386  |
|    note         | good    |
-----------------------------"""


@pytest.mark.parametrize(
    ("line", "is_it"),
    [("------", True), ("+----+----+", True), ("-----", False), ("-- 3 ---", False)],
)
def test_rules(line: str, is_it: bool) -> None:
    assert is_rule(line) is is_it


@pytest.mark.parametrize(
    ("line", "is_it"),
    [
        ("| loss | 0.5 |", True),
        ("│ loss │ 0.5 │", True),
        ("| a | 1 | 2 |", False),
        ("loss 0.5", False),
    ],
)
def test_rows_have_two_cells(line: str, is_it: bool) -> None:
    assert is_row(line) is is_it


def test_a_table_is_one_record_at_its_first_number() -> None:
    reader = TableReader(shipped())
    *before, record = [
        reader.feed(number, line) for number, line in enumerate(STABLE_BASELINES.split("\n"))
    ]
    assert not any(before)
    assert record is not None
    assert record.line == 2
    assert record.values == {
        "time/iterations": 10,
        "time/total_timesteps": 20480,
        "train/loss": 0.0386,
    }
    assert record.axes.keys() == {"step"}
    assert record.is_certain


def test_the_better_name_of_an_axis_wins() -> None:
    reader = TableReader(shipped())
    for number, line in enumerate(["| iterations | 10 |", "| total_timesteps | 20480 |"]):
        reader.feed(number, line)
    record = reader.close()
    assert record is not None
    assert record.axes["step"][1] == 20480


def test_a_key_that_is_not_indented_leaves_its_section() -> None:
    reader = TableReader(shipped())
    for number, line in enumerate(["| train/ | |", "|   loss | 1 |", "| loss | 2 |"]):
        reader.feed(number, line)
    record = reader.close()
    assert record is not None
    assert record.values == {"train/loss": 1, "loss": 2}


def test_unknown_names_are_not_certain() -> None:
    reader = TableReader(shipped())
    reader.feed(0, "| apples | 1 |")
    record = reader.close()
    assert record is not None
    assert not record.is_certain


def test_an_open_table_is_kept_for_the_next_lines() -> None:
    reader = TableReader(shipped())
    reader.feed(5, "| loss | 1 |")
    reader.shift(8)
    record = reader.feed(0, "------")
    assert record is not None
    assert record.line == -3
    assert reader.close() is None


def test_a_table_with_words_and_no_place_lists_settings() -> None:
    reader = TableReader(shipped())
    rows = ["| lr | 0.1 |", "| loss | ce |", "+-----+-----+"]
    assert [reader.feed(line, row) for line, row in enumerate(rows)] == [None, None, None]
