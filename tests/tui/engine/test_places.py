"""Places: from a line to the curve, and from the curve to a line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.envelope import Envelopes
from mltd.runs.run import Run, SourceFile
from mltd.tui.engine.curve_protocol import Place, PlaceRequest
from mltd.tui.engine.places import find_place

from .made_runs import extend, make_run

PATH = "logs/made.log"
NAN = float("nan")


def x_of(run: Run, line: int, axis: str = "step", path: str = PATH) -> float | None:
    place = find_place(PlaceRequest(5, 2, path, line, axis=axis), run)
    assert (place.ticket, place.run, place.path, place.line) == (5, 2, path, line)
    return place.x


def line_at(run: Run, x: float, axis: str = "step", key: str = "") -> tuple[str, int]:
    place = find_place(PlaceRequest(5, 2, x=x, axis=axis, key=key), run)
    return place.path, place.line


def test_a_line_belongs_to_the_record_at_or_before_it() -> None:
    run = make_run({"loss": [1.0, 2.0, 3.0]}, step=[10, 20, 30], time=[100, 200, 300])
    run.files[0].lines = 50
    assert [x_of(run, line) for line in (1, 2, 3, 40)] == [10, 20, 30, 30]
    assert x_of(run, 2, "time") == 200
    assert x_of(run, 2, "index") == 1
    assert x_of(run, 0) is None
    assert x_of(run, 2, "epoch") is None
    assert x_of(run, 2, path="made.log") == 20
    assert x_of(run, 2, path="other.log") is None


def test_a_place_leads_to_the_line_of_the_nearest_point() -> None:
    run = make_run({"loss": [1.0, 2.0, 3.0]}, step=[10, 20, 30], epoch=[0.1, 0.2, 0.3])
    assert line_at(run, 19.0) == (PATH, 2)
    assert line_at(run, 1e9, key="0:loss") == (PATH, 3)
    assert line_at(run, 0.29, "epoch") == (PATH, 3)
    assert line_at(run, 1.2, "index") == (PATH, 2)
    assert line_at(run, 1.0, "tokens") == ("", 0)
    assert line_at(Run("empty"), 1.0) == ("", 0)


def test_the_wished_metric_says_which_file() -> None:
    run = make_run({"loss": [1.0] * 9})
    run.add_file(SourceFile("val.csv"))
    extend(run, {"val_loss": [1.0, 2.0]}, file=1, step=[4, 8])
    assert line_at(run, 7.0) == (PATH, 8)
    assert line_at(run, 7.0, key="1:val_loss") == ("val.csv", 2)
    assert x_of(run, 2, "index", "val.csv") == 1


def test_a_resumed_run_leads_to_its_newest_pass() -> None:
    run = make_run({"loss": [1.0] * 8}, step=[0, 1, 2, 3, 4, 2, 3, 4])
    assert line_at(run, 3.0) == (PATH, 7)
    assert line_at(run, 0.0) == (PATH, 1)


def test_lines_of_an_older_generation_are_in_no_file() -> None:
    run = make_run({"loss": [1.0, 2.0, 3.0]}, step=[0, 1, 2])
    run.start_generation(0)
    assert x_of(run, 2) is None
    extend(run, {"loss": [4.0, 5.0]}, step=[10, 11])
    assert [x_of(run, line) for line in (1, 2, 9)] == [10, 11, 11]
    assert line_at(run, 11.0) == (PATH, 2)
    assert line_at(run, 1.0) == (PATH, 0)


def test_what_is_known_is_used() -> None:
    run, envelopes = make_run({"loss": [1.0, 2.0]}), Envelopes()
    request = PlaceRequest(1, 0, x=0.9)
    assert find_place(request, run, envelopes) == Place(1, 0, PATH, 2, 1.0)
    assert len(envelopes) == 1


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60).map(sorted), st.data())
def test_there_and_back_ends_at_the_same_step(steps: list[int], data: st.DataObject) -> None:
    run = make_run({"loss": np.zeros(len(steps)).tolist()}, step=steps)
    x = float(data.draw(st.sampled_from(steps)))
    path, line = line_at(run, x)
    assert x_of(run, line, path=path) == x


@pytest.mark.parametrize("axis", ["step", "index"])
def test_unknown_coordinates_are_no_place(axis: str) -> None:
    run = make_run({"loss": [1.0, 2.0]}, step=[NAN, 4.0])
    assert x_of(run, 1, axis) == (None if axis == "step" else 0)
