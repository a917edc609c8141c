"""What a run states about itself, apart from its columns."""

from __future__ import annotations

from mltd.runs.run import Run, SourceFile


def settings_of(run: Run) -> Run:
    """What a run states about itself, for another thread: its columns grow meanwhile."""
    copied = Run(run.name)
    for source in run.files:
        copied.add_file(SourceFile(source.path, source.format, source.bytes, source.lines))
    copied.config = dict(run.config)
    copied.totals = dict(run.totals)
    copied.statements = list(run.statements)
    copied.job = run.job
    return copied
