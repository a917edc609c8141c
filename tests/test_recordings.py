"""The bundled recordings are complete, untouched and replayable in order."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.tui import recordings
from tests.conftest import ROOT

NAMES = recordings.names()
RECORDER = runpy.run_path(str(ROOT / "demo" / "record.py"))
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
    description = recordings.HERE / name / "recording.toml"
    stored = set(description.parent.iterdir())
    assert {description, *(file.path for file in recording.files)} == stored
    for file in recording.files:
        assert file.read().count(b"\n") == file.lines


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_stored_as_the_recorder_would_store_it(name: str, tmp_path: Path) -> None:
    for file in recordings.load(name).files:
        again = RECORDER["store"](file.read(), tmp_path / file.name)
        assert again.name == file.path.name
        if again.suffix == ".gz":
            # No name and no time stamp; what follows depends on the version of zlib.
            assert again.read_bytes()[:10] == file.path.read_bytes()[:10]
            assert file.path.read_bytes()[3:8] == bytes(5)


def test_storing_loses_nothing(tmp_path: Path) -> None:
    for content in (b"", b"a: 1\n", b"step 1\n" * 1000, bytes(range(256)) * 9):
        place = RECORDER["store"](content, tmp_path / "file")
        assert recordings.RecordedFile("file", place, 0, 0, 0).read() == content


@pytest.mark.parametrize("name", NAMES)
def test_the_timeline_is_in_order_and_loses_no_byte(name: str) -> None:
    recording = recordings.load(name)
    replayed = {file.name: b"" for file in recording.files}
    times = []
    for due, file_name, line in recording.timeline():
        times.append(due)
        replayed[file_name] += line
    assert times == sorted(times)
    assert times[0] == 0
    assert replayed == {file.name: file.read() for file in recording.files}


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_shows_nobody_s_home(name: str) -> None:
    for file in recordings.load(name).files:
        content = file.read()
        assert b"/home/" not in content
        assert b"/root/" not in content


def test_the_recordings_stay_small() -> None:
    size = sum(path.stat().st_size for path in recordings.HERE.rglob("*") if path.is_file())
    assert size < 200_000


def test_an_unknown_recording_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match=NAMES[0]):
        recordings.load("../secrets")
