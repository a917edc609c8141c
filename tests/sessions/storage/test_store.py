"""The sessions of a user: named, listed, found, deleted, and nobody else's business."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.runs.state_files import state_directory
from mltd.sessions.actions.records import Archive, Rename
from mltd.sessions.errors import StorageError
from mltd.sessions.prints import print_of
from mltd.sessions.storage.compacting import whole_journal
from mltd.sessions.storage.files import MOST_BYTES, Content, read_regular
from mltd.sessions.storage.holder import myself
from mltd.sessions.storage.places import clean_title, new_id
from mltd.sessions.storage.store import SessionStore

from .making import ID, MOMENT, hypothesis, note, run, triage_of, wish_for

ROOT = Path(__file__).resolve().parents[3]


def _make(store: SessionStore, title: str, *wishes: object) -> str:
    with store.create(title) as session:
        wish_for(session, *wishes)  # type: ignore[arg-type]
    return session.path.name


# -- names --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Loss explodes at step 24,590!", "loss-explodes-at-step-24"),
        ("Überlauf / NaN", "uberlauf-nan"),
        ("漢字", "session"),
        ("../../etc/passwd", "etc-passwd"),
        ("x" * 100, "x" * 24),
        ("the learning rate is too high", "the-learning-rate-is-too"),
        ("", "session"),
    ],
)
def test_ids_can_be_read(title: str, slug: str) -> None:
    moment, _, rest = new_id(title, MOMENT).rpartition("-")[0].partition(f"-{slug}")
    assert moment == f"{MOMENT.astimezone():%Y%m%d-%H%M}"
    assert rest == ""


def test_titles_are_one_line_of_what_prints() -> None:
    assert clean_title("  a\n\x1b[31mb\t c\x00 ") == "a [31mb c"
    assert clean_title("\n") == "untitled"
    assert len(clean_title("y" * 999)) == 200


def test_two_sessions_of_one_title_are_two(store: SessionStore) -> None:
    assert len({_make(store, "same") for _ in range(5)}) == 5


BAD_IDS = ["", ".", "..", "../x", "a/b", "/etc", "a\0b", "a\nb", ".hidden", "x..y", "~", "-x", "é"]


@pytest.mark.parametrize("bad", BAD_IDS)
def test_a_name_never_leads_out_of_the_folder(store: SessionStore, bad: str) -> None:
    for use in (store.open, store.delete):
        with pytest.raises(StorageError, match="no name of a session"):
            use(bad)
    with pytest.raises(StorageError):
        store.load(bad)


def test_a_session_that_is_not_there_is_missed(store: SessionStore) -> None:
    for use in (store.open, store.delete, store.load):
        with pytest.raises(StorageError, match="there is no session"):
            use("20260101-0000-nothing-0000")


# -- for nobody else ----------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_everything_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = SessionStore(tmp_path / "a" / "b" / "sessions")
        session = store.create("x")
        session.do(note(1))
        session.flush()
        with (session.path / "journal.jsonl").open("ab") as file:
            file.write(b"torn")
        again = store.open(session.path.name, take_over=True)
        copied = again.save_elsewhere(tmp_path / "c")
        assert (again.path / "lock").stat().st_mode & 0o777 == 0o600
        again.close()
        session.close()
        store.summaries()
    finally:
        os.umask(before)
    assert any("torn" in file.name for file in session.path.iterdir())
    for folder in (tmp_path / "a", tmp_path / "c"):
        for found in (folder, *folder.rglob("*")):
            assert found.stat().st_mode & 0o777 == (0o700 if found.is_dir() else 0o600), found
    assert copied.is_relative_to(tmp_path / "c")


AS_NOBODY = """
import os, sys
from pathlib import Path
import mltd.sessions.storage.open_session
from mltd.sessions.actions.records import PutNote
from mltd.sessions.storage.store import SessionStore

os.setgid(65534)
os.setuid(65534)
os.umask(0o777)
with SessionStore(Path(sys.argv[1], "a", "b")).create("x") as session:
    session.do(PutNote(id="N1", text="x"))
    assert session.flush()
