"""Commands that are ended by a signal leave no copies of logs, and say so by their exit code."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import RequireService
from tests.runs.remote.conftest import Configure, configure, sshd  # noqa: F401 - fixtures
from tests.tui.test_hang_up import family
from tests.tui.tmux import PROGRAM, TmuxSession
from tests.waiting import PATIENCE

LINES = "".join(f"step {n} loss {1 / (n + 1):.4f}\n" for n in range(20))
SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary directory of the commands."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@contextlib.contextmanager
def following(*names: str, before: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """A `check --follow` that has shown its first picture; lines of a log wait in its pipe."""
    command = [*before, sys.executable, "-m", "mltd.tui.cli", "check", "--follow", *names]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(LINES.encode())
            process.stdin.flush()
            for line in process.stdout:
                if b"loss " in line:
                    break
            yield process
        finally:
            process.kill()


def files_below(folder: Path) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names]


@contextlib.contextmanager
def all_ended(process: int) -> Iterator[None]:
    """Wait until a process and all that it has started are gone."""
    watched = [os.pidfd_open(pid) for pid in family(process)]
    yield
    for each in watched:
        assert select.select([each], [], [], PATIENCE)[0], "an orphan is left"
        os.close(each)


@SIGNALS
def test_a_signal_ends_a_follower_of_standard_input_without_a_trace(
    temp: Path, number: signal.Signals
) -> None:
    with following("-") as process:
        assert files_below(temp)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
    assert files_below(temp) == []


def test_a_killed_follower_of_standard_input_leaves_no_trace(temp: Path) -> None:
    with following("-") as process:
        assert files_below(temp)
        with all_ended(process.pid):
            process.kill()
    assert files_below(temp) == []


def test_what_is_left_when_all_are_killed_is_removed_by_the_next_command(
    temp: Path, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text(LINES)
    with following("-") as process, following("-") as living:
        kept = len(files_below(temp)) // 2
        for pid in reversed(family(process.pid)):
            os.kill(pid, signal.SIGSTOP)
        for pid in family(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait(PATIENCE)
        assert len(files_below(temp)) == 2 * kept
        subprocess.run([PROGRAM, "check", str(log)], check=True, stdout=subprocess.DEVNULL)
        assert len(files_below(temp)) == kept
        living.terminate()
        assert living.wait(PATIENCE) == 143
    assert files_below(temp) == []


def test_the_end_of_standard_input_ends_a_follower(temp: Path) -> None:
    command = [PROGRAM, "check", "--follow", "-"]
    text = LINES + "step 20 loss 0.04"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert "at step 20" in done.stdout
    assert done.stderr == ""
    assert files_below(temp) == []


def test_a_hang_up_is_ignored_where_nohup_asks_for_it(temp: Path) -> None:
    with following("-", before=("nohup",)) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 143


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.usefixtures("configure")
def test_copies_of_remote_logs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    log = tmp_path / "far" / "train.log"
    log.parent.mkdir()
    log.write_text(LINES)
    with following(f"mltd-test:{log}") as process:
        assert "train.log" in files_below(tmp_path / "cache")
        process.send_signal(number)
        code = process.wait(PATIENCE)
    if number == signal.SIGKILL:
        assert "train.log" in files_below(tmp_path / "cache")
        subprocess.run([PROGRAM, "check", str(log)], check=True, stdout=subprocess.DEVNULL)
    else:
        assert code == 128 + number
    assert files_below(tmp_path / "cache") == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_app_on_standard_input_leaves_no_trace(
    temp: Path, tmp_path: Path, require_service: RequireService, number: signal.Signals
) -> None:
    require_service("tmux")
    log = tmp_path / "train.log"
    log.write_text(LINES)
    command = f"sh -c 'tail -n +1 -f {log} | exec {PROGRAM} -'"
    with TmuxSession(tmp_path, environment={"TMPDIR": str(temp)}, command=command) as session:
        session.wait_for("step 19")
        (program,) = [
            pid
            for pid in family(session.program_pid)
            if PROGRAM.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        ]
        assert files_below(temp)
        with all_ended(program):
            os.kill(program, number)
        assert files_below(temp) == []
