"""How Slurm's commands are run; stand-ins on the path take the place of the real ones."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mltd.runs.schedulers.slurm.commands import run
from mltd.runs.schedulers.slurm.problems import Trouble, explain
from tests.late_programs import await_beginning


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def stand_in(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_no_shell_sees_the_arguments(programs: Path) -> None:
    stand_in(programs, "squeue", 'for word; do echo "<$word>"; done')
    arguments = ["squeue", "$(touch hacked)", "; touch hacked", "a b", "*"]
    assert run(arguments).text == "<$(touch hacked)>\n<; touch hacked>\n<a b>\n<*>\n"


def test_the_users_own_settings_do_not_change_what_is_printed(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("SLURM_CONF", "/etc/here.conf")
    stand_in(programs, "squeue", 'echo "$LC_ALL|$SLURM_TIME_FORMAT|$SQUEUE_FORMAT|$SLURM_CONF"')
    assert run(["squeue"]).text == "C|%s||/etc/here.conf\n"


def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(programs, "squeue", f"sleep 600 & echo $! > {programs}/child; wait")
    await_beginning(monkeypatch, programs / "child")
    output = run(["squeue"], patience=0.2)
    assert output.problem is not None
    assert output.problem.trouble is Trouble.TIMED_OUT
    assert "squeue gave no answer within" in output.problem.message
    child = int((programs / "child").read_text())
    assert is_gone(child)


def is_gone(pid: int) -> bool:
    """Dead, though perhaps not yet buried by whoever inherited it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        os.sched_yield()
    return False


def test_a_command_that_is_missing_or_cannot_be_run(programs: Path) -> None:
    missing = run(["mltd-no-such-program"]).problem
    assert missing is not None
    assert missing.trouble is Trouble.NOT_INSTALLED
    (programs / "squeue").write_bytes(b"\x7fELF nonsense")
    (programs / "squeue").chmod(0o755)
    broken = run(["squeue"]).problem
    assert broken is not None
    assert "squeue failed" in broken.message


def test_bytes_that_are_no_text_survive(programs: Path) -> None:
    stand_in(programs, "squeue", r"printf '/w/\377.out'")
    assert os.fsencode(run(["squeue"]).text) == b"/w/\xff.out"


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        ("slurm_load_jobs error: Invalid job id specified", Trouble.UNKNOWN_JOB),
        (
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
            Trouble.UNREACHABLE,
        ),
        ("squeue: fatal: Could not establish a configuration source", Trouble.NOT_CONFIGURED),
        (
            "squeue: error: Munge encode failed: Failed to access ...\n"
            "slurm_load_jobs error: Protocol authentication error",
            Trouble.DENIED,
        ),
        ("squeue: unrecognized option '--json'", Trouble.UNSUPPORTED),
        ("squeue: error: Invalid job format specification: Foo", Trouble.UNSUPPORTED),
        ("Slurm accounting storage is disabled", Trouble.NO_ACCOUNTING),
        ("sacct: error: slurm_persist_conn_open: Connection refused", Trouble.UNREACHABLE),
        ("sacct: error: Sending PersistInit msg to slurmdbd failed", Trouble.UNREACHABLE),
        ("", Trouble.OTHER),
        ("\x1b[31msomething else", Trouble.OTHER),
    ],
)
def test_error_messages_become_sentences(said: str, trouble: Trouble) -> None:
    problem = explain("squeue", said)
    assert problem.trouble is trouble
    assert str(problem).isprintable()


def test_accounts_that_are_switched_off_are_not_taken_for_an_empty_answer(programs: Path) -> None:
    stand_in(programs, "sacct", "echo 'Slurm accounting storage is disabled' >&2")
    problem = run(["sacct"]).problem
    assert problem is not None
    assert problem.trouble is Trouble.NO_ACCOUNTING
