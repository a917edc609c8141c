"""Files stay small, whole and nobody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mltd.runs import probe
from mltd.runs.probe.writer import FullError, NotAProbeFileError, Writer, number
from tests.runs.probe.training import net, records, steps, train

LIMIT = 64 << 10


def test_a_long_training_fits_and_the_file_says_that_it_was_thinned(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path, every=1, max_bytes=LIMIT) as handle:
        train(model, optimizer, 150)
        assert handle.is_active
    assert LIMIT / 2 < path.stat().st_size <= LIMIT
    notes = [record for record in records(path) if record["kind"] == "note"]
    assert [note["every"] for note in notes][:2] == [2, 4]
    seen = [record["step"] for record in steps(path)]
    assert seen[0] == 1
    assert seen[-1] > 130
    assert records(path)[-1]["reason"] == "closed"


def test_no_record_goes_over_the_limit(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "p"), LIMIT)
    writer.write_header({"layers": ["a"]})
    with pytest.raises(FullError):
        writer.write({"text": "x" * LIMIT})
    writer.write({"kind": "end"}, is_last=True)
    assert len(records(tmp_path / "p")) == 2


def test_a_line_that_was_cut_off_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text('{"mltd_probe":1,"kind":"header"}\n{"kind":"st')
    writer = Writer(str(path), LIMIT)
    writer.write_header({})
    lines = path.read_text().splitlines()
    assert lines[1] == '{"kind":"st'
    assert json.loads(lines[2])["kind"] == "header"


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1 loss 2\n")
    with pytest.raises(NotAProbeFileError, match="another path"):
        Writer(str(path), LIMIT)
    assert path.read_text() == "step 1 loss 2\n"


def test_a_file_that_was_moved_away_begins_again_with_its_header(tmp_path: Path) -> None:
    path = tmp_path / "p"
    writer = Writer(str(path), LIMIT)
    writer.write_header({"layers": ["a"]})
    path.rename(tmp_path / "old")
    writer.write({"kind": "note"})
    assert [record["kind"] for record in records(path)] == ["header", "note"]


def test_numbers_are_json() -> None:
    assert [number(v) for v in (1.23456789, float("nan"), float("inf"), -float("inf"), None)] == [
        1.23457, "nan", "inf", "-inf", None,
    ]  # fmt: skip
