"""What tests of the checkpoint reader share: small files, and a look at them without a process."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mltd.runs.checkpoints import CheckpointSummary, Comparison, Limits
from mltd.runs.checkpoints.limits import Reader
from mltd.runs.checkpoints.worker import answer_of


def _silent(done: int, total: int) -> None:
    assert 0 <= done <= total


def _job(paths: list[Path], values: bool, reader: Reader) -> dict[str, Any]:
    return {
        "paths": [str(path) for path in paths],
        "needs_values": values,
        "limits": asdict(Limits(reader=reader)),
        "is_capped": False,
    }


def look(path: Path, *, values: bool = True, reader: Reader = "own") -> CheckpointSummary:
    """The summary, made in this process by what the worker runs."""
    return CheckpointSummary.from_json(answer_of(_job([path], values, reader), _silent))


def compare(first: Path, second: Path) -> Comparison:
    """The comparison, made in this process."""
    return Comparison.from_json(answer_of(_job([first, second], True, "own"), _silent))


def write_safetensors(
    path: Path, tensors: dict[str, tuple[str, list[int], bytes]], metadata: Any = None
) -> Path:
    """A file by hand: a header and bytes."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    place = 0
    for name, (dtype, shape, data) in tensors.items():
        offsets = [place, place + len(data)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        place += len(data)
    text = json.dumps(header).encode()
    path.write_bytes(
        struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())
    )
    return path


def with_records(path: Path, changes: Mapping[str, Callable[[bytes], bytes]]) -> Path:
    """Write an archive anew with other records, checksums and all."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            change = changes.get(entry.filename.rpartition("/")[2])
            content = old.read(entry)
            new.writestr(entry.filename, content if change is None else change(content))
    return path
