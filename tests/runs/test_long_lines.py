"""Lines of megabytes: whatever they consist of, reading them takes as long as they are long."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.formats.json_text import parse_json_head
from mltd.runs.formats.tabular_cells import Header
from mltd.runs.ingest import read_file
from mltd.runs.roles import shipped
from mltd.runs.run import Run
from mltd.runs.text.cleaning import clean
from mltd.runs.text.extractor import TextReader
from mltd.runs.text.plan import Planner, shipped_patterns
from mltd.runs.text.template import learn
from mltd.tui.headless import check
from tests.blow_up import no_blow_up

ENOUGH = 200_000
"""Characters for which a quadratic pattern takes minutes, and a cubic one years."""
HUGE = 10_000_000

CONTENTS = {
    "only carriage returns": ("", "\r"),
    "backspaces": ("a", "\b"),
    "a wide cell": ("| a ", " "),
    "an empty cell": ("|", " "),
    "cells without an end": ("", "| "),
    "an indented word that goes on": ("   lr ", "a "),
    "an assignment of blanks": ("a=", " "),
    "a loop over everything": ("for 1", " in "),
    "quotes that are escaped": ('{"a": 1, ', '"\\'),
    "apostrophes that are escaped": ("{'a': 1, ", "'\\"),
    "a long word before a record": ("a" * 60_000 + ' {"value": 1} ', "a"),
    "a long word": ("1 ", "a"),
    "digits": ("loss ", "1"),
    "a rank of many digits": ("[rank", "1"),
    "numbers": ("loss: ", "1 "),
    "pairs": ("", "loss=1 "),
    "records in a row": ("", '{"loss": 1, "step": 2}, '),
    "one record": ('{"loss": 1', ', "a1": 1.5'),
    "a record in Chinese": ('{"损失": 1', ', "训练": 1.5'),
    "nested records": ("", '{"a":'),
    "brackets": ("args: ", "["),
    "a call without an end": ("args = Namespace(", "a="),
    "settings of blanks": ("config: a = ", " "),
    "a saved checkpoint without a path": ("Saving model checkpoint to ", "a"),
    "weights that are new": ("", "newly initialized because "),
    "half an escape code": ("", "\x1b[0;"),
    "base64": ("", "aGVsbG8gd29ybGQ"),
    "names of columns": ("step,", "loss,"),
    "durations": ("", "1h "),
    "an epoch, then blanks": ("[1, 2]", " "),
    "an open parenthesis": ("loss: 1 (", " "),
    "a progress bar at full speed": ("1%||1/1 [00:01<00:01, ", "1"),
    "what a container said, without an end": ('{"log":"', '"stream":"std'),
    "norms in bars": ("loss 1 ", "|g| "),
    "no improvement": ("", "not improved "),
    "checksums": ("param ", "checksum "),
    "columns that were asked for": ("", "24 columns requested, "),
    "source code": ("def f(x): ", "return x; "),
}


def line_of(kind: str, size: int) -> bytes:
    """A line of one kind, `size` characters long."""
    start, unit = CONTENTS[kind]
    return (start + unit * (size // len(unit)))[:size].encode() + b"\n"


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_long_line_is_read_in_reasonable_time(kind: str) -> None:
    reader = TextReader()
    with no_blow_up():
        for tail in (b"", b"x\n"):
            line = line_of(kind, ENOUGH)[: -1 if tail else None] + tail
            assert reader.feed(line, final=True).consumed == len(line)


@pytest.mark.parametrize(
    "kind",
    ["only carriage returns", "a wide cell", "one record", "a long word", "names of columns"],
)
def test_a_file_of_one_line_of_ten_megabytes_is_read_to_its_end(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(line_of(kind, HUGE))
    run = Run("run")
    with no_blow_up():
        read_file(run, str(path))
    assert run.files[0].bytes == path.stat().st_size


def test_check_survives_a_line_of_ten_megabytes_between_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.log"
    lines = [b"step %d loss %.4f\n" % (n, 2 / (n + 1)) for n in range(100)]
    path.write_bytes(b"".join([*lines[:50], line_of("an empty cell", HUGE), *lines[50:]]))
    with no_blow_up():
        check([str(path)], as_json=False)
    assert "loss" in capsys.readouterr().out


def test_a_run_of_carriage_returns_makes_few_pieces() -> None:
    assert len(clean(b"a" + b"\r" * 100_000 + b"b\n").pieces) <= 4


def test_a_rank_of_hundreds_of_digits_is_no_crash() -> None:
    digits = b"9" * 400
    data = b"layer " + digits + b" grad_norm 0.5 loss: 1.0\n[rank" + digits + b"]: loss: 2.0\n"
    assert TextReader().feed(data * 100, final=True).lines == 200


def test_long_lines_are_read_one_by_one_not_learned() -> None:
    planner = Planner(shipped(), shipped_patterns())
    line = line_of("pairs", ENOUGH)
    assert planner.plan(line).template is None
    text = line.decode()
    assert learn(line, text, planner.read(text)) is None


def test_the_head_of_a_document_ends_in_a_string_that_nobody_closed() -> None:
    with no_blow_up():
        document, _ = parse_json_head(b'{"a": 1, "b": "' + b'\\"' * ENOUGH)
    assert document == {"a": 1}


def test_a_name_given_thousands_of_times_is_counted_not_searched_for() -> None:
    with no_blow_up():
        header = Header.of(["loss"] * 20_000, ",")
    assert header.names[:3] == ("loss", "loss.1", "loss.2")
    assert len(set(header.names)) == 20_000


def test_columns_that_are_numbered_already_keep_their_names() -> None:
    assert Header.of(["a", "a.1", "a", "a"], ",").names == ("a", "a.1", "a.2", "a.3")
