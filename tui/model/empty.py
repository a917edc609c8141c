"""What stands in the view where there is nothing to list: where was looked, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.analyzers.resources.shortage import shown_bytes

from ..findings.blocks import Block, heading, plain
from ..findings.spans import BLANK, Line, Span, clean, hang
from .study import Study

MOST_COLUMNS = 88
_FOUND = (
    "*.pt  *.pth  *.ckpt  *.bin  *.safetensors  *.npz",
    "checkpoint-500/  global_step500/  *.distcp and their shards",
)
_NEVER = "Nothing in a checkpoint is ever run, and values are read only when you press v."


def notice_blocks(study: Study, width: int) -> list[Block]:
    """Why there is no tree to see; none if there is one, or will soon be."""
    width = min(width, MOST_COLUMNS)
    row = study.row
    if not study.is_listed or study.shown is not None or study.look is not None:
        return []
    if not study.rows:
        return list(_nothing(study, width))
    if study.problem is not None:
        return list(_problem(study, width))
    if row is not None and row.copy_command:
        size = f" ({shown_bytes(row.bytes)})" if row.bytes else ""
        return [
            plain(*hang((), f"{clean(row.name)} is on another host{size}.", width, "heading")),
            plain(*hang((), "Nothing is fetched unasked. To look into it, copy it here:", width)),
            plain(*hang((Span("  "),), row.copy_command, width, "log-metric")),
            plain(*hang((), "then: mltd-tui inspect FILE. y copies the command; or run mltd-tui "
                        "over there.", width)),
        ]  # fmt: skip
    return []


def _nothing(study: Study, width: int) -> Iterator[Block]:
    lines = hang((), "What the weights say is seen here once there are checkpoints.", width)
    yield plain(*lines)
    yield heading("Looked in", width)
    for place in study.places or ("nowhere: this run has no folder",):
        yield plain(*hang((Span("  "),), place, width, "log-metric"))
    yield heading("Would be found there", width)
    for names in _FOUND:
        yield plain(*hang((Span("  "),), names, width, "log-metric"))
    yield plain(BLANK, *hang((), "One that is elsewhere: mltd-tui inspect FILE", width))
    yield plain(*hang((), _NEVER, width, "quiet"))


def _problem(study: Study, width: int) -> Iterator[Block]:
    news = study.problem
    assert news is not None
    lines: list[Line] = hang((Span("✖ ", "severity-critical"),), news.problem, width)
    if news.hint:
        lines += hang((Span("  hint  ", "quiet"),), news.hint, width)
    unsaid = [name for name in news.names if name not in news.problem]
    if unsaid:
        lines += hang((Span("  it asks for  ", "quiet"),), ", ".join(unsaid), width, most=8)
    yield plain(*lines)
    if len(study.rows) > 1:
        yield plain(BLANK, *hang((), "n and N look into the others.", width, "quiet"))
