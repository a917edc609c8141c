"""Nothing but the session's own files is ever read, whatever a name or a link says."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError
from mltd.runs.open_artifact import ANYWHERE
from mltd.runs.run import Artifact as RunArtifact

from .making import SECRET, STEPS, TRACEBACK, book_of, run_in, write

PIECES = [
    "..", ".", "/", "//", "\\", "\0", "~", "%2e%2e", "..%2f", "\u2024\u2024", "\uff0e\uff0e",
    "\u2215", "\u2044", "run1", "run1/train.log", "train.log", "secret", "secret.log", "secret.py",
    "outside", "link", "loop", "folder", "inside", "code", "code/a.py", "etc/passwd", "dev/zero",
    "proc/self/environ", "proc/self/fd/0", "file://", ":1", ":1-5", " ", "\n", "\u202e", "-", "*",
    "?", "$HOME",
]  # fmt: skip


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ArtifactBook]:
    """A run with an allowed file and a source root, surrounded by what must not be read."""
    folder = tmp_path_factory.mktemp("trap")
    write(
        folder,
        {"secret": SECRET, "secret.log": SECRET, "secret.py": SECRET, "outside/a.py": SECRET},
    )
    code = write(folder / "code", {"a.py": "x = 1\n", ".env": SECRET, "keys.pem": SECRET})
    (code / "b.py").symlink_to(folder / "secret.py")
    (code / "out").symlink_to(folder / "outside")
    run = run_in(folder / "run", {"train.log": STEPS})
    inside = folder / "run"
    (inside / "link").symlink_to(folder / "secret")
    (inside / "loop").symlink_to(inside / "loop")
    (inside / "folder").symlink_to(folder)
    return folder, ArtifactBook({"run1": run}, source_roots=[code])


@given(
    parts=st.lists(st.sampled_from(PIECES) | st.text(max_size=5), min_size=1, max_size=7),
    joint=st.sampled_from(["", "/"]),
    is_full=st.booleans(),
)
def test_no_name_leads_out_of_the_session(
    trap: tuple[Path, ArtifactBook], parts: list[str], joint: str, is_full: bool
) -> None:
    folder, book = trap
    name = joint.join(parts)
    if is_full:
        name = f"{folder}/{name}"
    refusal = ""
    try:
        artifact = book.resolve(name)
        found = book.lines(name, 1, 5)
    except ArtifactError as problem:
        refusal = str(problem)
    if refusal:
        assert refusal.isprintable()
        assert SECRET not in refusal
        return
    assert artifact.real in (f"{folder}/run/train.log", f"{folder}/code/a.py")
    assert all(SECRET not in line.text for line in found.lines)


@pytest.mark.parametrize(
    "name",
    [
        "../secret", "run1/../secret", "run/../secret", "code/../secret.py", "code/.env",
        "code/b.py", "code/out/a.py", "code/keys.pem", "{folder}/secret", "{folder}/run/link",
        "{folder}/code/../secret.py", "{folder}/run/folder/secret", "run1/link", "/etc/passwd",
        "/proc/self/environ", "/dev/zero", "code/./a.py", "code//a.py", "a.py\0", "", "/",
        ".", "..",
    ],
)  # fmt: skip
def test_every_known_way_out_is_refused(trap: tuple[Path, ArtifactBook], name: str) -> None:
    folder, book = trap
    with pytest.raises(ArtifactError):
        book.resolve(name.format(folder=folder))


def test_a_log_that_links_out_of_its_folder_is_listed_and_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/real.log": STEPS, "run/config.json": '{"lr": 1}'})
    run = run_in(tmp_path / "run", {"train.log": STEPS})
    (tmp_path / "run/train.log").unlink()
    (tmp_path / "run/train.log").symlink_to(tmp_path / "elsewhere/real.log")
    with pytest.raises(ArtifactError, match=r"leads out of the run's folder.*source root"):
        ArtifactBook({"run1": run}).lines("run1/train.log", 1, 1)
    for root, more in (
        (ANYWHERE, {"named": [tmp_path / "run/train.log"]}),
        (str(tmp_path / "run"), {"source_roots": [tmp_path / "elsewhere"]}),
    ):
        run.files[0].root = root
        book = ArtifactBook({"run1": run}, None, **more)  # type: ignore[arg-type]
        assert book.lines("run1/train.log", 1, 1).lines[0].text == "step 0 loss 3.000"


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    run = run_in(tmp_path, {"real/train.log": STEPS})
    (tmp_path / "latest.log").symlink_to("real/train.log")
    run.files[0].path = str(tmp_path / "latest.log")
    assert ArtifactBook({"run1": run}).lines("latest.log", 1, 1).lines


def test_a_file_that_becomes_a_link_is_not_read(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": STEPS})
    write(tmp_path, {"secret": SECRET})
    log = tmp_path / "run/train.log"
    log.unlink()
    log.symlink_to(tmp_path / "secret")
    with pytest.raises(ArtifactError, match="leads out of the run's folder"):
        book.lines("train.log", 1, 1)
    with pytest.raises(ArtifactError):
        book.search("train.log", "secret")


def test_a_folder_on_the_way_that_becomes_a_link_is_noticed(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"logs/train.log": STEPS})
    write(tmp_path, {"evil/train.log": SECRET})
    (tmp_path / "run/logs").rename(tmp_path / "run/old")
    (tmp_path / "run/logs").symlink_to(tmp_path / "evil")
    with pytest.raises(ArtifactError, match="leads out of the run's folder"):
        book.lines("train.log", 1, 1)


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "gone"])
def test_a_file_that_becomes_something_else_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    book = book_of(tmp_path, {"train.log": STEPS})
    log = tmp_path / "run/train.log"
    log.unlink()
    if kind == "pipe":
        os.mkfifo(log)
    elif kind == "folder":
        log.mkdir()
    elif kind == "socket":
        os.mknod(log, 0o140600)
    with pytest.raises(ArtifactError, match=r"by now|not there any more"):
        book.lines("train.log", 1, 1)


@pytest.mark.parametrize("target", ["/proc/self/environ", "/dev/zero", "/dev/null", "/sys"])
def test_what_the_kernel_makes_up_is_no_artifact(tmp_path: Path, target: str) -> None:
    run = run_in(tmp_path / "run", {"train.log": STEPS})
    (tmp_path / "run/config.json").symlink_to(target)
    run.artifacts.append(RunArtifact("config", str(tmp_path / "run/config.json")))
    run.artifacts.append(RunArtifact("config", target))
    book = ArtifactBook({"run1": run}, named=[target])
    for artifact in book.of_run("run1")[1:]:
        assert not artifact.real
        refusal = "leads out|made up by the kernel|a device|a directory"
        with pytest.raises(ArtifactError, match=refusal):
            book.lines(artifact.name, 1, 1)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_link_that_appears_right_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_folder: bool
) -> None:
    book = book_of(tmp_path, {"logs/train.log": STEPS})
    write(tmp_path, {"evil/train.log": SECRET})
    swapped = tmp_path / "run/logs" if is_folder else tmp_path / "run/logs/train.log"
    target = tmp_path / "evil" if is_folder else tmp_path / "evil/train.log"
    look = os.stat

    def looked(path: Any, **options: Any) -> os.stat_result:
        status = look(path, **options)
        if not os.path.islink(swapped):
            swapped.rename(tmp_path / "old")
            swapped.symlink_to(target)
        return status

    monkeypatch.setattr("mltd.runs.open_artifact.os.stat", looked)
    with pytest.raises(ArtifactError, match="leads out of the run's folder"):
        book.lines("train.log", 1, 1)


def test_a_swap_between_check_and_open_never_shows_the_other_file(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": STEPS})
    secret = write(tmp_path, {"secret": SECRET}) / "secret"
    log, spare, link = (tmp_path / "run" / name for name in ("train.log", "spare", "link"))
    spare.write_text(STEPS)
    link.symlink_to(secret)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            for one in (link, spare):
                copy = tmp_path / "run/next"
                copy.symlink_to(secret) if one is link else os.link(spare, copy)
                copy.replace(log)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = refused = 0
    try:
        while (seen < 20 or refused < 20) and seen + refused < 3000:
            try:
                found = book.lines("train.log", 1, 3)
            except ArtifactError:
                refused += 1
            else:
                seen += 1
                assert [line.text for line in found.lines] == STEPS.splitlines()[:3]
    finally:
        is_over.set()
        swapper.join()
    assert seen
    assert refused


def test_a_traceback_cannot_make_a_file_outside_readable(tmp_path: Path) -> None:
    write(tmp_path, {"secret.py": SECRET, "run/id_rsa": SECRET})
    (tmp_path / "run/linked.py").symlink_to(tmp_path / "secret.py")
    text = STEPS
    for name in (f"{tmp_path}/secret.py", "../secret.py", "linked.py", "id_rsa", "/etc/passwd"):
        text += TRACEBACK.replace("train.py", name).replace("boom", name)
    book = book_of(tmp_path, {"train.log": text})
    assert [artifact.name for artifact in book] == ["run1/train.log"]
    with pytest.raises(ArtifactError):
        book.resolve("secret.py")
