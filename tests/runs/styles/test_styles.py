"""Styles of frameworks and of people: what each log says is read, and none is alarmed.

The logs were made from invented curves by somebody who did not know the reader; `*.json` has,
for each, the series that he meant: name, role, axis, number of points, first and last point.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.tui.document import document

HERE = Path(__file__).parent
FAMILIES = ("frameworks", "by_hand", "further")
WHOLE = ("further",)
"""Families of which every series is written down: whatever else is read is invented."""
EXPECTED: dict[str, dict[str, list[dict[str, Any]]]] = {
    family: json.loads((HERE / f"{family}.json").read_text("utf-8")) for family in FAMILIES
}
STYLES = [(family, style) for family in FAMILIES for style in EXPECTED[family]]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All the logs, unpacked once."""
    place = tmp_path_factory.mktemp("styles")
    for family in FAMILIES:
        with tarfile.open(HERE / f"{family}.tar.xz") as archive:
            archive.extractall(place / family, filter="data")
    return place


@pytest.mark.parametrize(("family", "style"), STYLES, ids=[style for _, style in STYLES])
def test_a_style_is_read_as_it_is_meant(logs: Path, family: str, style: str) -> None:
    (files,) = discover(str(logs / family / style))
    run = load(files).run
    run.is_over = True
    told: Any = document(run, 0.0, diagnose(run))
    expected = EXPECTED[family][style]
    series = [{key: one[key] for key in expected[0]} for one in told["run"]["series"]]
    missing = [one for one in expected if one not in series]
    assert not missing, series
    if family in WHOLE:
        assert [one for one in series if one not in expected] == []
    assert [f["title"] for f in told["findings"] if f["severity"] != "info"] == []
