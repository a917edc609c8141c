"""Remote names, from what a user writes to copies that can be read, over a real sshd."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.discovery.run_files import Purpose
from mltd.runs.discovery.tree import Limits
from mltd.runs.errors import InputError
from mltd.runs.ingest import load
from mltd.runs.remote import links as module
from mltd.runs.remote.address import Address, Host, parse_address
from mltd.runs.remote.links import Links
from mltd.runs.remote.mirror_root import MirrorRoot
from mltd.runs.remote.names import mirrored, shown, url_of

LIMITS = Limits()


@pytest.fixture
def links(far_host: Host, own_home: Path) -> Iterator[Links]:
    with MirrorRoot() as mirror:
        made = Links(mirror.path)
        module._current[:] = [made]
        yield made
        module._current.clear()
        made.close()


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A run as it is over there."""
    folder = tmp_path / "far" / "run 7"
    folder.mkdir(parents=True)
    lines = [f"step {n} loss {3 / (n + 1):.4f}" for n in range(500)]
    (folder / "train.log").write_text("\n".join(lines) + "\n")
    (folder / "config.json").write_text('{"lr": 0.001}')
    (folder / "model.pt").write_bytes(b"\x80" * 100_000)
    return folder


def address_of(name: str) -> Address:
    address = parse_address(name)
    assert address is not None
    return address


def found(links: Links, name: str) -> list[str]:
    return [shown(run.root) for run in links.explore(address_of(name), LIMITS).runs]


def test_a_remote_directory_is_read_like_a_local_one(links: Links, far: Path) -> None:
    address = address_of(f"mltd-test:{far}")
    (run,) = links.explore(address, LIMITS).runs
    loaded = load(run)
    (source,) = loaded.run.files
    assert source.lines == 500
    assert loaded.run.config["lr"] == 0.001
    assert shown(source.path) == f"mltd-test:{far}/train.log"
    (checkpoint,) = run.paths(Purpose.CHECKPOINT)
    assert os.path.getsize(checkpoint) == 100_000
    assert os.stat(checkpoint).st_blocks == 0, "of a checkpoint nothing is copied"


def test_files_patterns_and_urls_lead_to_the_same_run(links: Links, far: Path) -> None:
    name = f"mltd-test:{far}"
    url = "ssh://mltd-test" + str(far).replace(" ", "%20")
    assert found(links, name) == found(links, url) == [f"mltd-test:{far}"]
    assert found(links, f"{name}/train.log") == [f"mltd-test:{far}"]
    assert found(links, f"mltd-test:{far.parent}/*/train.log") == [f"mltd-test:{far}"]


def test_several_hosts_are_read_at_once(links: Links, far: Path) -> None:
    names = ("mltd-test", "127.0.0.1")
    roots = [root for name in names for root in found(links, f"{name}:{far}")]
    assert roots == [f"{name}:{far}" for name in names]
    runs = [
        run for name in names for run in links.explore(address_of(f"{name}:{far}"), LIMITS).runs
    ]
    assert [load(run).run.files[0].lines for run in runs] == [500, 500]


def test_what_a_session_remembers_is_found_again(links: Links, far: Path) -> None:
    address = address_of(f"mltd-test:{far}/train.log")
    (run,) = links.explore(address, LIMITS).runs
    (log,) = run.paths(Purpose.LOG)
    again = parse_address(url_of(log))
    assert again is not None
    assert again.path == address.path
    assert mirrored(url_of(log)) == log


def test_what_is_missing_is_said_with_what_is_there_instead(links: Links, far: Path) -> None:
    with pytest.raises(InputError) as caught:
        found(links, f"mltd-test:{far}/trian.log")
    assert "train.log" in caught.value.hint
    assert "mltd-ssh" not in str(caught.value)


def test_a_followed_copy_grows_with_its_file(links: Links, far: Path) -> None:
    address = address_of(f"mltd-test:{far}/train.log")
    (run,) = links.explore(address, LIMITS).runs
    (log,) = run.paths(Purpose.LOG)
    news = threading.Event()
    links.listen(lambda paths: news.set() if Path(log) in paths else None)
    links.bring(run)
    news.clear()
    with (far / "train.log").open("a") as file:
        file.write("step 500 loss 0.01\n")
    assert news.wait(60)
    assert Path(log).read_bytes() == (far / "train.log").read_bytes()


def test_a_big_log_is_not_copied_for_a_row_but_a_small_one_is(links: Links, far: Path) -> None:
    address = address_of(f"mltd-test:{far}/train.log")
    (far / "train.log").write_bytes(b"step 1 loss 2.0\n" * 10_000)
    (run,) = links.explore(address, LIMITS).runs
    (log,) = run.paths(Purpose.LOG)
    assert links.size(log) == 160_000
    assert os.path.getsize(log) < 160_000, "only its beginning is here"
    assert not links.copy_soon([log])
    for thread in threading.enumerate():
        if thread.name.startswith("mltd-copy"):
            thread.join(60)
    assert links.copy_soon([log])
    assert os.path.getsize(log) == 160_000


def test_runs_that_appear_are_found_by_looking_again(
    links: Links, far: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"mltd-test:{far.parent}"
    assert len(found(links, name)) == 1
    other = far.parent / "run 8"
    other.mkdir()
    (other / "train.log").write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
    monkeypatch.setattr(module, "LIST_EVERY", -1.0)
    assert len(found(links, name)) == 1, "nobody waits for the list"
    for thread in threading.enumerate():
        if thread.name.startswith("mltd-list"):
            thread.join(60)
    assert len(found(links, name)) == 2


def test_without_a_mirror_no_host_is_connected_by_surprise(
    far_host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_current", [])
    monkeypatch.setattr(module, "may_own_mirror", lambda: False)
    with pytest.raises(InputError, match="no other host is connected"):
        module.links()
