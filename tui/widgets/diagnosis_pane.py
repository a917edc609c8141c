"""The diagnosis pane: Claude's second opinion as it comes, and what one can do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from ..claude.budget import budget_line
from ..claude.layout import Layout
from ..claude.point import Point
from ..claude.remedies import copied_text, refusal
from ..escaping import printable
from ..findings.blocks import plain
from ..findings.page import GUTTER, SCROLLBAR
from ..findings.spans import Span, clean, clip, fit
from ..log.clipboard import copy
from ..pane import Pane
from .finding_view import FindingView
from .question_bar import QuestionBar, QuestionInput
from .talk_view import TalkView

if TYPE_CHECKING:
    from ..claude.talk import Talk
    from ..engine.consult_protocol import Cited, OpinedCause

PAINT_SECONDS = 0.1
"""Between two pictures while text comes in; more would be work that nobody sees."""
MARGIN = 1
"""Cells between the text and the scroll bar."""
_BELOW = "▼ new text came below; G goes there"
_ANSWERED = "▼ Claude has answered below; G goes there"


class DiagnosisPane(Pane, can_focus=True):
    """Shows a conversation; asking, stopping and keeping are done by somebody else."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="diagnosis.open"),
        Binding("a", "question", "Ask on", id="diagnosis.question"),
        Binding("escape", "stop", "Stop", id="diagnosis.stop"),
        Binding("h", "adopt", "Hypothesis", id="diagnosis.adopt"),
        Binding("y", "copy_fix", "Copy fix", id="diagnosis.copy"),
        Binding("up,k", "move(-1)", "Up", show=False, id="diagnosis.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="diagnosis.down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="diagnosis.page_up"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="diagnosis.page_down"),
        Binding("home,g", "end(-1)", "First", show=False, id="diagnosis.first"),
        Binding("end,G", "end(1)", "Last, and follow", show=False, id="diagnosis.last"),
    ]

    class Wanted(Message):
        """The user wants to ask Claude."""

    @dataclass
    class Questioned(Message):
        """The user asks on."""

        text: str

    class Stopped(Message):
        """The user wants what is under way to end."""

    @dataclass
    class Adopted(Message):
        """The user wants this cause among the hypotheses."""

        cause: OpinedCause

    @dataclass
    class PlaceChosen(Message):
        """The user wants to see what is cited."""

        cited: Cited

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.talk: Talk | None = None
        """The conversation that is shown."""
        self._notice = ""
        self._layout_of = Layout()
        self._is_new = True
        self._was_asking = False
        self._seen_rows = 0
        self._is_unread = False
        """The answer came while the user read something else."""
        self._painting: Timer | None = None
        self._is_waiting = False
        """Something changed since the last picture."""
        self._ticking: Timer | None = None
        self._offered: tuple[bool, ...] = ()
        self._view = TalkView(id="diagnosis-talk")
        self._below = FindingView(id="diagnosis-below")
        self._question = QuestionBar(id="diagnosis-bar")
        self._budget = FindingView(id="diagnosis-budget")
        self.border_title = Content("diagnosis by Claude")

    def compose(self) -> ComposeResult:
        """The conversation, the line for questions, and what it costs."""
        yield self._view
        yield self._below
        yield self._question
        yield self._budget

    # -- facts -----------------------------------------------------------------------------

    def show(self, talk: Talk | None, *, notice: str = "") -> None:
        """Show a conversation; `notice` says why Claude cannot be asked here."""
        if (talk, notice) == (self.talk, self._notice):
            self.update_talk()
            return
        if talk is not self.talk:
            self._is_new, self._was_asking = True, False
        self.talk, self._notice = talk, notice
        self._paint()

    def update_talk(self) -> None:
        """The conversation has changed: seen soon while it streams, at once when it ends."""
        is_streaming = self.talk is not None and self.talk.is_asking and self._was_asking
        if not is_streaming or (self.talk is not None and self.talk.is_stopping):
            self._paint()
        elif self._painting is not None:
            self._is_waiting = True
        else:
            self._paint()
            self._painting = self.set_timer(PAINT_SECONDS, self._paint_again)

    def show_newest(self) -> None:
        """Begin at the newest opinion: it was kept, and has just been laid out."""
        self._paint()
        self._show_answer()
        self._look()

    # -- keys ------------------------------------------------------------------------------

    @property
    def pointed(self) -> Point | None:
        """What is under the cursor."""
        target = self._view.target
        return target if isinstance(target, Point) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that would do nothing here are left to others (escape also ends a zoom)."""
        point, talk = self.pointed, self.talk
        match action:
            case "stop":
                return talk is not None and talk.is_busy and not talk.is_stopping
            case "question":
                return talk is not None and talk.can_follow_up
            case "adopt":
                return self._cause is not None
            case "copy_fix":
                return point is not None and point.remedy is not None
            case "open":
                return point is not None and not self._question.is_typing
            case _:
                return True

    def action_open(self) -> None:
        """Go to what is cited, unfold what is folded, ask where that is offered."""
        point = self.pointed
        if point is None:
            return
        if point.is_start:
            self.post_message(self.Wanted())
        elif point.fold is not None:
            self._layout_of.fold(point.fold)
            self._view.is_following = False
            self._paint()
            self._seen_rows = self._view.virtual_size.height
            self._look()
        elif point.cited is not None:
            self.post_message(self.PlaceChosen(point.cited))
        elif point.opined is not None:
            shown = next((piece for piece in point.opined.evidence if piece.ref), None)
            if shown is not None:
                self.post_message(self.PlaceChosen(shown))
        else:
            self.action_copy_fix()

    def action_adopt(self) -> None:
        """Say which cause is meant; whoever owns the checklist decides what it means."""
        if self._cause is not None:
            self.post_message(self.Adopted(self._cause))

    def action_copy_fix(self) -> None:
        """Copy the fix under the cursor, unless it could do harm."""
        fix = self.pointed.remedy if self.pointed is not None else None
        if fix is None:
            return
        text = copied_text(fix)
        if not text:
            self.notify(refusal(fix), title="Careful", severity="warning", markup=False)
            return
        copy(self.app, text)
        self.notify(printable(text), title="Copied", timeout=2, markup=False)

    def action_question(self) -> None:
        """Begin to write."""
        self._question.open()

    def action_stop(self) -> None:
        """End what is under way."""
        self.post_message(self.Stopped())

    def action_move(self, direction: int) -> None:
        """To the next place that one can point at."""
        self._view.move(direction)
        self._look()

    def action_page(self, direction: int) -> None:
        """A page up or down."""
        self._view.move_page(direction)
        self._look()

    def action_end(self, direction: int) -> None:
        """To the first place; or to the last, and along with what comes."""
        if direction > 0 and self._is_unread:
            self._show_answer()
        elif direction > 0:
            self._view.follow()
        else:
            self._view.move_to_end(-1)
        self._look()

    def on_question_bar_entered(self, message: QuestionBar.Entered) -> None:
        """Ask, if there is somebody to answer; else what was written stays."""
        message.stop()
        if self.talk is None or not self.talk.can_follow_up:
            is_busy = self.talk is not None and self.talk.is_busy
            why = "Claude is not done yet" if is_busy else "This conversation is over; c asks anew"
            self.notify(f"{why}. What you wrote stays.", severity="warning", markup=False)
            return
        self._question.clear()
        self.screen.set_focus(self)
        self._view.follow()
        self.post_message(self.Questioned(message.text))

    def on_question_input_left(self, message: QuestionInput.Left) -> None:
        """Read on; what was written stays."""
        message.stop()
        self.screen.set_focus(self)
        self._paint()

    def on_question_bar_refused(self, message: QuestionBar.Refused) -> None:
        """Say why; what was written stays."""
        message.stop()
        self.notify(message.sentence, severity="warning", markup=False)

    def on_finding_view_clicked(self, message: FindingView.Clicked) -> None:
        """A click points; on what is folded, and on the way to ask, it does what Enter does."""
        message.stop()
        if message.view is not self._view:
            return
        self._view.set_cursor(message.index)
        self._look()
        point = self.pointed
        if point is not None and (point.is_start or point.fold is not None):
            self.action_open()

    @property
    def _cause(self) -> OpinedCause | None:
        """The cause under the cursor, or the first of the newest opinion."""
        point = self.pointed
        if point is not None and point.opined is not None:
            return point.opined
        page = self.talk.page if self.talk is not None else None
        return page.causes[0] if page is not None and page.causes else None

    # -- drawing ---------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Lay out anew."""
        self._paint()

    def on_show(self) -> None:
        """What came while nobody looked."""
        self._paint()

    def on_descendant_focus(self) -> None:
        """Somebody begins to write."""
        self._look()

    def on_descendant_blur(self) -> None:
        """Somebody has written."""
        self._look()

    def on_focus(self) -> None:
        """The cursor becomes the one that keys move."""
        self._look()

    def on_blur(self) -> None:
        """The cursor rests."""
        self._look()

    def _paint_again(self) -> None:
        self._painting = None
        if self._is_waiting:
            self._paint()
            self._painting = self.set_timer(PAINT_SECONDS, self._paint_again)

    def _paint(self) -> None:
        """Lay out what changed, and paint what differs."""
        self._is_waiting = False
        talk, width = self.talk, self.size.width
        if not (width and self.size.height and self.is_mounted and self.display):
            return
        has_ended = self._was_asking and not (talk is not None and talk.is_asking)
        has_begun = not self._was_asking and talk is not None and talk.is_asking
        self._was_asking = talk is not None and talk.is_asking
        blocks = self._layout_of.blocks(talk, self._text_width, self._notice)
        view = self._view
        if self._is_new or has_begun:
            view.is_following = talk is not None and talk.is_asking
        was_following = view.is_following
        if has_ended and talk is not None and talk.turns[-1].page is not None:
            view.is_following = False
        view.show(blocks, is_new=self._is_new)
        if self._is_new:
            self._seen_rows, self._is_unread = view.virtual_size.height, False
        if has_ended and was_following and talk is not None and talk.turns[-1].page is not None:
            self._show_answer()
        elif has_ended and talk is not None:
            self._is_unread = talk.turns[-1].page is not None
        self._is_new = False
        about = f": {clean(talk.about)}" if talk is not None and talk.about else ""
        self.border_title = Content(clip(f"diagnosis by Claude{about}", max(8, width - 4)))
        self._tick_while_asking()
        self._look()

    def _show_answer(self) -> None:
        """Who followed the stream wants to read its result from the beginning."""
        turns = self.talk.turns if self.talk is not None else []
        number = next((n for n in reversed(range(len(turns))) if turns[n].page is not None), None)
        if number is not None:
            key = ("turn", number)
            self._view.show_from((key, "head"), (key, "cause", 1))
            self._seen_rows, self._is_unread = self._view.virtual_size.height, False

    @property
    def _text_width(self) -> int:
        return max(1, self.size.width - GUTTER - MARGIN - SCROLLBAR)

    def _look(self) -> None:
        """What stands around the conversation, and which keys do something."""
        talk, view = self.talk, self._view
        rows = view.virtual_size.height
        if view.is_following or talk is None:
            self._seen_rows, self._is_unread = rows, False
        width = self._text_width
        is_more = self._is_unread or (
            talk is not None and talk.is_asking and rows > self._seen_rows
        )
        self._below.display = is_more
        if is_more:
            said = _ANSWERED if self._is_unread else _BELOW
            self._below.show([plain(fit((Span(said, "key"),), width))], is_new=False)
        can_ask = talk is not None and talk.can_follow_up
        self._question.display = can_ask or self._question.is_typing
        has_cost = talk is not None and (bool(talk.turns) or talk.is_busy)
        self._budget.display = has_cost
        if talk is not None and has_cost:
            self._budget.show([plain(budget_line(talk, width))], is_new=False)
        view.set_active(self.has_focus)
        actions = ("stop", "question", "adopt", "copy_fix", "open")
        offered = tuple(bool(self.check_action(action, ())) for action in actions)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def _tick_while_asking(self) -> None:
        if self._was_asking and self._ticking is None:
            self._ticking = self.set_interval(1.0, self._look)
        elif not self._was_asking and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
