"""Recordings replayed as if live, by a real process into a real directory."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.tui import recordings
from mltd.tui.replay import Replay
from mltd.tui.replay_process import main


def test_files_grow_to_exactly_what_was_recorded_and_vanish() -> None:
    with Replay(["overfitting", "memory-leak"], speed=1e-6) as replay:
        assert stat.S_IMODE(replay.directory.stat().st_mode) == 0o700
        assert [path.name for path in replay.paths] == ["train.log", "history.csv", "train.log"]
        stored = [file.read() for one in replay.recordings for file in one.files]
        written = [path.read_bytes() for path in replay.paths]
        for part, whole in zip(written, stored, strict=True):
            assert whole.startswith(part)
            assert 0 < len(part) < len(whole)
        replay.finish()
        assert [path.read_bytes() for path in replay.paths] == stored
    assert not replay.directory.exists()


def test_a_file_that_is_written_late_is_there_and_empty_from_the_start() -> None:
    with Replay(["index-error-at-evaluation"], speed=1e-6) as replay:
        errors = replay.directory / "index-error-at-evaluation" / "train.err"
        assert errors.read_bytes() == b""


def test_speed_and_pause_reach_the_process() -> None:
    with Replay(["overfitting"], speed=1e-6) as replay:
        before = replay.paths[0].stat().st_size
        replay.pause()
        replay.set_speed(1e9)
        assert (replay.speed, replay.is_paused) == (1e9, True)
        assert replay.paths[0].stat().st_size == before
        replay.resume()
        assert not replay.is_paused
        # Two more exchanges: by the second one the first has been followed by some time.
        replay.set_speed(1e9)
        replay.set_speed(1e9)
        assert replay.paths[0].read_bytes() == replay.recordings[0].files[0].read()


def test_all_recordings_are_replayed_unless_some_are_named() -> None:
    assert [one.name for one in Replay().recordings] == recordings.names()
    assert [one.name for one in Replay(["overfitting"] * 2).recordings] == ["overfitting"]
    with pytest.raises(InputError, match="no recording called"):
        Replay(["nonsense"])


@pytest.mark.parametrize("speed", [0.0, -1.0, float("inf"), float("nan")])
def test_an_impossible_speed_is_refused(speed: float) -> None:
    with pytest.raises(InputError, match="times as fast"):
        Replay(speed=speed)


def test_what_was_not_started_has_no_directory_and_takes_no_command() -> None:
    replay = Replay(["overfitting"])
    with pytest.raises(InputError, match="not started"):
        _ = replay.directory
    with pytest.raises(InputError, match="not started"):
        replay.pause()
    replay.close()


def test_closing_twice_and_starting_twice_do_no_harm() -> None:
    replay = Replay(["overfitting"], speed=1e-6)
    replay.start()
    first = replay.directory
    replay.start()
    assert replay.directory == first
    replay.close()
    replay.close()
    assert not first.exists()


def test_no_place_to_write_is_said_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="TMPDIR"):
        Replay(["overfitting"]).start()


def test_a_process_that_died_is_an_explained_error_and_leaves_nothing_behind() -> None:
    replay = Replay(["overfitting"], speed=1e-6)
    replay.start()
    process = replay._process
    assert process is not None
    process.kill()
    process.wait()
    with pytest.raises(InputError, match="its process ended"):
        replay.pause()
    assert not replay.directory.exists()


def test_a_full_disk_is_said_by_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(_files: object, _file: str, _content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mltd.tui.replay_process.GrowingFiles.append", refuse)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    place = tmp_path / "replay"
    place.mkdir()
    assert main([str(place), "1", "overfitting"]) == 1
    assert capfd.readouterr().out == "failed No space left on device\n"
    assert not place.exists()


STARTER = """
import sys
from mltd.tui.replay import Replay
replay = Replay(["overfitting"])
replay.start()
heavy = {"numpy", "textual", "pandas"} & set(sys.modules)
print(replay.directory, replay._process.pid, heavy or "", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_the_directory_is_removed_however_the_screen_dies(end: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as screen:
        assert screen.stdout is not None
        directory, pid, *heavy = screen.stdout.readline().split()
        assert heavy == []
        assert Path(directory).is_dir()
        # Opened before the end, so that the number cannot be another process's by then.
        writer = os.pidfd_open(int(pid))
        screen.send_signal(end)
        assert screen.wait() == -end
    wait_for_end(writer)
    assert not Path(directory).exists()


def test_the_writing_process_cleans_up_when_it_is_terminated_itself() -> None:
    replay = Replay(["overfitting"], speed=1e-6)
    replay.start()
    assert replay._process is not None
    replay._process.terminate()
    assert replay._process.wait() == 0
    assert not replay.directory.exists()
    replay.close()


def wait_for_end(descriptor: int) -> None:
    """Until the process behind the descriptor has ended."""
    try:
        assert select.select([descriptor], [], [], 20)[0]
    finally:
        os.close(descriptor)


def test_the_writing_process_loads_nothing_heavy() -> None:
    command = "import sys, mltd.tui.replay_process; print(*sys.modules, sep='\\n')"
    report = subprocess.run(
        [sys.executable, "-c", command], check=True, capture_output=True, text=True
    )
    assert set(report.stdout.split()) & {"numpy", "textual", "rich", "pandas"} == set()
