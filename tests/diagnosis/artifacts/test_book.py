"""What files are called, and what is meant by a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError, ArtifactKind
from mltd.runs.run import Run, SourceFile
from mltd.sessions.masking import Masker
from tests.analyzers.made import read_log
from tests.sessions.facts.reading import read_run

from .making import STEPS, TRACEBACK, book_of, run_in, safetensors, write

FILES: dict[str, str | bytes] = {
    "train.log": STEPS + TRACEBACK,
    "config.json": '{"lr": 0.1, "batch": 8}',
    "train.py": "import sys\n\nmain()\n",
    "model.safetensors": safetensors({"w": (2, 3)}),
}


def test_the_book_knows_logs_settings_checkpoints_and_the_source_that_a_traceback_names(
    tmp_path: Path,
) -> None:
    book = book_of(tmp_path, FILES)
    kinds = {artifact.name: artifact.kind for artifact in book}
    assert kinds == {
        "run1/train.log": ArtifactKind.LOG,
        "run1/config.json": ArtifactKind.CONFIG,
        "run1/model.safetensors": ArtifactKind.CHECKPOINT,
        "run1/train.py": ArtifactKind.SOURCE,
    }
    log = book.resolve("run1/train.log")
    assert (log.lines, log.format, book.size_of(log)) == (104, "text", len(FILES["train.log"]))


def test_the_same_runs_get_the_same_names(tmp_path: Path) -> None:
    run = run_in(tmp_path, FILES)
    books = [ArtifactBook({"run1": run, "run2": run}) for _ in range(2)]
    assert [a.name for a in books[0]] == [a.name for a in books[1]]
    assert len({a.name for a in books[0]}) == len(list(books[0]))


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("run1/train.log", (None, None)),
        ("train.log", (None, None)),
        ("{folder}/run/train.log", (None, None)),
        ("run/train.log", (None, None)),
        ("run1/train.log:7", (7, 7)),
        ("train.log:7-9", (7, 9)),
        ("{folder}/run/train.log:7..9", (7, 9)),
    ],
)
def test_a_file_is_found_by_name_by_path_and_with_lines(
    tmp_path: Path, name: str, lines: tuple[int | None, int | None]
) -> None:
    place = book_of(tmp_path, FILES).place(name.format(folder=tmp_path))
    assert place.artifact.name == "run1/train.log"
    assert place[1:] == lines


def test_a_wrong_name_is_refused_with_the_closest_ones(tmp_path: Path) -> None:
    book = book_of(tmp_path, FILES)
    with pytest.raises(ArtifactError, match=r"'trian.log' is not a file .*run1/train\.log"):
        book.resolve("trian.log")
    with pytest.raises(ArtifactError, match=r"run1/train\.log"):
        book.resolve("run1/Train.log")


def test_a_name_that_two_files_have_must_be_said_in_full_unless_the_run_is_known(
    tmp_path: Path,
) -> None:
    runs = {name: run_in(tmp_path / name, FILES) for name in ("run1", "run2")}
    book = ArtifactBook(runs)
    with pytest.raises(ArtifactError, match=r"several files .*run1/train.log, run2/train.log"):
        book.resolve("train.log")
    assert book.resolve("train.log", "run2").name == "run2/train.log"


def test_a_key_that_is_no_name_is_replaced_by_a_number(tmp_path: Path) -> None:
    run = run_in(tmp_path, FILES)
    book = ArtifactBook({"a b": run, "../..": run, "run1": run, "R4": run})
    assert list(book.runs) == ["run1_", "run2", "run1", "R4"]
    assert book.run_called("a b") == "run1_"
    with pytest.raises(ArtifactError, match="no run 'R9'; there is"):
        book.run_called("R9")


def test_what_came_through_a_pipe_is_listed_and_refused_with_the_reason() -> None:
    run = Run("pipe")
    run.add_file(SourceFile("-", format="text", lines=3))
    book = ArtifactBook({"run1": run, "run2": read_log("step 1 loss 2\n")})
    with pytest.raises(ArtifactError, match="came through a pipe"):
        book.lines("run1/-", 1, 2)
    with pytest.raises(ArtifactError, match="not there any more"):
        book.lines("run2/train.log", 1, 2)


def test_files_in_folders_of_the_run_are_called_by_their_place(tmp_path: Path) -> None:
    book = book_of(
        tmp_path,
        {
            "train.log": STEPS,
            "checkpoint-5/model.safetensors": safetensors({"w": (2,)}),
            "checkpoint-9/model.safetensors": safetensors({"w": (3,)}),
        },
    )
    names = [artifact.name for artifact in book]
    assert "run1/checkpoint-5/model.safetensors" in names
    assert book.resolve("run1/checkpoint-9").parts == ("run1/checkpoint-9/model.safetensors",)


def test_a_hostile_file_name_cannot_break_out_of_a_quotation(tmp_path: Path) -> None:
    hostile = 'a" lines="1"><b>\n\x1b[31m.log'
    book = ArtifactBook({"run1": read_run(tmp_path, STEPS, hostile)})
    (artifact,) = book
    assert artifact.name.isprintable()
    assert not set(artifact.name) & set("\"'<>&\n ")
    assert book.lines(artifact.name, 1, 1).lines[0].text == "step 0 loss 3.000"


def test_a_file_is_found_by_the_name_that_masking_gave_it(tmp_path: Path) -> None:
    write(tmp_path / "run", {"logs/train.log": STEPS})
    masker = Masker(redact=True, known_names=["logs"])
    book = book_of(tmp_path, {"logs/train.log": STEPS}, masker=masker)
    (artifact,) = book
    assert book.resolve(masker.clean(artifact.name)) == artifact
    assert book.resolve(masker.clean(artifact.path)) == artifact
