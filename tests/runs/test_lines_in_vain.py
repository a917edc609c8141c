"""Lines that promise something, thousands of times, and do not keep it: read in linear time."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.event import EventKind
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from tests.blow_up import no_blow_up

MANY = 20_000
"""Lines for which looking thousands of lines ahead from each of them takes minutes."""
PROMISES = {
    "tracebacks without frames": ["Traceback (most recent call last):"],
    "tracebacks of ranks without frames": [
        f"{rank}: Traceback (most recent call last):" for rank in range(97)
    ],
    "a dump that is opened": ["config = {"],
    "headlines of small blocks": ["model:", "  kind: 3", "  lr: 4"],
}


def read(path: Path, lines: list[str]) -> Run:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    run = Run("run")
    read_file(run, str(path))
    return run


@pytest.mark.parametrize("promise", PROMISES)
def test_promises_that_are_not_kept_cost_no_more_than_their_lines(
    tmp_path: Path, promise: str
) -> None:
    lines = PROMISES[promise]
    with no_blow_up():
        read(tmp_path / "train.log", lines * (MANY // len(lines)))


def test_a_traceback_behind_headers_without_frames_is_read(tmp_path: Path) -> None:
    header = "Traceback (most recent call last):"
    whole = [header, '  File "train.py", line 3, in <module>', "    main()", "KeyError: 'lr'"]
    run = read(tmp_path / "train.log", [header] * MANY + ["step 1 loss 2.5"] + whole)
    failed = [event for _, event in run.events if event.kind is EventKind.EXCEPTION]
    assert [(event.exception, event.last_line) for event in failed] == [("KeyError", MANY + 5)]


def test_settings_behind_headlines_of_nothing_are_read(tmp_path: Path) -> None:
    lines = [f"step {n} loss 2.5" for n in range(2500)]
    dump = ["Configuration:", "  batch_size: 32", "  seed: 1"]
    run = read(tmp_path / "train.log", ["Configuration:", *lines] * 3 + dump)
    assert run.config["batch_size"] == 32
