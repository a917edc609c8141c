"""The engine: however bytes arrive and lines are grouped, the columns are the same."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader
from mltd.runs.text.groups import GroupReader
from mltd.runs.text.template import BULK

Points = list[tuple[int, float | None, float]]


def feed_pieces(pieces: list[bytes], reader: TextReader | None = None) -> Run:
    run = Run("test")
    file = run.add_file(SourceFile("test.log"))
    reader = reader or TextReader()
    waiting = b""
    for number, piece in enumerate(pieces):
        waiting += piece
        harvest = reader.feed(waiting, final=number == len(pieces) - 1)
        waiting = waiting[harvest.consumed :]
        run.append(file, harvest)
    assert waiting == b""
    return run


def read(text: str | bytes) -> Run:
    return feed_pieces([text.encode() if isinstance(text, str) else text])


def points(run: Run) -> dict[str, Points]:
    return {
        series.name: [
            (int(line), None if math.isnan(step) else float(step), float(value))
            for line, step, value in zip(
                series.lines, series.axis("step"), series.values, strict=True
            )
        ]
        for series in run.series
    }


def values(run: Run, name: str) -> list[float]:
    return [float(v) for s in run.series if s.name == name for v in s.values]


STYLES = [
    "step {i}: loss {v:.4f}, lr {w:.3e}",
    "2024-01-01 12:00:00,123 - trainer - INFO - Epoch [{i}/900] loss: {v:.4f}  acc: {w:.2f}%",
    "{{'loss': {v:.4f}, 'grad_norm': {w:.3f}, 'step': {i}}}",
    '{{"step": {i}, "train/loss": {v}, "lr": {w}}}',
    "| epoch {i:03d} | loss {v:.3f} | ppl {w:.2f} |",
    "\x1b[32mstep: {i}\x1b[0m  loss: {v:.5f}  tps: {i:,}",
    "[rank{r}]: step {i} loss {v:.4f}",
    "plain words without any number",
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    x = 1\nValueError: bad',
    " {i:5d}/900 [=====>......] - ETA: 3s - loss: {v:.4f}\r",
    "| train/ | |\n|    loss | {v:.4f} |\n|    total_timesteps | {i} |\n--------------",
    "",
]


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    chosen = draw(st.lists(st.sampled_from(STYLES), min_size=1, max_size=12))
    times = draw(st.integers(1, 5))
    text = ""
    for i in range(times):
        for number, style in enumerate(chosen):
            v, w = 1.0 + 0.37 * i + number, 0.001 * (i + 1)
            text += style.format(i=i * 10 + number, v=v, w=w, r=number % 3) + "\n"
    return text.encode()


@given(logs(), st.lists(st.integers(0, 4000), max_size=8))
def test_how_the_bytes_are_cut_changes_nothing(log: bytes, cuts: list[int]) -> None:
    edges = sorted({0, len(log), *(cut % (len(log) + 1) for cut in cuts)})
    pieces = [log[a:b] for a, b in itertools.pairwise(edges)] + [b""]
    whole, cut_up = read(log), feed_pieces(pieces)
    assert points(cut_up) == points(whole)
    assert cut_up.files[0].lines == whole.files[0].lines
    assert cut_up.files[0].bytes == len(log)
    events = [(e.kind, e.line, e.last_line, e.offset, e.title) for _, e in whole.events]
    assert [(e.kind, e.line, e.last_line, e.offset, e.title) for _, e in cut_up.events] == events


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), min_size=1, max_size=40),
    st.sampled_from(["{!r}", "{:.6f}", "{:.3e}", "{:g}"]),
)
def test_every_float_comes_back_exactly(numbers: list[float], form: str) -> None:
    printed = [form.format(number) for number in numbers]
    run = read("".join(f"step {i} loss {text}\n" for i, text in enumerate(printed)))
    expected = [float(text) for text in printed]
    found = values(run, "loss")
    assert [x if x == x else None for x in found] == [x if x == x else None for x in expected]


@pytest.mark.parametrize("count", [3, BULK - 1, BULK, 3 * BULK])
@pytest.mark.parametrize("style", list(STYLES[:6]))
def test_few_lines_and_many_lines_are_read_alike(style: str, count: int) -> None:
    rng = np.random.default_rng(7)
    v, w = rng.random(count) * 10, rng.random(count) * 1e-3
    log = "".join(style.format(i=i, v=v[i], w=w[i], r=0) + "\n" for i in range(count))
    run = read(log)
    printed = re.findall(r"loss['\"]?:? (?P<loss>[\d.e+-]+)", re.sub(r"\x1b\[\d+m", "", log))
    name = next(s.name for s in run.series if s.name.endswith("loss"))
    assert values(run, name) == [float(text) for text in printed]


def test_digits_inside_names_make_different_series() -> None:
    lines = [f"step {i} layer{i % 3}.weight grad_norm: {i / 7:.4f}\n" for i in range(900)]
    run = read("".join(lines))
    for layer in range(3):
        found = values(run, f"layer{layer}.weight grad_norm")
        assert found == [round(i / 7, 4) for i in range(900) if i % 3 == layer]


def test_an_index_word_makes_a_series_per_number() -> None:
    run = read(
        "".join(
            f"step {i}\nlayer {k} grad_norm: {i + k / 10}\n" for i in range(5) for k in range(3)
        )
    )
    assert values(run, "layer 2 grad_norm") == [i + 0.2 for i in range(5)]


def test_ranks_are_kept_apart() -> None:
    run = read(
        "".join(f"[rank{r}]: step {i} loss {i + r / 10}\n" for i in range(300) for r in (1, 0))
    )
    assert values(run, "loss") == [i + 0.1 for i in range(300)]
    assert values(run, "loss [rank 0]") == [float(i) for i in range(300)]
    assert [series.rank for series in run.series] == [1, 0]


def test_a_field_that_comes_and_goes() -> None:
    log = "".join(
        f"iteration {i}/10 | loss: {i}.5 |{f' grad norm: {i}.25 |' if i % 2 else ''}\n"
        for i in range(10)
    )
    found = points(read(log))
    assert [p[1:] for p in found["grad norm"]] == [(i, i + 0.25) for i in range(1, 10, 2)]
    assert len(found["loss"]) == 10


def test_units_of_one_metric_are_made_equal() -> None:
    run = read("step 1 time: 950ms\nstep 2 time: 1.25s\nstep 3 time: 1s\n")
    assert values(run, "time") == [950, 1250, 1000]


def test_a_progress_bar_counts_its_ends_and_its_updates() -> None:
    bar = "".join(
        f"\rEpoch {e}:  {n * 25}%|##  | {n}/4 [00:01<00:03,  1.0it/s, loss={e + n / 10:.2f}]"
        for e in range(3)
        for n in range(5)
    )
    run = read(bar + "\n")
    assert values(run, "loss") == [0.4, 1.4, 2.4]
    assert len(values(run, "loss (progress)")) == 15
    assert run.files[0].lines == 1
    assert points(run)["loss"][1] == (1, 8.0, 1.4)


def test_steps_inside_epochs_become_global_steps() -> None:
    log = "".join(f"Epoch [{e}][{i}/100] loss: {e}.{i}\n" for e in (1, 2, 3) for i in (50, 100))
    steps = [step for _, step, _ in points(read(log))["loss"]]
    assert steps == [50, 100, 150, 200, 250, 300]


def test_a_restarted_run_keeps_both_passes() -> None:
    log = "".join(f"step {i} loss {1 / (i + 1):.3f}\n" for i in (0, 10, 20, 10, 20, 30))
    assert [step for _, step, _ in points(read(log))["loss"]] == [0, 10, 20, 10, 20, 30]


def test_values_without_a_step_get_the_step_before_them() -> None:
    log = "step 10 loss 2.0\nval_loss: 2.5\nstep 20 loss 1.0\nval_loss: 1.5\n"
    assert points(read(log))["val_loss"] == [(2, 10.0, 2.5), (4, 20.0, 1.5)]


def test_settings_and_models_are_no_metrics() -> None:
    log = """batch_size: 32
    lr: 5e-05
    dropout: 0.1
  kernel_size=3,
  kernel_size=5,
  kernel_size=7,
