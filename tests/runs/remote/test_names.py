from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mltd.runs.remote.address import parse_address
from mltd.runs.remote.mirror_root import MirrorRoot
from mltd.runs.remote.names import VARIABLE, is_mirrored, mirror_root, mirrored, shown, url_of

FOLDERS = ("login01:", "anna@login01:", "ssh:/anna@login01:2222", "[::1]:", "[fe80::1%eth0]:")
PARTS = st.binary(min_size=1, max_size=12).filter(
    lambda part: not {0, ord("/")} & set(part) and part not in (b".", b"..")
)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, "/home/ada/.cache/mltd/mltd-ssh-1")
    return mirror_root()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(folder=st.sampled_from(FOLDERS), parts=st.lists(PARTS, min_size=1, max_size=4))
def test_what_a_session_writes_down_leads_to_the_same_copy(
    root: str, folder: str, parts: list[bytes]
) -> None:
    path = f"{root}/{folder}/" + os.fsdecode(b"/".join(parts))
    url = url_of(path)
    assert mirrored(url) == path
    assert url.encode()
    assert url.isprintable()
    address = parse_address(url)
    assert address is not None
    assert address.path == b"/" + b"/".join(parts)


def test_people_never_see_where_copies_are(root: str) -> None:
    copy = f"{root}/login01:/scratch/run 7/train.log"
    assert shown(f"{copy} cannot be read; see {copy}:3") == (
        "login01:/scratch/run 7/train.log cannot be read; see login01:/scratch/run 7/train.log:3"
    )
    other = "/home/ada/.cache/mltd/mltd-ssh-12/login02:/x"
    assert shown(f"was {other}") == "was login02:/x"


def test_local_names_stay_as_they_are(root: str) -> None:
    for name in ("/data/train.log", "train.log", "mltd-ssh-notes.txt", "https://example.org/x"):
        assert shown(name) == url_of(name) == mirrored(name) == name
        assert not is_mirrored(name)


def test_without_a_mirror_nothing_is_mirrored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert mirrored("ssh://login01/x") == "ssh://login01/x"
    assert not is_mirrored("/x")


def test_a_mirror_is_private_and_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with MirrorRoot(tmp_path / "cache") as mirror:
        assert mirror.path.stat().st_mode & 0o777 == 0o700
        assert mirror_root() == str(mirror.path)
        (mirror.path / "login01:").mkdir()
        (mirror.path / "login01:" / "train.log").write_bytes(b"x")
    assert not mirror.path.exists()
    assert mirror_root() == ""


def test_two_apps_have_mirrors_of_their_own_and_a_dead_ones_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with MirrorRoot(tmp_path) as first, MirrorRoot(tmp_path) as second:
        assert first.path != second.path
        leftover = first.path / "left.log"
    leftover.parent.mkdir()
    leftover.write_bytes(b"of an app that was killed")
    with MirrorRoot(tmp_path) as third:
        assert third.path == first.path
        assert list(third.path.iterdir()) == []
