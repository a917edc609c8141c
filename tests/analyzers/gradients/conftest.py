"""These tests compare evidence, so scores are looked at before the calibration's map."""

from __future__ import annotations

import pytest

from mltd.analyzers.core import calibration


@pytest.fixture(autouse=True)
def raw_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_maps", dict)
