"""The bundled recordings are complete, untouched and replayable in order."""

from __future__ import annotations

import tomllib

import pytest

from mltd.runs.errors import InputError
from mltd.tui import recordings
from tests.conftest import ROOT

NAMES = recordings.names()
PLANS = tomllib.loads((ROOT / "demo" / "trainings.toml").read_text())


def test_every_planned_training_is_recorded() -> None:
    assert sorted(PLANS) == NAMES
    assert len(NAMES) >= 6


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_tells_the_truth_of_its_plan(name: str) -> None:
    recording, plan = recordings.load(name), PLANS[name]
    assert (recording.title, recording.truth) == (plan["title"], plan["truth"])
    assert list(recording.causes) == plan["causes"]


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_lists_all_its_files(name: str) -> None:
    recording = recordings.load(name)
    listed = {file.path.name: file.lines for file in recording.files}
    folder = recordings.HERE / name
    counted = {path.name: path.read_bytes().count(b"\n") for path in folder.iterdir()}
    del counted["recording.toml"]
    assert counted == listed


@pytest.mark.parametrize("name", NAMES)
def test_the_timeline_is_in_order_and_loses_no_byte(name: str) -> None:
    recording = recordings.load(name)
    replayed = {file.path.name: b"" for file in recording.files}
    times = []
    for due, file_name, line in recording.timeline():
        times.append(due)
        replayed[file_name] += line
    assert times == sorted(times)
    assert times[0] == 0
    assert replayed == {file.path.name: file.path.read_bytes() for file in recording.files}


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_shows_nobody_s_home(name: str) -> None:
    for file in recordings.load(name).files:
        content = file.path.read_bytes()
        assert b"/home/" not in content
        assert b"/root/" not in content


def test_the_recordings_stay_small() -> None:
    size = sum(path.stat().st_size for path in recordings.HERE.rglob("*") if path.is_file())
    assert size < 1_500_000


def test_an_unknown_recording_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match=NAMES[0]):
        recordings.load("../secrets")
