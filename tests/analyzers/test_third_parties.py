"""Analyzers of third parties: installed, found, used; broken ones reported and skipped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

DOCS = (ROOT / "docs" / "analyzers.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
MINIMAL = '''"""acme_minimal: always."""
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity

class Minimal:
    """acme_minimal: always there."""
    id = "acme_minimal"
    roles = ()
    events = ()

    def examine(self, view):
        BODY
'''
FOUND = (
    'yield Finding(self.id, "seen", Severity.INFO, 0.5, Basis.INFERENCE, '
    '(Evidence(EvidenceKind.LOG, "x:1", "q"),))'
)


def install(place: Path, name: str, code: str, target: str) -> None:
    """What pip leaves behind: the module, and metadata that names the entry point."""
    place.mkdir(exist_ok=True)
    (place / f"{name}.py").write_text(code)
    info = place / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[mltd.analyzers]\n{name} = {target}\n")


def mltd(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mltd.tui.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "site"


def write_log(tmp_path: Path, depths: list[int]) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [
        f"step {i} loss {3 - i / 100:.4f} queue_depth {depth}\n" for i, depth in enumerate(depths)
    ]
    (folder / "train.log").write_text("".join(lines))
    (folder / "config.json").write_text('{"readers": 4}')
    return folder


def check(place: Path, run: Path) -> tuple[dict[str, Any], str, int]:
    ended = mltd(place, "check", "--json", str(run))
    return json.loads(ended.stdout), ended.stderr, ended.returncode


def test_the_example_of_the_docs_finds_explains_and_helps(place: Path, tmp_path: Path) -> None:
    install(place, "acme_analyzers", EXAMPLE, "acme_analyzers")
    run = write_log(tmp_path, [8 + i % 2 for i in range(60)] + [0] * 40)
    told, errors, code = check(place, run)
    assert errors == ""
    assert code == 1
    (found,) = [f for f in told["findings"] if f["id"] == "acme_queue_dry"]
    assert found["first_step"] == 60
    assert found["evidence"][0]["ref"] == "queue_depth@80..99"
    (root,) = [c for c in told["root_causes"] if c["id"] == "acme_too_few_readers"]
    assert root["basis"] == "research"
    assert root["fix"] == "readers 4 -> 8"
    assert "readers 4 -> 8" in told["quick_fixes"]
    page = mltd(place, "explain", "acme_queue_dry").stdout
    assert "queue_depth below 1" in page
    assert "Told apart by" in mltd(place, "explain", "acme_too_few_readers").stdout
    assert "acme_queue_dry" in mltd(place, "explain").stdout
    assert "acme" not in mltd(place, "explain", "--markdown").stdout


def test_the_examples_in_the_example_are_true(place: Path) -> None:
    install(place, "acme_analyzers", EXAMPLE, "acme_analyzers")
    script = (
        "from mltd.analyzers.catalogue.catalogue import pages\n"
        "from mltd.analyzers.catalogue.examples import example_run\n"
        "from mltd.analyzers.diagnosis import diagnose\n"
        "page = pages('acme_queue_dry')[0].page\n"
        "for examples in (page.fires_on, page.stays_quiet):\n"
        "    for text in examples:\n"
        "        found = diagnose(example_run(text)).findings\n"
        "        print('acme_queue_dry' in [f.id for f in found])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ended.stdout.split() == ["True", "False"]


def test_a_plain_class_can_be_named(place: Path, tmp_path: Path) -> None:
    install(place, "acme_plain", MINIMAL.replace("BODY", FOUND), "acme_plain:Minimal")
    told, errors, _ = check(place, write_log(tmp_path, [5] * 50))
    assert errors == ""
    assert "acme_minimal" in [f["id"] for f in told["findings"]]


BROKEN = {
    "raises": ("raise RuntimeError('no licence')", "", "no licence"),
    "leaves": ("import sys; sys.exit(3)", "", "SystemExit"),
    "lacks": ("import nowhere_to_be_found", "", "nowhere_to_be_found"),
    "empty": ("x = 1", ":Missing", "Missing"),
    "odd": ("class Odd:\n    pass", ":Odd", "neither an analyzer nor a cause"),
    "value": ("x = 1", ":x", "neither a module nor a class"),
    "fails": (MINIMAL.replace("BODY", "raise KeyError('x')"), ":Minimal", "KeyError"),
    "lists": (MINIMAL.replace("BODY", "return [3]"), ":Minimal", "int is no Finding"),
    "counts": (MINIMAL.replace("BODY", "return 3"), ":Minimal", "TypeError"),
}


def test_broken_ones_are_reported_and_the_rest_goes_on(place: Path, tmp_path: Path) -> None:
    for name, (code, target, _) in BROKEN.items():
        code = code.replace("minimal", name)
        install(place, f"acme_{name}", code, f"acme_{name}{target}")
    install(place, "acme_plain", MINIMAL.replace("BODY", FOUND), "acme_plain:Minimal")
    told, errors, _ = check(place, write_log(tmp_path, [5] * 50))
    sentences = errors.splitlines()
    for name, (_, _, words) in BROKEN.items():
        (sentence,) = [line for line in sentences if f"'acme_{name}'" in line]
        assert sentence.startswith("mltd-tui: note: ")
        assert words in sentence
    assert len(sentences) == len(BROKEN)
    assert "acme_minimal" in [f["id"] for f in told["findings"]]
    assert told["run"]["series"]
