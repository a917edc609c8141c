"""Hostile, damaged and odd files: a sentence or a result, nothing run, nothing boundless."""

from __future__ import annotations

import collections
import io
import json
import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.checkpoints import DamagedCheckpoint, UnsafeCheckpoint, tensor_shapes
from mltd.runs.checkpoints.inside.opening import open_file
from mltd.runs.checkpoints.limits import Limits
from mltd.runs.errors import FormatError, InputError, MltdError

from .looking import look, with_records, write_safetensors

torch = pytest.importorskip("torch")


class Trap:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.place),)


def archive(path: Path, data: bytes, **records: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", data)
        for name, content in records.items():
            file.writestr(f"archive/data/{name}", content)
    return path


def saved(value: object, *, is_zip: bool = True) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=is_zip)
    return buffer.getvalue()


@pytest.mark.parametrize("reader", ["own", "torch", "auto"])
@pytest.mark.parametrize("kind", ["zip", "legacy", "bare"])
def test_nothing_in_a_file_is_ever_run(tmp_path: Path, kind: str, reader: Any) -> None:
    value = {"w": torch.ones(2), "x": Trap(tmp_path / "trapped")}
    path = tmp_path / "m.pt"
    if kind == "bare":
        path.write_bytes(pickle.dumps({"x": Trap(tmp_path / "trapped")}))
    else:
        path.write_bytes(saved(value, is_zip=kind == "zip"))
    with pytest.raises(UnsafeCheckpoint, match=r"posix\.mkdir") as info:
        look(path, reader=reader)
    assert info.value.names == ("posix.mkdir",)
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    "name", ["torch.storage._load_from_bytes", "builtins.getattr", "torch.load", "numpy.load"]
)
def test_functions_that_could_lead_on_are_refused_by_name(tmp_path: Path, name: str) -> None:
    module, _, function = name.rpartition(".")
    path = archive(
        tmp_path / "m.pt", b"\x80\x02c%s\n%s\n)R." % (module.encode(), function.encode())
    )
    with pytest.raises(UnsafeCheckpoint, match=name):
        look(path)


def test_values_that_are_compressed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", b"\x80\x02}.")
        file.writestr("archive/data/0", bytes(10_000_000))
    with pytest.raises(FormatError, match="compressed"):
        look(path)


def test_an_archive_that_claims_more_than_it_has_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.pt", b"\x80\x02}.", **{"0": bytes(16)})
    content = path.read_bytes()
    claimed = content.replace(struct.pack("<LL", 16, 16), struct.pack("<LL", 1 << 30, 1 << 30))
    path.write_bytes(claimed)
    with pytest.raises(DamagedCheckpoint, match=r"claims to hold 1,073,741,8"):
        look(path)


def test_a_shape_beyond_its_storage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save({"w": torch.ones(5, 7)}, path)
    large = {"data.pkl": lambda data: data.replace(b"K\x05K\x07\x86", b"K\xffK\xff\x86")}
    with_records(path, large)
    for values in (True, False):
        with pytest.raises(DamagedCheckpoint, match="beyond the end"):
            look(path, values=values)


def test_a_tensor_that_repeats_one_value_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save({"w": torch.zeros(1).expand(1 << 40)}, path)
    (tensor,) = look(path).tensors
    assert tensor.elements == 1 << 40
    assert tensor.stats is None


def test_records_named_like_paths_stay_names(tmp_path: Path) -> None:
    content = saved({"w": torch.ones(2)})
    path = tmp_path / "m.pt"
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            name = entry.filename.replace("archive/", "../../../archive/")
            new.writestr(name, old.read(entry))
    before = sorted(tmp_path.parent.iterdir())
    assert look(path).total == 2
    assert sorted(tmp_path.parent.iterdir()) == before


def test_pickles_that_hold_themselves_end(tmp_path: Path) -> None:
    loop: dict[str, Any] = {"w": 1}
    loop["again"] = loop
    tower: Any = []
    for _ in range(40):
        tower = (tower, tower)
    deep: Any = {}
    for _ in range(3000):
        deep = [deep]
    buffer = io.BytesIO()
    pickler = pickle._Pickler(buffer, protocol=2)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        pickler.dump({"loop": loop, "tower": tower, "deep": deep, 10**5000: 3})
    finally:
        sys.setrecursionlimit(limit)
    path = archive(tmp_path / "m.pt", buffer.getvalue())
    assert look(path).tensors == ()
    assert tensor_shapes(path) == []


