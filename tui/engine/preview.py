"""The end of a big log as a run of its own, so that the newest curve is on screen at once."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mltd.runs.discovery import RunFiles
from mltd.runs.errors import MltdError
from mltd.runs.ingest import HEAD, FileFeed
from mltd.runs.open_artifact import artifact_descriptor
from mltd.runs.run import Run

WORTH_IT = 8 << 20
"""Smaller files are read before anybody could look."""
TAIL = 2 << 20
_BY_LINE = frozenset({"text", "jsonl"})
"""Formats in which a stretch of lines can be read without those before it."""


def preview(
    run: Run, files: RunFiles, paths: list[str], heads: Mapping[str, bytes] | None = None
) -> Run | None:
    """A run made of the last stretches of the big files; None if there is none.

    `heads`: how files begin of which only the end is here.
    """
    made = Run(run.name)
    made.config = run.config
    made.job = run.job
    for path in paths:
        head = heads.get(path) if heads is not None else None
        try:
            if head is not None or os.path.getsize(path) >= WORTH_IT:
                _read_end(made, path, files.root_of(path), head)
        except (OSError, MltdError):
            continue
    return made if made.files else None


def _read_end(run: Run, path: str, root: str, head: bytes | None) -> None:
    with artifact_descriptor(path, root) as file:
        size = os.fstat(file).st_size
        first = 0
        if head is None:
            head = os.pread(file, HEAD, 0)
        elif size:
            first = os.lseek(file, 0, os.SEEK_DATA)
        data = os.pread(file, TAIL, max(first, size - TAIL))
    head = head or data[:HEAD]
    if b"\0" in head[:1024]:
        return
    feed = FileFeed(run, path, root)
    form = feed.recognise(head)
    if form is None or form.name not in _BY_LINE:
        run.drop_last_file()
        return
    # The first line is cut, and the last one may still grow.
    feed.feed(data[data.find(b"\n") + 1 : data.rfind(b"\n") + 1], final=True)
