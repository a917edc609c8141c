"""The list from top to bottom: findings, checkpoints, then modules, movement or memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..findings.identity import keyed
from .items import Item
from .study import Mode, Shown, Study

FEW = 3
"""Checkpoints that are listed before somebody asks for the others."""


def outline(study: Study) -> list[Item]:
    """All lines that can be seen by scrolling; what is folded costs nothing."""
    return list(_outline(study))


def first_place(items: list[Item]) -> str:
    """Where to begin to read: at what is wrong, else at the checkpoint that is shown."""
    for item in items:
        if item.finding is not None and item.finding.is_alarm:
            return item.key
    shown = (item.key for item in items if item.checkpoint is not None and item.is_open)
    return next(shown, "")


def mode_place(items: Sequence[Item]) -> str:
    """The first line of movement or memory; empty if there is none (yet)."""
    found = (item.key for item in items if item.memory or item.move or item.misfit)
    return next(found, "")


def place_above(items: Sequence[Item], place: int) -> int:
    """Where the line stands that a line is below."""
    depth = items[place].depth
    while place and items[place].depth >= depth:
        place -= 1
    return place


def _outline(study: Study) -> Iterator[Item]:
    shown = study.shown
    if shown is not None:
        for key, finding in keyed(shown.page.diagnosis.findings):
            yield Item(f"finding {key}", finding=finding)
    yield from _checkpoints(study)
    if shown is None:
        return
    match study.mode:
        case Mode.MODULES:
            yield Item("#modules", "Modules", columns="modules")
            yield from _tree(shown, study.unfolded)
        case Mode.MOVES:
            yield from _moves(shown)
        case Mode.MEMORY:
            yield from _memory(shown)


def _checkpoints(study: Study) -> Iterator[Item]:
    rows = study.rows
    many = f"Checkpoints ({len(rows):,})" if len(rows) > 1 else "Checkpoint"
    yield Item("#checkpoints", many, columns="checkpoints")
    kept = rows if study.is_listing_all or len(rows) <= FEW + 1 else rows[:FEW]
    # Those that are looked at are listed, however old they are.
    listed = [row for row in rows if row in kept or row.path in (study.chosen, study.against)]
    for row in listed:
        is_open = row.path == study.chosen
        yield Item(f"checkpoint {row.path}", checkpoint=row, is_open=is_open)
    if left := len(rows) - len(listed):
        yield Item("older", f"and {left:,} {'older ones' if left > 1 else 'older one'}")


def _tree(shown: Shown, unfolded: set[str]) -> Iterator[Item]:
    """The unfolded part of the tree; without recursion, trees may be deep."""
    waiting = [("", shown.page.top, 0, 0)]
    while waiting:
        key, count, depth, place = waiting.pop()
        rows = shown.rows(key)
        while place < len(rows):
            row = rows[place]
            place += 1
            is_open = row.key in unfolded and row.children > 0
            yield Item(f"module {row.key}", depth=depth, module=row, is_open=is_open)
            if is_open:
                waiting += [(key, count, depth, place), (row.key, row.children, depth + 1, 0)]
                break
        else:
            if len(rows) < count:
                said = "…" if not rows else f"and {count - len(rows):,} more"
                yield Item(f"more {key}", said, depth, branch=key)


def _moves(shown: Shown) -> Iterator[Item]:
    moves = shown.page.moves
    if moves is None:
        return
    if moves.misfits:
        yield Item("#misfits", "What does not fit")
        for misfit in moves.misfits:
            yield Item(f"misfit {misfit.sort} {misfit.name}", misfit=misfit)
    yield Item("#moves", "What moved", columns="moves")
    for move in moves.moves:
        yield Item(f"move {move.name}", move=move)
    if moves.left_out:
        yield Item("#left out", f"and {moves.left_out:,} more; mltd-tui inspect --json has all")


def _memory(shown: Shown) -> Iterator[Item]:
    told = shown.memory
    if told is None:
        yield Item("#memory", "Memory: being accounted for")
        return
    if told.problem:
        yield Item("#memory", told.problem)
        return
    yield Item("#memory", "Memory in training", columns="memory")
    for place, part in enumerate(told.parts):
        yield Item(f"part {place}", memory=part)
    if told.remedies:
        yield Item("#remedies", "What would save how much")
        for place, remedy in enumerate(told.remedies):
            yield Item(f"remedy {place}", memory=remedy)
