"""Statements of a log, with their lines, in the run that reads it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.ingest import read_stream
from mltd.runs.run import MOST_STATEMENTS, Run
from mltd.runs.statements import MOST_PER_SHAPE

LOG = """\
GPU 0: Tesla T4
Trainable params: 361,601
Non-trainable params: 128
step 1 loss 2.5
step 2 loss 2.4
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
RuntimeError: no
number of parameters: 124.44M
step 3 loss 2.3
"""


def read(*chunks: str) -> Run:
    run = Run("log")
    read_stream(run, "train.log", iter([chunk.encode() for chunk in chunks]))
    return run


def test_every_statement_has_the_line_that_makes_it() -> None:
    stated = read(LOG).statements
    assert [(s.subject, s.line) for s in stated] == [
        ("Tesla T4", 1),
        ("trainable", 2),
        ("frozen", 3),
        ("total", 10),
    ]


@given(st.lists(st.integers(0, len(LOG)), max_size=6))
def test_how_a_log_is_cut_does_not_change_what_it_states(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(LOG)]
    pieces = [LOG[a:b] for a, b in pairwise(cuts)]
    assert read(*pieces).statements == read(LOG).statements


def test_a_second_training_in_one_log_states_its_own() -> None:
    run = read("number of parameters: 10.5M\nstep 1 loss 2\nnumber of parameters: 20.5M\n")
    assert [s.value for s in run.statements] == pytest.approx([10.5e6, 20.5e6])


def test_what_is_said_at_every_step_is_bounded() -> None:
    text = "".join(f"step {n} max_mem: {1000 + n}M loss 2.{n}\n" for n in range(2000))
    run = read(text)
    assert len(run.statements) == MOST_PER_SHAPE < MOST_STATEMENTS
    assert any(series.name == "loss" and len(series) == 2000 for series in run.series)


def test_a_snapshot_that_is_replaced_takes_its_statements_with_it() -> None:
    run = read(LOG)
    run.files[0].is_snapshot = True
    run.start_generation(0)
    assert run.statements == []
