"""Shapes are read from real checkpoints, and hostile files are refused in time."""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.checkpoints import tensor_shapes, weights_of
from mltd.runs.errors import FormatError, InputError, MltdError
from mltd.runs.run import Artifact, Run
from tests.blow_up import no_blow_up

torch = pytest.importorskip("torch")


def archive(path: Path, data: bytes, method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("archive/data.pkl", data)
    return path


def make_model() -> Any:
    model = torch.nn.Module()
    model.emb = torch.nn.Embedding(100, 8)
    model.norm = torch.nn.BatchNorm1d(8)
    model.head = torch.nn.Linear(8, 100, bias=False)
    model.head.weight = model.emb.weight
    return model


def test_a_state_dict_gives_names_shapes_types_and_ties(tmp_path: Path) -> None:
    torch.save(make_model().state_dict(), tmp_path / "m.pt")
    found = {t.name: t for t in tensor_shapes(tmp_path / "m.pt")}
    assert found["emb.weight"].shape == (100, 8)
    assert found["emb.weight"].dtype == "float32"
    assert found["norm.num_batches_tracked"].dtype == "int64"
    assert found["emb.weight"].storage == found["head.weight"].storage != ""


def test_weights_leave_out_optimizer_buffers_and_second_names(tmp_path: Path) -> None:
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters())
    model.head(model.emb(torch.tensor([1]))).sum().backward()
    optimizer.step()
    saved = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "args": argparse.Namespace(lr=1.0),
        "half": torch.zeros(3, dtype=torch.bfloat16),
    }
    torch.save(saved, tmp_path / "m.pt")
    run = Run("x")
    run.artifacts.append(Artifact("checkpoint", str(tmp_path / "m.pt")))
    weights = weights_of(run)
    assert weights is not None
    names = [tensor.name for tensor in weights.tensors]
    assert names == ["model.emb.weight", "model.norm.weight", "model.norm.bias", "half"]
    assert weights.total == 800 + 16 + 3


def test_a_whole_pickled_model_is_read_without_its_classes(tmp_path: Path) -> None:
    torch.save(make_model(), tmp_path / "m.pt")
    assert (100, 8) in [t.shape for t in tensor_shapes(tmp_path / "m.pt")]


def test_a_changed_checkpoint_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    run = Run("x")
    run.artifacts.append(Artifact("checkpoint", str(path)))
    assert weights_of(run) is None
    torch.save({"w": torch.zeros(3)}, path)
    os.utime(path, ns=(1, 1))
    first = weights_of(run)
    torch.save({"w": torch.zeros(5)}, path)
    os.utime(path, ns=(2, 2))
    second = weights_of(run)
    assert first is not None
    assert second is not None
    assert (first.total, second.total) == (3, 5)


def test_safetensors_in_parts_are_added_up(tmp_path: Path) -> None:
    for number, name in ((1, "a"), (2, "b")):
        header = json.dumps(
            {"__metadata__": {}, name: {"dtype": "F16", "shape": [4, 2], "data_offsets": [0, 16]}}
        ).encode()
        path = tmp_path / f"model-0000{number}-of-00002.safetensors"
        path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(16))
    run = Run("x")
    run.artifacts.append(Artifact("checkpoint", str(tmp_path)))
    weights = weights_of(run)
    assert weights is not None
    assert weights.total == 16
    assert weights.tensors[0].dtype == "f16"


def test_nothing_in_a_pickle_is_ever_called(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "trapped"),)

    path = archive(tmp_path / "m.pt", pickle.dumps({"w": Trap()}))
    assert tensor_shapes(path) == []
    assert not (tmp_path / "trapped").exists()


def test_old_formats_are_named(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save({"w": torch.zeros(3)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(FormatError, match=r"before version 1\.6"):
        tensor_shapes(path)
    path.write_bytes(bytes(257) + b"ustar" + bytes(300))
    with pytest.raises(FormatError, match="tar"):
        tensor_shapes(path)


def loops() -> bytes:
    """A list that holds itself, and tuples that double forty times."""
    doubled = b"".join(b"q%c0h%ch%c\x86" % (n, n, n) for n in range(1, 40))
    return b"\x80\x02]q\x00h\x00a" + b"0)" + doubled + b"."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("endless header", struct.pack("<Q", 2**62) + b"{"),
        ("cut header", struct.pack("<Q", 500) + b'{"a": '),
        ("odd shape", struct.pack("<Q", 24) + b'{"a":{"shape":[-3,"x"]}}'),
        ("deep json", struct.pack("<Q", 200_001) + b"{" + b'"a":[' * 40_000),
        ("cut archive", b"PK\x03\x04" + bytes(100)),
        ("text", b"hello"),
        ("empty", b""),
    ],
)
def test_hostile_files_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(content)
    with no_blow_up(), pytest.raises(FormatError):
        tensor_shapes(path)


def test_a_bomb_is_refused_by_what_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(tmp_path / "m.pt", bytes(200_000_000), zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda *_: pytest.fail("it is unpacked"))
    with pytest.raises(FormatError, match="claims 200,000,000 bytes"):
        tensor_shapes(path)


def test_a_pickle_that_loops_or_doubles_ends(tmp_path: Path) -> None:
    # Doubled forty times over: followed to its end it would take days.
    with no_blow_up():
        assert tensor_shapes(archive(tmp_path / "m.pt", loops())) == []


def test_huge_memo_numbers_cost_nothing(tmp_path: Path) -> None:
    assert tensor_shapes(archive(tmp_path / "m.pt", b"\x80\x02}r\xff\xff\xff\xff.")) == []


def test_pipes_and_missing_files_are_bad_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pt")
    for name in ("pipe.pt", "missing.pt", "."):
        with pytest.raises(InputError):
            tensor_shapes(tmp_path / name)


@given(st.binary(max_size=200))
def test_any_pickle_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = archive(tmp_path_factory.mktemp("any") / "m.pt", b"\x80\x02" + data)
    try:
        tensor_shapes(path)
    except MltdError:
        return


@given(st.data())
def test_a_damaged_checkpoint_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    buffer = io.BytesIO()
    torch.save({"w": torch.zeros(3), "n": torch.nn.Parameter(torch.ones(2, 2))}, buffer)
    content = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "m.pt"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        tensor_shapes(path)
    except MltdError:
        return
