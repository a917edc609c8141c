"""The command line around the commands: misspelt words, closed pipes, files that are there."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.tui import recordings
from mltd.tui.cli import main
from mltd.tui.complaint import UNUSABLE

LOG = "".join(f"step {i}/100: loss {3 / (i + 1):.4f}, lr 1e-3\n" for i in range(20))


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return path


# -- demo without a terminal --------------------------------------------------------------


def test_a_demo_without_a_terminal_prints_what_was_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "memory-leak"]) == 0
    printed = capfd.readouterr().out
    assert recordings.load("memory-leak").title in printed
    others = [recordings.load(name).title for name in recordings.names() if name != "memory-leak"]
    assert not [title for title in others if title in printed]


def test_an_unknown_recording_is_refused_with_the_names_there_are(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "memory-leek"]) == UNUSABLE
    said = capfd.readouterr()
    assert said.out == ""
    assert "no recording called 'memory-leek'" in said.err
    assert all(name in said.err for name in recordings.names())


# -- misspelt words -----------------------------------------------------------------------


def refused(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == UNUSABLE
    said = capfd.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.parametrize(
    ("word", "command"),
    [("chek", "check"), ("Exprot", "export"), ("session", "sessions"), ("docter", "doctor")],
)
def test_a_misspelt_command_is_named_before_any_file(
    word: str, command: str, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (log.parent / "cache").mkdir()
    for arguments in ([word], [word, str(log), "--json"]):
        assert f"did you mean `mltd-tui {command}`?" in refused(arguments, capfd)


@pytest.mark.parametrize("word", ["./chek", "chek.log", "chek*", "host:chek", "4821", "evaluation"])
def test_what_looks_like_a_file_is_none(word: str, log: Path) -> None:
    assert main([word]) == UNUSABLE


def test_a_file_that_is_called_like_a_misspelt_command_is_opened(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log.rename("chek")
    assert main(["chek"]) == 0
    assert "loss" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "usage", "meant"),
    [
        (["check", "--jsn", "x.log"], "usage: mltd-tui check ", "did you mean --json?"),
        (["x.log", "--thme=dark"], "usage: mltd-tui open ", "did you mean --theme?"),
        (["sessions", "list", "--al"], "", ""),  # the beginning of an option is enough
        (["sessions", "list", "--jsno"], "usage: mltd-tui sessions list ", "did you mean --json?"),
        (["doctor", "--qqq"], "usage: mltd-tui doctor ", "unrecognized arguments: --qqq\n"),
    ],
)
def test_an_unknown_option_is_answered_with_the_usage_of_its_command(
    arguments: list[str], usage: str, meant: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if not usage:
        assert main(arguments) == 0
        return
    said = refused(arguments, capfd)
    assert said.startswith(usage)
    assert meant in said


# -- a reader that goes away --------------------------------------------------------------


class ClosedPipe:
    """A stream like stdout, into a pipe that nobody reads."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        self.stream = io.TextIOWrapper(os.fdopen(writing, "wb"), encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "train.log"],
        ["check", "--json", "train.log"],
        ["check", "--json", "missing.log"],
        ["export", "train.log"],
        ["export", "--wide", "train.log"],
        ["explain"],
        ["explain", "nan_loss"],
        ["pack", "train.log"],
        ["report", "train.log"],
        ["report", "--json", "train.log"],
        ["sessions"],
        ["sessions", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["inspect", "--json", "train.log"],
        ["demo", "memory-leak"],
        ["train.log"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_every_command_ends_quietly_when_its_reader_has_gone(
    arguments: list[str],
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pipe = ClosedPipe()
    monkeypatch.setattr(sys, "stdout", pipe.stream)
    try:
        code = main(arguments)
    except SystemExit as ended:  # of argparse, where the command line is its own answer
        code = int(ended.code or 0)
    finally:
        monkeypatch.undo()
    # What was written meanwhile must not fail when the interpreter closes it.
    pipe.stream.close()
    assert code in (0, UNUSABLE)
    said = [line for line in capfd.readouterr().err.splitlines() if "[Errno" in line]
    assert said == []


@pytest.mark.parametrize("both", [False, True])
def test_a_real_process_says_nothing_about_a_pipe_that_is_closed(both: bool, log: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mltd.tui.cli", "export", str(log)]
    errors = writing if both else subprocess.PIPE
    ended = subprocess.run(command, stdout=writing, stderr=errors, check=False)
    os.close(writing)
    assert ended.returncode == 0
    assert not ended.stderr


# -- files that are there -----------------------------------------------------------------


def test_export_replaces_a_file_only_by_force(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = log.with_name("table.csv")
    target.write_text("mine")
    assert main(["export", str(log), "-o", str(target)]) == UNUSABLE
    said = capfd.readouterr().err
    assert str(target) in said
    assert "--force" in said
    assert target.read_text() == "mine"
    assert main(["export", str(log), "-o", str(target), "--force"]) == 0
    assert target.read_text().startswith("file,metric,")
    assert sorted(os.listdir(log.parent)) == ["table.csv", "train.log"]


def test_not_even_force_lets_export_replace_the_log(log: Path) -> None:
    assert main(["export", str(log), "-o", str(log), "--force"]) == UNUSABLE
    assert log.read_text() == LOG


def test_an_export_that_fails_leaves_what_was_there(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = log.with_name("table.csv")
    target.write_text("mine")

    def fail(run: object, file: io.BytesIO, *, wide: bool) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mltd.runs.export.write_csv", fail)
    assert main(["export", str(log), "-o", str(target), "--force"]) == UNUSABLE
    assert target.read_text() == "mine"
    assert sorted(os.listdir(log.parent)) == ["table.csv", "train.log"]


def test_standard_input_can_be_exported(log: Path) -> None:
    command = [sys.executable, "-m", "mltd.tui.cli", "export", "-"]
    ended = subprocess.run(command, input=LOG.encode(), capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert len(ended.stdout.splitlines()) == 1 + 2 * 20
