"""The command as a whole: exit codes, forms, and an answer in time whatever hangs."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mltd.tui.doctor import apart
from mltd.tui.doctor.check import DEADLINE
from mltd.tui.doctor.checks import all_checks
from mltd.tui.doctor.command import add_parser, run
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import PATIENCE, here
from tests.conftest import RequireService
from tests.runs.sources.sshd_server import mounted_sshfs, running_sshd
from tests.tui.tmux import TmuxSession

from .scene import SYSTEM, program

SCRIPT = """
import argparse, sys
from mltd.tui.doctor import apart
from mltd.tui.doctor.command import add_parser, run
apart.GRACE = 60.0  # for a machine on which Python takes that long to start
parser = argparse.ArgumentParser()
add_parser(parser.add_subparsers())
sys.exit(run(parser.parse_args(["doctor", *sys.argv[1:]])))
"""
ENDLESS = 600
"""Seconds that a program hangs: beyond all patience of these tests."""
SECRET = "sk-ant-api03-" + "Xq9" * 30
AREAS = [
    "terminal",
    "locale",
    "files",
    "inotify",
    "state",
    "clock",
    "sessions",
    "configuration",
    "ssh",
    "Slurm",
    "Claude",
    "limits",
    "versions",
]


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers(dest="command"))
    return parser.parse_args(["doctor", *words])


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = run(options(*words, "--json"))
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


def command_lines() -> Iterator[bytes]:
    """What runs on this machine now."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is not what is tested, where nothing hangs."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setattr(apart.look_apart, "__defaults__", (30.0,))


def test_every_area_has_something_to_say_and_nothing_is_a_problem(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, found = answer(capsys, str(tmp_path))
    assert list(dict.fromkeys(line["area"] for line in found["lines"])) == AREAS
    assert [line for line in found["lines"] if line["state"] == "problem"] == []
    assert code == 0
    assert not any("failed" in line["fact"] for line in found["lines"])


def test_a_path_that_does_not_exist_is_a_problem_and_no_crash(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, found = answer(capsys, str(tmp_path / "nothing"), str(tmp_path))
    assert code == 1
    (problem,) = [line for line in found["lines"] if line["state"] == "problem"]
    assert problem["fact"] == f"{tmp_path}/nothing does not exist"
    assert found["summary"]["problems"] == 1


def test_an_unknown_option_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        options("--jsn")
    assert ended.value.code == 2
    assert "--jsn" in capsys.readouterr().err


def test_a_broken_configuration_file_does_not_keep_the_doctor_away(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"], "mltd", "config.toml")
    config.parent.mkdir()
    config.write_text("nonsense")
    code, found = answer(capsys, str(tmp_path))
    assert code == 1
    assert [line["area"] for line in found["lines"] if line["state"] == "problem"] == [
        "configuration"
    ]


def test_text_in_a_pipe_has_no_colours_and_fits_eighty_columns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(options(str(tmp_path)))
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1].endswith(" ok.")


def test_the_key_is_never_shown_in_any_form(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(options(str(tmp_path)))
    run(options(str(tmp_path), "--json"))
    assert "Xq9" not in capsys.readouterr().out


def test_nothing_is_left_behind(tmp_path: Path, own_home: Path) -> None:
    before = sorted(own_home.rglob("*"))
    run(options(str(tmp_path)))
    assert list(tmp_path.iterdir()) == []
    assert sorted(own_home.rglob("*")) == before


def test_nothing_that_hangs_holds_up_the_answer(tmp_path: Path) -> None:
    for name in ("ssh", "ssh-add", "squeue", "scontrol", "sacct", "tmux", "locale"):
        program(tmp_path / "bin", name, f"sleep {ENDLESS}")
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{SYSTEM}",
        "TMUX": "/x,1,0",
        "SSH_AUTH_SOCK": "/x",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "--json", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=ENDLESS / 4,
    )
    assert done.stderr == ""
    assert not any(os.fsencode(tmp_path / "bin") in words for words in command_lines())
    found = json.loads(done.stdout)
    warnings = " ".join(line["fact"] for line in found["lines"] if line["state"] == "warning")
    for name in ("squeue", "scontrol", "sacct", "agent", "ssh -V", "tmux"):
        assert name in warnings


def test_a_file_server_that_is_down_holds_nobody_up(tmp_path: Path) -> None:
    for name in ("far", "sshd", "near"):
        (tmp_path / name).mkdir()
    with (
        running_sshd(tmp_path / "sshd") as server,
        mounted_sshfs(server, tmp_path / "far", tmp_path / "mount") as mount,
    ):
        dead = {"XDG_STATE_HOME": str(mount), "XDG_CONFIG_HOME": str(mount)}
        stopped = server.connections()
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        try:
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT, "--json", str(mount), str(tmp_path / "near")],
                env={**os.environ, **dead},
                capture_output=True,
                text=True,
                timeout=ENDLESS / 4,
            )
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)
    assert done.returncode == 1
    lines = json.loads(done.stdout)["lines"]
    late = {line["area"] for line in lines if "no answer within" in line["fact"]}
    assert late >= {"files", "state", "sessions", "configuration"}
    assert any(line["fact"].startswith(f"{tmp_path}/near is on ") for line in lines)


