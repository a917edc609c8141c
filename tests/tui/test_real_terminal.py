"""The app in a real terminal, walked as a person would walk it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import RequireService
from tests.tui.tmux import PROGRAM, TmuxSession


@pytest.fixture(autouse=True)
def _needs_tmux(require_service: RequireService) -> None:
    require_service("tmux")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    lines = [f"step {n}/2000 | loss {4 * 0.995**n + 0.4:.4f} | lr 3e-4" for n in range(600)]
    lines += [f"step {n}/2000 | loss nan | lr 3e-4" for n in range(600, 640)]
    lines += ["WARNING the last word of this log"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_broken_run_is_seen_searched_zoomed_and_left(tmp_path: Path, log: Path) -> None:
    with TmuxSession(tmp_path, str(log)) as session:
        screen = session.wait_for("train.log", "the last word of this log", "critical")
        assert all(len(line) <= 80 for line in screen.splitlines())
        session.write("/")
        session.write("step 123/")
        session.press("Enter")
        session.wait_for("step 123/2000", "match 1 of 1")
        # Waited for, because Escape and a key right behind it are Alt and that key.
        session.press("Escape")
        session.wait_gone("match 1 of 1")
        session.press("4")
        session.wait_for("step 123/2000", "step 135/2000")
        session.press("1")
        session.wait_for("NaN loss")
        session.press("z")
        session.wait_gone("NaN loss")
        session.press("z")
        session.wait_for("NaN loss")
        session.write("?")
        session.wait_for("Keys")
        session.press("Escape")
        session.wait_gone("Keys")
        session.press("q")
        assert session.wait_end() == 0
        assert not session.is_alternate


def test_new_lines_appear_and_a_resize_is_followed(tmp_path: Path, log: Path) -> None:
    with TmuxSession(tmp_path, str(log)) as session:
        session.wait_for("the last word of this log")
        with log.open("a") as file:
            file.write("a line that came later\n")
        session.wait_for("a line that came later")
        session.resize(160, 48)
        screen = session.wait_for("a line that came later", "by observation, at most 0.95")
        assert max(map(len, screen.splitlines())) > 100
        session.resize(50, 12)
        session.wait_for("needs 60x15")
        session.resize(80, 24)
        session.wait_for("a line that came later")
        session.press("q")
        assert session.wait_end() == 0


def test_a_theme_is_changed_and_remembered(tmp_path: Path, log: Path) -> None:
    with TmuxSession(tmp_path, str(log), environment={"TERM": "screen-256color"}) as session:
        session.wait_for("the last word of this log")
        before = session.coloured_screen
        session.press("t")
        session.wait_for("light")
        assert session.coloured_screen != before
        session.press("q")
        assert session.wait_end() == 0
    again = tmp_path / "again"
    again.mkdir()
    with TmuxSession(again, str(log), environment={"TERM": "screen-256color"}) as session:
        session.wait_for("the last word of this log")
        preferences = Path(os.environ["XDG_STATE_HOME"], "mltd", "preferences.json")
        assert '"light"' in preferences.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_the_terminal_as_it_was(
    tmp_path: Path, log: Path, number: signal.Signals
) -> None:
    with TmuxSession(tmp_path, str(log)) as session:
        session.wait_for("the last word of this log")
        assert session.is_alternate
        os.kill(session.program_pid, number)
        assert session.wait_end() == 128 + number
        assert not session.is_alternate


def test_control_c_leaves(tmp_path: Path, log: Path) -> None:
    with TmuxSession(tmp_path, str(log)) as session:
        session.wait_for("the last word of this log")
        session.press("C-c")
        assert session.wait_end() == 0
        assert not session.is_alternate


def test_without_unicode_everything_is_ascii(tmp_path: Path, log: Path) -> None:
    plain = {"LANG": "C", "LC_ALL": "C", "TERM": "linux"}
    with TmuxSession(tmp_path, str(log), environment=plain) as session:
        screen = session.wait_for("the last word of this log", "critical")
        assert screen.isascii()
        session.press("q")
        assert session.wait_end() == 0


def test_a_hostile_log_cannot_reach_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "hostile.log"
    log.write_bytes(
        b"step 1 loss 2.0\n\x1b]0;owned\x07\x1b[2J\x1b[31m[bold]not markup[/bold]\x1b[0m\n"
        b"\x1b[?1049l\x9b5n [/] [@click=app.quit]quit[/]\nend of it\n"
    )
    with TmuxSession(tmp_path, str(log)) as session:
        session.wait_for("[bold]not markup[/bold]", "end of it", "[@click=app.quit]")
        assert session.is_alternate
        session.press("q")
        assert session.wait_end() == 0


def test_a_pipe_is_followed_and_keys_come_from_the_terminal(tmp_path: Path) -> None:
    training = tmp_path / "training"
    training.write_text("for n in 1 2 3; do echo step $n loss 0.$n; done; exec sleep 600")
    with TmuxSession(tmp_path, command=f"sh {training} | {PROGRAM} -") as session:
        session.wait_for("step 3 loss 0.3")
        session.press("q")
        session.wait_gone("step 3 loss 0.3")


def test_a_name_that_leads_nowhere_is_a_sentence_and_code_2(tmp_path: Path) -> None:
    with TmuxSession(tmp_path, str(tmp_path / "no" / "where" / "x.log")) as session:
        assert session.wait_end() == 2
        session.wait_for("mltd-tui: there is no file or directory")


def test_the_picker_opens_where_nothing_is_named(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name, last in (("good", "0.5"), ("bad", "nan")):
        (runs / name).mkdir(parents=True)
        lines = [f"step {n} loss {3 * 0.98**n + 0.2:.4f}" for n in range(200)]
        (runs / name / "train.log").write_text("\n".join([*lines, f"step 200 loss {last}"]) + "\n")
    with TmuxSession(tmp_path, command=f"sh -c 'cd {runs} && exec $0' {PROGRAM}") as session:
        session.wait_for("good", "bad", "loss is nan since step 200")
        session.write("bad")
        session.wait_gone("good")
        session.press("Enter")
        session.wait_for("step 200 loss nan")
        session.press("q")
        assert session.wait_end() == 0


def adopt(session: TmuxSession) -> None:
    """Make the worst finding a hypothesis, and look at the checklist."""
    session.wait_for("the last word of this log", "critical")
    session.press("3")
    session.wait_for("NaN loss", "h Hypothesis")
    session.press("h")
    session.press("6")
    session.wait_for("checklist", "u undoes: added H1")


def test_a_session_is_there_again_and_the_way_out_names_its_report(
    tmp_path: Path, log: Path
) -> None:
    with TmuxSession(tmp_path, str(log), size=(100, 30)) as session:
        adopt(session)
        session.press("e")
        session.wait_for("Plan E1, a test of H1")
        session.write("halve it: ")
        session.press("C-s")
        session.wait_for("E1", "planned", "u undoes: planned E1")
        session.press("q")
        assert session.wait_end() == 0
        screen = session.wait_for("mltd-tui report")
        command = next(line for line in screen.splitlines() if "mltd-tui report" in line)
    name = command.split("mltd-tui report ")[1].strip()
    report = tmp_path / "report.md"
    subprocess.run([PROGRAM, "report", name, "-o", str(report)], check=True)
    assert "E1" in report.read_text()
    again = tmp_path / "again"
    again.mkdir()
    with TmuxSession(again, str(log), size=(100, 30)) as session:
        session.wait_for("Session reopened")
        session.press("6")
        session.wait_for("H1", "E1")
        session.press("q")
        assert session.wait_end() == 0


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, log: Path) -> None:
    with TmuxSession(tmp_path, str(log)) as session:
        adopt(session)
        session.press("n")
        session.wait_for("Note")
        session.write("worth remembering")
        session.press("C-s")
        # What is said to be saved has to be: notices that lie over it have to go first.
        session.wait_for("✔ saved", "u undoes: note")
        os.kill(session.program_pid, signal.SIGKILL)
        assert session.wait_end() == 128 + signal.SIGKILL
    again = tmp_path / "again"
    again.mkdir()
    with TmuxSession(again, str(log)) as session:
        session.wait_for("Session reopened", "1 hypothesis")
        session.press("6")
        session.wait_for("checklist", "u undoes: note")
        session.press("G")
        session.wait_for("worth remembering")
        session.press("u")
        session.wait_for("U redoes: note")
        session.press("q")
        assert session.wait_end() == 0


def test_a_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    demo = ("demo", "overfitting", "--speed", "8")
    with TmuxSession(tmp_path, *demo) as session:
        session.wait_for("overfitting", "findings")
        session.press("6")
        session.wait_for("draft")
        session.press("n")
        session.wait_for("Note")
        session.write("only a demo")
        session.press("C-s")
        session.wait_for("u undoes: note")
        session.press("q")
        assert session.wait_end() == 0
        assert "mltd-tui report" not in session.screen
    assert not Path(os.environ["XDG_STATE_HOME"], "mltd", "sessions").exists()
