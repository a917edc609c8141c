"""Sessions about runs that are named on the command line, on this machine or on another."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.remote.names import VARIABLE, url_of
from mltd.sessions.actions.records import AddRun
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.prints import print_of
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import now
from mltd.tui.known_session import id_in, session_about


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_remote: bool) -> Path:
    mirror = tmp_path / "mltd-ssh-1"
    if is_remote:
        monkeypatch.setenv(VARIABLE, str(mirror))
    path = mirror / "login01:" / "run 7" / "train.log"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"step {n} loss {3 - n / 100}\n" for n in range(50)))
    return path


@pytest.mark.parametrize("is_remote", [False, True], ids=["here", "on another host"])
def test_a_kept_run_is_known_again(log: Path, is_remote: bool) -> None:
    assert session_about([str(log)], str(log.parent)) is None
    location = url_of(str(log))
    assert location.startswith("ssh://") is is_remote
    with SessionStore().create("NaN at step 100") as opened:
        ref = RunRef(id="R7", location=location, files=(print_of(location),), added=now())
        opened.do(AddRun(run=ref))
        opened.flush()
    session = session_about([str(log)], str(log.parent))
    assert session is not None
    assert session.title == "NaN at step 100"
    assert id_in(session, [str(log)]) == "R7"


@pytest.mark.parametrize("is_remote", [True])
def test_another_run_is_nobodys(log: Path) -> None:
    other = log.with_name("other.log")
    other.write_text("nothing that anybody has kept, and long enough to be told apart\n" * 2)
    assert session_about([str(other)], str(log.parent)) is None
    assert id_in(None, [str(other)]) == ""