def test_where_no_process_can_be_started_the_checks_are_done_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    answer = apart.look_apart((str(tmp_path),), 30.0)
    assert list(dict.fromkeys(line.area for line in answer.lines)) == AREAS


def test_checks_that_die_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    (line,) = apart.look_apart((), 10.0).lines
    assert line.state is State.PROBLEM
    assert "no check came to an end" in line.fact


def test_the_command_line_is_built_without_the_checks() -> None:
    script = "import sys, mltd.tui.doctor.command; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    ours = {name for name in done.stdout.split() if name.startswith("mltd.")}
    assert ours == {"mltd.tui", "mltd.tui.doctor", "mltd.tui.doctor.command"}


def test_a_real_terminal_gets_colours_its_own_width_and_ascii_if_it_must(
    tmp_path: Path, require_service: RequireService
) -> None:
    require_service("tmux")
    script = tmp_path / "doctor.py"
    script.write_text(SCRIPT)
    for name, environment, size in (
        ("colours", {}, (72, 90)),
        ("ascii", {"LANG": "C", "NO_COLOR": "1"}, (100, 90)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        command = f"{sys.executable} {script} {tmp_path}"
        with TmuxSession(folder, size=size, environment=environment, command=command) as session:
            assert session.wait_end() in (0, 1)
            screen = session.wait_for("versions", " ok.")
            assert f"{size[0]} columns x {size[1]} lines" in screen
            assert screen.isascii() is (name == "ascii")
            assert ("\x1b[32m" in session.coloured_screen) is (name == "colours")


def test_the_size_is_none_without_a_terminal() -> None:
    script = """import os
from mltd.tui.doctor.surroundings import terminal_size
os.setsid()
print(terminal_size())"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"


def test_every_check_has_a_name_of_its_own() -> None:
    names = [check.name for check in all_checks((".",))]
    assert len(names) == len(set(names))
    assert PATIENCE < DEADLINE


@pytest.mark.parametrize(
    ("content", "unicode", "seconds"),
    [
        ("[screen]\nunicode = true\n[follow]\npoll_seconds = 2\n", True, 2.0),
        ("[screen]\nunicode = 1\n[follow]\npoll_seconds = -2\n", None, None),
        ("screen = 1\n", None, None),
        ("nonsense", None, None),
        (None, None, None),
    ],
)
def test_the_wishes_of_the_configuration_file_are_known(
    content: str | None, unicode: bool | None, seconds: float | None
) -> None:
    if content is not None:
        config = Path(os.environ["XDG_CONFIG_HOME"], "mltd", "config.toml")
        config.parent.mkdir()
        config.write_text(content)
    around = here((), (80, 24))
    assert (around.is_unicode, around.poll_seconds) == (unicode, seconds)
    assert (around.paths, around.size) == ((".",), (80, 24))
