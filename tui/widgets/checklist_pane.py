"""The checklist: the triage as a to-do list, and what is selected of it in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from ..checklist.bindings import BINDINGS, brought_forward
from ..checklist.copying import copied_text
from ..checklist.folding import Folding
from ..checklist.keys import Offers, offers
from ..checklist.pick import Pick
from ..checklist.saving import Draft, Saving, is_read_only
from ..checklist.shown import Shown
from ..checklist.welcome import welcome
from ..checklist.wishes import wish
from ..escaping import printable
from ..findings.blocks import plain
from ..findings.room import Shape
from ..findings.spans import clean, clip
from ..log.clipboard import copy
from ..pane import Pane
from .finding_view import FindingView

if TYPE_CHECKING:
    from mltd.sessions.model.evidence import EvidenceRef
    from mltd.sessions.model.result import BeforeAfter
    from mltd.sessions.model.session import Session

    from ..checklist.page import Page
    from ..checklist.room import Room


class ChecklistPane(Pane, can_focus=True):
    """Shows a session; what the user wishes for is told, and done by somebody else."""

    BINDINGS: ClassVar[list[BindingType]] = [*BINDINGS]

    @dataclass
    class Wanted(Message):
        """The user wants something done to a row; whoever keeps the session does it."""

        verb: str
        kind: str
        id: str
        amount: int = 0
        evidence: EvidenceRef | None = None
        """A piece of evidence that is meant; `amount` is -1 if it speaks against the hypothesis."""

    @dataclass
    class EvidenceChosen(Message):
        """The user wants to see the place where this shows."""

        evidence: EvidenceRef

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._shown: Shown | None = None
        self._saving: Saving = Draft()
        self._undo = ("", "")
        self._folding = Folding()
        self._wished: tuple[str, str] | None = None
        """Row that the cursor is to go to as soon as there is one."""
        self._is_new = True
        self._in_detail = False
        self._page: Page | None = None
        self._arranged: tuple[Room | None, bool] | None = None
        self._looked_at: tuple[str, str] | None = None
        self._offers = Offers()
        self._commands = self._bindings.copy()
        self._head = FindingView(id="checklist-head")
        self._list = FindingView(id="checklist-list")
        self._detail = FindingView(id="checklist-detail")
        self._body = Container(self._list, self._detail, id="checklist-body")
        self.border_title = Content("checklist")

    def compose(self) -> ComposeResult:
        """The head, then the list; the detail beside, below or instead of it."""
        yield self._head
        yield self._body

    # -- facts -----------------------------------------------------------------------------

    def set_session(
        self,
        session: Session | None,
        *,
        suggested: str = "",
        missing: Mapping[str, str] | None = None,
        live: Mapping[str, BeforeAfter] | None = None,
    ) -> None:
        """Show a session; `suggested` is the id of the one thing to do next."""
        shown = None
        if session is not None:
            shown = Shown(session, suggested, dict(missing or {}), dict(live or {}))
        if shown == self._shown:
            return
        if not _is_same(self._shown, shown):
            self._folding, self._is_new, self._in_detail = Folding(), True, False
        self._shown = shown
        self._show_undo()
        self._lay_out()

    @property
    def saving(self) -> Saving:
        """Whether what was done is on disk."""
        return self._saving

    @saving.setter
    def saving(self, saving: Saving) -> None:
        if saving != self._saving:
            self._saving = saving
            self._show_undo()
            self._lay_out()

    def set_undo(self, undoable: str, redoable: str) -> None:
        """Say what undo and redo would do; empty if nothing."""
        if (undoable, redoable) != self._undo:
            self._undo = (undoable, redoable)
            self._show_undo()
            self._offer()

    @property
    def selected(self) -> Pick | None:
        """The row looked at."""
        target = self._list.target
        return target if isinstance(target, Pick) else None

    def select(self, id: str, kind: str = "") -> bool:  # noqa: A002 - what it is
        """Go to a row, and unfold its phase; false if there is none."""
        pick = self._shown.find(id, kind) if self._shown is not None else None
        if pick is None:
            return False
        self._folding.turn(pick.phase, is_folded=False)
        self._wished, self._in_detail = pick.row, False
        self._lay_out()
        return True

    # -- keys ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that would do nothing here are left to others (escape also ends a zoom)."""
        match action:
            case "wish":
                return parameters[0] in self._offers.allowed
            case "copy":
                return "copy" in self._offers.allowed
            case "leave_detail":
                return self._in_detail
            case "open" | "enter_detail" | "fold":
                return self.selected is not None
            case _:
                return True

    def action_wish(self, command: str) -> None:
        """Say what the user wants, and to what."""
        self.post_message(self.Wanted(*wish(command, self._pointed(), self._shown)))

    def action_open(self) -> None:
        """Fold a phase, go to a piece of evidence or to another row, or edit what is selected."""
        pick, jump = self._pointed(), self._jump()
        if jump is not None:
            self.select(jump.id, jump.kind)
        elif pick is None:
            return
        elif pick.reference is not None:
            if pick.reference.kind.value != "experiment" or not self.select(pick.reference.ref):
                self.post_message(self.EvidenceChosen(pick.reference))
        elif pick.kind == "phase":
            self._fold(pick.id)
        elif pick.kind == "fact" and "answer" in self._offers.allowed:
            self.action_wish("answer")
        elif "edit" in self._offers.allowed:
            self.post_message(self.Wanted("edit", *pick.row))

    def action_copy(self) -> None:
        """Copy what is under the cursor."""
        pick, shown = self._pointed(), self._shown
        text = copied_text(shown, pick) if pick is not None and shown is not None else ""
        if text:
            copy(self.app, text)
            self.notify(printable(text), title="Copied", timeout=2, markup=False)

    def action_enter_detail(self) -> None:
        """Unfold a folded phase; else move the cursor into the detail."""
        row = self.selected
        if row is not None and row.kind == "phase" and row.id in self._folding.folded:
            self._fold(row.id)
        elif row is not None:
            self._in_detail = True
            self._lay_out()

    def action_fold(self) -> None:
        """Back to the list; there, up to the phase of the row, and fold it."""
        row = self.selected
        if self._in_detail:
            self.action_leave_detail()
        elif row is not None and row.kind == "phase":
            if row.id not in self._folding.folded:
                self._fold(row.id)
        elif row is not None and row.phase:
            self._go_to(("phase", row.phase))

    def action_leave_detail(self) -> None:
        """Back to the list."""
        self._in_detail = False
        self._lay_out()

    def action_step(self, direction: int) -> None:
        """Up or down, in the list or in the detail."""
        self._view.move(direction)
        self._look()

    def action_page(self, direction: int) -> None:
        """A page up or down."""
        self._view.move_page(direction)
        self._look()

    def action_end(self, direction: int) -> None:
        """To the first or the last place."""
        self._view.move_to_end(direction)
        self._look()

    def on_finding_view_clicked(self, message: FindingView.Clicked) -> None:
        """A click does what moving the cursor there does."""
        message.stop()
        if message.view not in (self._list, self._detail):
            return
        self._in_detail = message.view is self._detail
        message.view.set_cursor(message.index)
        self._look()

    @property
    def _view(self) -> FindingView:
        return self._detail if self._in_detail else self._list

    def _pointed(self) -> Pick | None:
        """What keys act upon: a part of the row while the cursor is on it, or the row."""
        target = self._detail.target if self._in_detail else None
        return target if isinstance(target, Pick) and not self._jump() else self.selected

    def _jump(self) -> Pick | None:
        """Another row, while the cursor is on its name in the detail."""
        target, row = self._detail.target if self._in_detail else None, self.selected
        is_other = isinstance(target, Pick) and row is not None and target.row != row.row
        return target if is_other and isinstance(target, Pick) else None

    def _fold(self, phase: str) -> None:
        self._folding.turn(phase)
        self._lay_out()

    def _go_to(self, row: tuple[str, str]) -> None:
        self._wished = row
        self._lay_out()

    # -- drawing ---------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Share the room anew."""
        self._show_undo()
        self._lay_out()

    def on_focus(self) -> None:
        """The cursor becomes the one that keys move."""
        self._mark_active()

    def on_blur(self) -> None:
        """The cursor rests."""
        self._mark_active()

    def _lay_out(self) -> None:
        """Lay everything out for the current size; the views paint what differs."""
        width, height = self.size
        if not (width and height and self.is_mounted):
            return
        if self._shown is None:
            self._page = None
            self._arrange(None)
            self._head.show([plain(*welcome(width - 2)[:height])], is_new=False)
            self._list.show([], is_new=True)
            self._offer()
            return
        from ..checklist.page import Page

        self._page = page = Page(width, height, self._shown, self._saving, self._folding)
        self._arrange(page.room)
        self._head.show([plain(*page.head)], is_new=False)
        wished = self._wished
        if self._is_new and wished is None:
            wished = self._shown.next_row(self._folding.folded)
        self._list.show(page.rows, cursor=wished, is_new=self._is_new)
        self._wished, self._is_new = None, False
        for number, block in enumerate(page.rows):
            if wished is not None and block.key == wished:
                self._list.set_cursor(number)
        self._look()

    def _look(self) -> None:
        """Show the row that the cursor is on, and what can be done to it."""
        page, row = self._page, self.selected
        if page is not None and self._detail.display:
            key = row.row if row is not None else None
            self._detail.show(page.detail(row), is_new=key != self._looked_at)
            self._looked_at = key
        self._mark_active()
        self._offer()

    def _arrange(self, room: Room | None) -> None:
        """Give every part its cells; what has them already is left alone."""
        if (room, self._in_detail) == self._arranged:
            return
        self._arranged = (room, self._in_detail)
        self._body.display = room is not None
        if room is None:
            self._head.styles.height = "1fr"
            return
        is_small = room.shape is Shape.SMALL
        for shape in Shape:
            self.set_class(shape is room.shape, f"-{shape.value}")
        self._head.styles.height = room.head_rows
        self._list.display = not (is_small and self._in_detail)
        self._detail.display = not is_small or self._in_detail
        self._list.styles.width = room.list_columns
        self._list.styles.height = room.list_rows
        # Only once the list has its rows can it be said whether the cursor is among them.
        self.call_after_refresh(lambda: self._list.set_cursor(self._list.index))

    def _mark_active(self) -> None:
        self._list.set_active(self.has_focus and not self._in_detail)
        self._detail.set_active(self.has_focus and self._in_detail)

    def _show_undo(self) -> None:
        """At the pane's lower edge, where it takes no row."""
        can_change = self._shown is not None and not is_read_only(self._saving)
        undoable, redoable = (clean(text) if can_change else "" for text in self._undo)
        said = [f"u undoes: {undoable}"] if undoable else []
        said += [f"U redoes: {redoable}"] if redoable else []
        each = max(12, (self.size.width - 8) // max(1, len(said)))
        self.border_subtitle = Content(" · ".join(clip(text, each) for text in said))

    def _offer(self) -> None:
        """Bring the keys of this row to the bottom of the screen, by names that fit it."""
        is_jump = self._jump() is not None
        new = offers(self._shown, self._pointed(), self._saving, *self._undo, is_jump=is_jump)
        if new == self._offers:
            return
        self._offers = new
        self._bindings = brought_forward(self._commands, new.footer)
        self.refresh_bindings()


def _is_same(old: Shown | None, new: Shown | None) -> bool:
    """True if it is one session, also when a draft of it became a file."""
    if old is None or new is None:
        return False
    if "draft" in (old.session.id, new.session.id):
        # With a file it gets a better title; the run that it began with stays.
        return old.session.runs[:1] == new.session.runs[:1]
    return old.session.id == new.session.id
