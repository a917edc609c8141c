"""Other programs are asked, never waited for."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mltd.tui.doctor.programs import Answer, ask, find
from tests.late_programs import await_beginning

from .scene import SYSTEM, program


def test_a_program_answers(tmp_path: Path) -> None:
    program(tmp_path, "teller", 'echo "said $1"; echo "oh no" >&2; exit 3')
    answer = ask(("teller", "a b"), {"PATH": f"{tmp_path}:{SYSTEM}"}, 60)
    assert answer == Answer(3, "said a b\n", "oh no\n")
    assert (answer.first_words, answer.complaint) == ("said a b", "oh no")
    assert not answer.is_good


def test_a_program_that_is_not_there_is_missing(tmp_path: Path) -> None:
    answer = ask(("nothing-of-this-name",), {"PATH": str(tmp_path)}, 60)
    assert answer.is_missing
    assert find("sh", {"PATH": SYSTEM})


def test_a_program_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    program(tmp_path, "odd", "").write_text("#!/no/such/interpreter\n")
    answer = ask(("odd",), {"PATH": str(tmp_path)}, 60)
    assert answer.code is None
    assert "cannot be started" in answer.complaint


def test_a_program_that_is_late_goes_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = tmp_path / "child"
    program(tmp_path, "slow", f"echo so far >&2; sleep 600 & echo $! > {noted}; wait")
    await_beginning(monkeypatch, noted)
    answer = ask(("slow",), {"PATH": f"{tmp_path}:{SYSTEM}"}, 0.2)
    assert (answer.is_late, answer.complaint) == (True, "so far")
    child = int(noted.read_text())
    deadline = time.monotonic() + 60
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.02)  # nobody tells when a grandchild has gone
    assert not _lives(child)


def test_questions_get_no_answer_from_the_keyboard() -> None:
    assert ask(("cat",), {"PATH": SYSTEM}, 60) == Answer(0)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
