"""The command `report`: from any name a user may give to a document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.sessions.actions.records import AddRun, PutNote
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.prints import print_of
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import now
from mltd.tui.complaint import UNUSABLE
from mltd.tui.report_command import report


def run_report(
    name: str,
    output: str | None = None,
    *,
    brief: bool = False,
    as_json: bool = False,
    redact: bool = False,
    force: bool = False,
) -> int:
    return report(name, output=output, brief=brief, as_json=as_json, redact=redact, force=force)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    lines = ["seed: 42", "login HF_TOKEN=hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678"]
    for step in range(1, 121):
        loss = "nan" if step >= 100 else f"{2.5 - step / 60:.4f}"
        lines.append(f"step {step} loss {loss} lr 0.003")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def kept(log: Path) -> str:
    """The id of a session about the log."""
    with SessionStore().create("NaN at step 100") as opened:
        ref = RunRef(
            id="R1", location=str(log), name=log.name, files=(print_of(str(log)),), added=now()
        )
        opened.do(AddRun(run=ref))
        opened.do(PutNote(id="N1", text="asked the data team"))
        opened.flush()
        return opened.session.id


def test_a_log_without_a_session_is_reported_straight_from_the_analysis(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(str(log), str(tmp_path / "r.md")) == 0
    text = (tmp_path / "r.md").read_text()
    assert "Not kept as a session" in text
    assert "`nan_loss`" in text
    assert "### H1 (open):" in text
    assert "- [x] Logs collected (seen by the app" in text
    assert "![loss" in text
    assert (tmp_path / "r-files" / "train-loss.svg").is_file()
    assert "hf_aBc" not in text
    assert "wrote" in capsys.readouterr().err
    assert not SessionStore().summaries()


def test_a_log_with_a_session_is_reported_by_that(
    log: Path, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(str(log)) == 0
    out = capsys.readouterr().out
    assert f"Session `{kept}`" in out
    assert "- [x] Logs collected (seen by the app" in out
    assert "asked the data team" in out


@pytest.mark.parametrize("how", ["id", "prefix", "title", "last", "folder", "journal"])
def test_a_session_is_found_by_whatever_it_is_called(
    kept: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = SessionStore().folder / kept
    names = {
        "id": kept,
        "prefix": kept[:-3],
        "title": "nan at step 100",
        "last": "last",
        "folder": str(folder),
        "journal": str(folder / "journal.jsonl"),
    }
    assert run_report(names[how]) == 0
    assert "asked the data team" in capsys.readouterr().out


def test_a_journal_that_was_rescued_is_reported_like_any_other(
    kept: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rescued = tmp_path / "mltd-rescued-1234.jsonl"
    rescued.write_bytes((SessionStore().folder / kept / "journal.jsonl").read_bytes())
    assert run_report(str(rescued)) == 0
    assert "asked the data team" in capsys.readouterr().out


def test_without_a_place_it_goes_to_stdout_with_text_plots_alone(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(str(log)) == 0
    out = capsys.readouterr().out
    assert "└────" in out
    assert "![" not in out
    assert sorted(os.listdir(log.parent)) == ["train.log"]


def test_a_log_that_is_gone_leaves_what_the_session_keeps(
    log: Path, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log.unlink()
    assert run_report(kept) == 0
    out = capsys.readouterr().out
    assert "could not be read" in out
    assert "there is no file or directory" in out
    assert "asked the data team" in out


def test_another_log_in_the_same_place_is_not_taken_for_the_run(
    log: Path, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text("another run\n" * 40)
    assert run_report(kept) == 0
    assert "holds another run now" in capsys.readouterr().out


def test_five_lines_on_request(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_report(str(log), brief=True) == 0
    assert capsys.readouterr().out.count("\n") == 5


def test_json_on_request_names_the_files_beside_it(log: Path, tmp_path: Path) -> None:
    assert run_report(str(log), str(tmp_path / "r.json"), as_json=True) == 0
    content = json.loads((tmp_path / "r.json").read_text())
    artifacts = content["analysis_artifacts"]
    assert artifacts["loss_plot"] == "r.json-files/train-loss.svg"
    for name in filter(None, artifacts.values()):
        assert (tmp_path / name).is_file()
    assert "(train-loss.svg)" in (tmp_path / artifacts["report"]).read_text()
    assert content["seconds"] > 0


def test_json_stands_beside_a_report_and_writes_only_what_it_names(
    log: Path, tmp_path: Path
) -> None:
    assert run_report(str(log), str(tmp_path / "r.md")) == 0
    assert run_report(str(log), str(tmp_path / "r.json"), as_json=True) == 0
    named = json.loads((tmp_path / "r.json").read_text())["analysis_artifacts"].values()
    files = {f"r.json-files/{one.name}" for one in (tmp_path / "r.json-files").iterdir()}
    assert files == set(filter(None, named))
    assert {one.name for one in (tmp_path / "r-files").iterdir()} > {"train-loss.svg"}


def test_a_run_without_a_session_ticks_nothing_that_people_do(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(str(log)) == 0
    out = capsys.readouterr().out
    assert "Proposed by the analyzers; nobody has taken one up yet." in out
    assert "- [ ] Hypotheses written down: none is written down" in out
    assert "- [ ] An experiment for each open hypothesis" in out
    assert "- [ ] Success and fail criteria fixed beforehand" in out
    assert "- [x] Metrics collected" in out


def test_json_on_stdout_is_the_contract_alone(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(str(log), as_json=True) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["findings"][0]["id"] == "nan_loss"
    assert content["analysis_artifacts"]["report"] is None


def test_a_redacted_report_does_not_say_where_the_log_was(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(str(log), redact=True) == 0
    assert str(log.parent) not in capsys.readouterr().out


def test_the_log_itself_is_never_replaced_not_even_by_force(
    log: Path, kept: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = log.read_bytes()
    link = tmp_path / "link.md"
    link.symlink_to(log)
    pictures = tmp_path / "r-files"
    pictures.mkdir()
    (pictures / "train-loss.svg").hardlink_to(log)
    for target in (log, link, tmp_path / "r.md"):
        assert run_report(str(log), str(target), force=True) == 2
        assert "is a file of the run itself" in capsys.readouterr().err
    assert log.read_bytes() == before
    journal = SessionStore().folder / kept / "journal.jsonl"
    assert run_report(kept, str(journal), force=True) == 2
    assert "belongs to mltd-tui itself" in capsys.readouterr().err


def test_damage_to_the_journal_is_told(kept: str, capsys: pytest.CaptureFixture[str]) -> None:
    journal = SessionStore().folder / kept / "journal.jsonl"
    header, line, *rest = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([header, line.replace(b'"n":1', b'"n":2'), *rest]))
    assert run_report(kept) == 0
    said = f"mltd-tui: session {kept}: 1 line is damaged and skipped: 2 of the journal"
    assert said in capsys.readouterr().err


def test_nothing_is_overwritten_without_force(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "r.md"
    target.write_text("mine")
    assert run_report(str(log), str(target)) == UNUSABLE
    assert target.read_text() == "mine"
    assert "exists already; add --force" in capsys.readouterr().err
    assert run_report(str(log), str(target), force=True) == 0
    assert target.read_text().startswith("# Incident report")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-such-session", "there is no session"),
        ("./no/such.log", "there is no file or directory"),
        ("", "session"),
        ("a\0b", "no session"),
    ],
)
def test_a_name_that_means_nothing_is_one_sentence(
    name: str, said: str, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(name) == UNUSABLE
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_folder_with_several_runs_asks_for_one_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        lines = [f"step {n} loss {2.0 / n}" for n in range(1, 20)]
        (tmp_path / name / "train.log").write_text("\n".join(lines) + "\n")
    assert run_report(str(tmp_path)) == UNUSABLE
    assert "holds 2 runs; name one of them" in capsys.readouterr().err
    for name in "cdefg":
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_bytes((tmp_path / "a" / "train.log").read_bytes())
    assert run_report(str(tmp_path)) == UNUSABLE
    assert capsys.readouterr().err.endswith(", and 2 more\n")


def test_brief_and_json_exclude_each_other(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_report(str(log), brief=True, as_json=True) == UNUSABLE
    assert "either brief or JSON" in capsys.readouterr().err


def test_a_full_disk_behind_stdout_is_a_sentence(log: Path) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "mltd.tui.cli", "report", str(log)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
