"""One owner at a time, whoever died, whatever the clocks say, on whatever file system."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.storage.holder import SILENT, Holder, holder_in, is_dead, myself
from mltd.sessions.storage.lock import HeldError, LostError, SessionLock, living_holder, look

HOUR = 3600.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def _other(**changes: Any) -> Holder:
    return myself()._replace(**{"token": "feed", **changes})


def _leave(folder: Path, holder: Holder, age: float = 0.0) -> None:
    """A lock as somebody has left it, with its last sign of life."""
    path = folder / "lock"
    path.write_bytes(holder.as_json())
    moment = path.stat().st_mtime - age
    os.utime(path, (moment, moment))


def _dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_second_one_is_told_who_has_it(folder: Path) -> None:
    SessionLock(folder)
    with pytest.raises(HeldError, match=rf"pid {os.getpid()} on .+ \(since \d{{4}}-") as caught:
        SessionLock(folder)
    assert caught.value.holder.pid == os.getpid()
    assert [file.name for file in folder.iterdir()] == ["lock"]


def test_it_says_who_where_since_when_and_is_private(folder: Path) -> None:
    lock = SessionLock(folder)
    found = look(folder / "lock")
    assert found is not None
    assert found.holder == lock.me
    assert all(lock.me), "every field is known on Linux"
    assert (folder / "lock").stat().st_mode & 0o777 == 0o600


def test_released_it_is_free(folder: Path) -> None:
    SessionLock(folder).release()
    assert list(folder.iterdir()) == []
    SessionLock(folder)


def test_the_lock_of_a_process_that_is_gone_is_taken_at_once(folder: Path) -> None:
    dead = _other(pid=_dead_pid())
    _leave(folder, dead)
    assert living_holder(folder) is None
    assert SessionLock(folder).taken_from == dead
    assert [file.name for file in folder.iterdir()] == ["lock"]


def test_a_process_id_that_was_used_again_is_another_process(folder: Path) -> None:
    _leave(folder, _other(started="12345"))
    assert SessionLock(folder).taken_from is not None


def test_a_process_that_is_only_not_buried_yet_is_dead(folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(_other(pid=child.pid, started=""), 0.0, myself())
    child.wait()


def test_a_living_process_on_this_host_keeps_it_however_silent(folder: Path) -> None:
    _leave(folder, _other(), age=HOUR)
    with pytest.raises(HeldError):
        SessionLock(folder)


def test_after_a_restart_of_this_host_nobody_lives() -> None:
    assert is_dead(_other(boot="another"), 0.0, myself())


def test_a_process_id_of_another_name_space_says_nothing() -> None:
    elsewhere = _other(space="pid:[1]", pid=_dead_pid())
    assert not is_dead(elsewhere, 1.0, myself())
    assert is_dead(elsewhere, SILENT + 1, myself())


@pytest.mark.parametrize(("age", "is_taken"), [(0, False), (SILENT - 5, False), (SILENT + 5, True)])
def test_another_host_counts_by_its_silence(folder: Path, age: float, is_taken: bool) -> None:
    _leave(folder, _other(host="gpu-17", pid=_dead_pid()), age)
    if is_taken:
        assert SessionLock(folder).taken_from is not None
        return
    with pytest.raises(HeldError, match="on gpu-17"):
        SessionLock(folder)


@pytest.mark.parametrize("skew", [-HOUR, HOUR])
def test_only_the_clock_of_the_file_server_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """The server's clock is an hour off ours: both files carry its time."""
    real = os.utime

    def served(path: Any, *args: Any, **options: Any) -> None:
        real(path, *args, **options)
        now = os.stat(path).st_mtime + skew
        real(path, (now, now))

    monkeypatch.setattr(os, "utime", served)
    _leave(folder, _other(host="gpu-17"), age=10)
    with pytest.raises(HeldError):
        SessionLock(folder)
    _leave(folder, _other(host="gpu-17"), age=SILENT + 10)
    SessionLock(folder)


def test_a_sign_of_life_renews_the_time(folder: Path) -> None:
    lock = SessionLock(folder)
    os.utime(lock.path, (1000, 1000))
    lock.beat()
    assert lock.path.stat().st_mtime > 1000


