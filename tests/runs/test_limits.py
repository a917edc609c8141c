"""Unusual logs: what is kept of names, ranks and shapes is bounded, and a notice says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

import pytest

from mltd.runs import limits
from mltd.runs import run as run_module
from mltd.runs.config.dumps import config_from_lines
from mltd.runs.formats import axis_names, tabular
from mltd.runs.ingest import read_file, read_stream
from mltd.runs.roles import Roles, shipped
from mltd.runs.run import Run
from mltd.runs.text import assembly, collector, shape_budget
from mltd.runs.text.extractor import TextReader
from mltd.runs.text.plan import Planner


def letters(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(4))


def read(path: Path, lines: Iterator[str]) -> Run:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    run = Run("run")
    read_file(run, str(path))
    return run


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines that were read closely to learn their shape."""
    seen: list[bytes] = []
    plan = Planner.plan

    def counted(self: Planner, piece: bytes) -> object:
        seen.append(piece)
        return plan(self, piece)

    monkeypatch.setattr(Planner, "plan", counted)
    return seen


def test_the_first_names_are_kept_and_the_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "MOST_SERIES", 50)
    monkeypatch.setattr(run_module, "KNOWN_SERIES", 5)
    lines = (f"step {n // 100} expert_{n % 100}/share={n % 7}.5" for n in range(400))
    run = read(tmp_path / "train.log", lines)
    assert [series.name for series in run.series] == [f"expert_{n}/share" for n in range(50)]
    assert run.files[0].left_out == {limits.LeftOut.SERIES: 200}
    assert "200 values of others were left out" in run.files[0].notice


def test_a_loss_is_kept_however_many_names_came_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "MOST_SERIES", 20)
    names = [f"step 1 expert_{n}/share=0.5" for n in range(100)]
    losses = [f"step {n} val_loss=0.{n}" for n in range(9)]
    run = read(tmp_path / "train.log", iter([*names, *losses]))
    assert "val_loss" in [series.name for series in run.series]


def test_high_ranks_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "MOST_RANKS", 8)
    lines = (f"[rank{n % 20}]: step {n // 20} loss {n % 7}.5" for n in range(100))
    run = read(tmp_path / "train.log", lines)
    assert {series.rank for series in run.series} == set(range(8))
    assert run.files[0].left_out == {limits.LeftOut.RANKS: 60}


def test_shapes_without_metrics_get_no_close_look_beyond_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plans: list[bytes]
) -> None:
    monkeypatch.setattr(shape_budget, "MOST_IDLE_SHAPES", 10)
    lines = (f"the {letters(n)} came after {n}" for n in range(500))
    run = read(tmp_path / "train.log", lines)
    assert len(plans) <= 10 + 500 * 40 // limits.BYTES_PER_SHAPE
    assert "lines were searched only for errors" in run.files[0].notice


def test_shapes_with_metrics_are_bounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plans: list[bytes]
) -> None:
    monkeypatch.setattr(shape_budget, "MOST_SHAPES", 20)
    lines = (f"{letters(n)} step={n} {letters(n)}_loss={n % 7}.5" for n in range(500))
    run = read(tmp_path / "train.log", lines)
    assert len(plans) <= 20 + 500 * 40 // limits.BYTES_PER_SHAPE
    assert run.files[0].left_out[limits.LeftOut.SHAPES] >= 470


def test_a_failure_and_a_metric_that_comes_back_are_found_behind_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shape_budget, "MOST_SHAPES", 20)
    monkeypatch.setattr(shape_budget, "MOST_IDLE_SHAPES", 10)
    prose = [f"the {letters(n)} came after {n}" for n in range(500)]
    metrics = [f"step {n} loss {n % 7}.5" for n in range(40)]
    failure = ["RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"]
    run = read(tmp_path / "train.log", iter([*prose, *metrics, *failure]))
    assert [series.name for series in run.series] == ["loss"]
    assert run.series[0].logged == 40
    assert any("out of memory" in event.title for _, event in run.events)


def test_names_that_differ_in_digits_need_few_close_looks(
    tmp_path: Path, plans: list[bytes]
) -> None:
    lines = (f"step {n // 1000} expert_{n % 1000}/share={n % 7}.5" for n in range(4000))
    run = read(tmp_path / "train.log", lines)
    assert len(run.series) == 1000
    assert len(plans) < 100


