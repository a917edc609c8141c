"""Files that stand for files over there: never outside their folder, never another's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.errors import InputError
from mltd.runs.remote.explore import RemoteTree
from mltd.runs.remote.placeholders import Placeholders
from mltd.runs.remote.stat_lines import Entry
from mltd.runs.remote.wishes import Wish
from tests.runs.formats.trees import make
from tests.runs.remote.far_shells import FarShell, far_shell
from tests.runs.remote.remote_names import HOST, address


def entry(size: int = 5, modified: int = 1_700_000_000, inode: int = 7) -> Entry:
    return Entry(stat.S_IFREG | 0o644, size, modified, 1, inode)


@pytest.fixture
def kept(tmp_path: Path) -> Placeholders:
    found = Placeholders(tmp_path, "login01:")
    assert found.make_folder(b"/runs")
    return found


@pytest.fixture
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FarShell]:
    shell = far_shell("sh", tmp_path_factory.mktemp("far"))
    yield shell
    shell.close()


def test_they_hold_the_first_bytes_and_have_the_time(kept: Placeholders, tmp_path: Path) -> None:
    kept.put(Wish(b"/runs/train.log", entry(), 5), b"loss\n", skew=60)
    place = tmp_path / "login01:/runs/train.log"
    assert place.read_bytes() == b"loss\n"
    assert place.stat().st_mtime == 1_700_000_000 - 60
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_sizes_without_bytes(kept: Placeholders, tmp_path: Path) -> None:
    kept.put(Wish(b"/runs/last.ckpt", entry(5 << 40), is_sparse=True), None)
    place = tmp_path / "login01:/runs/last.ckpt"
    assert place.stat().st_size in (5 << 40, 0)
    assert place.stat().st_blocks == 0
    kept.put(Wish(b"/runs/last.ckpt", entry(1 << 62), is_sparse=True), None)
    assert place.stat().st_blocks == 0


@pytest.mark.parametrize("path", [b"/../x", b"/a/../../x", b"x", b"../x", b"/a\0b"])
def test_no_path_leads_out(kept: Placeholders, path: bytes) -> None:
    with pytest.raises(InputError):
        kept.place(path)
    with pytest.raises(InputError):
        kept.put(Wish(path, entry(), 1), b"x")


@given(parts=st.lists(st.sampled_from(["..", ".", "", "a", "b c", "login01:"]), max_size=6))
def test_whatever_the_parts_a_place_is_below_the_root(parts: list[str]) -> None:
    kept = Placeholders(Path("/mirror"), "login01:")
    try:
        place = kept.place("/".join(parts).encode())
    except InputError:
        return
    assert os.path.normpath(place).startswith("/mirror/login01:")


def test_a_link_in_the_mirror_is_not_followed(kept: Placeholders, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("mine")
    (tmp_path / "login01:/runs/out").symlink_to(victim)
    (tmp_path / "login01:/runs/file").symlink_to(victim / "file")
    with pytest.raises(InputError, match="leads out"):
        kept.make_folder(b"/runs/out/inner")
    with pytest.raises(InputError, match="cannot be copied"):
        kept.put(Wish(b"/runs/file", entry(), 5), b"other")
    assert (victim / "file").read_text() == "mine"


def test_names_that_are_too_long_here_are_left_out(kept: Placeholders) -> None:
    path = b"/runs/" + b"x" * 300
    kept.put(Wish(path, entry(), 5), b"other")
    assert kept.left_out == {path: "File name too long"}
    assert not kept.make_folder(b"/runs/" + b"y" * 300)


class _Folding(Placeholders):
    """As on a file system where capitals make no difference."""

    def place(self, path: bytes) -> str:
        return super().place(path.lower())


def test_two_names_that_are_one_here(tmp_path: Path) -> None:
    kept = _Folding(tmp_path, "login01:")
    kept.make_folder(b"/runs")
    kept.put(Wish(b"/runs/Train.log", entry(), 5), b"upper")
    kept.put(Wish(b"/runs/train.log", entry(inode=8), 5), b"lower")
    assert (tmp_path / "login01:/runs/train.log").read_bytes() == b"upper"
    assert kept.left_out == {b"/runs/train.log": "another file has that name on this machine"}


def test_names_that_collide_are_noted(
    far: FarShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path / "runs", "Train.log", "train.log", "x/a.log")
    (tmp_path / "mirror").mkdir()
    monkeypatch.setattr("mltd.runs.remote.explore.Placeholders", _Folding)
    found = RemoteTree(HOST, far, tmp_path / "mirror").explore(address(root))
    (note,) = found.notes
    assert note == (
        f"login01:{root}/train.log cannot be copied here: "
        "another file has that name on this machine"
    )


def test_a_full_disk_is_a_sentence(kept: Placeholders, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(InputError, match=r"cannot be copied into .*: No space left on device"):
        kept.put(Wish(b"/runs/a.log", entry(), 5), b"loss\n")


class TestWhatIsAskedFor:
    @pytest.mark.parametrize(
        ("now", "wanted", "expected"),
        [
            (entry(100), 50, False),
            (entry(900, 1_700_000_009), 50, False),
            (entry(900, 1_700_000_009, inode=8), 50, True),
            (entry(60, 1_700_000_009), 50, True),
            (entry(100), 80, True),
            (entry(0, 1_700_000_009), 0, False),
        ],
        ids=["unchanged", "grown", "replaced", "shrunk", "more is wanted", "emptied"],
    )
    def test_of_a_file_that_is_known(
        self, kept: Placeholders, now: Entry, wanted: int, expected: bool
    ) -> None:
        kept.put(Wish(b"/runs/a.log", entry(100), 50), b"x" * 50)
        assert kept.needs(Wish(b"/runs/a.log", now, wanted)) is expected

    def test_settings_are_asked_for_whenever_they_change(self, kept: Placeholders) -> None:
        kept.put(Wish(b"/runs/c.yaml", entry(100), 100, is_config=True), b"x" * 100)
        changed = entry(120, 1_700_000_009)
        assert kept.needs(Wish(b"/runs/c.yaml", changed, 100, is_config=True))
        assert kept.missing_part(b"/runs/c.yaml") is None
        kept.put(Wish(b"/runs/c.yaml", changed, is_config=True), None)
        assert kept.missing_part(b"/runs/c.yaml") == changed
