"""The bundled recordings: every one gets its true cause first, the healthy one gets silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.discovery import RunFiles, discover
from mltd.runs.ingest import load
from mltd.tui import recordings

SYMPTOMS = {
    "dead-relu": {"not_learning", "dead_units"},
    "diverging-learning-rate": {"nan_loss", "exploding_gradients"},
    "healthy-character-model": set(),
    "index-error-at-evaluation": {"exception", "index_out_of_range"},
    "loss-scale-overflow": {"loss_scale_collapse", "nan_loss"},
    "memory-leak": {"memory_growth", "host_oom"},
    "overfitting": {"overfitting"},
    "vanishing-gradients": {"not_learning", "vanishing_gradients"},
}
"""What an expert would see in each."""


def diagnosis_of(name: str) -> Diagnosis:
    recording = recordings.load(name)
    own = {str(file.path) for file in recording.files}
    (files,) = discover(str(recordings.HERE / name))
    kept = [file for file in files.files if file.path in own]
    run = load(RunFiles(recording.title, files.root, kept)).run
    run.is_over = True
    return diagnose(run)


def test_all_recordings_are_judged() -> None:
    assert set(recordings.names()) == set(SYMPTOMS)


@pytest.mark.parametrize("name", sorted(SYMPTOMS))
def test_symptoms_and_cause(name: str) -> None:
    told = diagnosis_of(name)
    alarms = {finding.id for finding in told.findings if finding.is_alarm}
    assert alarms >= SYMPTOMS[name]
    truth = recordings.load(name).causes
    if not truth:
        assert alarms == set()
        assert told.status == "healthy"
        return
    assert told.root_causes[0].id in truth
    assert len(told.root_causes[0].fixes) >= 3


@pytest.mark.parametrize("name", sorted(SYMPTOMS))
def test_nothing_is_alarmed_on_the_way_that_is_not_wrong_at_the_end(
    name: str, tmp_path: Path
) -> None:
    lines = list(recordings.load(name).timeline())
    expected = {finding.id for finding in diagnosis_of(name).findings if finding.is_alarm}
    for part in range(16):
        for _, file, text in lines[part * len(lines) // 16 : (part + 1) * len(lines) // 16]:
            with (tmp_path / file).open("ab") as log:
                log.write(text)
        if [path.name for path in tmp_path.iterdir()] == ["config.json"]:
            continue  # nothing was logged yet
        for files in discover(str(tmp_path)):
            told = diagnose(load(files).run).findings
            alarms = {finding.id: finding.title for finding in told if finding.is_alarm}
            assert set(alarms) <= expected, (part, alarms)
