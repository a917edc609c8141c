"""Where a checkpoint comes from, how large it is, and what its optimizer remembers."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.analyzers.resources.shortage import shown_bytes
from mltd.runs.checkpoints import CheckpointSummary, OptimizerFacts

from ..wording import count
from .layout import Layout

MOST_NOTES = 8
MOST_EXTRAS = 8


def facts_lines(summary: CheckpointSummary, layout: Layout) -> Iterator[str]:
    """The checkpoint in a few rows."""
    yield "  Checkpoint"
    yield from layout.facts(fact_rows(summary))


def fact_rows(summary: CheckpointSummary) -> Iterator[tuple[str, str]]:
    """The same as pairs of a name and what is to say about it."""
    yield "position", _position(summary)
    yield "parameters", _parameters(summary)
    if dtypes := summary.dtypes:
        whole = sum(share.elements for share in dtypes) or 1
        yield (
            "types",
            ", ".join(
                share.dtype if len(dtypes) == 1
                else f"{share.dtype} {_percent(share.elements / whole)}"
                for share in dtypes[:6]
            ),
        )  # fmt: skip
    said = f"{shown_bytes(summary.size_on_disk)} in {count(len(summary.files), 'file')}"
    yield "on disk", f"{said}; layout {summary.layout}, made by {summary.framework}"
    if not summary.optimizers:
        yield "optimizer", "its state is not in the checkpoint"
    for facts in summary.optimizers[:4]:
        yield "optimizer", _optimizer(facts)
    extras = [pair for pair in summary.extras if pair[0] != summary.position.source]
    if extras:
        shown = ", ".join(f"{key} {value}"[:60] for key, value in extras[:MOST_EXTRAS])
        more = len(extras) - MOST_EXTRAS
        yield "also saved", f"{shown} and {more} more" if more > 0 else shown
    for note in summary.notes[:MOST_NOTES]:
        yield "note", note


def _percent(share: float) -> str:
    """Of what is little, that there is some; of what is nearly all, that it is not all."""
    shown = f"{share:.1%}"
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(shown, shown) if share else "0%"


def _position(summary: CheckpointSummary) -> str:
    position = summary.position
    parts = []
    if position.step is not None:
        parts.append(f"step {position.step:,}")
    if position.epoch is not None:
        parts.append(f"epoch {position.epoch:g}")
    if not parts:
        return "not stated in it"
    is_file = "." in position.source
    return ", ".join(parts) + (f" (from {position.source})" if is_file else "")


def _parameters(summary: CheckpointSummary) -> str:
    own = summary.parameters
    total = summary.total
    text = f"{total:,} in {count(len(own), 'tensor')}"
    buffers = sum(tensor.role == "buffer" for tensor in summary.tensors)
    if buffers:
        text += f", and {count(buffers, 'buffer')}"
    known = [tensor for tensor in own if tensor.is_trainable is not None]
    if known and total and len(known) == len(own):
        trained = sum(tensor.elements for tensor in known if tensor.is_trainable)
        text += f"; {trained / total:.0%} of them are trained, by the optimizer's state"
    return text


def _optimizer(facts: OptimizerFacts) -> str:
    held = facts.parameters or len(facts.states)
    parts = [f"{facts.label}: {count(held, 'parameter tensor')}"]
    groups = facts.groups
    if len(groups) > 1:
        parts[0] += f" in {len(groups)} groups"
    rates = sorted({group.lr for group in groups if group.lr is not None})
    if rates:
        same = f"{rates[0]:.4g}" if len(rates) == 1 else f"{rates[0]:.4g} to {rates[-1]:.4g}"
        parts.append(f"learning rate {same}")
    decays = sorted({group.weight_decay for group in groups if group.weight_decay is not None})
    if decays and decays[-1]:
        parts.append(f"weight decay {', '.join(f'{decay:.4g}' for decay in decays[:3])}")
    if (steps := facts.steps) is not None:
        low, high = (f"{step:,.0f}" for step in steps)
        made = f"{high} step{'' if high == '1' else 's'} made"
        parts.append(made if low == high else f"{low} to {made}")
    parts.append(f"{shown_bytes(facts.bytes)} of state")
    if not facts.is_mapped:
        parts.append("which parameter is which cannot be told")
    return ", ".join(parts)
