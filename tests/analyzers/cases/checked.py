"""The whole of `mltd-tui check --json`, in this process, on a folder of a case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mltd.tui.cli import main

DATA = Path(__file__).parent / "data"


class Answer:
    """What the command said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.err = code, err
        self.documents: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]

    @property
    def only(self) -> dict[str, Any]:
        """The document of the only run."""
        (document,) = self.documents
        return document

    def named(self, name: str) -> dict[str, Any]:
        """The document of a run by its name."""
        return next(d for d in self.documents if d["run"]["name"] == name)


def check(capfdbinary: pytest.CaptureFixture[bytes], *paths: Path) -> Answer:
    """Run the command; nothing of it may fail."""
    code = main(["check", "--json", *map(str, paths)])
    out, err = capfdbinary.readouterr()
    told = Answer(code, out.decode(), err.decode())
    assert "failed:" not in told.err, told.err
    return told


def finding(document: dict[str, Any], identity: str) -> dict[str, Any]:
    """The first finding with an id; a readable failure if there is none."""
    found = [f for f in document["findings"] if f["id"] == identity]
    assert found, [f"{f['severity']} {f['id']}" for f in document["findings"]]
    first: dict[str, Any] = found[0]
    return first


def causes(document: dict[str, Any]) -> list[str]:
    """Ids of the causes, the best first."""
    return [cause["id"] for cause in document["root_causes"]]


def fixes_for(document: dict[str, Any], cause: str) -> list[dict[str, Any]]:
    """The recommended fixes of a cause."""
    return [fix for fix in document["recommended_fixes"] if fix["addresses"] == cause]
