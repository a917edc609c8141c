"""Reading a run once: columns are bounded, and the numbers told about them stay exact."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from mltd.runs.discovery import discover
from mltd.runs.export import write_csv
from mltd.runs.ingest import load, read_stream
from mltd.runs.run import Run
from mltd.runs.summary import describe_run

ROWS = 60_000
BOUND = 1 << 20


def line(step: int) -> str:
    loss = {7: "nan", 31_000: "inf", 40_000: "-3.5"}.get(step, f"{2 + step % 13 / 13:.4f}")
    return f"step {step} loss {loss} lr 0.001\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text("".join(map(line, range(ROWS))))
    return path


def test_thinned_columns_are_described_as_if_every_point_were_kept(log: Path) -> None:
    (files,) = discover(str(log))
    whole = load(files, max_column_bytes=None).run
    thinned = load(files, max_column_bytes=BOUND).run
    assert thinned.thinned > 1
    assert thinned.allocated <= BOUND < whole.allocated
    assert describe_run(thinned)["series"] == describe_run(whole)["series"]


def test_a_compressed_log_is_bounded_too(log: Path) -> None:
    packed = log.with_suffix(".log.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    (files,) = discover(str(packed))
    run = load(files, max_column_bytes=BOUND).run
    assert run.allocated <= BOUND
    described = describe_run(run)["files"]
    assert isinstance(described, list)
    assert described[0]["kept"] == f"1 row in {run.thinned}"


def test_a_pipe_is_bounded_too(log: Path) -> None:
    run = Run("standard input")
    data = log.read_bytes()
    read_stream(
        run,
        "-",
        (data[at : at + 65536] for at in range(0, len(data), 65536)),
        max_column_bytes=BOUND,
    )
    assert run.allocated <= BOUND
    assert run.series[0].logged == ROWS


def test_an_export_keeps_every_point(log: Path) -> None:
    (files,) = discover(str(log))
    table = io.BytesIO()
    write_csv(load(files, max_column_bytes=None).run, table, wide=True)
    assert table.getvalue().count(b"\n") == ROWS + 1
