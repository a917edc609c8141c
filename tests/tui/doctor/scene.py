"""Made-up surroundings, and programs that behave as a test wants them to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from mltd.tui.doctor.line import Line, State

SYSTEM = "/usr/bin:/bin"


def program(folder: Path, name: str, script: str) -> Path:
    """A shell script in a folder that a test puts into its PATH."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def states(lines: Iterable[Line]) -> list[State]:
    """How good the facts are."""
    return [line.state for line in lines]


def only(lines: Iterable[Line]) -> Line:
    """The single line that a check should give."""
    (line,) = lines
    return line


def in_namespace(script: str, *arguments: str) -> str:
    """Run Python in namespaces of its own, where it may lower limits and mount; its output."""
    return _run(["unshare", "-rm", *_python(script, *arguments)])


def in_shell(limits: str, script: str, *arguments: str) -> str:
    """Run Python below limits that a shell sets; its output."""
    return _run(["bash", "-c", f'{limits} && exec "$@"', "bash", *_python(script, *arguments)])


def _python(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", script, *arguments]


def _run(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr and done.returncode:
        pytest.skip(f"no namespaces here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout
