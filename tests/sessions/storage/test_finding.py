"""A session is found again by what it is called, or by the run that it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.sessions.actions.records import Archive
from mltd.sessions.errors import StorageError
from mltd.sessions.prints import print_of
from mltd.sessions.storage.store import SessionStore

from .making import run, wish_for


def _make(store: SessionStore, title: str, *wishes: object) -> str:
    with store.create(title) as session:
        wish_for(session, *wishes)  # type: ignore[arg-type]
    return session.path.name


def test_a_session_is_found_by_id_title_or_as_the_last_one(store: SessionStore) -> None:
    first = _make(store, "Loss explodes")
    second = _make(store, "Loss stalls")
    third = _make(store, "put away", Archive())
    assert store.find(first) == first
    assert store.find("loss EXPLODES") == first
    assert store.find("stalls") == second
    assert store.find("last") == second
    assert store.find(third[:16]) == third
    with pytest.raises(StorageError, match="2 sessions are called 'loss'") as caught:
        store.find("loss")
    assert first in caught.value.hint
    assert second in caught.value.hint
    assert third not in caught.value.hint
    with pytest.raises(StorageError, match="there is no session 'nan'") as caught:
        store.find("nan")
    assert third in caught.value.hint


def test_an_exact_title_beats_a_part_of_others(store: SessionStore) -> None:
    exact = _make(store, "loss")
    _make(store, "loss again")
    assert store.find("Loss") == exact


def test_a_session_is_found_by_the_last_part_of_its_id(store: SessionStore) -> None:
    first = _make(store, "Loss explodes")
    _make(store, "Loss stalls")
    assert store.find(first[-4:]) == first
    assert store.find(first[-4:].upper()) == first
    with pytest.raises(StorageError, match="there is no session"):
        store.find(first[-3:])


def test_a_session_is_found_by_the_path_of_its_log(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "runs" / "train.log"
    log.parent.mkdir()
    log.write_bytes(b"step 1 loss 2.5\n" * 20)
    _make(store, "train.log", run(1, str(log)))
    newer = _make(store, "train.log", run(1, str(log)))
    _make(store, "about another train.log", run(1, "/elsewhere/train.log"))
    assert store.find("runs/train.log") == newer
    assert store.find(str(log)) == newer
    monkeypatch.chdir(log.parent)
    assert store.find("train.log") == newer
    log.unlink()
    assert store.find(str(log)) == newer


def test_a_session_that_was_put_away_is_found_by_its_log_if_there_is_no_other(
    store: SessionStore, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"step 1 loss 2.5\n" * 20)
    old = _make(store, "old", run(1, str(log), (print_of(str(log)),)), Archive())
    assert store.find(str(log)) == old
    newer = _make(store, "new", run(1, str(log)))
    assert store.find(str(log)) == newer


def test_a_file_that_no_session_is_about_does_not_hide_a_title(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loss").write_text("something else\n")
    (tmp_path / "last").write_text("something else\n")
    made = _make(store, "loss", run(1, "/x/train.log"))
    assert store.find("loss") == made
    assert store.find("last") == made


def test_at_most_five_candidates_are_named(store: SessionStore) -> None:
    for number in range(7):
        _make(store, f"loss {number}")
    for wished in ("loss", "nan"):
        with pytest.raises(StorageError) as caught:
            store.find(wished)
        assert caught.value.hint.count("(loss ") == 5
        assert caught.value.hint.endswith(", and 2 more")


def test_without_sessions_that_is_said(store: SessionStore) -> None:
    with pytest.raises(StorageError, match="none at all"):
        store.find("last")
    assert store.find_for_run("/x") is None


def test_the_newest_session_of_a_run_is_found_by_its_place(
    store: SessionStore, tmp_path: Path
) -> None:
    log = tmp_path / "run" / "train.log"
    _make(store, "older", run(1, str(log)))
    newer = _make(store, "newer", run(1, str(log)))
    _make(store, "put away", run(1, str(log)), Archive())
    assert store.find_for_run(str(log)) == newer
    assert store.find_for_run(f"{tmp_path}/run/../run/train.log") == newer
    assert store.find_for_run(str(tmp_path / "run" / "other.log")) is None


def test_a_run_in_a_folder_is_found_by_folder_and_by_file(
    store: SessionStore, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    id = _make(store, "x", run(1, str(folder)))  # noqa: A001 - what it is
    assert store.find_for_run(f"{folder}/") == id
    assert store.find_for_run(str(folder / "train.log")) == id
    assert store.find_for_run(str(tmp_path)) is None


def test_a_run_elsewhere_is_found_by_its_name_alone(store: SessionStore) -> None:
    id = _make(store, "x", run(1, "ssh://gpu-3/runs/a"))  # noqa: A001 - what it is
    assert store.find_for_run("ssh://gpu-3/runs/a/") == id
    assert store.find_for_run("ssh://gpu-4/runs/a") is None


def test_a_run_that_was_moved_and_grew_is_found_by_its_content(
    store: SessionStore, tmp_path: Path
) -> None:
    log, moved = tmp_path / "train.log", tmp_path / "archive" / "old.log"
    log.write_bytes(b"step 1 loss 2.5\n" * 20)
    id = _make(store, "x", run(1, str(log), (print_of(str(log)),)))  # noqa: A001 - what it is
    moved.parent.mkdir()
    log.rename(moved)
    with moved.open("ab") as file:
        file.write(b"step 2 loss 2.4\n" * 999)
    assert store.find_for_run(str(moved), [print_of(str(moved))]) == id


def test_another_run_that_begins_alike_is_not_the_same(store: SessionStore, tmp_path: Path) -> None:
    log, twin = tmp_path / "a.log", tmp_path / "b.log"
    log.write_bytes(b"the same long banner\n" * 300)
    twin.write_bytes(b"the same long banner\n" * 300)
    _make(store, "x", run(1, str(log), (print_of(str(log)),)))
    assert store.find_for_run(str(twin), [print_of(str(twin))]) is None


def test_a_run_is_known_by_any_of_its_files(store: SessionStore, tmp_path: Path) -> None:
    log = tmp_path / "train.err"
    log.write_bytes(b"x" * 10)
    id = _make(store, "x", run(1, "job:17", (print_of(str(log)),)))  # noqa: A001 - what it is
    assert store.find_for_run(str(tmp_path / "elsewhere"), [print_of(str(log))]) == id
