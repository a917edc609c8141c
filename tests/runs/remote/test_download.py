"""Long files from over there: whole, verified, and told about when they are not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.runs.remote import direct_link, download
from mltd.runs.remote.address import Host
from mltd.runs.remote.direct_link import DirectLink
from mltd.runs.remote.download import check_room, fetch_file, fetch_header
from mltd.runs.remote.far_checkpoint import FarFile, checkpoint_at
from mltd.runs.remote.far_host import FarHost
from mltd.runs.remote.problems import LinkError, LinkKind
from tests.runs.remote.far_tools import KINDS, shell
from tests.runs.remote.link_parts import NearConnection

NAMES = [b'it\'s "quoted"', b"$(touch x)`touch y`", b"-rf", b"line\nbreak\n", b"\xff\xfe", b"*;?&~"]
DATA = os.urandom(3 << 20) + b"the end"
Linked = Callable[..., DirectLink]


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Linked]:
    """A function that gives a link to a shell of this machine."""
    made: list[DirectLink] = []

    def link(argv: list[str] | Callable[[int], list[str]] = ["sh"]) -> DirectLink:  # noqa: B006
        near = NearConnection(argv if callable(argv) else lambda _: list(argv))
        monkeypatch.setattr(direct_link, "Connection", lambda host: near)
        made.append(DirectLink(Host("far"), is_interactive=False))
        made[-1].open()
        return made[-1]

    yield link
    for one in made:
        one.close()


def far_file(path: bytes | Path, *, is_headed: bool = False) -> FarFile:
    status = os.stat(path)
    return FarFile(os.fsencode(path), status.st_size, int(status.st_mtime), is_headed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_comes_whole_whatever_its_name_and_the_tools_there(
    kind: str, linked: Linked, tmp_path: Path
) -> None:
    link = linked(shell(kind, tmp_path / "tools"))
    far = tmp_path / "far"
    far.mkdir()
    came: list[int] = []
    for number, name in enumerate(NAMES):
        path = os.fsencode(far) + b"/" + name
        Path(os.fsdecode(path)).write_bytes(DATA[number:])
        local = tmp_path / "here" / str(number)
        fetch_file(link, far_file(path), local, came.append)
        assert local.read_bytes() == DATA[number:]
        assert local.stat().st_mode & 0o777 == 0o600
    assert sum(came) == sum(len(DATA) - number for number in range(len(NAMES)))
    assert sorted(os.listdir(os.fsencode(far))) == sorted(NAMES)


def test_a_copy_that_was_cut_goes_on_where_it_was(linked: Linked, tmp_path: Path) -> None:
    far, started = tmp_path / "far.pt", tmp_path / "started"
    far.write_bytes(DATA)
    # The first shell is one whose link breaks after so many bytes.
    cut = f"sh | {{ head -c {(2 << 20) + 5000}; echo $$ >{started}; }}"
    link = linked(lambda number: ["sh", "-c", cut] if number == 1 else ["sh"])
    came: list[int] = []
    fetch_file(link, far_file(far), tmp_path / "copy", came.append)
    assert started.exists()
    assert (tmp_path / "copy").read_bytes() == DATA
    assert min(came) < 0, "it goes on at a block's beginning"
    assert sum(came) == len(DATA)


def test_a_cut_that_lasts_is_a_sentence(
    linked: Linked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "far.pt"
    far.write_bytes(DATA)
    link = linked(["sh", "-c", "sh | head -c 1500000"])

    def refuse(self: DirectLink) -> None:
        raise LinkError("no route to host", kind=LinkKind.AUTHENTICATION)

    monkeypatch.setattr(DirectLink, "reopen", refuse)
    with pytest.raises(LinkError) as told:
        fetch_file(link, far_file(far), tmp_path / "copy")
    assert f"of {len(DATA):,} bytes of {far}" in str(told.value)
    assert "there is no new one: no route to host" in str(told.value)


def test_a_link_that_breaks_again_and_again_is_given_up(linked: Linked, tmp_path: Path) -> None:
    far = tmp_path / "far.pt"
    far.write_bytes(DATA)
    link = linked(["sh", "-c", "sh | head -c 3000"])
    with pytest.raises(LinkError, match="cut again and again"):
        fetch_file(link, far_file(far), tmp_path / "copy")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(DATA + b"more"), "bytes when it was listed"),
        (lambda path: path.write_bytes(DATA[:-9]), "bytes when it was listed"),
        (lambda path: path.unlink(), "no such file over there any more"),
        (lambda path: (path.unlink(), path.mkdir()), "not a regular file"),
    ],
    ids=["longer", "shorter", "gone", "a folder"],
)
def test_what_is_not_as_it_was_listed_is_told(
    change: Callable[[Path], object], words: str, linked: Linked, tmp_path: Path
) -> None:
    far = tmp_path / "far.pt"
    far.write_bytes(DATA)
    listed = far_file(far)
    change(far)
    with pytest.raises(InputError, match=words):
        fetch_file(linked(), listed, tmp_path / "copy")


def test_a_file_that_changes_on_its_way_is_told(linked: Linked, tmp_path: Path) -> None:
    far = tmp_path / "far.pt"
    far.write_bytes(DATA)
    listed = far_file(far)

    def rewrite(size: int) -> None:
        if size > 0 and far.stat().st_mtime_ns != 10**18:
            far.write_bytes(bytes(len(DATA)))
            os.utime(far, ns=(10**18, 10**18))

    with pytest.raises(InputError, match=r"changed while it was copied: it was written to"):
        fetch_file(linked(), listed, tmp_path / "copy", rewrite)


def test_a_full_disk_is_a_sentence_before_and_while_it_fills(
    linked: Linked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "far.pt"
    far.write_bytes(DATA)
    with pytest.raises(InputError, match=r"no room for 1 EB in .* MB are free.*XDG_CACHE_HOME"):
        check_room(tmp_path, 1 << 60, "1 EB")
    check_room(tmp_path, 1, "1 B")
    # The kernel's own full disk.
    monkeypatch.setattr(download, "_made", lambda local: open("/dev/full", "wb"))  # noqa: SIM115
    monkeypatch.setattr(download, "_set_time", lambda local, file: None)
    with pytest.raises(InputError, match="the disk here is full"):
        fetch_file(linked(), far_file(far), tmp_path / "copy")


@pytest.mark.parametrize("tensors", [1, 3000])
def test_of_a_header_nothing_else_comes(tensors: int, linked: Linked, tmp_path: Path) -> None:
    far = tmp_path / "m.safetensors"
    table = {
        f"layer.{n}.weight": {"dtype": "F32", "shape": [1], "data_offsets": [4 * n, 4 * n + 4]}
        for n in range(tensors)
    }
    text = json.dumps(table).encode()
    far.write_bytes(len(text).to_bytes(8, "little") + text)
    os.truncate(far, 1 << 40)  # a hole
    local = tmp_path / "copy.safetensors"
    came = fetch_header(linked(), far_file(far, is_headed=True), local)
    assert came < len(text) + (1 << 17)
    assert local.stat().st_size == 1 << 40
    assert local.stat().st_blocks * 512 < 1 << 20
    with local.open("rb") as copy:
        assert copy.read(8 + len(text))[8:] == text


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 100)


HUGGING_FACE = ["config.json", "trainer_state.json", "optimizer.pt", "scheduler.pt"]


@pytest.mark.parametrize(
    ("held", "copied"),
    [
        (
            ["model.safetensors", *HUGGING_FACE, "rng_state.pth"],
            ["model.safetensors", *HUGGING_FACE],
        ),
        (["pytorch_model.bin", "model.safetensors", "notes.txt"], ["model.safetensors"]),
        (
            ["model.safetensors.index.json", "model-00001-of-00002.safetensors",
             "model-00002-of-00002.safetensors", "other.safetensors"],
            ["model.safetensors.index.json", "model-00001-of-00002.safetensors",
             "model-00002-of-00002.safetensors"],
        ),
        (
            ["mp_rank_00_model_states.pt", "zero_pp_rank_0_mp_rank_00_optim_states.pt",
             "zero_pp_rank_1_mp_rank_00_optim_states.pt"],
            ["mp_rank_00_model_states.pt", "zero_pp_rank_0_mp_rank_00_optim_states.pt"],
        ),
        ([".metadata", "__0_0.distcp", "__1_0.distcp"], [".metadata"]),
        (
            ["trainer_state.json", "pytorch_model_fsdp_0/.metadata",
             "pytorch_model_fsdp_0/__0_0.distcp"],
            ["trainer_state.json", "pytorch_model_fsdp_0/.metadata"],
        ),
        (["a.pt", "b.pt"], []),
    ],
    ids=["hugging face", "twice", "sharded", "deepspeed", "fsdp", "fsdp inside", "several"],
)  # fmt: skip
def test_only_what_is_looked_into_is_copied_of_a_folder(
    held: list[str], copied: list[str], linked: Linked, tmp_path: Path
) -> None:
    folder = tmp_path / "far" / "checkpoint-500"
    put(folder, *held)
    found = checkpoint_at(FarHost(linked()), os.fsencode(folder), "far:", needs_values=True)

    def inside(files: tuple[FarFile, ...]) -> list[str]:
        return sorted(os.path.relpath(os.fsdecode(file.path), folder) for file in files)

    assert inside(found.copied) == sorted(copied)
    assert inside(found.listed) == sorted(set(held) - set(copied))
    assert found.bytes == 100 * len(copied)
    assert not found.is_cheap


def test_without_values_headers_are_enough_and_the_optimizer_stays_there(
    linked: Linked, tmp_path: Path
) -> None:
    put(tmp_path, "model.safetensors", *HUGGING_FACE)
    far = FarHost(linked())
    found = checkpoint_at(far, os.fsencode(tmp_path), "far:", needs_values=False)
    assert found.is_cheap
    assert [file.path.rpartition(b"/")[2] for file in found.copied if file.is_headed] == [
        b"model.safetensors"
    ]
    assert {file.path.rpartition(b"/")[2] for file in found.left_out} == {
        b"optimizer.pt", b"scheduler.pt",
    }  # fmt: skip


def test_the_newest_of_deepspeeds_folders_is_the_one_that_its_note_names(
    linked: Linked, tmp_path: Path
) -> None:
    put(tmp_path, *(f"global_step{n}/mp_rank_00_model_states.pt" for n in (100, 200)))
    (tmp_path / "latest").write_text("global_step100")
    far = FarHost(linked())
    found = checkpoint_at(far, os.fsencode(tmp_path), "far:", needs_values=True)
    names = [os.path.relpath(os.fsdecode(file.path), tmp_path) for file in found.copied]
    assert names == ["latest", "global_step100/mp_rank_00_model_states.pt"]
    (tmp_path / "latest").write_text("../../etc")
    with pytest.raises(InputError, match="names no folder beside it"):
        checkpoint_at(far, os.fsencode(tmp_path), "far:", needs_values=True)
