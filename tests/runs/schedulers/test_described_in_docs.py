"""The documentation of `run.job` has the fields that it has."""

from __future__ import annotations

import json
import re

from mltd.runs.schedulers.describing import describe_job
from mltd.runs.schedulers.job import Job
from tests.conftest import ROOT


def test_the_documented_fields_are_those_that_there_are() -> None:
    text = (ROOT / "docs" / "slurm.md").read_text(encoding="utf-8")
    found = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert set(json.loads(found[1])) == set(describe_job(Job(id="1")))
