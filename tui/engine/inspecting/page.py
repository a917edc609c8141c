"""What a look has shown, in plain values for the screen."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.memory import MemoryAccount, lines, remedy_rows, rows
from mltd.analyzers.weights import Inspection
from mltd.runs.checkpoints import Comparison

from ...inspect.facts_text import fact_rows
from ..model_protocol import (
    BalanceRow,
    MemoryRow,
    MemoryTold,
    MisfitRow,
    ModelPage,
    MovePage,
    MoveRow,
)
from .branches import Branches

MOST_MOVES = 20_000
MOST_MISFITS = 5_000


def make_page(found: Inspection, branches: Branches) -> ModelPage:
    """The page of a checkpoint, or of the second of two."""
    summary = found.summary
    explained = {fix.change for cause in found.causes for fix in cause.fixes}
    shares = sorted(found.balance.shares, key=lambda share: -share.parameters)
    return ModelPage(
        path=summary.path,
        parameters=summary.total,
        tensors=len(summary.model),
        bytes=summary.size_on_disk,
        has_values=summary.has_values,
        step=summary.position.step,
        epoch=summary.position.epoch,
        facts=tuple(fact_rows(summary)),
        balance=tuple(
            BalanceRow(one.kind.value, one.parameters, one.share, one.tensors, one.largest)
            for one in shares
        ),
        diagnosis=_verdict(found).for_display(),
        advice=tuple(fix for fix in found.fixes if fix.change not in explained),
        top=branches.top,
        branches=branches.first(),
        remarks=found.remarks,
        looked_at=found.looked_at,
        moves=_moves(found, found.comparison) if found.comparison is not None else None,
    )


def _verdict(found: Inspection) -> Diagnosis:
    status = "diagnosis_complete" if found.has_alarm else "healthy"
    return Diagnosis(
        status, findings=found.findings, root_causes=found.causes, problems=found.problems
    )


def _moves(found: Inspection, comparison: Comparison) -> MovePage:
    moves = [
        MoveRow(one.name, one.parameters, one.norm, one.update, one.relative, one.is_still)
        for one in found.moves
    ]
    misfits = list(_misfits(comparison))
    left_out = max(0, len(moves) - MOST_MOVES) + max(0, len(misfits) - MOST_MISFITS)
    return MovePage(
        first=comparison.path,
        second=comparison.other_path,
        first_step=comparison.position.step,
        second_step=comparison.other_position.step,
        moves=tuple(moves[:MOST_MOVES]),
        misfits=tuple(misfits[:MOST_MISFITS]),
        is_loadable=comparison.is_loadable,
        prefixes=(comparison.prefix, comparison.other_prefix),
        left_out=left_out,
        notes=comparison.notes,
    )


def _misfits(comparison: Comparison) -> Iterator[MisfitRow]:
    for one in comparison.mismatches:
        text = f"{_shape(one.shape)} in the first, {_shape(one.other_shape)} in the second"
        yield MisfitRow("shape", one.name, text)
    closest = {(near.name, near.is_in_first): near for near in comparison.closest}
    for names, is_first in ((comparison.only_first, True), (comparison.only_second, False)):
        for name in names:
            near = closest.get((name, is_first))
            text = "only in the first" if is_first else "only in the second"
            if near is not None:
                shape = "the same shape" if near.is_same_shape else "another shape"
                text += f"; closest there, with {shape}: {near.closest}"
            sort = "first" if is_first else "second"
            yield MisfitRow(sort, name, text, near.closest if near is not None else "")


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(str(size) for size in shape) or "one number"


def make_memory(ticket: int, account: MemoryAccount | None) -> MemoryTold:
    """The account of a training with these weights."""
    if account is None or account.is_empty:
        said = "There are no trained weights in this checkpoint to account for."
        return MemoryTold(ticket, problem=said)
    return MemoryTold(
        ticket,
        tuple(MemoryRow(*row) for row in rows(account)),
        tuple(MemoryRow(*row) for row in remedy_rows(account)),
        lines(account),
    )
