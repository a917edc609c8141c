"""The command `sessions`: every sub-command, what it prints, and how it says no."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mltd.sessions.actions.records import AddRun, Archive
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.storage.store import SessionStore, SessionSummary
from mltd.tui.sessions_command import add_parser, archive, delete, list_sessions, rename, run, where
from mltd.tui.sessions_text import table

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def ids() -> tuple[str, str, str]:
    """Three sessions on disk; the last is in the archive."""
    return make("loss rose"), make("slow loader"), make("old story", is_archived=True)


def make(title: str, *, is_archived: bool = False) -> str:
    """A session on disk; its id."""
    with SessionStore().create(title) as session:
        at = session.session.created
        session.do(AddRun(run=RunRef(id="R1", location=f"/x/{title}.log", added=at)))
        if is_archived:
            session.do(Archive())
        return session.session.id


def command(*words: str) -> int:
    """Run the command as the command line would."""
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers(dest="command"))
    return run(parser.parse_args(["sessions", *words]))


def titles(output: str) -> list[str]:
    """The titles in a list as JSON."""
    return [row["title"] for row in json.loads(output)["sessions"]]


Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def test_the_latest_comes_first_and_the_archive_is_not_shown(
    ids: tuple[str, str, str], capsys: Output
) -> None:
    assert command() == 0
    out, err = capsys.readouterr()
    heading, first, second = out.splitlines()
    assert heading.split() == ["ID", "CHANGED", "PHASE", "TITLE", "RUNS", "HEADLINE"]
    assert first.startswith(ids[1])
    assert second.startswith(ids[0])
    assert "1/5" in first
    assert "slow loader.log" in first
    assert err == "mltd-tui: 1 in the archive is not shown: --all shows them\n"


@pytest.mark.parametrize("words", [["--all"], ["list", "--all"], ["--all", "list"]])
def test_all_means_all(words: list[str], ids: tuple[str, str, str], capsys: Output) -> None:
    assert command(*words) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[1:]] == [ids[2], ids[1], ids[0]]
    assert "archived" in out
    assert err == ""


def test_the_list_as_json_has_everything(ids: tuple[str, str, str], capsys: Output) -> None:
    assert command("--json") == 0
    (first, second) = json.loads(capsys.readouterr().out)["sessions"]
    assert (first["id"], second["id"]) == (ids[1], ids[0])
    assert first["runs"] == ["slow loader.log"]
    assert (first["phase"], first["phase_number"]) == ("intake", 1)
    assert datetime.fromisoformat(first["changed"]).tzinfo is not None
    assert Path(first["path"]).is_dir()
    assert command("list", "--json", "--all") == 0
    assert titles(capsys.readouterr().out) == ["old story", "slow loader", "loss rose"]


@pytest.mark.parametrize("columns", ["", "80", "61", "30"])
def test_no_line_of_the_list_is_wider_than_the_terminal(
    columns: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    make("a title that goes on and on " * 6)
    journal = SessionStore().folder / make("損失が急に増えた " * 9) / "journal.jsonl"
    journal.write_bytes(b"not a journal, and a long way from being one" * 9)
    make("put away", is_archived=True)
    assert command() == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    wanted = int(columns or 80)
    assert all(cell_len(line) <= wanted for line in out.splitlines())
    assert all(len(line) <= 80 for line in err.splitlines())
    assert max(map(cell_len, out.splitlines())) > wanted - 20


def test_a_session_is_named_by_the_log_it_is_about(tmp_path: Path, capsys: Output) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 2.5\n" * 20)
    with SessionStore().create("first") as session:
        at = session.session.created
        session.do(AddRun(run=RunRef(id="R1", location=str(log), added=at)))
        made = session.session.id
    make("another")
    assert command("path", str(log)) == 0
    assert capsys.readouterr().out.endswith(f"{made}\n")
    assert command("rename", str(log), "NaN at 24,590") == 0
    assert capsys.readouterr().out == f"{made}: renamed to NaN at 24,590\n"
    assert command("archive", made[-4:]) == 0


def test_no_sessions_are_an_empty_list(capsys: Output) -> None:
    assert list_sessions() == 0
    assert capsys.readouterr() == ("", "mltd-tui: there are no sessions yet\n")
    assert list_sessions(as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"sessions": []}


def test_a_session_that_cannot_be_read_says_why_and_hides_no_other(
    ids: tuple[str, str, str], capsys: Output
) -> None:
    journal = SessionStore().folder / ids[0] / "journal.jsonl"
    journal.unlink()
    journal.mkdir()
    assert list_sessions() == 0
    out = capsys.readouterr().out
    assert "cannot be read: " in out
    assert "slow loader" in out


def test_it_is_renamed_by_any_name_that_means_one(
    ids: tuple[str, str, str], capsys: Output
) -> None:
    assert command("rename", "loss rose", "spike", "at", "24,590") == 0
    assert capsys.readouterr().out == f"{ids[0]}: renamed to spike at 24,590\n"
    assert list_sessions(as_json=True) == 0
    assert titles(capsys.readouterr().out) == ["spike at 24,590", "slow loader"]


def test_it_is_put_away_and_brought_back(ids: tuple[str, str, str], capsys: Output) -> None:
    assert command("archive", ids[0]) == 0
    assert list_sessions(as_json=True) == 0
    said, listed = capsys.readouterr().out.splitlines()
    assert said == f"{ids[0]}: archived"
    assert titles(listed) == ["slow loader"]
    assert command("archive", ids[0], "--undo") == 0
    assert list_sessions(as_json=True) == 0
    assert titles(capsys.readouterr().out.splitlines()[1]) == ["loss rose", "slow loader"]


def test_without_a_terminal_nothing_is_deleted_unless_it_was_said_so(
    ids: tuple[str, str, str], capsys: Output
) -> None:
    assert command("delete", ids[0]) == 2
    assert capsys.readouterr().err.endswith("there is no terminal to ask in; say --yes\n")
    assert (SessionStore().folder / ids[0]).exists()
    assert command("delete", ids[0], "--yes") == 0
    assert capsys.readouterr().out == f"{ids[0]}: deleted\n"
    assert not (SessionStore().folder / ids[0]).exists()


class Terminal(io.StringIO):
    """Somebody sits there."""

    def isatty(self) -> bool:
        """Always."""
        return True


@pytest.mark.parametrize(
    ("answer", "is_gone"),
    [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False), ("yess\n", False)],
)
def test_on_a_terminal_it_asks_first(
    answer: str,
    is_gone: bool,
    ids: tuple[str, str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", screen)
    assert delete("loss rose") == 0
    asked = screen.getvalue()
    assert asked.startswith(f"Delete {ids[0]} (loss rose; 1 run, 0 experiments) for good? [y/N] ")
    assert ("nothing was deleted" in asked) is not is_gone
    assert (SessionStore().folder / ids[0]).exists() is not is_gone


def test_the_path_is_one_that_a_script_can_use(ids: tuple[str, str, str], capsys: Output) -> None:
    assert where(ids[0][:-2] if ids[0][:-2] != ids[1][:-2] else ids[0]) == 0
    folder = Path(capsys.readouterr().out.removesuffix("\n"))
    assert folder == SessionStore().folder / ids[0]
    assert folder.is_dir()


@pytest.mark.parametrize(
    "words", [["rename", "x", "y"], ["archive", "x"], ["delete", "x", "--yes"], ["path", "x"]]
)
def test_an_unknown_session_is_a_sentence_that_names_the_known(
    words: list[str], ids: tuple[str, str, str], capsys: Output
) -> None:
    assert command(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mltd-tui: there is no session 'x'")
    assert ids[0] in err


def test_an_empty_title_is_refused(ids: tuple[str, str, str], capsys: Output) -> None:
    assert rename(ids[0], "  ") == 2
    assert capsys.readouterr().err == "mltd-tui: a session needs a title\n"


HOLDER = """
import sys
from mltd.sessions.storage.store import SessionStore
session = SessionStore().open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
session.close()
"""


def test_a_session_that_is_open_elsewhere_is_left_alone(
    ids: tuple[str, str, str], capsys: Output
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, ids[0]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        assert archive(ids[0]) == 2
        assert rename(ids[0], "mine") == 2
        assert delete(ids[0], yes=True) == 2
        complaints = capsys.readouterr().err.splitlines()
        holder.communicate(b"")
    assert len(complaints) == 3
    assert all(ids[0] in complaint for complaint in complaints)
    assert rename(ids[0], "mine") == 0


# -- the table ----------------------------------------------------------------------------


def row(id: str, **more: object) -> SessionSummary:  # noqa: A002 - what it is
    """One session in the list."""
    values: dict[str, object] = {
        "title": "loss rose", "created": AT, "changed": AT, "runs": ("train.log",), **more
    }  # fmt: skip
    return SessionSummary(id=id, **values)  # type: ignore[arg-type]


def shown(rows: Sequence[SessionSummary], columns: int) -> list[str]:
    """The table three hours later."""
    return list(table(rows, columns, now=AT + timedelta(hours=3)))


ROWS = [
    row("20260301-1200-loss-rose-after-restart-ab12", title="loss rose after restart",
        phase="fix", runs=("train.log", "b.log"), headline="LR too high: 0.80 (observation, 0.95)"),
    row("20260228-0915-slow-cd34", title="slow", headline=""),
    row("20260228-0915-x-cd35", title="文字化け" * 5, phase="handoff", is_archived=True),
]  # fmt: skip


def test_with_room_enough_nothing_is_cut() -> None:
    assert shown(ROWS, 0) == [
        "ID                                          CHANGED  PHASE     TITLE"
        "                                     RUNS          HEADLINE",
        "20260301-1200-loss-rose-after-restart-ab12  3 h ago  4/5       loss rose after restart"
        "                   train.log +1  LR too high: 0.80 (observation, 0.95)",
        "20260228-0915-slow-cd34                     3 h ago  1/5       slow"
        "                                      train.log",
        "20260228-0915-x-cd35                        3 h ago  archived  " + "文字化け" * 5
        + "  train.log",
    ]  # fmt: skip


def test_at_80_columns_ids_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    lines = shown(ROWS, 80)
    assert [line.split()[0] for line in lines[1:]] == [
        "20260301-1200", "20260228-0915-s", "20260228-0915-x",
    ]  # fmt: skip
    assert all(cell_len(line) <= 80 for line in lines)
    assert "train.log" in lines[1]


def test_columns_stand_below_each_other() -> None:
    lines = shown(ROWS[:2], 100)
    for heading, cell in (("TITLE", "loss rose"), ("RUNS", "train.log"), ("PHASE", "4/5")):
        assert lines[0].index(heading) == lines[1].index(cell)


def test_text_from_outside_cannot_move_the_cursor() -> None:
    (_, line) = shown([row("a-1", title="a\x1b[2Jb\nc", headline="\x07")], 0)
    assert line.isprintable()


@given(
    st.lists(
        st.builds(
            row,
            st.from_regex(r"2026030[1-3]-120[0-2]-[a-c-]{0,30}[0-9a-f]{4}", fullmatch=True),
            title=st.text(max_size=60),
            headline=st.text(max_size=80),
            runs=st.lists(st.text(max_size=30), max_size=3).map(tuple),
            is_archived=st.booleans(),
            phase=st.sampled_from(["intake", "handoff", "unheard of"]),
            problem=st.sampled_from(["", "torn"]),
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda made: made.id,
    ),
    st.integers(1, 200),
)
def test_it_fits_into_any_width(rows: list[SessionSummary], columns: int) -> None:
    lines = shown(rows, columns)
    assert len(lines) == len(rows) + 1
    assert all(cell_len(line) <= columns and line.isprintable() for line in lines)
