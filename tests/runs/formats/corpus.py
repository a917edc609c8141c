"""Where real training logs with known contents are, if they are here at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[3]


def corpus_directory() -> Path | None:
    named = os.environ.get("MLTD_CORPUS")
    place = Path(named) if named else PROJECT.parent / "shared" / "corpus"
    return place if (place / "INDEX.jsonl").is_file() else None


def corpus_entries(*formats: str) -> list[Any]:
    """Index entries of these formats as test parameters; one skipped parameter if absent."""
    place = corpus_directory()
    if place is None:
        skip = pytest.mark.skip(reason="no corpus of training logs (set MLTD_CORPUS)")
        return [pytest.param(None, marks=skip, id="absent")]
    with (place / "INDEX.jsonl").open(encoding="utf-8") as index:
        entries = [json.loads(line) for line in index]
    return [
        pytest.param(entry, id=entry["file"])
        for entry in entries
        if not formats or entry["format"] in formats
    ]
