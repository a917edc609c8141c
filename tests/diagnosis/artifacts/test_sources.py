"""Source code: what tracebacks name, and what lies below folders that the user added."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError

from .making import STEPS, TRACEBACK, run_in, write

CODE: dict[str, str | bytes] = {
    "train.py": "import model\n\nmain()\n",
    "lib/model.py": "class Model: ...\n",
    "conf/base.yaml": "lr: 0.1\n",
    ".git/config.py": "no\n",
    "data.bin": b"\0\1",
    "credentials.json": "{}",
}


def test_code_below_an_added_folder_is_found_by_its_place(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", {"train.log": STEPS})
    book = ArtifactBook({"run1": run}, None, [write(tmp_path / "proj", CODE)])
    for name in ("proj/lib/model.py", "lib/model.py", f"{tmp_path}/proj/lib/model.py"):
        assert book.resolve(name).name == "proj/lib/model.py"
    assert book.place("proj/train.py:3").first == 3
    assert book.lines("proj/train.py", 3, 9).lines[0].text == "main()"
    (root,) = book.source_roots
    assert root.listed() == ["proj/train.py", "proj/conf/base.yaml", "proj/lib/model.py"]


@pytest.mark.parametrize("name", ["data.bin", "credentials.json", ".git/config.py", "nothing.py"])
def test_what_is_no_code_is_refused_below_an_added_folder(tmp_path: Path, name: str) -> None:
    run = run_in(tmp_path / "run", {"train.log": STEPS})
    book = ArtifactBook({"run1": run}, None, [write(tmp_path / "proj", CODE)])
    with pytest.raises(ArtifactError):
        book.resolve(f"proj/{name}")


def test_two_added_folders_with_the_same_file_ask_which_is_meant(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", {"train.log": STEPS})
    roots = [write(tmp_path / where / "proj", CODE) for where in ("a", "b")]
    book = ArtifactBook({"run1": run}, None, roots)
    assert [root.name for root in book.source_roots] == ["proj", "proj~2"]
    with pytest.raises(ArtifactError, match=r"several files .*proj/train.py, proj~2/train.py"):
        book.resolve("train.py")
    assert book.resolve("proj~2/train.py").path == f"{tmp_path}/b/proj/train.py"


def test_a_traceback_leads_to_code_below_an_added_folder(tmp_path: Path) -> None:
    code = write(tmp_path / "proj", CODE)
    text = STEPS + TRACEBACK.replace("train.py", f"{code}/train.py")
    run = run_in(tmp_path / "run", {"train.log": text})
    assert [a.name for a in ArtifactBook({"run1": run})] == ["run1/train.log"]
    book = ArtifactBook({"run1": run}, None, [code])
    assert [a.name for a in book] == ["run1/train.log", "proj/train.py"]
    assert book.resolve(f"{code}/train.py:3").name == "proj/train.py"
