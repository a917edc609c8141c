"""Limits of a log-in, set by a real shell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.tui.doctor.areas import limits
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import in_shell, only

LOOK = """
from mltd.tui.doctor.areas import limits
from mltd.tui.doctor.surroundings import Surroundings
for check in limits.CHECKS:
    for line in check.look(Surroundings()):
        print(line.state, line.fact, "->", line.advice)
"""


@pytest.mark.parametrize(
    ("order", "fact", "advice"),
    [
        ("ulimit -Sn 100", "only 100 files may be open at a time", "`ulimit -n "),
        ("ulimit -n 100", "only 100 files may be open at a time", "`ulimit -n 100`"),
        ("ulimit -Sf 1024", "no file may become longer than 1.0 MB", "ulimit -f"),
        ("ulimit -St 600", "killed after 10 min of processor time", "interactive job"),
        ("ulimit -Sv 900000", "only 879 MB of memory may be used", "fewer runs"),
    ],
)
def test_a_limit_that_hinders_is_told(order: str, fact: str, advice: str) -> None:
    told = [line for line in in_shell(order, LOOK).splitlines() if line.startswith("warning")]
    assert any(fact in line and advice in line.partition(" -> ")[2] for line in told)


def test_enough_is_enough() -> None:
    told = in_shell("ulimit -Sn 1024", LOOK)
    assert "ok 1,024 files may be open at a time" in told
    assert " load " in told


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """A /proc in which this user has two processes with three threads each."""
    for process in ("7", "8"):
        for thread in ("1", "2", "3"):
            (tmp_path / process / "task" / thread).mkdir(parents=True)
    (tmp_path / "sys").mkdir()
    return tmp_path


@pytest.mark.parametrize(("limit", "state"), [(46, State.OK), (45, State.WARNING), (-1, None)])
def test_processes_that_are_left(
    crowd: Path, monkeypatch: pytest.MonkeyPatch, limit: int, state: State | None
) -> None:
    user = os.geteuid()
    assert limits.threads_of(crowd, user) == 6
    assert limits.threads_of(crowd, user + 1) == 0
    # For root there is no such limit, and these tests may run as root.
    monkeypatch.setattr(os, "geteuid", lambda: user or 1)
    monkeypatch.setattr(limits, "threads_of", lambda *_: 6)
    monkeypatch.setattr("resource.getrlimit", lambda _: (limit, limit))
    lines = list(limits.processes(Surroundings(proc=crowd)))
    assert [line.state for line in lines] == ([] if state is None else [state])


def test_the_smallest_memory_of_the_control_groups_counts(tmp_path: Path) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("1:cpu:/x\n0::/user.slice/user-7.slice/s\n")
    (groups / "user.slice" / "user-7.slice" / "s").mkdir(parents=True)
    around = Surroundings(proc=proc, cgroups=groups)
    assert limits.memory_of_group(around) is None
    (groups / "user.slice" / "memory.max").write_text("max\n")
    (groups / "user.slice" / "user-7.slice" / "memory.max").write_text(f"{512 * 2**20}\n")
    assert limits.memory_of_group(around) == 512 * 2**20
    assert "only 512 MB of memory" in only(limits.time_and_memory(around)).fact
    assert limits.memory_of_group(Surroundings(proc=tmp_path)) is None