def test_on_explicit_wish_it_changes_hands_and_the_first_one_notices(folder: Path) -> None:
    first = SessionLock(folder)
    second = SessionLock(folder, take_over=True)
    assert second.taken_from == first.me
    for look_again in (first.check, first.beat):
        with pytest.raises(LostError, match=rf"taken over by pid {os.getpid()}"):
            look_again()
    first.release()
    second.check()


def test_a_lock_that_somebody_has_removed_is_lost(folder: Path) -> None:
    lock = SessionLock(folder)
    lock.path.unlink()
    with pytest.raises(LostError, match="removed"):
        lock.check()


def test_a_lost_answer_of_the_server_is_no_failure(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS repeats a request whose answer got lost, and then says that the file exists."""
    real = os.link

    def link(source: Path, target: Path) -> None:
        real(source, target)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", link)
    SessionLock(folder).check()


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
def test_without_hard_links_it_works_as_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def link(source: Path, target: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    first = SessionLock(folder)
    with pytest.raises(HeldError):
        SessionLock(folder)
    second = SessionLock(folder, take_over=True)
    with pytest.raises(LostError):
        first.check()
    second.release()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, b"{", b'{"token": 3}', b'{"token": "../../x"}', b"[" * 9999],
    ids=["empty", "zeros", "torn", "number", "path", "deep"],
)
def test_a_lock_that_makes_no_sense_counts_by_its_silence(folder: Path, content: bytes) -> None:
    (folder / "lock").write_bytes(content)
    with pytest.raises(HeldError, match="unknown process"):
        SessionLock(folder)
    os.utime(folder / "lock", (1000, 1000))
    SessionLock(folder).check()
    assert [file.name for file in folder.iterdir()] == ["lock"]


def test_a_lock_cannot_name_files_elsewhere() -> None:
    assert holder_in(b'{"token": "../../etc/x", "pid": 1}', "odd").token == "odd"
    assert holder_in(b'{"token": "ab", "pid": "x", "host": 7}', "odd") == Holder("ab")


def test_while_another_one_is_taking_it_over_we_stand_back(folder: Path) -> None:
    dead = _other(pid=_dead_pid())
    _leave(folder, dead)
    rival = _other(token="ace", host="gpu-3")
    (folder / f"lock.claim-{dead.token}").write_bytes(rival.as_json())
    with pytest.raises(HeldError, match="gpu-3"):
        SessionLock(folder)


def test_a_claim_that_a_crash_has_left_behind_does_not_count(folder: Path) -> None:
    dead = _other(pid=_dead_pid())
    _leave(folder, dead)
    claim = folder / f"lock.claim-{dead.token}"
    claim.write_bytes(_other(token="ace").as_json())
    os.utime(claim, (1000, 1000))
    assert SessionLock(folder).taken_from == dead
    assert [file.name for file in folder.iterdir()] == ["lock"]


def test_a_claim_of_somebody_who_was_killed_over_it_does_not_count_either(folder: Path) -> None:
    dead, killed = (_other(pid=_dead_pid(), token=token) for token in ("feed", "ace"))
    _leave(folder, dead)
    (folder / f"lock.claim-{dead.token}").write_bytes(killed.as_json())
    assert SessionLock(folder).taken_from == dead
    assert [file.name for file in folder.iterdir()] == ["lock"]


def test_a_lock_that_is_not_the_dead_one_is_put_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else was faster between the last look and the removal."""
    _leave(folder, _other(pid=_dead_pid()))
    quick = _other(token="ace")
    real = os.rename

    def rename(source: Path, target: Path) -> None:
        if Path(source).name == "lock":
            monkeypatch.setattr(os, "rename", real)
            _leave(folder, quick)
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(HeldError):
        SessionLock(folder)
    found = look(folder / "lock")
    assert found is not None
    assert found.holder == quick


def test_what_killed_processes_left_is_tidied_up(folder: Path) -> None:
    for name in ("lock.0123", "lock.gone-4567"):
        (folder / name).write_bytes(b"{}")
        os.utime(folder / name, (1000, 1000))
    SessionLock(folder)
    assert [file.name for file in folder.iterdir()] == ["lock"]
