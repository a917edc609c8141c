"""One run with a log and a config, for all tests that only read it."""

from __future__ import annotations

import pytest

from mltd.diagnosis.artifacts import ArtifactBook

from .checking import book_in


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> ArtifactBook:
    return book_in(tmp_path_factory.mktemp("session"))
