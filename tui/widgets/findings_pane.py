"""The findings pane: what is wrong, ranked; and why, and what to do, for the one selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from ..escaping import printable
from ..findings.blocks import plain
from ..findings.identity import Key
from ..findings.page import Page
from ..findings.remedies import causes_of, fixes_of
from ..findings.room import Room, Shape
from ..findings.selection import Selection
from ..log.clipboard import copy
from ..pane import Pane
from .finding_view import FindingView

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Evidence, Finding
    from mltd.analyzers.core.verdict import Diagnosis


class FindingsPane(Pane, can_focus=True):
    """Shows a diagnosis; knows nothing about how it was made."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Details", id="findings.open"),
        Binding("h", "adopt", "Hypothesis", id="findings.adopt"),
        Binding("y", "copy_fix", "Copy fix", id="findings.copy"),
        Binding("right,l", "enter_detail", "Into the details", show=False, id="findings.enter"),
        Binding("left,escape", "leave_detail", "Back to the list", show=False, id="findings.leave"),
        Binding("up,k", "move(-1)", "Up", show=False, id="findings.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="findings.down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="findings.page_up"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="findings.page_down"),
        Binding("home,g", "end(-1)", "First", show=False, id="findings.first"),
        Binding("end,G", "end(1)", "Last", show=False, id="findings.last"),
    ]

    @dataclass
    class EvidenceChosen(Message):
        """The user wants to see the place where this shows."""

        run: int
        evidence: Evidence

    @dataclass
    class Adopted(Message):
        """The user wants this finding, or this cause, among the hypotheses."""

        run: int
        finding: Finding | None
        cause: RootCause | None

    @dataclass
    class Selected(Message):
        """Another finding is looked at, or it is seen at another place; None: there is none."""

        run: int
        finding: Finding | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._selection = Selection()
        self._told: tuple[object, ...] = ()
        self._offered = (False, False)
        self._is_reading = False
        self._state = ""
        self._looked_at: tuple[str, ...] = ()
        self._in_detail = False
        self._shown: tuple[int, Key | None] | None = None
        self._verdict = FindingView(id="findings-verdict")
        self._list = FindingView(id="findings-list")
        self._summary = FindingView(id="findings-summary")
        self._detail = FindingView(id="findings-detail")
        self._left = Vertical(self._verdict, self._list, self._summary, id="findings-left")
        self._arranged: tuple[Room, int, bool] | None = None
        self.border_title = Content("findings")

    def compose(self) -> ComposeResult:
        """The verdict, the list and a summary; the detail beside, below or instead of them."""
        yield self._left
        yield self._detail

    # -- facts -----------------------------------------------------------------------------

    def set_diagnosis(self, run: int, diagnosis: Diagnosis | None) -> None:
        """Show the verdict about a run; None: it is still being read."""
        chosen = self._selection
        if (run, diagnosis) == (chosen.run, chosen.diagnosis):
            return
        is_other = chosen.update(run, diagnosis, is_held=self._in_detail and self.has_focus)
        if is_other or chosen.finding is None:
            self._in_detail = False
        self._lay_out()
        self._tell()

    @property
    def is_reading(self) -> bool:
        """True while the verdict rests on a part of the log only."""
        return self._is_reading or self._selection.diagnosis is None

    @is_reading.setter
    def is_reading(self, is_reading: bool) -> None:
        if is_reading != self._is_reading:
            self._is_reading = is_reading
            self._lay_out()

    @property
    def state(self) -> str:
        """What the run is seen to do: one that failed is never called healthy."""
        return self._state

    @state.setter
    def state(self, state: str) -> None:
        if state != self._state:
            self._state = state
            self._lay_out()

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Names of the metrics that the verdict rests on."""
        return self._looked_at

    @looked_at.setter
    def looked_at(self, names: Sequence[str]) -> None:
        if tuple(names) != self._looked_at:
            self._looked_at = tuple(names)
            self._lay_out()

    @property
    def selected(self) -> Finding | None:
        """The finding looked at."""
        return self._selection.finding

    # -- keys ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that would do nothing here are left to others (escape also ends a zoom)."""
        if action == "leave_detail":
            return self._in_detail
        if action in ("adopt", "copy_fix", "open", "enter_detail"):
            return self._selection.finding is not None
        return True

    def action_open(self) -> None:
        """Go into the detail; there, go to the place of what is under the cursor."""
        target = self._detail.target
        if not self._in_detail:
            self.action_enter_detail()
        elif target is not None and target.evidence is not None:
            self.post_message(self.EvidenceChosen(self._selection.run, target.evidence))
        elif target is not None and target.cause is not None and target.fix is None:
            self.post_message(self.EvidenceChosen(self._selection.run, target.cause.evidence[0]))
        else:
            self.action_copy_fix()

    def action_enter_detail(self) -> None:
        """Move the cursor into the detail."""
        self._in_detail = True
        self._lay_out()

    def action_leave_detail(self) -> None:
        """Back to the list."""
        self._in_detail = False
        self._lay_out()

    def action_move(self, direction: int) -> None:
        """Up or down, in the list or in the detail."""
        if self._in_detail:
            self._detail.move(direction)
        else:
            self._list.move(direction)
            self._follow_list()

    def action_page(self, direction: int) -> None:
        """A page up or down."""
        if self._in_detail:
            self._detail.move_page(direction)
        else:
            self._list.move_page(direction)
            self._follow_list()

    def action_end(self, direction: int) -> None:
        """To the first or the last place; at the top of the list, follow the worst finding."""
        if self._in_detail:
            self._detail.move_to_end(direction)
        elif direction < 0:
            self._selection.follow()
            self._follow_selection()
        else:
            self._list.move_to_end(direction)
            self._follow_list()

    def action_adopt(self) -> None:
        """Say what the user did; whoever owns the checklist decides what it means."""
        target = self._detail.target if self._in_detail else None
        run, finding = self._selection.run, self._selection.finding
        if target is not None and target.cause is not None:
            self.post_message(self.Adopted(run, None, target.cause))
        elif finding is not None:
            self.post_message(self.Adopted(run, finding, None))

    def action_copy_fix(self) -> None:
        """Copy the line of the fix under the cursor, or of the first one."""
        diagnosis, finding = self._selection.diagnosis, self._selection.finding
        target = self._detail.target if self._in_detail else None
        fix = target.fix if target is not None else None
        if fix is None and diagnosis is not None and finding is not None:
            causes = causes_of(diagnosis, finding)
            if target is not None and target.cause is not None:
                causes = [target.cause]
            fix = next((fix for _, fix in fixes_of(causes)), None)
        if fix is None:
            self.notify("There is no fix to copy.", severity="warning", markup=False)
            return
        copy(self.app, fix.example)
        self.notify(printable(fix.example), title="Copied", timeout=2, markup=False)

    def on_finding_view_clicked(self, message: FindingView.Clicked) -> None:
        """A click does what moving the cursor there does."""
        message.stop()
        if message.view not in (self._list, self._detail):
            return
        self._in_detail = message.view is self._detail
        message.view.set_cursor(message.index)
        if not self._in_detail:
            self._selection.point_at(message.index)
            self._follow_selection()
        self._lay_out()

    # -- drawing ---------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Share the room anew."""
        self._lay_out()

    def on_focus(self) -> None:
        """The cursor becomes the one that keys move."""
        self._mark_active()

    def on_blur(self) -> None:
        """The cursor rests."""
        self._mark_active()

    def _follow_list(self) -> None:
        row = self._list.index
        if row is not None and row != self._selection.index:
            self._selection.point_at(row)
            self._follow_selection()

    def _follow_selection(self) -> None:
        self._lay_out()
        self._tell()

    def _tell(self) -> None:
        """Tell which finding is looked at, if it is another or at another place."""
        run, finding = self._selection.run, self._selection.finding
        news: tuple[object, ...] = (run,)
        if finding is not None:
            news = (run, finding.id, finding.severity, finding.first_step, finding.last_step)
        if news != self._told:
            self._told = news
            self.post_message(self.Selected(run, finding))

    def _mark_active(self) -> None:
        self._list.set_active(self.has_focus and not self._in_detail)
        self._detail.set_active(self.has_focus and self._in_detail)

    def _lay_out(self) -> None:
        """Lay everything out for the current size; the views paint what differs."""
        width, height = self.size
        if not (width and height and self.is_mounted):
            return
        chosen = self._selection
        page = Page(
            width,
            height,
            chosen,
            is_reading=self._is_reading,
            state=self._state,
            names=self._looked_at,
        )
        self._arrange(page)
        self._verdict.show([plain(*page.head)], is_new=False)
        self._list.show(page.cards, is_new=False)
        self._list.set_cursor(chosen.index)
        self._summary.show([plain(*page.summary)], is_new=False)
        if self._detail.display:
            shown = (chosen.run, chosen.key)
            self._detail.show(page.detail(), is_new=shown != self._shown)
            self._shown = shown
        self._mark_active()
        offered = (chosen.finding is not None, self._in_detail)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def _arrange(self, page: Page) -> None:
        """Give every part its cells; what has them already is left alone."""
        room, is_small = page.room, page.room.shape is Shape.SMALL
        arranged = (room, len(page.head), is_small and self._in_detail)
        if arranged == self._arranged:
            return
        self._arranged = arranged
        for shape in Shape:
            self.set_class(shape is room.shape, f"-{shape.value}")
        self._left.display = not (is_small and self._in_detail)
        self._detail.display = not is_small or self._in_detail
        self._left.styles.width = room.left_width
        self._verdict.styles.height = len(page.head)
        self._list.styles.height = room.list_rows
        self._summary.styles.height = room.summary_rows
