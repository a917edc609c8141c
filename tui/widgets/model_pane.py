"""The model pane: what the weights of a run say, and what one can do with it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from ..escaping import printable
from ..findings.blocks import plain
from ..findings.page import GUTTER, SCROLLBAR
from ..findings.remedies import causes_of
from ..findings.room import Shape, shape_for
from ..findings.spans import clean, clip
from ..log.clipboard import copy
from ..model.bindings import BINDINGS
from ..model.copying import copied_text
from ..model.detail import detail
from ..model.empty import notice_blocks
from ..model.head import head
from ..model.offers import ACTIONS, is_offered
from ..model.outline import first_place, mode_place, outline, place_above
from ..model.revealing import way_to
from ..model.study import Mode
from ..pane import Pane
from .finding_view import FindingView
from .model_list import ModelList

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Finding

    from ..model.items import Item
    from ..model.study import Study


class ModelPane(Pane, can_focus=True):
    """Shows a study; reading and keeping are done by somebody else."""

    BINDINGS: ClassVar[list[BindingType]] = BINDINGS

    @dataclass
    class CheckpointChosen(Message):
        """The user wants to see this checkpoint."""

        path: str

    class ValuesWanted(Message):
        """The user wants the values to be read."""

    @dataclass
    class ComparisonWanted(Message):
        """The user wants to know what moved; empty: since the checkpoint before."""

        path: str

    class MemoryWanted(Message):
        """The user wants the memory accounted for."""

    @dataclass
    class BranchWanted(Message):
        """The user unfolds something of which not all rows are here."""

        key: str
        start: int

    class Stopped(Message):
        """The user wants what is under way to end."""

    @dataclass
    class Adopted(Message):
        """The user wants this finding among the hypotheses."""

        run: int
        finding: Finding
        cause: RootCause | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.study: Study | None = None
        """What is shown."""
        self._drawn: tuple[object, ...] = ()
        self._is_new = True
        self._read = 0
        """Ticket of the page that is shown."""
        self._in_detail = False
        self._is_entering = False
        """Movement or memory was asked for, and the cursor is to go there."""
        self._detailed = ""
        self._offered: tuple[bool, ...] = ()
        self._head = FindingView(id="model-head")
        self._list = ModelList(id="model-list")
        self._detail = FindingView(id="model-detail")
        self._body = Container(self._list, self._detail, id="model-body")
        self.clock = time.time
        self.border_title = Content("model")

    def compose(self) -> ComposeResult:
        """The state, the list, and beside or below it what is under the cursor."""
        yield self._head
        yield self._body

    # -- facts -----------------------------------------------------------------------------

    def show(self, study: Study | None) -> None:
        """Show what is known about the weights of a run."""
        if study is not self.study:
            self._is_new, self._in_detail = True, False
        self.study = study
        self._paint()

    @property
    def item(self) -> Item | None:
        """The line under the cursor."""
        return self._list.item

    # -- keys ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that would do nothing here are left to others (escape also ends a zoom)."""
        return is_offered(action, self.study, self.item, is_in_detail=self._in_detail)

    def action_open(self) -> None:
        """Unfold or fold, choose a checkpoint, or go into the details."""
        study, item = self.study, self.item
        if self._in_detail:
            self._go_to_tensor()
        elif study is None or item is None:
            return
        elif item.module is not None and item.module.children:
            self._fold(item)
        elif item.branch is not None:
            self._want_branch(item.branch)
        elif item.key == "older":
            study.is_listing_all = True
            self._redraw()
        elif item.checkpoint is not None and not item.is_open:
            self.post_message(self.CheckpointChosen(item.checkpoint.path))
        else:
            self._set_in_detail(True)

    def action_into(self) -> None:
        """Unfold what is folded; else go into the details."""
        item = self.item
        is_open = item is not None and item.module is not None and item.is_open
        if is_open:
            self.action_move(1)
        else:
            self.action_open()

    def action_out(self) -> None:
        """Back to the list; there, fold, or go up to what it is part of."""
        item = self.item
        if self._in_detail:
            self._set_in_detail(False)
        elif item is not None and item.module is not None and item.is_open:
            self._fold(item)
        elif item is not None and item.depth:
            self._list.move_to(place_above(self._list.items, self._list.cursor))

    def action_values(self) -> None:
        """Read the values of what is shown."""
        self.post_message(self.ValuesWanted())

    def action_compare(self) -> None:
        """See what moved since the checkpoint under the cursor, or since the one before."""
        study, item = self.study, self.item
        if study is None:
            return
        row = item.checkpoint if item is not None else None
        is_other = row is not None and row.path not in (study.chosen, study.against)
        if not is_other and study.against:
            self._end_comparison()
            return
        if not is_other and study.compared:
            study.show_against(study.compared)
            self._is_entering = True
            self._redraw()
            return
        self.post_message(self.ComparisonWanted(row.path if row is not None and is_other else ""))

    def action_memory(self) -> None:
        """See what a training with these weights takes of a device."""
        study = self.study
        if study is None or study.shown is None:
            return
        if study.mode is Mode.MEMORY:
            self._set_mode(study.home)
            return
        self._set_mode(Mode.MEMORY)
        if study.shown.memory is None:
            self.post_message(self.MemoryWanted())

    def action_other(self, distance: int) -> None:
        """Look into an older or a newer checkpoint."""
        row = self.study.beside(distance) if self.study is not None else None
        if row is not None:
            self.post_message(self.CheckpointChosen(row.path))

    def action_adopt(self) -> None:
        """Say which finding is meant; whoever owns the checklist decides what it means."""
        item, study = self.item, self.study
        if study is None or study.shown is None or item is None or item.finding is None:
            return
        causes = causes_of(study.shown.page.diagnosis, item.finding)
        self.post_message(self.Adopted(study.run, item.finding, causes[0] if causes else None))

    def action_copy_name(self) -> None:
        """Copy the name of what is under the cursor, or the line of a fix."""
        target = self._detail.target if self._in_detail else None
        fix = target.fix if target is not None else None
        text = fix.example if fix is not None else copied_text(self.study, self.item)
        if text:
            copy(self.app, text)
            self.notify(printable(text), title="Copied", timeout=2, markup=False)

    def action_stop(self) -> None:
        """End what is being read; else leave the details, the memory or the comparison."""
        study = self.study
        if study is not None and study.is_busy:
            self.post_message(self.Stopped())
        elif self._in_detail:
            self._set_in_detail(False)
        elif study is not None and study.mode is Mode.MEMORY:
            self._set_mode(study.home)
        elif study is not None and study.against:
            self._end_comparison()

    def _end_comparison(self) -> None:
        """Back to the checkpoint alone."""
        study = self.study
        if study is None:
            return
        study.show_against("")
        self._in_detail = False
        if study.shown is None:
            # It was looked into by comparing alone, or too long ago to be kept.
            self.post_message(self.CheckpointChosen(study.chosen))
        self._redraw()

    def action_move(self, direction: int) -> None:
        """Up or down, in the list or in the details."""
        if self._in_detail or not self._list.count:
            self._detail.move(direction)
        else:
            self._list.action_move(direction)

    def action_page(self, direction: int) -> None:
        """A page up or down."""
        if self._in_detail or not self._list.count:
            self._detail.move_page(direction)
        else:
            self._list.action_page(direction)

    def action_end(self, direction: int) -> None:
        """To the first or the last line."""
        if self._in_detail or not self._list.count:
            self._detail.move_to_end(direction)
        else:
            self._list.action_end(direction)

    def on_model_list_moved(self, message: ModelList.Moved) -> None:
        """Show what is under the cursor."""
        message.stop()
        self._in_detail = False
        self._show_detail()
        self._mark()
        if self.item is not None and self.item.branch is not None:
            self._want_branch(self.item.branch)

    def on_model_list_opened(self, message: ModelList.Opened) -> None:
        """The same as Enter."""
        message.stop()
        self.action_open()

    def _go_to_tensor(self) -> None:
        """Show the tensor that a piece of evidence names."""
        study, target = self.study, self._detail.target
        if study is None or study.shown is None or target is None or target.evidence is None:
            return
        name = target.evidence.ref.partition(":")[2]
        way = way_to(study.shown, name)
        if way is None:
            said = f"{name or target.evidence.ref} is not in the part of the tree that is here"
            self.notify(printable(said), severity="warning", markup=False)
            return
        study.unfolded |= set(way[:-1])
        study.mode, self._in_detail = Mode.MODULES, False
        self._redraw(f"module {way[-1]}")

    def _fold(self, item: Item) -> None:
        study = self.study
        if study is None or item.module is None:
            return
        key = item.module.key
        study.unfolded ^= {key}
        if key in study.unfolded and study.shown is not None and not study.shown.rows(key):
            self._want_branch(key)
        self._redraw()

    def _want_branch(self, key: str) -> None:
        shown = self.study.shown if self.study is not None else None
        if shown is None:
            return
        wanted = (key, len(shown.rows(key)))
        if wanted not in shown.asked:
            shown.asked.add(wanted)
            self.post_message(self.BranchWanted(*wanted))

    # -- drawing ---------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Lay out anew."""
        self._redraw()

    def on_show(self) -> None:
        """Draw what came while nobody looked."""
        self._redraw()

    def on_focus(self) -> None:
        """The cursor becomes the one that keys move."""
        self._mark()

    def on_blur(self) -> None:
        """The cursor rests."""
        self._mark()

    def _set_mode(self, mode: Mode) -> None:
        if self.study is not None and self.study.mode is not mode:
            self.study.mode = mode
            self._in_detail, self._is_entering = False, mode is not Mode.MODULES
            self._redraw()

    def _set_in_detail(self, is_in_detail: bool) -> None:
        self._in_detail = is_in_detail
        self._redraw()

    def _redraw(self, cursor: str = "") -> None:
        self._drawn = ()
        self._paint(cursor)

    def _paint(self, cursor: str = "") -> None:
        """Lay out what changed; the cursor goes to the line with this key."""
        study, (width, height) = self.study, self.size
        if study is None or not (width and height and self.is_mounted and self.display):
            return
        room = width - GUTTER - SCROLLBAR
        lines = head(study, room, height)
        self._head.styles.height = len(lines)
        self._head.show([plain(*lines)], is_new=False)
        drawn = (study, study.version, study.mode, width, height)
        if drawn != self._drawn:
            self._drawn = drawn
            self._list.clock = self.clock
            items = outline(study) if study.rows else []
            self._arrange(
                Shape.SMALL if not items else shape_for(width, height), height, len(lines)
            )
            read = study.shown.ticket if study.shown is not None else 0
            if not cursor and (self._is_new or read != self._read):
                cursor = first_place(items)
            if self._is_entering and (place := mode_place(items)):
                cursor, self._is_entering = place, False
            self._list.show(items, cursor)
            self._is_new, self._read = study.shown is None, read
            self.border_title = Content(clip(f"model: {clean(study.name)}", max(8, width - 4)))
            self._show_detail()
        self._mark()

    def _arrange(self, shape: Shape, height: int, head_rows: int) -> None:
        has_list = bool(self.study is not None and self.study.rows)
        for one in Shape:
            self.set_class(one is shape, f"-{one.value}")
        self._list.display = has_list and not (shape is Shape.SMALL and self._in_detail)
        self._detail.display = not has_list or shape is not Shape.SMALL or self._in_detail
        below = max(1, height - head_rows)
        self._list.styles.height = below * 3 // 5 if shape is Shape.STACKED else "1fr"
        self._list.styles.width = self._list_width if shape is Shape.WIDE else "1fr"

    @property
    def _list_width(self) -> int:
        return max(60, self.size.width * 55 // 100)

    def _show_detail(self) -> None:
        """What is under the cursor, beside or below the list."""
        study = self.study
        if study is None or not self._detail.display:
            return
        is_wide = self.has_class("-wide")
        width = self.size.width - (self._list_width + 2 if is_wide else 0) - GUTTER - SCROLLBAR - 1
        item = self.item if self._list.display else None
        blocks = notice_blocks(study, width)
        if self._list.count:
            blocks += detail(study, self._list.item, width, has_facts=is_wide)
        key = f"{study.chosen} {study.mode} {item.key if item is not None else ''}"
        self._detail.show(blocks, is_new=key != self._detailed)
        self._detailed = key

    def _mark(self) -> None:
        self._list.set_active(self.has_focus and not self._in_detail)
        self._detail.set_active(self.has_focus and self._in_detail)
        offered = tuple(bool(self.check_action(action, ())) for action in ACTIONS)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()
