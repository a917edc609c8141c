"""Big files are read by several processes, with the same result as by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mltd.runs import bulk, ingest
from mltd.runs.run import Run


def write_big_log(path: Path, steps: int = 4000) -> None:
    with path.open("w") as log:
        for i in range(steps):
            log.write(
                f"2024-01-01 12:{i // 60 % 60:02d}:{i % 60:02d},5 step {i} loss {1 / (i + 1):.6f}\n"
            )
            if i % 500 == 250:
                log.write('Traceback (most recent call last):\n  File "a.py", line 1, in f\n')
                log.write("    x\n" + f"ValueError: caught {'abcdefgh'[i // 500]}\n")
            if i % 100 == 0:
                log.write(f"Epoch {i // 100}\nval_loss: {2 / (i + 1):.6f}\n")


def facts(run: Run) -> object:
    series = {
        s.name: (
            s.values.tolist(),
            s.lines.tolist(),
            s.axis("step").tolist(),
            s.axis("epoch").tolist(),
        )
        for s in run.series
    }
    events = [(e.kind, e.line, e.last_line, e.offset, e.title) for _, e in run.events]
    return series, events, run.files[0].lines, run.files[0].bytes


def read(path: Path) -> Run:
    run = Run("big")
    ingest.read_file(run, str(path))
    return run


def test_workers_and_one_reader_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_big_log(tmp_path / "big.log")
    alone = read(tmp_path / "big.log")
    monkeypatch.setattr(ingest, "WORTH_IT", 1)
    monkeypatch.setattr(bulk, "STRETCH", 20_000)
    together = read(tmp_path / "big.log")
    assert repr(facts(together)) == repr(facts(alone))
    assert len(together.series[0]) == 4000


def test_stretches_cover_the_file_and_end_at_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "STRETCH", 5000)
    write_big_log(tmp_path / "big.log", 1000)
    data = (tmp_path / "big.log").read_bytes()
    spans = list(bulk.stretches(str(tmp_path / "big.log"), len(data)))
    assert b"".join(data[a:b] for a, b in spans) == data
    assert len(spans) > 5
    for start, end in spans:
        assert data[end - 1 : end] == b"\n"
        assert not data[start : start + 1].isspace()


def test_a_file_without_line_ends_is_one_stretch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "STRETCH", 1000)
    (tmp_path / "bar.log").write_bytes(b"\r 1/9 [..........] - loss: 0.5" * 400)
    size = (tmp_path / "bar.log").stat().st_size
    assert list(bulk.stretches(str(tmp_path / "bar.log"), size)) == [(0, size)]


def test_a_file_that_shrinks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.log"
    write_big_log(path)
    monkeypatch.setattr(ingest, "WORTH_IT", 1)
    monkeypatch.setattr(bulk, "STRETCH", 20_000)
    real = bulk.stretches

    def cut_after_first(name: str, size: int, *, root: str) -> object:
        for number, span in enumerate(real(name, size, root=root)):
            yield span
            if number == 0:
                path.write_bytes(path.read_bytes()[:30_000])

    monkeypatch.setattr(bulk, "stretches", cut_after_first)
    run = read(path)
    assert np.isfinite(run.series[0].values).all()
    assert run.files[0].bytes <= 30_000


def write_table(path: Path, middle: str = "") -> None:
    rows = [f"{i},{1 / (i + 1)!r},{i / 7:.4f}\n" for i in range(6000)]
    rows[3000:3000] = [middle]
    path.write_text("step,loss,lr\n" + "".join(rows))


@pytest.mark.parametrize(
    "middle",
    [
        "",
        "step,loss,grad_norm\n",
        '1,"0.5",0.1\n',
        "7,,0.25\n",
        "8,nan,0.25\n",
        '9,"a quoted\ncell",0.1\n',
    ],
)
def test_a_big_table_is_read_alike_by_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, middle: str
) -> None:
    path = tmp_path / "metrics.csv"
    write_table(path, middle)
    alone = read(path)
    monkeypatch.setattr(ingest, "WORTH_IT", 1)
    monkeypatch.setattr(bulk, "STRETCH", 20_000)
    monkeypatch.setattr("mltd.runs.bulk_tables._HEAD", 4096)
    together = read(path)
    assert repr(facts(together)) == repr(facts(alone))
    assert len(together.series[0]) >= 6000