number of parameters: 123.59M
step 0 loss 3.0
step 1 loss 2.0
"""
    assert [series.name for series in read(log).series] == ["loss"]


def test_unknown_names_count_if_they_move_with_training() -> None:
    log = "".join(f"step {i} loss {i}.0\nfrobnication: {i / 3:.3f}\n" for i in range(4))
    assert values(read(log), "frobnication") == [0.0, 0.333, 0.667, 1.0]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"step 1 loss 1.5\r\nstep 2 loss 2.5\r\n", [1.5, 2.5]),
        (b"step 1 loss 1.5\r\r\nstep 2 loss 2.5\r\r\n", [1.5, 2.5]),
        (b"step 1 loss 9\x08\x08\x08\rstep 1 loss 1.5\n", [9, 1.5]),
        (b"\x1b[2K\rstep 1 loss 1.5\x1b[38;2;180;60;0m\n", [1.5]),
        (b"st\x00ep 1 lo\x00ss 1.5\n", [1.5]),
        ("步数：1，损失值 loss：1.5，\n".encode(), [1.5]),
        ("step 1 进度 loss 1.5\n".encode("gbk"), [1.5]),
        (b"\xff\xfe step 1 loss 1.5 \x80\n", [1.5]),
    ],
)
def test_odd_bytes_are_survived(raw: bytes, expected: list[float]) -> None:
    run = read(raw)
    (series,) = [s for s in run.series if s.name.endswith("loss")]
    assert series.values.tolist() == expected
    assert "\x1b" not in series.name


@given(st.binary(max_size=3000))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    run = read(data)
    assert run.files[0].bytes == len(data)


def test_a_line_of_ten_megabytes_is_just_a_line() -> None:
    run = read(b"step 1 loss 1.5\n" + b"x" * 10_000_000 + b"\nstep 2 loss 2.5\n")
    assert values(run, "loss") == [1.5, 2.5]
    assert run.files[0].lines == 3


def test_more_shapes_than_can_be_remembered_cost_no_metrics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mltd.runs.text.plan_book.MAX_PLANS", 10)
    words = ["".join(chr(97 + (i >> k) % 26) for k in (0, 2, 4, 7)) for i in range(200)]
    log = "".join(f"note {word}\nstep {i} loss {i}.5\n" for i, word in enumerate(words))
    assert values(read(log), "loss") == [i + 0.5 for i in range(200)]


def test_numbers_joined_to_a_name_by_a_hyphen_tell_series_apart() -> None:
    log = "".join(f"step {i}\nROUGE-{k}: {i + k / 10}\n" for i in range(3) for k in (1, 2))
    assert values(read(log), "ROUGE-2") == [0.2, 1.2, 2.2]


def test_a_setting_that_names_a_step_is_no_step() -> None:
    log = "  niter: 600000\n  lr: 0.1\nval_loss: 3.0\nstep 10 loss 2.0\n"
    assert points(read(log))["val_loss"] == [(3, None, 3.0)]


def test_the_progress_of_an_evaluation_is_no_step() -> None:
    log = "".join(f"Epoch: [{e}]  [ {i}/100]  loss: {e}.{i}\n" for e in (0, 1) for i in (50, 99))
    log = log.replace("Epoch: [1]", "Test:  [ 3/79]  loss: 0.5\nEpoch: [1]", 1)
    found = points(read(log))
    assert [step for _, step, _ in found["loss"]] == [50, 99, 150, 199]
    assert found["Test loss"] == [(3, 99.0, 0.5)]


def test_a_job_report_of_the_scheduler_is_no_metric() -> None:
    log = "".join(
        f"step {i} loss {i}.5\n    CPU time :      {i}.2 sec.\n    Max Memory :   {i} MB\n"
        for i in range(5)
    )
    assert [series.name for series in read(log).series] == ["loss"]


def test_many_lines_with_nothing_but_a_word_for_a_number() -> None:
    count = 2 * BULK
    (series,) = read("loss: nan\nloss: inf\n" * count).series
    assert len(series) == 2 * count
    assert np.isnan(series.values[::2]).all()
    assert np.isposinf(series.values[1::2]).all()


@pytest.mark.parametrize("count", [3, 3 * BULK])
def test_numbers_with_something_glued_to_them_are_read_by_the_column(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    careful: list[int] = []
    usual = GroupReader._read_carefully

    def watched(self: GroupReader, chunk: Any, indices: Any, assembly: Any) -> None:
        careful.extend(indices)
        usual(self, chunk, indices, assembly)

    monkeypatch.setattr(GroupReader, "_read_carefully", watched)
    lines = [f"step {n} | loss {n / 7:.4f} | shard {n:05d}-of-04096" for n in range(count)]
    run = read("\n".join(lines) + "\n")
    assert values(run, "loss") == [float(f"{n / 7:.4f}") for n in range(count)]
    assert values(run, "shard") == [float(n) for n in range(count)]
    assert careful == []


def test_a_line_that_lacks_what_is_glued_elsewhere_is_still_read_right() -> None:
    lines = [f"step {n} | loss {n / 8} | shard {n}-of-9" for n in range(2 * BULK)]
    lines[70] = "step 70 | loss 8.75 | shard 70of-9"
    assert values(read("\n".join(lines) + "\n"), "loss") == [n / 8 for n in range(2 * BULK)]


def test_the_last_of_a_failure_that_is_repeated_thousands_of_times_is_known() -> None:
    lines = [f"step {n} loss {1 / (n + 1):.5f}\nNCCL error: peer {n} lost" for n in range(3000)]
    run = read("\n".join(lines) + "\n")
    assert max(event.last_line for _, event in run.events) == 6000


def test_a_complete_bar_that_is_drawn_again_counts_once() -> None:
    lines = []
    for epoch in range(3):
        bar = f"Epoch {epoch}: 100%|####| 4/4 [00:01<00:00, 4.0it/s, loss=0.{5 - epoch}"
        old = f", val_loss=0.{8 - epoch}" if epoch else ""
        lines.append(
            f"\r{bar}{old}]\nValidation DataLoader 0: 100%|####| 2/2 [00:00<00:00, 9it/s]\n"
        )
        lines.append(f"\r{bar}, val_loss=0.{7 - epoch}]\r{bar}, val_loss=0.{7 - epoch}]\n")
    run = read("".join(lines))
    assert values(run, "val_loss") == [0.7, 0.6, 0.5]
    assert values(run, "loss") == [0.5, 0.4, 0.3]


def test_what_a_bar_no_longer_shows_when_it_is_drawn_again_is_kept() -> None:
    lines = []
    for epoch in range(3):
        bar = f"Epoch {epoch}: 100%|####| 4/4 [00:01<00:00, 4.0it/s, "
        lines.append(f"\r{bar}loss=0.{5 - epoch}]\r{bar}val_loss=0.{7 - epoch}]\n")
    run = read("".join(lines))
    assert values(run, "val_loss") == [0.7, 0.6, 0.5]
    assert values(run, "loss") == [0.5, 0.4, 0.3]
    assert all(len(series) for series in run.series)


def test_lines_at_the_end_of_epochs_go_by_epochs() -> None:
    lines = [f"Epoch {e}/9\n28/28 - 0s - 3ms/step - loss: 0.{9 - e}\n" for e in range(1, 8)]
    (loss,) = [series for series in read("".join(lines)).series if series.name == "loss"]
    assert loss.axis_name == "epoch"
    assert loss.axis("epoch").tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_bars_within_epochs_go_by_steps() -> None:
    lines = [
        f"Epoch {e}/9\n14/28 - 0s - 3ms/step - loss: 0.{9 - e}\n"
        f"28/28 - 0s - 3ms/step - loss: 0.{9 - e}\n"
        for e in range(1, 8)
    ]
    names = {series.axis_name for series in read("".join(lines)).series if "loss" in series.name}
    assert names == {"step"}


def test_initials_mean_something_beside_their_partners_only() -> None:
    lines = [f"E{n}   tl {2.4 - n / 50:.3f} vl {2.5 - n / 60:.3f} t 3s\n" for n in range(1, 12)]
    run = read("".join(lines))
    assert {series.name: series.role for series in run.series if series.role} == {
        "tl": "train/loss",
        "vl": "val/loss",
    }
    assert run.series[0].axis_name == "epoch"
    alone = read("".join(f"E{n}   tl {2.4 - n / 50:.3f} t 3s\n" for n in range(1, 12)))
    assert alone.series[0].role is None


def test_a_bare_split_between_a_loss_and_its_accuracy_is_the_loss() -> None:
    rising = [
        f"[{n}/14] loss={2.4 / n:.4f} val={60.5 * n:.4f} val_acc=0.2{n}" for n in range(1, 10)
    ]
    roles = {series.name: series.role for series in read("\n".join(rising) + "\n").series}
    assert roles["val"] == "val/loss"
    alone = [f"[{n}/14] loss={2.4 / n:.4f} val={60.5 * n:.4f}" for n in range(1, 10)]
    roles = {series.name: series.role for series in read("\n".join(alone) + "\n").series}
    assert roles["val"] is None


def test_bars_of_one_step_are_bars_of_their_epochs() -> None:
    text = "".join(f"Epoch {e}/3\n1/1 [======] - 0s 9ms/step - loss: 0.5\n" for e in (1, 2, 3))
    assert values(read(text), "loss") == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("batches", "steps"),
    [
        ((10, 20, 30, 10, 20, 30), [10, 20, 30, 40, 50, 60]),
        ((9, 19, 29, 9, 19, 29), [9, 19, 29, 39, 49, 59]),
        ((0, 10, 20, 0, 10, 20), [0, 10, 20, 30, 40, 50]),
        ((0, 20, 29, 0, 20, 29), [0, 20, 29, 30, 50, 59]),
    ],
)
def test_batches_of_unknown_number_are_counted_on(
    batches: tuple[int, ...], steps: list[float]
) -> None:
    lines = [f"Epoch: {1 + i // 3} | Batch: {b} | Loss: 2.{i}\n" for i, b in enumerate(batches)]
    assert [step for _, step, _ in points(read("".join(lines)))["Loss"]] == steps
    whole = feed_pieces([line.encode() for line in lines])
    assert [step for _, step, _ in points(whole)["Loss"]] == steps


def test_a_step_may_be_printed_in_thousands() -> None:
    run = read("step=0.5k loss=2.5\nstep=1.0k loss=2.4\nstep=1.5k loss=2.3\n")
    assert [step for _, step, _ in points(run)["loss"]] == [500, 1000, 1500]


def test_what_a_second_logger_repeats_is_told_once() -> None:
    lines = [f"step {i}: loss 2.{i} lr 0.5" for i in range(1, 6)]
    text = "".join(
        f"2024-01-01 12:00:0{i} INFO {line}\nINFO:train:{line}\n" for i, line in enumerate(lines)
    )
    assert values(read(text), "loss") == [2.1, 2.2, 2.3, 2.4, 2.5]
    one_by_one = feed_pieces(text.encode().splitlines(keepends=True))
    assert values(one_by_one, "loss") == [2.1, 2.2, 2.3, 2.4, 2.5]


def test_another_value_at_the_same_step_is_no_repetition() -> None:
    text = "".join(f"INFO step {i}: loss 2.{i}\nINFO:train:step {i}: loss 1.{i}\n" for i in (1, 2))
    assert values(read(text), "loss") == [2.1, 1.1, 2.2, 1.2]


@pytest.mark.parametrize(
    ("shape", "roles"),
    [
        ("train {loss:.3f}  valid {worse:.3f}", ["train/loss", "val/loss"]),
        ("train: {accuracy:.3f} | test: {accuracy:.3f}", ["train/accuracy", "test/accuracy"]),
        ("train {steady:.3f}  valid {steady:.3f}", [None, None]),
    ],
)
def test_the_course_of_a_bare_split_tells_what_it_is(shape: str, roles: list[str | None]) -> None:
    lines = [
        shape.format(loss=3 / i, worse=3.3 / i, accuracy=1 - 0.9 / i, steady=3 + i % 2 / 50) + "\n"
        for i in range(1, 20)
    ]
    for run in (read("".join(lines)), feed_pieces([line.encode() for line in lines])):
        assert [series.role for series in run.series] == roles


def test_steps_in_thousands_are_steps() -> None:
    lines = [
        f"train.py:35 step:{step}K smpl:{step * 32}K loss:{9 / step:.3f}" for step in (1, 7, 43)
    ]
    harvest = TextReader().feed("\n".join(lines).encode() + b"\n", final=True)
    assert harvest.axes["step"].tolist() == [1000, 7000, 43000]
