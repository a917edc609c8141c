"""Files whose names are no UTF-8, among others: every command and the app name them apart."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from mltd.runs.name_text import escape_undecodable, escape_unprintable, path_of
from mltd.sessions.storage.store import SessionStore
from mltd.tui.bridge import Bridge
from mltd.tui.cli import main
from mltd.tui.engine.protocol import Open
from tests.tui.app_scene import diverging, healthy, piloted, staged, write_log
from tests.tui.session_scene import adopt, at_a_desk

LOG = "".join(f"step {i}/100: loss {3 / (i + 1):.4f}, lr 1e-3\n" for i in range(20))
NAMES = (b"run\xfe.log", b"run\xff.log", b"run-a.log")
SHOWN = (r"run\xfe.log", r"run\xff.log", "run-a.log")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        (tmp_path / os.fsdecode(name)).write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def output(capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    def run(*arguments: str, code: int = 0) -> str:
        assert main(list(arguments)) == code
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return (out + err).decode()  # strictly: all of it is UTF-8

    return run


@pytest.mark.parametrize(
    ("text", "undecodable", "unprintable"),
    [
        ("plain é.log", "plain é.log", "plain é.log"),
        ("é\udcff\udc80.log", r"é\xff\x80.log", r"é\xff\x80.log"),
        ("a\x1b[31m\n", "a\x1b[31m\n", r"a\x1b[31m\n"),
        ("\ud83d", r"\ud83d", r"\ud83d"),
    ],
)
def test_bytes_that_are_no_text_are_written_as_numbers(
    text: str, undecodable: str, unprintable: str
) -> None:
    assert escape_undecodable(text) == undecodable
    assert escape_unprintable(text) == unprintable


def test_a_folder_with_such_names_is_checked_to_its_end(folder: Path, output: Any) -> None:
    printed = output("check", str(folder))
    assert all(name in printed for name in SHOWN)
    documents = [json.loads(line) for line in output("check", "--json", ".").splitlines()]
    assert sorted(d["run"]["files"][0]["path"] for d in documents) == [
        f"./{name}" for name in sorted(SHOWN)
    ]


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["check", "--json"],
        ["export"],
        ["export", "--wide"],
        ["pack"],
        ["report"],
        ["report", "--json"],
        [],
    ],
    ids=" ".join,
)
def test_every_command_names_such_a_log(command: list[str], folder: Path, output: Any) -> None:
    printed = output(*command, os.fsdecode(NAMES[1]))
    assert r"run\xff" in printed.replace(r"\\", "\\")  # of JSON and Markdown


@pytest.mark.parametrize("command", ["pack", "report", "export"])
def test_such_names_go_into_files(command: str, folder: Path, output: Any) -> None:
    target = folder / os.fsdecode(b"out\xfd.txt")
    output(command, os.fsdecode(NAMES[1]), "-o", str(target))
    assert r"run\xff" in target.read_text(encoding="utf-8")


def test_a_checkpoint_and_a_table_in_parquet_may_have_such_names(folder: Path, output: Any) -> None:
    name = os.fsdecode(b"model\xff.pt")
    torch.save({"w": torch.ones(2, 2)}, folder / name)
    document = json.loads(output("inspect", "--json", name))
    assert document["checkpoint"]["path"].endswith(r"model\xff.pt")
    assert r"model\xff.pt" in output("inspect", name)
    unusable = output("inspect", "--json", os.fsdecode(NAMES[0]), code=2)
    assert json.loads(unusable.splitlines()[0])["checkpoint"]["path"] == SHOWN[0]
    pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    output("export", "--parquet", "-o", "t.parquet", os.fsdecode(NAMES[0]))


def test_what_is_missing_is_named(folder: Path, output: Any) -> None:
    assert r"gone\xff.log" in output("check", os.fsdecode(b"gone\xff.log"), code=2)
    assert r"gone\xff.log" in output("doctor", os.fsdecode(b"gone\xff.log"), code=1)


@piloted
async def test_the_app_opens_such_logs(own_home: Path) -> None:
    broken = write_log(own_home / "runs" / os.fsdecode(b"train\xff.log"), diverging())
    other = write_log(own_home / "runs" / "other.log", healthy())
    bridge = Bridge(Open((str(broken), str(other))))
    try:
        async with staged(bridge, broken, other) as stage:
            await stage.shows("✖ critical 3", r"train\xff", "1/2")
            await stage.shows("INFO step 398/1000")
            await stage.press("right_square_bracket")
            await stage.shows("✔ healthy", "other", "2/2")
    finally:
        bridge.close()


@piloted
async def test_a_session_about_such_a_log_is_kept_and_found_again(own_home: Path) -> None:
    log = write_log(own_home / "runs" / os.fsdecode(b"train\xff.log"), diverging())
    async with at_a_desk(log) as (stage, desk):
        await adopt(stage)
        await stage.until(lambda: desk.saving.state == "saved")
    (kept,) = SessionStore().summaries()
    assert kept.runs[0].endswith(r"train\xff.log")
    async with at_a_desk(log) as (_, desk):
        assert desk.session.id == kept.id
    assert main(["sessions"]) == main(["sessions", "--json"]) == 0
    assert main(["report", kept.id]) == main(["report", str(log)]) == 0


def test_the_file_behind_a_name_is_found_again(folder: Path) -> None:
    real = os.fsdecode(NAMES[1])
    assert path_of(r"run\xff.log") == path_of(r"run\udcff.log") == path_of(real) == real
    assert path_of(r"run\xfc.log") == r"run\xfc.log"
    (folder / r"run\xff.log").touch()
    assert path_of(r"run\xff.log") == r"run\xff.log"
