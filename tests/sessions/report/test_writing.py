"""Reports on the disk: all or nothing, and nothing overwritten unasked."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from mltd.runs.errors import InputError, MltdError
from mltd.sessions.errors import StorageError
from mltd.sessions.report import Report, picture_folder, write

REPORT = Report("# r\n", {"r-files/a.svg": "<svg/>\n", "r-files/b.svg": "<svg/>\n"})


def everything(folder: Path) -> dict[str, str]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {str(one.relative_to(folder)): one.read_text() for one in files}


def test_the_report_and_its_pictures_are_written_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        made = write(REPORT, tmp_path / "r.md")
    finally:
        os.umask(before)
    assert everything(tmp_path) == {
        "r.md": "# r\n",
        "r-files/a.svg": "<svg/>\n",
        "r-files/b.svg": "<svg/>\n",
    }
    assert made[-1] == (tmp_path / "r.md").resolve()
    assert stat.S_IMODE((tmp_path / "r.md").stat().st_mode) == 0o640


@pytest.mark.parametrize("taken", ["r.md", "r-files/b.svg"])
def test_nothing_is_overwritten_unasked(tmp_path: Path, taken: str) -> None:
    (tmp_path / "r-files").mkdir()
    (tmp_path / taken).write_text("mine")
    with pytest.raises(InputError, match="exists already; add --force"):
        write(REPORT, tmp_path / "r.md")
    assert everything(tmp_path) == {taken: "mine"}
    write(REPORT, tmp_path / "r.md", force=True)
    assert everything(tmp_path)["r.md"] == "# r\n"


@pytest.mark.parametrize("fails_at", [0, 1, 2])
@pytest.mark.parametrize("step", ["draft", "rename"])
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int, step: str
) -> None:
    from mltd.sessions.report import writing

    real = getattr(writing, f"_{step}")
    calls = iter(range(9))

    def full(*args: object) -> None:
        if next(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*args)

    monkeypatch.setattr(writing, f"_{step}", full)
    with pytest.raises(StorageError, match="No space left on device; nothing was changed"):
        write(REPORT, tmp_path / "r.md")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mltd.sessions.report import writing

    real = writing._draft

    def slow(draft: Path, text: str) -> None:
        (tmp_path / "r.md").write_text("somebody else's")
        real(draft, text)

    monkeypatch.setattr(writing, "_draft", slow)
    with pytest.raises(InputError, match="exists already"):
        write(REPORT, tmp_path / "r.md")
    assert everything(tmp_path) == {"r.md": "somebody else's"}


def test_a_file_system_without_links_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write(REPORT, tmp_path / "r.md")
    assert set(everything(tmp_path)) == {"r.md", "r-files/a.svg", "r-files/b.svg"}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("none/r.md", "does not exist; make it first"),
        ("file/r.md", "is no folder"),
        ("folder", "is a folder; name the file"),
        ("pipe", "is no ordinary file"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_a_sentence(
    tmp_path: Path, place: str, said: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MltdError, match=said):
        write(REPORT, tmp_path / place, force=True)


def test_a_file_where_the_pictures_belong_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "r-files").write_text("")
    with pytest.raises(InputError, match="is a file, where the pictures"):
        write(REPORT, tmp_path / "r.md")


def test_the_folder_of_the_pictures_is_called_like_the_report() -> None:
    assert picture_folder("/a/b/incident 7.md") == "incident 7-files"
    assert picture_folder("r.Markdown") == "r-files"
    assert picture_folder("r.json") == "r.json-files"
    assert picture_folder("r.v2") == "r.v2-files"
