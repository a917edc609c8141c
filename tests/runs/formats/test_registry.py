"""The registry: the built-in formats, other packages' formats, and broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mltd.runs.formats import registry
from mltd.runs.formats.format import Format, Reader
from mltd.runs.formats.registry import Registry, load
from tests.runs.formats.samples import EVENTS, METRIC, TABLE, TRAINER_STATE, WANDB

THIRD_PARTY = """
from mltd.runs.harvest import Harvest


class Reader:
    def feed(self, data, *, final):
        return Harvest(lines=1, consumed=len(data))


class AcmeFormat:
    name = "acme"
    is_snapshot = False

    def sniff(self, head, path):
        return 1.0 if head.startswith(b"ACME") else 0.0

    def open(self, path):
        return Reader()


class SniffsBadly(AcmeFormat):
    name = "sniffs-badly"

    def sniff(self, head, path):
        raise KeyError("no idea")


class OpensBadly(AcmeFormat):
    name = "opens-badly"

    def sniff(self, head, path):
        return 1.0

    def open(self, path):
        raise OSError("no luck")
"""

ENTRY_POINTS = """[mltd.formats]
acme = acme_logs:AcmeFormat
badly1 = acme_logs:SniffsBadly
badly2 = acme_logs:OpensBadly
absent = acme_logs:Absent
hollow = acme_logs:Reader
"""

SCRIPT = """
from mltd.runs.formats.registry import default_registry, recognise
found = default_registry()
form, reader = found.open(b"ACME 1", "x.acme")
print(form.name, reader.feed(b"ACME 1", final=True).consumed)
print(found.open(b"step,loss\\n1,2\\n", "x.csv")[0].name)
print(recognise(b"ACME", "x").name in ("acme", "opens-badly"))
print("\\n".join(found.notes))
"""


@pytest.mark.parametrize(
    ("head", "path", "name"),
    [
        (TABLE, "x", "csv"),
        (EVENTS, "x", "tensorboard"),
        (WANDB, "x", "wandb"),
        (METRIC, "/mlruns/0/a/metrics/loss", "mlflow"),
        (TRAINER_STATE, "x", "json"),
    ],
)
def test_built_in_formats_are_recognised(head: bytes, path: str, name: str) -> None:
    form = load([]).recognise(head, path)
    assert form is not None
    assert form.name == name


def test_another_package_adds_formats_and_broken_ones_are_reported(tmp_path: Path) -> None:
    (tmp_path / "acme_logs.py").write_text(THIRD_PARTY)
    info = tmp_path / "acme_logs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-logs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[:3] == ["acme 6", "csv", "True"]
    notes = "\n".join(lines[3:])
    assert "'sniffs-badly' cannot look at files: KeyError" in notes
    assert "'opens-badly' cannot open x.acme: OSError: no luck" in notes
    assert "'absent' (acme_logs:Absent) cannot be loaded" in notes
    assert "'hollow' (acme_logs:Reader) cannot be loaded" in notes


class Fixed:
    """A format that is as sure as it is told to be."""

    is_snapshot = False

    def __init__(self, name: str, score: float) -> None:
        self.name = name
        self.score = score

    def sniff(self, head: bytes, path: str) -> float:
        return self.score

    def open(self, path: str) -> Reader:
        raise NotImplementedError


def chosen(*formats: Format) -> str | None:
    form = Registry(list(formats)).recognise(b"", "x")
    return form.name if form else None


def test_the_surest_wins_and_the_first_of_equals() -> None:
    assert chosen(Fixed("a", 0.5), Fixed("b", 0.9)) == "b"
    assert chosen(Fixed("a", 0.9), Fixed("b", 0.9)) == "a"
    assert chosen(Fixed("a", 1.0), Fixed("boast", 99.0)) == "a"


def test_nobody_claims_it() -> None:
    assert chosen(Fixed("a", 0.0), Fixed("b", float("nan"))) is None


def test_a_note_is_said_once() -> None:
    formats = Registry([Fixed("a", 1.0)])
    assert formats.open(b"", "x") is None
    assert formats.open(b"", "x") is None
    assert len(formats.notes) == 1


def test_importing_the_registry_is_cheap() -> None:
    code = (
        "import sys, mltd.runs.formats.registry;"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'pandas', 'orjson')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_built_in_format_is_there_or_not_written_yet() -> None:
    names = {form.name for form in load([]).formats}
    assert {"csv", "json", "mlflow", "mlflow-run", "tensorboard", "wandb"} <= names
    assert len(names) <= len(registry.BUILT_IN)
