"""The worked example in docs/slurm.md works as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mltd.runs.errors import InputError
from mltd.runs.schedulers.job import JobState
from mltd.runs.schedulers.registry import Schedulers, load

DOCS = Path(__file__).resolve().parents[3] / "docs" / "slurm.md"


@pytest.fixture
def schedulers() -> Schedulers:
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    module: dict[str, Any] = {}
    exec(code, module)
    return Schedulers([*load([]).all, module["AcmeBatch"]()])


def test_the_example_lists_its_jobs(
    schedulers: Schedulers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    program = tmp_path / "acme-list"
    program.write_text('#!/bin/sh\necho \'[{"id": "a-17", "state": "R", "log": "/w/17.log"}]\'\n')
    program.chmod(0o755)
    job = schedulers.job("job:a-17")
    assert job is not None
    assert (job.scheduler, job.state, job.stdout) == ("acme", JobState.RUNNING, "/w/17.log")
    assert schedulers.own_jobs().jobs[-1] == job
    with pytest.raises(InputError, match="there is no job a-18; acme-list"):
        schedulers.job("job:a-18")


def test_the_example_leaves_other_names_alone(schedulers: Schedulers) -> None:
    assert schedulers.job("a-17.log") is None
    claim = schedulers.claim("job:48213")
    assert claim is not None
    assert claim[0].name == "slurm"
