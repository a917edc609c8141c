"""A log on another host in a real terminal, over a real sshd."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import RequireService
from tests.runs.remote.conftest import Configure, configure, sshd  # noqa: F401 - fixtures
from tests.runs.sources.sshd_server import SshdServer
from tests.tui.tmux import TmuxSession


@pytest.fixture(autouse=True)
def _needs_tmux(require_service: RequireService, configure: Configure) -> None:  # noqa: F811
    require_service("tmux")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "far" / "train.log"
    path.parent.mkdir()
    lines = [f"step {n}/9000 | loss {4 * 0.9995**n + 0.4:.4f} | lr 3e-4" for n in range(8000)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_remote_log_is_followed_over_a_cut(
    tmp_path: Path,
    log: Path,
    sshd: SshdServer,  # noqa: F811
    own_home: Path,
) -> None:
    with TmuxSession(tmp_path, f"mltd-test:{log}", size=(120, 36)) as session:
        screen = session.wait_for("ssh mltd-test", "step 7999/9000", "8000")
        assert "mltd-ssh" not in screen
        with log.open("a") as file:
            file.write("step 8000/9000 | loss 0.4111 | lr 3e-4\n")
        session.wait_for("step 8000/9000 | loss 0.4111")
        sshd.drop_connections()
        with log.open("a") as file:
            file.write("step 8001/9000 | loss 0.4222 | lr 3e-4\n")
        session.wait_for("step 8001/9000 | loss 0.4222", "ssh mltd-test")
        session.press("q")
        assert session.wait_end() == 0
    kept = own_home / ".cache" / "mltd"
    assert kept.is_dir()
    assert not [path for path in kept.rglob("*") if path.is_file()], "copies are removed"


def test_a_file_that_appears_later_is_waited_for(tmp_path: Path, log: Path) -> None:
    late = log.with_name("late.log")
    with TmuxSession(tmp_path, f"mltd-test:{late}") as session:
        session.wait_for("waiting for")
        late.write_text("step 1 loss 2.5\nstep 2 loss 2.4\nstep 3 loss 2.3\n")
        session.wait_for("step 3 loss 2.3")
        session.press("q")
        assert session.wait_end() == 0


def test_a_host_that_refuses_is_a_sentence_before_any_screen(
    tmp_path: Path,
    configure: Configure,  # noqa: F811
) -> None:
    configure(
        f"IdentityFile {tmp_path}/none\nIdentitiesOnly yes\nPreferredAuthentications publickey"
    )
    config = Path(os.environ["MLTD_SSH"].split()[-1])
    lines = config.read_text().splitlines()
    config.write_text("\n".join(line for line in lines if "user_key" not in line))
    with TmuxSession(tmp_path, "mltd-test:/x.log", size=(160, 20)) as session:
        assert session.wait_end() == 2
        assert "Permission denied" in session.screen
        assert not session.is_alternate
