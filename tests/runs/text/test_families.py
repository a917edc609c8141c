"""Lines that differ in ids are judged together; metrics and errors among them are not lost."""

from __future__ import annotations

import random

import pytest

from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader
from mltd.runs.text.plan import Plan, Planner


def read(text: str) -> Run:
    run = Run("test")
    file = run.add_file(SourceFile("test.log"))
    run.append(file, TextReader().feed(text.encode(), final=True))
    return run


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Lines that were looked at carefully."""
    lines: list[bytes] = []
    real = Planner.plan

    def note(self: Planner, piece: bytes) -> Plan:
        lines.append(piece)
        return real(self, piece)

    monkeypatch.setattr(Planner, "plan", note)
    return lines


def hashes(count: int) -> list[str]:
    rng = random.Random(1)
    return [f"{rng.getrandbits(64):x}" for _ in range(count)]


def test_a_thousand_ids_are_not_a_thousand_shapes(planned: list[bytes]) -> None:
    read("".join(f"worker {h} wrote /data/{h}.bin\n" for h in hashes(1000)))
    assert len(planned) < 50


def test_metrics_between_ids_are_read() -> None:
    lines = [
        f"worker {h} wrote /data/{h}.bin\nstep {i} loss {i}.5\n" for i, h in enumerate(hashes(300))
    ]
    (series,) = read("".join(lines)).series
    assert series.values.tolist() == [i + 0.5 for i in range(300)]


def test_metrics_in_lines_with_ids_are_read() -> None:
    lines = [f"[{h}x] step {i} loss {i}.5\n" for i, h in enumerate(hashes(300))]
    run = read("".join(lines))
    assert sum(len(s) for s in run.series if s.name.endswith("loss")) == 300


def test_an_error_after_many_idle_lines_is_an_event() -> None:
    lines = [f"worker {h} wrote /data/{h}.bin\n" for h in hashes(200)]
    run = read("".join(lines) + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    assert [event.line for _, event in run.events] == [201]


def test_the_last_failure_counts_after_any_number_of_them() -> None:
    lines = [
        f"RuntimeError: worker {h} lost its shard\nstep {i} loss 1.5\n"
        for i, h in enumerate(hashes(700))
    ]
    events = [event for _, event in read("".join(lines)).events]
    assert sum(event.count for event in events) == 700
    assert max(event.last_line for event in events) == 1399
