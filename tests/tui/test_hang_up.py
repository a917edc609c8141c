"""A terminal that goes away takes the app along, and nothing is left behind."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from tests.conftest import RequireService
from tests.tui.tmux import TmuxSession
from tests.waiting import PATIENCE


@pytest.mark.parametrize("command", ["log", "demo"])
def test_closing_the_window_ends_every_process(
    tmp_path: Path, require_service: RequireService, command: str
) -> None:
    require_service("tmux")
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {n} loss {1 / (n + 1):.4f}\n" for n in range(300)))
    arguments = ("demo",) if command == "demo" else (str(log),)
    for _ in range(3):
        with TmuxSession(tmp_path, *arguments) as session:
            session.wait_for("step 299" if command == "log" else "loss")
            watched = [os.pidfd_open(pid) for pid in family(session.program_pid)]
            session.close()
            for process in watched:
                # Readable once the process has ended.
                assert select.select([process], [], [], PATIENCE)[0], "an orphan is left"
                os.close(process)


def family(process: int) -> list[int]:
    """A process and all below it."""
    found, rest = [], [process]
    while rest:
        one = rest.pop()
        found.append(one)
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            rest += map(int, children.read_text().split())
    return found
