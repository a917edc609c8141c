"""A tool box over runs in folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mltd.analyzers.diagnosis import diagnose
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.tools import ToolBox
from mltd.runs.run import Run
from mltd.sessions.masking import Masker

from ..artifacts.making import run_in

Files = Mapping[str, str | bytes]


def box_for(runs: Mapping[str, Run], masker: Masker | None = None, **more: Any) -> ToolBox:
    """The box of some runs, with what the analyzers say about them."""
    book = ArtifactBook(runs, None, masker=masker, **more)
    return ToolBox(book, runs, {name: diagnose(run) for name, run in runs.items()}, masker)


def box_of(folder: Path, files: Files, **more: Any) -> ToolBox:
    """The box of one run with these files."""
    return box_for({"run1": run_in(folder / "run", files)}, **more)


def answer(box: ToolBox, tool: str, **arguments: object) -> str:
    """What a tool says, if it is no error."""
    result = box.call(tool, arguments)
    assert not result.is_error, result.text
    return result.text


def refusal(box: ToolBox, tool: str, **arguments: object) -> str:
    """Why a tool refuses."""
    result = box.call(tool, arguments)
    assert result.is_error, result.text
    return result.text
