"""What stands beside the list: everything about the line under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mltd.analyzers.resources.shortage import shown_bytes

from ..findings.blocks import Block, heading, plain
from ..findings.detail import detail as finding_detail
from ..findings.remedies import causes_of
from ..findings.spans import BLANK, Line, Span, clean, fit, hang, middle
from ..quantities import short_count
from .advice import advice_blocks
from .numbers import value_facts
from .rows import MARKS, share_bar, share_text
from .study import Mode

if TYPE_CHECKING:
    from ..engine.model_protocol import MemoryRow, ModelPage, ModuleRow, MoveRow
    from .items import Item
    from .study import Shown, Study

_LABEL = 12
_BAR = 16


def detail(study: Study, item: Item | None, width: int, *, has_facts: bool) -> list[Block]:
    """The blocks for a line; `has_facts`: what holds for the checkpoint stands below, too."""
    shown = study.shown
    if shown is None or item is None:
        return []
    blocks = list(_about(study, shown, item, width))
    if blocks and blocks[0].lines[:1] == (BLANK,):
        blocks[0] = replace(blocks[0], lines=blocks[0].lines[1:])
    if has_facts and item.checkpoint is None:
        blocks += _checkpoint(shown.page, width)
    return blocks


def facts(rows: Iterable[tuple[str, str]], width: int) -> list[Line]:
    """Names at the left, what is to say about them at the right."""
    lines: list[Line] = []
    for name, text in rows:
        lines += hang((Span(f"{name:<{_LABEL}} ", "quiet"),), text, width)
    return lines


def _about(study: Study, shown: Shown, item: Item, width: int) -> Iterator[Block]:
    page = shown.page
    if item.finding is not None:
        yield from finding_detail(page.diagnosis, item.finding, width)
        if item.finding.is_alarm and not causes_of(page.diagnosis, item.finding):
            yield from advice_blocks(page.advice, width)
    elif item.checkpoint is not None:
        if item.is_open:
            if study.mode is Mode.MOVES:
                yield from _moved(page, width)
            yield from _checkpoint(page, width)
        else:
            said = "Enter shows this one; d compares it with the one that is shown."
            yield plain(*hang((), clean(item.checkpoint.name), width, "heading"))
            yield plain(*hang((), said, width, "quiet"))
    elif item.module is not None:
        yield plain(*_module(item.module, page, width))
    elif item.move is not None:
        yield plain(*_move(item.move, width))
        yield from _moved(page, width)
    elif item.misfit is not None:
        yield plain(*hang((), clean(item.misfit.name), width, "heading"))
        yield plain(*hang((), item.misfit.text, width))
        yield from _moved(page, width)
    elif item.memory is not None:
        yield from _memory(item.memory, shown, width)


def _checkpoint(page: ModelPage, width: int) -> Iterator[Block]:
    yield heading("This checkpoint", width)
    yield plain(*facts(page.facts, width))
    if page.balance:
        yield heading("Balance", width)
        yield plain(*_balance(page, width))
    for remark in page.remarks:
        yield plain(*hang((Span("● ", "severity-info"),), remark, width))
    yield heading("Looked at", width)
    lines: list[Line] = []
    for said in page.looked_at:
        lines += hang((Span("✔ ", "severity-fine"),), said, width)
    if not page.has_values:
        said = "values: NaN, dead outputs and sizes are not known; v reads them"
        lines += hang((Span("? ", "severity-unknown"),), said, width)
    if page.moves is None:
        said = "movement: d compares with the checkpoint before"
        lines += hang((Span("? ", "severity-unknown"),), said, width)
    yield plain(*lines)


def _balance(page: ModelPage, width: int) -> Iterator[Line]:
    for one in page.balance:
        lead: Line = (
            Span(f"{one.kind:<{_LABEL}} "),
            Span(f"{share_text(one.share):>6} "),
            Span(share_bar(one.share, _BAR), "chart-1"),
            Span(f" {short_count(one.parameters):>6}", "quiet"),
        )
        room = width - _LABEL - _BAR - 17
        largest = (Span(f"  {middle(clean(one.largest), room)}", "quiet"),) if room >= 12 else ()
        yield fit((*lead, *largest), width)


def _module(row: ModuleRow, page: ModelPage, width: int) -> Iterator[Line]:
    yield from hang((), clean(row.name), width, "log-metric")
    if row.sort == "tensor":
        yield from facts(_tensor(row), width)
        if row.values is not None:
            yield from value_facts(row, width)
        elif not page.has_values:
            yield from facts([("values", "not read; v reads them")], width)
        yield from facts(_place(row), width)
        return
    yield from facts(_module_facts(row), width)
    for kind, parameters in row.kinds:
        share = parameters / row.parameters if row.parameters else 0.0
        bar = Span(share_bar(share, _BAR), "chart-1")
        said = Span(f"{kind:<{_LABEL}} ", "quiet"), Span(f"{share_text(share):>6} ")
        yield fit((*said, bar), width)


def _tensor(row: ModuleRow) -> Iterator[tuple[str, str]]:
    shape = " x ".join(map(str, row.shape)) or "one number"
    yield "shape", shape
    dtype, elements = row.dtypes[0]
    yield "type", f"{dtype}, {elements:,} numbers, {shown_bytes(row.bytes)}"


def _place(row: ModuleRow) -> Iterator[tuple[str, str]]:
    if row.parameters:
        yield "share", f"{share_text(row.share)} of the model, {share_text(row.cumulative)} so far"
    yield from row.notes


def _module_facts(row: ModuleRow) -> Iterator[tuple[str, str]]:
    alike = f" in {row.children:,} alike modules" if row.sort == "group" else ""
    yield "parameters", f"{row.parameters:,}{alike}, {row.tensors:,} tensors"
    yield "share", f"{share_text(row.share)} of the model, {share_text(row.cumulative)} so far"
    if row.bytes:
        types = ", ".join(dtype for dtype, _ in row.dtypes)
        yield "size", f"{shown_bytes(row.bytes)}{f' as {types}' if types else ''}"
    if row.bad:
        yield "NaN", f"{row.bad:,} of its tensors hold NaN or infinity"
    if row.frozen:
        share = row.frozen / row.parameters if row.parameters else 0.0
        yield "frozen", f"{share:.0%} of it: no optimizer holds these parameters"


def _move(row: MoveRow, width: int) -> Iterator[Line]:
    yield from hang((), clean(row.name), width, "log-metric")
    said = [("parameters", f"{row.parameters:,}"), ("norm", f"{row.norm:.6g} before")]
    if row.is_still:
        said.append(("update", "not one value differs: frozen, or not in the optimizer"))
    else:
        relative = f", {row.relative:.3g} of its norm" if row.relative is not None else ""
        said.append(("update", f"{row.update:.6g}{relative}"))
    yield from facts(said, width)


def _moved(page: ModelPage, width: int) -> Iterator[Block]:
    moves = page.moves
    if moves is None:
        return
    yield heading("The two", width)
    steps = [
        f" (step {n:,})" if n is not None else "" for n in (moves.first_step, moves.second_step)
    ]
    rows = [("from", f"{moves.first}{steps[0]}"), ("to", f"{moves.second}{steps[1]}")]
    still = sum(one.is_still for one in moves.moves)
    rows.append(("layers", f"{len(moves.moves):,} compared, {still:,} did not move"))
    fits = "yes" if moves.is_loadable else "no: names or shapes differ"
    rows.append(("loads", f"{fits} (load_state_dict of one into the other)"))
    if any(moves.prefixes):
        first, second = (prefix or "none" for prefix in moves.prefixes)
        rows.append(("prefix", f"{first} in the first, {second} in the second"))
    rows += [("note", note) for note in moves.notes]
    yield plain(*facts(rows, width))


def _memory(row: MemoryRow, shown: Shown, width: int) -> Iterator[Block]:
    rows = [("size", row.size), ("known", f"{MARKS.get(row.origin, '?')} {row.origin or 'no'}")]
    if row.how:
        rows.append(("how", row.how))
    if row.source:
        rows.append(("from", row.source))
    yield plain(*hang((), clean(row.name), width, "heading"), *facts(rows, width))
    if shown.memory is not None and shown.memory.sentences:
        yield heading("What this comes to", width)
        for sentence in shown.memory.sentences:
            yield plain(*hang((Span("- ", "quiet"),), sentence, width))
