"""Recordings of really trained models, each made once and judged once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.runs.run import Run


@dataclass(frozen=True)
class Judged:
    """A training, and what was found in it."""

    folder: Path
    run: Run
    diagnosis: Diagnosis

    def finding(self, identity: str) -> Finding:
        (found,) = [one for one in self.diagnosis.findings if one.id == identity]
        return found

    @property
    def best(self) -> str:
        return self.diagnosis.root_causes[0].id


Judge = Callable[..., Judged]


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """Train what has this name, or take what was trained; `alone` is without its log."""
    # They import torch, and this module is imported wherever tests of this folder are looked for.
    from . import faults, healthy
    from .trained import train

    folders: dict[str, Path] = {}
    known: dict[tuple[str, bool], Judged] = {}

    def judged(name: str, *, alone: bool = False) -> Judged:
        if name not in folders:
            make = getattr(faults, name, None) or getattr(healthy, name)
            folders[name] = train(make(), tmp_path_factory.mktemp(name))
        if (name, alone) not in known:
            folder = folders[name]
            (files,) = discover(str(folder / "mltd-probe.jsonl" if alone else folder))
            loaded = load(files)
            assert loaded.problems == []
            loaded.run.is_over = True
            known[name, alone] = Judged(folder, loaded.run, diagnose(loaded.run))
        return known[name, alone]

    return judged
