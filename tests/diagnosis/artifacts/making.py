"""Runs in folders, and books about them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mltd.diagnosis.artifacts import ArtifactBook
from mltd.runs.discovery import explore
from mltd.runs.ingest import load
from mltd.runs.run import Run

STEPS = "".join(f"step {n} loss {3 - n / 100:.3f}\n" for n in range(100))
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
ValueError: boom
"""
SECRET = "this is the secret of somebody else"


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with some files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read_folder(folder: Path) -> Run:
    """The one run that a folder holds."""
    (files,) = explore(str(folder)).runs
    run = load(files).run
    run.is_over = True
    return run


def run_in(folder: Path, files: Mapping[str, str | bytes]) -> Run:
    """A run with these files."""
    return read_folder(write(folder, files))


def book_of(folder: Path, files: Mapping[str, str | bytes], **more: Any) -> ArtifactBook:
    """The book of one run with these files, in a folder of its own."""
    return ArtifactBook({"run1": run_in(folder / "run", files)}, **more)


def safetensors(shapes: Mapping[str, tuple[int, ...]]) -> bytes:
    """A file of weights that are all missing but for their description."""
    header = {
        name: {"dtype": "F32", "shape": list(shape), "data_offsets": [0, 0]}
        for name, shape in shapes.items()
    }
    described = json.dumps(header).encode()
    return struct.pack("<Q", len(described)) + described
