"""Files are known again by how they begin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.sessions.model.run_ref import FilePrint
from mltd.sessions.prints import is_rewritten, is_same_file, print_of


def test_a_file_that_grew_is_the_same(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"step 1 loss 2.5\n" * 10)
    known = print_of(str(log))
    assert (known.path, known.length) == (str(log), 160)
    with log.open("ab") as file:
        file.write(b"step 2\n" * 10_000)
    assert is_same_file(known, str(log))


def test_only_the_first_4096_bytes_count(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"a" * 4096 + b"b")
    other.write_bytes(b"a" * 4096 + b"c" * 9)
    known = print_of(str(one))
    assert known.length == 4096
    assert is_same_file(known, str(other))


def test_another_beginning_is_another_file(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"a" * 500)
    other.write_bytes(b"a" * 499 + b"b")
    assert not is_same_file(print_of(str(one)), str(other))


def test_a_file_that_was_cut_is_another_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"a" * 500)
    known = print_of(str(log))
    log.write_bytes(b"a" * 499)
    assert not is_same_file(known, str(log))


@pytest.mark.parametrize(("length", "is_enough"), [(0, False), (63, False), (64, True)])
def test_a_few_bytes_are_not_enough_to_be_sure(
    tmp_path: Path, length: int, is_enough: bool
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * length)
    assert is_same_file(print_of(str(log)), str(log)) is is_enough


def test_what_cannot_be_read_has_no_print(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", "ssh://host/x", "a\0b"):
        assert print_of(str(path)) == FilePrint(path=str(path))
        assert not is_same_file(FilePrint(path="x", digest="ab", length=64), str(path))


def test_a_print_from_a_strange_journal_matches_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 100)
    digest = print_of(str(log)).digest
    for length in (-1, 0, 63, 10**18):
        assert not is_same_file(FilePrint(path="x", digest=digest, length=length), str(log))


def test_a_log_that_was_written_anew_is_another_run(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 2.5 seed 1\n" * 20)
    known = print_of(str(log))
    assert not is_rewritten((known,), (known,))
    log.write_text("step 1 loss 2.5 seed 1\n" * 40)
    assert not is_rewritten((known,), (print_of(str(log)),))
    log.write_text("step 1 loss 2.1 seed 9\n" * 40)
    assert is_rewritten((known,), (print_of(str(log)),))
    log.rename(tmp_path / "moved.log")
    assert not is_rewritten((known,), (print_of(str(tmp_path / "moved.log")),))
