"""What training with these weights takes, each number with how it is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len

from mltd.analyzers.memory import MemoryAccount, lines, memory_account, rows, weight_facts
from mltd.runs.checkpoints import CheckpointSummary
from mltd.runs.run import Run

from .layout import Layout

_NAME = 16


def account_of(summary: CheckpointSummary, run: Run | None) -> MemoryAccount | None:
    """The account of a training with these weights; None if it holds none."""
    facts = weight_facts(summary.path, summary.parameters, summary.optimizers)
    if facts is None:
        return None
    facts = replace(facts, settings=summary.settings)
    own = summary.parameters
    if own and all(tensor.is_trainable is not None for tensor in own):
        trained = sum(tensor.elements for tensor in own if tensor.is_trainable)
        facts = replace(facts, trainable=trained)
    return memory_account(run or Run(facts.name), facts)


def memory_lines(account: MemoryAccount, layout: Layout) -> Iterator[str]:
    """The account as a table, then in sentences."""
    yield "  Memory of one device in training"
    for row in rows(account):
        size = f"{row.size} ({row.origin})" if row.origin else row.size
        text = f"{size}: {row.how}" if row.how else size
        if cell_len(row.name) > _NAME:
            yield from layout.wrap(f"{row.name}: {text}", "    ", " " * (_NAME + 5))
            continue
        name = layout.left(row.name, _NAME)
        yield from layout.wrap(text, f"    {name} ", " " * (_NAME + 5))
    for sentence in lines(account):
        yield from layout.wrap(sentence, "    ", "      ")
