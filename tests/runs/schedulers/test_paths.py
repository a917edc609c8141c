"""Where jobs write; the expectations were seen at a real Slurm 22.05."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.slurm.paths import Names, default_pattern, fill_in

PLAIN = Names(24, "nm", "root", None, None, "vm.cluster.org", "/w")
TASK = Names(31, "nm", "root", 25, 7, "vm", "/w")
TASKS = Names(25, "nm", "root", 25, None, None, "/w")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("p-%3j-%12j-%A-%a", "/w/p-024-0000000024-24-4294967294"),
        ("%J-%N-%n-%s-%t-%u-%x", "/w/24-vm-0-batch-0-root-nm"),
        ("%%-%q-%2t-%4x.out", "/w/%-%q-00-nm.out"),
        (r"r\%j-%j.out", "/w/r%j-%j.out"),
        ("/abs/%j.out", "/abs/24.out"),
        ("sub/%j.out", "/w/sub/24.out"),
        ("%99999999999999999999j", "/w/0000000024"),
        ("100%", "/w/100%"),
    ],
)
def test_patterns_of_a_plain_job(pattern: str, path: str) -> None:
    assert fill_in(pattern, PLAIN) == path


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("q-%3j-%A-%4a-%J-%1a-%0a.out", "/w/q-031-25-0007-31-7-7.out"),
        ("%b", "/w/7"),
    ],
)
def test_patterns_of_a_task(pattern: str, path: str) -> None:
    assert fill_in(pattern, TASK) == path


def test_defaults() -> None:
    assert fill_in(default_pattern(PLAIN), PLAIN) == "/w/slurm-24.out"
    assert fill_in(default_pattern(TASK), TASK) == "/w/slurm-25_7.out"


@pytest.mark.parametrize("pattern", ["%A_%a.out", "%j.out", "/w/slurm-25_4294967294.out"])
def test_tasks_that_wait_together_have_no_one_path(pattern: str) -> None:
    assert fill_in(pattern, TASKS) is None


def test_a_path_that_all_tasks_share_is_known_beforehand() -> None:
    assert fill_in("all-%A.out", TASKS) == "/w/all-25.out"


def test_what_is_not_known_is_not_made_up() -> None:
    bare = Names(24)
    for pattern in ("/x/%x.out", "/x/%u.out", "/x/%N.out", "relative.out"):
        assert fill_in(pattern, bare) is None
    assert fill_in("/x/%j.out", bare) == "/x/24.out"


@given(st.text(), st.text(), st.integers(0, 2**32), st.integers(0, 10**6) | st.none())
def test_every_pattern_gives_an_absolute_path_or_nothing(
    pattern: str, name: str, job: int, task: int | None
) -> None:
    array = None if task is None else 5
    path = fill_in(pattern, Names(job, name, "u", array, task, "n", "/w"))
    assert path is None or (os.path.isabs(path) and "\0" not in path)