"""


def test_an_ordinary_user_with_a_strange_umask_can_work(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    open_to_all = Path("/tmp", f"mltd-test-{os.getpid()}")
    open_to_all.mkdir(mode=0o777)
    try:
        open_to_all.chmod(0o777)
        command = [sys.executable, "-c", AS_NOBODY, str(open_to_all)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0, done.stderr
    finally:
        shutil.rmtree(open_to_all)


def test_usually_they_are_in_the_state_directory() -> None:
    store = SessionStore()
    assert store.folder == state_directory() / "sessions"
    store.folder.mkdir(parents=True, mode=0o755)
    _make(store, "x")
    assert store.folder.stat().st_mode & 0o777 == 0o700


def test_a_session_of_another_user_is_read_only(store: SessionStore) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a file away")
    id = _make(store, "x", note(1))  # noqa: A001 - what it is
    os.chown(store.folder / id / "journal.jsonl", 12345, 12345)
    opened = store.open(id)
    assert "another user" in opened.why_read_only
    assert len(opened.session.notes) == 1
    assert not (store.folder / id / "lock").exists()


# -- hostile surroundings -----------------------------------------------------------------


def test_links_are_not_followed(store: SessionStore, tmp_path: Path) -> None:
    id = _make(store, "x")  # noqa: A001 - what it is
    outside = tmp_path / "outside"
    (store.folder / id).rename(outside)
    (store.folder / id).symlink_to(outside)
    for use in (store.open, store.delete):
        with pytest.raises(StorageError, match="there is no session"):
            use(id)
    assert store.summaries() == []
    (store.folder / id).unlink()
    (store.folder / id).mkdir()
    (store.folder / id / "journal.jsonl").symlink_to(outside / "journal.jsonl")
    with pytest.raises(StorageError, match="cannot be read"):
        store.open(id)
    assert store.summaries()[0].problem
    store.delete(id)
    assert (outside / "journal.jsonl").exists()


def test_a_pipe_or_a_folder_in_place_of_the_journal_is_refused(store: SessionStore) -> None:
    for number, make in enumerate((os.mkfifo, os.mkdir)):
        folder = store.folder / f"{ID}{number}"
        folder.mkdir(parents=True)
        make(folder / "journal.jsonl")
        with pytest.raises(StorageError, match="no plain file"):
            store.open(folder.name)
    assert all("no plain file" in row.problem for row in store.summaries())


def test_a_huge_file_is_not_read(store: SessionStore) -> None:
    id = _make(store, "x")  # noqa: A001 - what it is
    os.truncate(store.folder / id / "journal.jsonl", 10**12)
    for use in (store.open, store.load):
        with pytest.raises(StorageError, match="too large"):
            use(id)
    assert "too large" in store.summaries()[0].problem


def test_a_summary_that_makes_no_sense_is_made_anew(store: SessionStore) -> None:
    id = _make(store, "x", note(1))  # noqa: A001 - what it is
    good = store.summaries()
    for content in (b"", b"[]", b"{}", b"\xff", b'{"version":1,"journal":[1,2,3]}', b"[" * 9999):
        (store.folder / id / "summary.json").write_bytes(content)
        assert store.summaries() == good


# -- elsewhere ----------------------------------------------------------------------------


def test_a_session_is_loaded_from_anywhere(store: SessionStore, tmp_path: Path) -> None:
    triage = triage_of(note(1), hypothesis(1))
    folder = tmp_path / "from a colleague"
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(whole_journal(triage))
    renamed = tmp_path / "report.jsonl"
    renamed.write_bytes(whole_journal(triage))
    for place in (folder, str(folder), folder / "journal.jsonl", renamed, str(renamed)):
        assert store.load(place).session == triage.session
    assert [file.name for file in folder.iterdir()] == ["journal.jsonl"]


def test_what_is_no_session_is_not_loaded(store: SessionStore, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 2.5\n")
    with pytest.raises(StorageError, match=r"train\.log: there is no session in it"):
        store.load(log)
    with pytest.raises(StorageError, match="there is no session"):
        store.load(tmp_path)


def test_loading_disturbs_nobody(store: SessionStore) -> None:
    session = store.create("x")
    session.do(note(1))
    session.flush()
    assert store.load(session.path.name).session == session.session
    session.do(note(2))
    assert session.close() == []


# -- the list -----------------------------------------------------------------------------


def test_the_list_tells_what_matters(store: SessionStore) -> None:
    first = _make(
        store, "first", run(1, "/runs/a/train.log"), hypothesis(1, "small", 0.2),
        hypothesis(2, "the rate is too high", 0.6), Rename(title="better title"),
    )  # fmt: skip
    second = _make(store, "second", Archive())
    rows = store.summaries()
    assert [row.id for row in rows] == [second, first]
    row = rows[1]
    assert (row.title, row.phase, row.is_archived) == ("better title", "intake", False)
    assert (row.runs, row.hypotheses, row.experiments) == (("train.log",), 2, 0)
    assert row.headline == "the rate is too high: 0.60 (inference, ceiling 0.70)"
    assert row.created <= row.changed
    assert rows[0].is_archived


def test_the_list_is_up_to_date_while_sessions_are_worked_on(store: SessionStore) -> None:
    session = store.create("x")
    for number in (1, 2, 3):
        session.do(hypothesis(number))
        session.flush()
        assert store.summaries()[0].hypotheses == number
    session.close()
    assert store.summaries()[0].hypotheses == 3


def test_what_is_no_session_is_not_listed(store: SessionStore) -> None:
    assert store.summaries() == []
    id = _make(store, "x")  # noqa: A001 - what it is
    (store.folder / "notes").mkdir()
    (store.folder / ".hidden").mkdir()
    (store.folder / "file").write_text("x")
    assert [row.id for row in store.summaries()] == [id]


def test_a_journal_is_read_once_however_often_sessions_are_listed(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [tmp_path / f"{number}.log" for number in range(50)]
    for number, log in enumerate(logs):
        log.write_bytes(b"%d\n" % number * 400)
        known = run(1, str(log), (print_of(str(log)),))
        triage = triage_of(known, hypothesis(1), *(note(n % 5 + 1) for n in range(12)))
        folder = store.folder / f"20261116-1745-x-{number:04x}"
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").write_bytes(whole_journal(triage))

    read: list[str] = []

    def watched(path: Path, *, most: int = MOST_BYTES) -> Content:
        read.append(path.name)
        return read_regular(path, most=most)

    monkeypatch.setattr("mltd.sessions.storage.summary.read_regular", watched)
    assert len(store.summaries()) == 50
    assert read.count("journal.jsonl") == 50, "without summaries, once"
    read.clear()
    assert len(store.summaries()) == 50
    assert store.find_for_run(str(logs[3]))
    moved = tmp_path / "moved.log"
    logs[7].rename(moved)
    assert store.find_for_run(str(moved), [print_of(str(moved))])
    assert "journal.jsonl" not in read
    assert len(read) == 3 * 50, "one summary of each, each time"


def test_listing_does_not_load_the_model(store: SessionStore) -> None:
    _make(store, "x", note(1))
    code = (
        "import sys; from pathlib import Path\n"
        "from mltd.sessions.storage.store import SessionStore\n"
        "assert len(SessionStore(Path(sys.argv[1])).summaries()) == 1\n"
        "assert 'pydantic' not in sys.modules\n"
        "import mltd.sessions.storage.open_session\n"
        "heavy = {'numpy', 'pandas', 'textual', 'rich', 'torch', 'mltd.runs.run'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(store.folder)], cwd=ROOT, check=True)


# -- deleting -----------------------------------------------------------------------------


def test_a_deleted_session_is_gone(store: SessionStore) -> None:
    id, other = _make(store, "x", note(1)), _make(store, "y")  # noqa: A001 - what it is
    (store.folder / id / "journal.torn-20260101-000000-00").write_text("x")
    store.delete(id)
    assert [file.name for file in store.folder.iterdir()] == [other]


def test_a_session_that_another_process_has_open_is_not_deleted(store: SessionStore) -> None:
    id = _make(store, "x")  # noqa: A001 - what it is
    other = myself()._replace(host="gpu-17", token="feed")
    (store.folder / id / "lock").write_bytes(other.as_json())
    with pytest.raises(StorageError, match=r"pid \d+ on gpu-17"):
        store.delete(id)
    assert store.load(id)


def test_ones_own_session_can_be_deleted_while_it_is_open(store: SessionStore) -> None:
    session = store.create("x")
    store.delete(session.path.name)
    assert not session.path.exists()
    session.do(note(1))
    assert len(session.close()) == 1
    assert not session.path.exists()


def test_what_is_not_ours_is_left_where_it_is(store: SessionStore) -> None:
    id = _make(store, "x")  # noqa: A001 - what it is
    (store.folder / id / "thesis.tex").write_text("precious")
    with pytest.raises(StorageError, match=r"thesis\.tex"):
        store.delete(id)
    assert [file.name for file in (store.folder / id).iterdir()] == ["thesis.tex"]
    assert store.summaries() == []
