"""Tensors of checkpoints, from their headers, with nothing ever run."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pytest

from mltd.diagnosis.artifacts import ArtifactError

from .making import STEPS, book_of, safetensors


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.path, "w")


def torch_file(saved: object) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(saved, protocol=2))
    return packed.getvalue()


def test_names_shapes_and_types_are_told(tmp_path: Path) -> None:
    shapes = {"model.embed.weight": (100, 8), "model.head.weight": (8, 2)}
    book = book_of(tmp_path, {"train.log": STEPS, "model.safetensors": safetensors(shapes)})
    tensors, problems = book.tensors("model.safetensors")
    assert {t.name: t.shape for t in tensors} == shapes
    assert {t.dtype for t in tensors} == {"f32"}
    assert problems == []


def test_the_files_of_a_folder_are_told_together_and_a_broken_one_by_its_name(
    tmp_path: Path,
) -> None:
    book = book_of(
        tmp_path,
        {
            "train.log": STEPS,
            "checkpoint-5/model-00001-of-00002.safetensors": safetensors({"a": (2,)}),
            "checkpoint-5/model-00002-of-00002.safetensors": safetensors({"b": (3,)}),
            "checkpoint-5/optimizer.pt": b"not a checkpoint at all",
        },
    )
    tensors, problems = book.tensors("checkpoint-5")
    assert [t.name for t in tensors] == ["a", "b"]
    (problem,) = problems
    assert problem.startswith("optimizer.pt is in no checkpoint format")


def test_nothing_in_a_checkpoint_is_run(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    hostile = torch_file({"w": Trap(str(sprung))})
    book = book_of(tmp_path, {"train.log": STEPS, "model.pt": hostile})
    assert book.tensors("model.pt")[0] == []
    assert not sprung.exists()


def test_a_log_is_no_checkpoint_and_a_checkpoint_has_no_lines(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": STEPS, "model.pt": torch_file({})})
    with pytest.raises(ArtifactError, match="is no checkpoint but a log file"):
        book.tensors("train.log")
    with pytest.raises(ArtifactError, match="holds weights and has no lines"):
        book.lines("model.pt", 1, 1)
    with pytest.raises(ArtifactError, match="holds weights"):
        book.search("model.pt", "x")
