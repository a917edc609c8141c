"""Logs that are rotated, copied, truncated and replaced at random, on a local disk and on sshfs.

`MLTD_ROTATIONS=20` does twenty times as much, each time with another seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .rotating_log import Figures, RotatingLog
from .sshd_server import mounted_sshfs, running_sshd

TIMES = int(os.environ.get("MLTD_ROTATIONS", "1"))


@pytest.fixture(scope="module")
def mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("sshfs")
    remote = folder / "remote"
    remote.mkdir()
    with (
        running_sshd(folder / "sshd") as server,
        mounted_sshfs(server, remote, folder / "mount") as mounted,
    ):
        yield remote, mounted


def rotate(folder: Path, seen_at: Path, seed: int, operations: int) -> tuple[RotatingLog, Figures]:
    log = RotatingLog(folder, seen_at, seed)
    for _ in range(operations):
        log.act()
    return log, log.finish()


def check(log: RotatingLog, figures: Figures) -> None:
    """Every line came once and whole, or a mark says that lines may be missing there."""
    problems = (figures.doubled, figures.torn, figures.unmarked, figures.needless)
    assert problems == (0, 0, 0, 0), (figures, log.seed, log.operations)
    assert figures.needless_marks == 0, (figures, log.seed, log.operations)


@pytest.mark.parametrize("seed", range(4 * TIMES))
def test_no_line_is_lost_doubled_or_torn_on_a_local_disk(tmp_path: Path, seed: int) -> None:
    check(*rotate(tmp_path, tmp_path, seed, 50))


@pytest.mark.parametrize("seed", range(2 * TIMES))
def test_no_line_is_lost_doubled_or_torn_on_sshfs(mount: tuple[Path, Path], seed: int) -> None:
    remote, mounted = mount
    (remote / str(seed)).mkdir()
    check(*rotate(remote / str(seed), mounted / str(seed), 1000 + seed, 50))
