"""Quoted lines: there, elsewhere, or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import Verdict
from mltd.sessions.masking import Masker
from tests.blow_up import no_blow_up

from ..answer.answers import log
from ..artifacts.making import STEPS, book_of
from .checking import LINES, book_in, verdict


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("CUDA out of memory. Tried to allocate 2.00 GiB", 301),
        ("CUDA   out of\n memory", 301),
        ("torch.OutOfMemoryError ... 2.00 GiB", 301),
        ("OutOfMemoryError: CUDA out of mem...", 301),
        ("OutOfMemoryError: … allocate [...] GiB", 301),
        ("Tried to allocate 2 GiB", 301),
        ("ERROR rank 3 stopped, exit code -9", 302),
        ("step 100 loss 2.5 grad_norm 3.000", 101),
        ("301: torch.OutOfMemoryError: CUDA", 301),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 Gi", 301),
    ],
)
def test_a_quotation_that_stands_there_is_confirmed(
    book: ArtifactBook, quote: str, line: int
) -> None:
    found = verdict(book, log(quote, line))
    assert (found.verdict, found.reason) == (Verdict.CONFIRMED, "")


def test_a_quotation_over_several_lines_is_confirmed(book: ArtifactBook) -> None:
    quote = "\n".join(LINES[10:13])
    assert verdict(book, log(quote, 11, 13)).verdict is Verdict.CONFIRMED
    labelled = "\n".join(f"{n + 1}: {LINES[n]}" for n in range(10, 13))
    assert verdict(book, log(labelled, 11, 13)).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    "quote",
    [
        "step 100 loss 2.51",
        "step 100 loss 2.",
        "step 10 loss 2.5",
        "CUDA out of memory. Tried to allocate 2.01 GiB",
        "CUDA out of memory. Tried to alloc",
        "CUDA out of memory. Tried to allocate 0 GiB",
        "GiB ... CUDA out of memory",
        "exit code 9 was returned",
        "rank 3 stopped, exit code 9",
        "cuda out of memory",
    ],
)
def test_a_quotation_that_differs_is_struck(book: ArtifactBook, quote: str) -> None:
    found = verdict(book, log(quote, 101, 302))
    assert found.verdict is Verdict.WRONG
    assert "nor anywhere else" in found.reason


@pytest.mark.parametrize("said", [1, 250, 280, 302])
def test_a_quotation_at_another_line_counts_and_says_so(book: ArtifactBook, said: int) -> None:
    found = verdict(book, log("CUDA out of memory", said))
    assert (found.verdict, found.line) == (Verdict.ELSEWHERE, 301)
    assert found.is_confirmed
    assert f"at line 301, not {said}" in found.reason
    assert found.place == "train.log:301"


def test_of_several_places_the_nearest_is_told(tmp_path: Path) -> None:
    lines = [f"line {n} is quiet" for n in range(1, 200)]
    lines[20] = lines[60] = lines[150] = "the same message again"
    book = book_of(tmp_path, {"train.log": "\n".join(lines)})
    assert verdict(book, log("the same message", 55)).line == 61


def test_a_quotation_far_away_in_a_long_file_is_found(tmp_path: Path) -> None:
    lines = [f"step {n} loss {n * 0.001:.3f}" for n in range(20_000)]
    lines[15_000] = "first part of it"
    lines[15_002] = "second part of it"
    book = book_of(tmp_path, {"train.log": "\n".join(lines)})
    found = verdict(book, log("first part of it ... second part of it", 3))
    assert (found.verdict, found.line) == (Verdict.ELSEWHERE, 15_001)
    assert verdict(book, log("second part of it ... first part of it", 3)).is_struck


def test_a_long_stretch_that_is_cited_as_a_whole_is_read_to_its_end(tmp_path: Path) -> None:
    lines = [f"quiet {n}" for n in range(900)]
    lines[5], lines[700] = "begin of the sweep", "end of the sweep"
    book = book_of(tmp_path, {"train.log": "\n".join(lines)})
    found = verdict(book, log("end of the sweep", 1, 800))
    assert found.verdict is Verdict.CONFIRMED
    apart = verdict(book, log("begin of the sweep ... end of the sweep", 3, 4))
    assert apart.is_struck


@pytest.mark.parametrize(
    "quote",
    ["", "loss", "GPU", "2.5", "2.5000", "...", "Error", "-", "====", "3 4", "1 ... 0", "nan"],
)
def test_a_trivial_quotation_never_confirms(book: ArtifactBook, quote: str) -> None:
    found = verdict(book, log(quote, 1, 302))
    assert found.verdict is Verdict.WRONG
    assert "nor anywhere" not in found.reason


def test_a_row_of_numbers_and_a_telling_word_do_confirm(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"train.log": f"{STEPS}12,0.5,1e-04\nKilled\n"})
    assert verdict(book, log("12,0.5,0.0001", 101)).is_confirmed
    assert verdict(book, log("Killed", 102)).is_confirmed


def test_a_file_that_is_not_of_the_session_is_wrong(book: ArtifactBook) -> None:
    for name in ("other.log", "/etc/passwd", "../../../etc/passwd", "train.log\0"):
        found = verdict(book, log("root user name", 1, name=name))
        assert found.verdict is Verdict.WRONG
        assert found.reason


def test_a_line_beyond_the_end_is_wrong_unless_the_quotation_stands_elsewhere(
    book: ArtifactBook,
) -> None:
    found = verdict(book, log("nobody wrote this line", 5000))
    assert found.verdict is Verdict.WRONG
    assert "302 lines" in found.reason
    assert verdict(book, log("CUDA out of memory", 5000)).line == 301


def test_a_file_that_cannot_be_read_any_more_is_unreadable_and_not_struck(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    os.remove(tmp_path / "run/train.log")
    found = verdict(book, log("CUDA out of memory", 301))
    assert found.verdict is Verdict.UNREADABLE
    assert not found.is_struck
    assert not found.is_confirmed
    assert "not there any more" in found.reason


def test_after_its_time_nothing_is_looked_up(book: ArtifactBook) -> None:
    moments = iter([0.0, *[100.0] * 50])
    found = verdict(book, log("CUDA out of memory", 301), clock=lambda: next(moments), seconds=10.0)
    assert found.verdict is Verdict.UNREADABLE
    assert "time" in found.reason


def test_compressed_logs_and_progress_bars_have_the_line_numbers_of_the_log_pane(
    tmp_path: Path,
) -> None:
    text = f"{STEPS}10%\r55%\r100% done with epoch 3\nlast line of all\n"
    book = book_of(tmp_path, {"train.log.gz": gzip.compress(text.encode())})
    assert verdict(book, log("done with epoch 3", 101, name="train.log.gz")).verdict == "confirmed"
    assert verdict(book, log("last line of all", 102, name="train.log.gz")).verdict == "confirmed"


def test_what_was_masked_before_it_was_sent_is_still_confirmed(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 12
    masker = Masker()
    line = f"login with api_key={key} worked"
    book = book_of(tmp_path, {"train.log": f"{STEPS}{line}\n"})
    masked = masker.clean(line)
    assert key not in masked
    assert verdict(book, log(masked, 101), masker=masker).verdict is Verdict.CONFIRMED
    assert verdict(book, log(masked, 101)).is_struck
    assert key not in verdict(book, log(f"wrong {masked}", 101), masker=masker).reason


def test_source_code_is_checked_like_a_log(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "model.py").write_text("import torch\n\n\ndef forward(x):\n    return x.log()\n")
    book = book_of(tmp_path, {"train.log": STEPS}, source_roots=[source])
    cited = {"kind": "source", "path": "src/model.py", "first_line": 5, "last_line": 5}
    assert verdict(book, {**cited, "quote": "return x.log()"}).verdict is Verdict.CONFIRMED
    assert verdict(book, {**cited, "quote": "return x.exp()"}).verdict is Verdict.WRONG


def test_a_hostile_log_cannot_make_the_check_endless(tmp_path: Path) -> None:
    lines = ["aaaa " * 1500] * 50
    lines[40] = "aaaa bbbb aaaa"
    book = book_of(tmp_path, {"train.log": "\n".join(lines)})
    # Seventy-five thousand words: half a second, and every one with every other half an hour.
    with no_blow_up():
        for quote, is_right in {
            "aaaa ... bbbb": True,
            "aaaa " * 190 + "cccc": False,
            "aaaa ... aaaa ... dddd": False,
        }.items():
            # A clock that stands, so that it cannot be time that ends the check.
            found = verdict(book, log(quote, 1, 50), clock=lambda: 0.0)
            assert (found.is_confirmed, found.is_struck) == (is_right, not is_right)


def test_a_quotation_from_the_depth_of_a_long_line_is_found(tmp_path: Path) -> None:
    words = " ".join(f"w{n}" for n in range(5000))
    book = book_of(tmp_path, {"train.log": f"{STEPS}{words} the very end of it\n"})
    assert verdict(book, log("w4998 w4999 the very end", 101)).is_confirmed
    assert not verdict(book, log("w4999 w4998 the very end", 101)).is_confirmed
