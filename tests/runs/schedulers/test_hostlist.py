"""Lists that Slurm writes in short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.slurm.hostlist import MOST_NAMES, expand_nodes, holds_task


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("vm", ("vm",)),
        ("gpu[01-03,7],login1", ("gpu01", "gpu02", "gpu03", "gpu7", "login1")),
        ("r[1-2]n[08-10]", ("r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10")),
        ("n[9-10]-ib", ("n9-ib", "n10-ib")),
        ("", ()),
        (None, ()),
        ("n[1-", ()),
        ("n[5-1]", ()),
        ("n[1-999999999999]", ()),
    ],
)
def test_nodes_by_name(text: str | None, names: tuple[str, ...]) -> None:
    assert expand_nodes(text) == names


@given(st.text(alphabet="n[]0123456789-,:%"))
def test_no_list_of_nodes_is_too_much(text: str) -> None:
    assert len(expand_nodes(text)) <= MOST_NAMES


@given(st.text(alphabet="[]0123456789-,:%."), st.integers(0, 100))
def test_no_list_of_tasks_breaks_it(text: str, task: int) -> None:
    holds_task(text, task)


def test_tasks_of_an_array() -> None:
    held = [task for task in range(12) if holds_task("1,3,5-9:2%4", task)]
    assert held == [1, 3, 5, 7, 9]
    assert holds_task("[1-10%4]", 10)
    assert not holds_task("1-10%4", 11)
    assert holds_task("1-5,9,...", 9)
    assert not holds_task(None, 1)