def test_a_name_made_of_a_tower_of_calls_is_refused_at_once(tmp_path: Path) -> None:
    doubled = b"".join(b"q%c0h%ch%c\x86" % (n, n, n) for n in range(1, 40))
    path = archive(tmp_path / "m.pt", b"\x80\x04)" + doubled + b"\x8c\x01a\x93.")
    with pytest.raises(DamagedCheckpoint, match="no name"):
        look(path)


def test_long_strings_and_odd_names_are_shortened(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save({"w" * 5000: torch.ones(1), "note": "x" * 1_000_000, "\udc80": 1}, path)
    summary = look(path)
    assert len(summary.tensors[0].name) == 300
    assert len(dict(summary.extras)["note"]) == 80


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"hello world, this is no checkpoint", "no checkpoint format"),
        (b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (bytes(257) + b"ustar" + bytes(300), "tar"),
        (b"PK\x03\x04" + bytes(100), "cut off"),
        (struct.pack("<Q", 1 << 60) + b"{", "header claims"),
        (struct.pack("<Q", 99) + b'{"a', "cut off"),
        (struct.pack("<Q", 3) + b"{,}", "no JSON"),
    ],
)
def test_what_is_no_checkpoint_is_said_to_be_none(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=sentence):
        look(path)


def test_pipes_devices_and_closed_doors_are_bad_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pt")
    for path in (tmp_path / "pipe.pt", Path("/dev/zero"), tmp_path / "missing.pt"):
        with pytest.raises(InputError):
            look(path)
    (tmp_path / "closed.pt").write_bytes(b"x")
    (tmp_path / "closed.pt").chmod(0)
    if os.geteuid():
        with pytest.raises(InputError, match="right to read"):
            look(tmp_path / "closed.pt")


def test_safetensors_whose_bytes_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "m.safetensors", {"w": ("F32", [3], bytes(8))})
    with pytest.raises(DamagedCheckpoint, match="does not fit"):
        look(path)
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(DamagedCheckpoint, match="makes no sense"):
        look(path)


def test_a_file_that_grows_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "m.safetensors", {"w": ("F32", [2], bytes(8))})
    loaded = open_file(str(path), Limits(), needs_values=True)
    loaded.handle.check_unchanged()
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(DamagedCheckpoint, match="changed while it was being read"):
        loaded.handle.check_unchanged()
    path.unlink()
    assert loaded.handle.read(4, 0)
    loaded.handle.close()


VALUE = {
    "model": collections.OrderedDict(w=torch.arange(12.0).view(3, 4), h=torch.ones(2).half()),
    "optimizer": {"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"params": [0]}]},
    "step": 3,
}
WHOLE = {"zip": saved(VALUE), "legacy": saved(VALUE, is_zip=False)}


@pytest.mark.parametrize("kind", ["zip", "legacy"])
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: str, share: float
) -> None:
    content = WHOLE[kind]
    path = tmp_path_factory.mktemp("cut") / "m.pt"
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(FormatError):
        look(path)


@pytest.mark.parametrize("kind", ["zip", "legacy"])
@given(st.data())
def test_a_file_with_wrong_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    content = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("wrong") / "m.pt"
    path.write_bytes(content)
    try:
        look(path)
    except MltdError:
        return


@given(st.binary(max_size=300))
def test_any_header_of_safetensors_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "m.safetensors"
    text = b"{" + data
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(64))
    try:
        look(path)
    except MltdError:
        return


def test_a_program_of_torchscript_is_named_as_one(tmp_path: Path) -> None:
    pickled = b"\x80\x02c__torch__.torch.nn.modules.linear\nLinear\n)\x81."
    with pytest.raises(UnsafeCheckpoint) as refused:
        look(archive(tmp_path / "m.pt", pickled))
    assert refused.value.names == ("__torch__.torch.nn.modules.linear.Linear",)
    assert "TorchScript" in refused.value.hint
