"""Real logs, whichever two of them."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.sessions.comparison.compare import compare
from mltd.sessions.model.result import Outcome
from tests.runs.formats.corpus import corpus_entries
from tests.runs.test_corpus import read_entry

from .made import AT

ENTRIES: list[Any] = corpus_entries()


@pytest.mark.parametrize("entry", ENTRIES[::5])
def test_a_run_never_improves_on_itself(entry: dict[str, Any]) -> None:
    run = read_entry(entry)
    result = compare(run, run, at=AT)
    assert result.outcome is not Outcome.PASSED
    assert result.summary
    for change in result.changes:
        assert change.change in (None, 0.0)
        assert change.parts_at is None