def test_a_failure_that_a_chunk_repeats_is_collected_some_hundred_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collected: list[int] = []
    collect = collector.collect  # type: ignore[attr-defined]

    def counted(lines: Sequence[str], index: int, *, final: bool) -> object:
        collected.append(index)
        return collect(lines, index, final=final)

    monkeypatch.setattr(collector, "collect", counted)
    lines = "".join(f"[rank{n}]: RuntimeError: CUDA out of memory\n" for n in range(3000))
    TextReader().feed(lines.encode(), final=True)
    assert len(collected) <= collector.EVENTS_PER_SHAPE + collector.LAST_FAILURES + 1
    assert max(collected) == 2999


def test_rows_below_too_many_headers_of_a_table_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular, "MOST_HEADINGS", 5)
    lines = [text for n in range(20) for text in (f"step,loss_{n},acc_{n}", f"{n},0.{n},0.5")]
    again = ["step,loss_0,acc_0", "21,0.25,0.5"]
    run = read(tmp_path / "metrics.csv", iter([*lines, *again]))
    names = {series.name for series in run.of_file(0)} - {"step"}
    assert names == {f"{name}_{n}" for n in range(5) for name in ("loss", "acc")}
    first = run.find(0, "loss_0")
    assert first is not None
    assert first.values.tolist() == [0.0, 0.25]
    assert run.files[0].left_out == {limits.LeftOut.HEADERS: 15}
    assert "15 rows below others were left out" in run.files[0].notice


class CountedLines(Sequence[str]):
    """Lines that know how many of them were looked at."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.looks = 0

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = self._lines[index]
        self.looks += 1 if isinstance(found, str) else len(found)
        return found

    def __len__(self) -> int:
        return len(self._lines)


def test_a_small_block_of_settings_is_read_without_looking_far_ahead() -> None:
    lines = CountedLines(["Configuration:", "  lr: 0.1", "  beta: 0.9", "done"] + ["more"] * 5000)
    assert config_from_lines(lines, 0, final=False) == ({"lr": 0.1, "beta": 0.9}, 3)
    assert lines.looks < 100


@pytest.mark.parametrize("count", [5, 33, 129, 700])
def test_a_block_of_settings_is_read_to_its_end(count: int) -> None:
    nested = [f"  key_{n}: {{inner: {n}}}" for n in range(count)]
    lines = ["Configuration:", *nested, "done", "more"]
    found = config_from_lines(lines, 0)
    assert found is not None
    assert found[1] == count + 1
    assert found[0][f"key_{count - 1}"] == {"inner": count - 1}


def test_what_names_mean_is_looked_up_once_for_all_numbers_in_them() -> None:
    roles = Roles(shipped().table)
    before = Roles._role_of.cache_info().misses
    assert {roles.role_of(f"expert_{n}/loss") for n in range(1000, 9000)} == {"train/loss"}
    assert Roles._role_of.cache_info().misses - before < 400


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("acc1", "train/accuracy"),
        ("acc5", "train/accuracy"),
        ("f1", "score"),
        ("mAP50", "score"),
        ("mAP505", "score"),
        ("l1", "regression_error"),
        ("l7", None),
        ("layer_1234/l1", "regression_error"),
        ("layer_1234/l8", None),
    ],
)
def test_numbers_that_are_part_of_a_known_name_keep_their_meaning(
    name: str, role: str | None
) -> None:
    assert shipped().role_of(name) == role


def test_the_name_of_a_user_wins_over_what_its_numbers_would_mean() -> None:
    roles = Roles(shipped().table, {"expert_4711": "train/loss"})
    assert roles.role_of("expert_4711") == "train/loss"
    assert roles.role_of("expert_4712") is None


def test_the_settings_are_asked_once_for_all_columns_of_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    current = axis_names.current  # type: ignore[attr-defined]

    def counted() -> object:
        asked.append(current())
        return asked[-1]

    monkeypatch.setattr(axis_names, "current", counted)
    assert axis_names.axis_sources(["step", *(f"column_{n}" for n in range(500))]) == {"step": [0]}
    assert len(asked) == 1


def test_blocks_of_settings_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "MOST_SETTINGS_BLOCKS", 3)
    block = "config_{0}:\n  optimizer:\n    lr: 0.{0}\n    name: adam\n"
    run = Run("made")
    text = "".join(block.format(number) for number in range(10))
    read_stream(run, "train.log", iter([text.encode()]))
    assert run.files[0].left_out[limits.LeftOut.SETTINGS] >= 1
    assert "blocks of settings" in run.files[0].notice
