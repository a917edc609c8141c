"""inotify: limits and use, made up and real."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.tui.doctor.areas.inotify import Use, budget, in_use, limits
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import in_namespace, only


def made_up(proc: Path, *, instances: int = 128, watches: int = 8192) -> Path:
    """A /proc with limits and two processes; one of them watches three directories."""
    (proc / "sys/fs/inotify").mkdir(parents=True)
    (proc / "sys/fs/inotify/max_user_instances").write_text(f"{instances}\n")
    (proc / "sys/fs/inotify/max_user_watches").write_text(f"{watches}\n")
    for process in ("7", "8"):
        (proc / process / "fd").mkdir(parents=True)
        (proc / process / "fdinfo").mkdir()
    (proc / "7/fd/3").symlink_to("anon_inode:inotify")
    (proc / "7/fdinfo/3").write_text("pos:\t0\n" + "inotify wd:1 ino:2\n" * 3)
    (proc / "7/fd/4").symlink_to("/dev/null")
    (proc / "7/fd/5").symlink_to("anon_inode:inotify")  # closed before it was looked at
    return proc


@pytest.mark.parametrize(
    ("instances", "watches", "state", "word"),
    [
        (128, 8192, State.OK, "you use 1 of 128 instances and 3 of 8192 watches"),
        (16, 8192, State.WARNING, "few instances are left"),
        (128, 66, State.WARNING, "few watches are left"),
    ],
)
def test_what_is_left_is_told(
    tmp_path: Path, instances: int, watches: int, state: State, word: str
) -> None:
    proc = made_up(tmp_path, instances=instances, watches=watches)
    line = only(budget(Surroundings(proc=proc)))
    assert line.state is state
    assert word in line.fact
    assert ("sysctl" in line.advice) is (state is State.WARNING)


def test_the_limit_of_a_container_counts_if_it_is_lower(tmp_path: Path) -> None:
    proc = made_up(tmp_path)
    (proc / "sys/user").mkdir()
    (proc / "sys/user/max_inotify_instances").write_text("20\n")
    assert limits(proc) == Use(20, 8192)


def test_a_kernel_without_inotify(tmp_path: Path) -> None:
    assert only(budget(Surroundings(proc=tmp_path))).state is State.WARNING


def test_processes_of_others_do_not_count(tmp_path: Path) -> None:
    assert in_use(made_up(tmp_path), os.geteuid() + 1) == Use(0, 0)


WATCHING = """
import ctypes, sys
libc = ctypes.CDLL(None)
for _ in range(3):
    number = libc.inotify_init()
    libc.inotify_add_watch(number, sys.argv[1].encode(), 2)
print("watching", flush=True)
sys.stdin.read()
"""


def test_real_use_is_counted(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WATCHING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "watching\n"
        # Of this process alone: others come and go meanwhile.
        only_it = tmp_path / "proc"
        only_it.mkdir()
        (only_it / str(process.pid)).symlink_to(f"/proc/{process.pid}")
        assert in_use(only_it, os.geteuid()) == Use(3, 3)
        process.communicate()


EXHAUSTED = """
import sys
from pathlib import Path
from mltd.tui.doctor.areas.files import look
from mltd.tui.doctor.areas.inotify import budget
from mltd.tui.doctor.surroundings import Surroundings
Path("/proc/sys/user/max_inotify_instances").write_text("0")
for check in (lambda a: look(a, sys.argv[1]), budget):
    line = next(iter(check(Surroundings())))
    print(line.state, line.fact)
"""


def test_following_goes_on_where_inotify_is_really_used_up(tmp_path: Path) -> None:
    files, inotify = in_namespace(EXHAUSTED, str(tmp_path)).splitlines()
    assert files.startswith("warning")
    assert "looked at every 0.25 to 2 s" in files
    assert "the system's limit of inotify instances is reached" in files
    assert inotify.startswith("warning you use")
    assert "few instances are left" in inotify
