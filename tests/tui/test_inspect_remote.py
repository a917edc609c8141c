"""`inspect HOST:PATH` over a real sshd: never unasked, never left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mltd.runs.remote import direct_link, download
from mltd.tui.cli import main
from mltd.tui.complaint import UNUSABLE
from tests.runs.checkpoints.looking import write_safetensors
from tests.runs.remote.conftest import Configure, configure, sshd  # noqa: F401 - fixtures
from tests.runs.sources.sshd_server import SshdServer

from .pty_terminal import Terminal

pytestmark = pytest.mark.usefixtures("configure", "own_home")
FAR = "mltd-test"


def weights(path: Path, *, rows: int = 64) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    made = {
        f"h.{n}.mlp.up_proj.weight": random.normal(0, 0.1, (rows, 64)).astype("<f4")
        for n in range(3)
    }
    tensors = {k: ("F32", list(v.shape), v.tobytes()) for k, v in made.items()}
    return write_safetensors(path, tensors)


@pytest.fixture
def far(tmp_path: Path) -> Path:
    return weights(tmp_path / "far" / "it's -n $(x) 雪.safetensors")


def left_here(own_home: Path) -> list[str]:
    kept = own_home / ".cache" / "mltd"
    return [str(path.relative_to(kept)) for path in kept.rglob("*") if path.suffix != ".lock"]


def test_without_a_terminal_and_a_yes_it_is_refused_with_its_size(
    far: Path, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", f"{FAR}:{far}"]) == UNUSABLE
    said = capfd.readouterr()
    assert said.out == ""
    assert (
        f"48.3 KiB in 1 file on {FAR}; it is copied to a private folder here, and removed "
        "afterwards; say yes to that with --fetch" in said.err
    )
    assert left_here(own_home) == []


def test_with_a_yes_it_is_copied_read_and_removed(
    far: Path, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "--fetch", f"{FAR}:{far}"]) == 0
    said = capfd.readouterr()
    assert "".join(said.out.split()).startswith("".join(f"{FAR}:{far}".split()))
    assert "all values of 3 tensors" in said.out
    assert "removed afterwards" in said.err
    assert "mltd-ssh-" not in said.out + said.err
    assert left_here(own_home) == []


def test_the_document_has_names_of_over_there_and_two_are_compared(
    far: Path, tmp_path: Path, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    second = weights(tmp_path / "here.safetensors")
    assert main(["inspect", "--fetch", "--json", f"ssh://{FAR}{far}", str(second)]) in (0, 1)
    found = json.loads(capfd.readouterr().out)
    assert found["comparison"]["first"] == f"{FAR}:{far}"
    assert found["checkpoint"]["path"] == str(second)
    assert left_here(own_home) == []


def test_of_a_run_the_newest_checkpoint_is_taken_with_what_belongs_to_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    for step in (500, 1000):
        path = weights(run / f"checkpoint-{step}" / "model.safetensors")
        os.utime(path, (1e9 + step, 1e9 + step))
    (path.parent / "trainer_state.json").write_text('{"global_step": 1000}')
    (path.parent / "rng_state.pth").write_bytes(b"never read" * 1000)
    assert main(["inspect", "--fetch", f"{FAR}:{run}"]) == 0
    said = capfd.readouterr()
    assert "in 2 files on" in said.err
    shown = " ".join(said.out.split())
    assert f"{FAR}:{run}/checkpoint-1000 (the newest of 2 checkpoints there)" in shown
    assert "step 1,000" in shown
    assert "in 3 files" in shown, "what is not read is listed by its size"


def test_a_log_over_there_is_used_beside_a_checkpoint_over_there(far: Path, own_home: Path) -> None:
    log = far.parent / "train.log"
    log.write_text("optimizer: adamw\n" + "".join(f"step {n} loss 1.0\n" for n in range(1, 60)))
    # In a process of its own, because links to hosts last as long as theirs.
    names = ["--fetch", f"{FAR}:{far}", "--run", f"{FAR}:{log}"]
    command = [sys.executable, "-m", "mltd.tui.cli", "inspect", "--json", *names]
    ended = subprocess.run(command, capture_output=True, timeout=120, check=True)
    found = json.loads(ended.stdout)
    assert found["checkpoint"]["path"] == f"{FAR}:{far}"
    assert not any("--run" in part for part in found["not_looked_at"])
    assert left_here(own_home) == []


def test_without_values_the_optimizer_of_a_folder_is_left_there_and_that_is_noted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = weights(tmp_path / "checkpoint-500" / "model.safetensors").parent
    (folder / "optimizer.pt").write_bytes(b"x" * 5000)
    assert main(["inspect", "--json", "--no-values", f"{FAR}:{folder}"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["checkpoint"]["tensors"] == 3
    assert found["checkpoint"]["notes"] == [
        "optimizer.pt (4.88 KiB) was not copied: without values only headers are"
    ]


def test_names_and_shapes_of_a_huge_file_cost_its_header_and_no_question(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 1 << 40
    table = {"wte.weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    text = json.dumps(table).encode()
    far = tmp_path / "huge.safetensors"
    far.write_bytes(len(text).to_bytes(8, "little") + text)
    os.truncate(far, 8 + len(text) + size)  # a hole
    assert main(["inspect", "--no-values", f"{FAR}:{far}"]) == 0
    said = capfd.readouterr()
    assert "only what tells names and shapes is copied" in said.err
    assert f"{size // 4:,} in 1 tensor" in said.out
    monkeypatch.setattr(download, "SPARE", 1 << 62)
    assert main(["inspect", "--fetch", f"{FAR}:{far}"]) == UNUSABLE
    assert "there is no room for 1 TiB" in capfd.readouterr().err


def test_what_is_not_there_is_said_with_what_is(
    far: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "--fetch", f"{FAR}:{far}x"]) == UNUSABLE
    assert "there is no file or directory" in capfd.readouterr().err


def test_a_cut_is_healed_while_it_is_copied(
    far: Path,
    sshd: SshdServer,  # noqa: F811
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights(far, rows=64 << 10)
    stream = download._Download._stream
    cuts: list[int] = []

    def cut_once(self: download._Download) -> None:
        tell = self._tell

        def told(size: int) -> None:
            tell(size)
            if not cuts and self._copy.tell() > 1 << 20:
                cuts.append(self._copy.tell())
                sshd.drop_connections()

        self._tell = told
        stream(self)

    monkeypatch.setattr(download._Download, "_stream", cut_once)
    monkeypatch.setattr(direct_link.DirectLink.reopen, "__defaults__", (lambda seconds: None,))
    assert main(["inspect", "--fetch", f"{FAR}:{far}"]) == 0
    assert cuts
    assert "all values of 3 tensors" in capfd.readouterr().out


def test_on_a_terminal_it_asks_and_no_is_no(far: Path, own_home: Path) -> None:
    terminal = Terminal("inspect", f"{FAR}:{far}")
    terminal.wait_for("Copy it? [y/N] ")
    terminal.press("\n")
    assert terminal.end() == (UNUSABLE, "")
    assert "nothing was copied" in terminal.seen
    terminal = Terminal("inspect", f"{FAR}:{far}")
    terminal.wait_for("Copy it? [y/N] ")
    terminal.press("y\n")
    code, out = terminal.end()
    assert code == 0
    assert "nothing found that should worry you" in out
    assert left_here(own_home) == []


def test_ctrl_c_ends_a_copy_at_once_and_leaves_nothing(far: Path, own_home: Path) -> None:
    os.truncate(far, 2 << 30)  # a hole: it takes time, and here only as much room as came
    terminal = Terminal("inspect", "--fetch", f"{FAR}:{far}")
    terminal.wait_for("% of 2 GiB, ")
    assert "iB/s; Ctrl+C ends it" in terminal.seen
    assert left_here(own_home)
    terminal.press("\x03")
    assert terminal.end() == (130, "")
    assert left_here(own_home) == []
