from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import socket
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mltd.runs.errors import InputError
from mltd.runs.sources import decompression, inputs
from mltd.runs.sources.inputs import open_bytes

TEXT = b"".join(b"step %d loss %.3f\n" % (step, 9 / (step + 1)) for step in range(20_000))

Compress = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard", reason="the extra `zstd` is not installed")
    compressed: bytes = zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return compressed


COMPRESS: dict[str, Compress] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstd,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def read(path: Path) -> tuple[bytes, list[str], str]:
    with open_bytes(path) as stream:
        return stream.read(), stream.notes, stream.compression


def test_plain_and_empty_files_are_read_as_they_are(path: Path) -> None:
    path.write_bytes(TEXT)
    assert read(path) == (TEXT, [], "")
    path.write_bytes(b"")
    assert read(path) == (b"", [], "")


@pytest.mark.parametrize("name", COMPRESS)
@pytest.mark.parametrize("data", [TEXT, b"", b"\0" * 3_000_000], ids=["text", "empty", "zeros"])
def test_compression_is_recognised_by_content(path: Path, name: str, data: bytes) -> None:
    path.write_bytes(COMPRESS[name](data))
    assert read(path) == (data, [], name)


@pytest.mark.parametrize("name", COMPRESS)
def test_small_reads_give_the_same_bytes(path: Path, name: str) -> None:
    path.write_bytes(COMPRESS[name](TEXT))
    with open_bytes(path) as stream:
        assert b"".join(iter(lambda: stream.read1(777), b"")) == TEXT


@pytest.mark.parametrize("name", COMPRESS)
def test_members_are_joined_and_padding_is_skipped(path: Path, name: str) -> None:
    member = COMPRESS[name]
    path.write_bytes(member(b"one\n") + member(b"") + b"\0" * 512 + member(b"two\n") + b"\0" * 8)
    assert read(path) == (b"one\ntwo\n", [], name)


@pytest.mark.parametrize("name", COMPRESS)
def test_a_cut_off_file_gives_its_beginning_and_a_note(path: Path, name: str) -> None:
    first, second = TEXT[: len(TEXT) // 2], os.urandom(400_000)
    compressed = COMPRESS[name](first) + COMPRESS[name](second)
    path.write_bytes(compressed[: -len(second) // 2])
    data, notes, _ = read(path)
    assert data.startswith(first)
    assert (first + second).startswith(data)
    assert len(notes) == 1
    assert "cut off" in notes[0]
    assert f"{len(data):,}" in notes[0]


@pytest.mark.parametrize("name", COMPRESS)
def test_garbage_behind_the_end_is_left_out_with_a_note(path: Path, name: str) -> None:
    path.write_bytes(COMPRESS[name](b"text\n") + b"not compressed at all")
    data, notes, _ = read(path)
    assert data == b"text\n"
    assert len(notes) == 1
    assert "left out" in notes[0]


@pytest.mark.parametrize("name", COMPRESS)
@given(flips=st.lists(st.tuples(st.integers(10, 5000), st.integers(1, 255)), min_size=1))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_damage_never_raises(path: Path, name: str, flips: list[tuple[int, int]]) -> None:
    compressed = bytearray(COMPRESS[name](TEXT[:20_000]))
    for place, change in flips:
        compressed[place % (len(compressed) - 10) + 10] ^= change
    path.write_bytes(compressed)
    data, notes, compression = read(path)
    assert compression == name
    assert notes or data == TEXT[:20_000]


def test_a_highly_compressed_file_does_not_fill_memory(path: Path) -> None:
    path.write_bytes(bz2.compress(b"\0" * 60_000_000))
    with open_bytes(path) as stream:
        tracemalloc.start()
        assert len(stream.read(1000)) == 1000
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize("name", COMPRESS)
def test_what_unpacks_to_far_more_than_a_log_would_is_read_up_to_a_limit(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompression, "LEAST_LIMIT", 1 << 20)
    bomb = b"step 1 loss 2.5\n" * 200_000
    path.write_bytes(COMPRESS[name](bomb))
    limit = (1 << 20) + decompression.MOST_GROWTH * path.stat().st_size
    data, notes, _ = read(path)
    assert data == bomb[:limit]
    assert limit < len(bomb)
    assert len(notes) == 1
    assert "unpacks to far more than its size; only the first 1 MiB were read" in notes[0]


@pytest.mark.parametrize("name", COMPRESS)
def test_a_file_that_ends_at_the_limit_is_whole(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompression, "LEAST_LIMIT", 1 << 20)
    monkeypatch.setattr(decompression, "MOST_GROWTH", 0)
    path.write_bytes(COMPRESS[name](b"x" * (1 << 20)))
    assert read(path)[:2] == (b"x" * (1 << 20), [])


def test_missing_zstandard_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 20)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError, match=r"pip install mltd-tui\[zstd\]"):
        open_bytes(path)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_read_error_ends_the_stream_with_a_note(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_compressed: bool
) -> None:
    path.write_bytes(gzip.compress(os.urandom(300_000)) if is_compressed else TEXT)

    class Broken(io.FileIO):
        def readinto(self, buffer: Any) -> int | None:
            if self.tell() > 100_000:
                raise OSError(errno.EIO, "Input/output error")
            return super().readinto(buffer)

    monkeypatch.setattr(inputs.io, "FileIO", Broken)  # type: ignore[attr-defined]
    data, notes, _ = read(path)
    assert 100_000 <= len(data) < 300_000
    assert "Input/output error" in notes[0]


def refusal(path: Path | str) -> InputError:
    with pytest.raises(InputError) as caught:
        open_bytes(path)
    assert str(caught.value).isprintable()
    return caught.value


def test_a_missing_file_gets_the_nearest_name(path: Path) -> None:
    path.touch()
    error = refusal(path.with_name("trian.log"))
    assert "does not exist" in error.message
    assert error.hint == f"did you mean {path}?"
    assert refusal(path.with_name("zzz")).hint == "check the spelling"
    assert "nor does" in refusal(path.parent / "no" / "such").hint
    assert "a part of it is a file" in refusal(path / "below").message


def test_what_has_no_text_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a named pipe" in refusal(tmp_path / "pipe").message
    assert "standard input" in refusal(tmp_path / "pipe").hint
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        assert "is a socket" in refusal(tmp_path / "sock").message
    assert "is a device" in refusal("/dev/zero").message
    assert "not a possible file name" in refusal("a\0b").message


def test_links_that_lead_nowhere_are_explained(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "pool")
    (tmp_path / "pool").symlink_to(tmp_path / "loop")
    assert "leads back to itself" in refusal(tmp_path / "loop").message
    assert "leads back to itself" in refusal(tmp_path / "loop" / "train.log").message
    (tmp_path / "dangling").symlink_to("gone\x1b[0m")
    assert "points to gone\\x1b[0m, which does not exist" in refusal(tmp_path / "dangling").message
    assert "name too long" in refusal(tmp_path / ("x" * 300)).message


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user's identity, so needs root")
def test_what_others_own_is_explained(path: Path) -> None:
    path.write_bytes(b"secret")
    path.chmod(0o600)
    os.seteuid(65534)
    try:
        error = refusal(path)
    finally:
        os.seteuid(0)
    assert "may not be read by you" in error.message


def test_a_directory_has_no_bytes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        open_bytes(tmp_path)
