"""Before anything is sent to Claude: all of it, and whether the person agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen

from ..ascii_filter import key_sign
from ..consent_text import Fact, facts, headline
from ..escaping import printable
from ..widgets.sent_page import SentPage
from .confirm import Answers

if TYPE_CHECKING:
    from textual.events import Key
    from textual.geometry import Region
    from textual.strip import Strip

    from mltd.diagnosis.preview import Preview

    from ..engine.consult_protocol import Packed

HEIGHTS = [(0, "-low"), (20, "-high"), (30, "-roomy")]
ONCE = (
    "once per session and host: later questions and their evidence go there without asking,"
    " masked no less than now"
)


class ConsentAnswers(Answers):
    """Yes and no, or why there can be no yes now; knows since when they can be read."""

    waiting: reactive[str] = reactive("")

    def __init__(self) -> None:
        super().__init__("send it", "do not send", is_yes=False)
        self.drawn_at: float | None = None
        """On the clock of events; None until what is asked now was painted."""

    def ask_anew(self, waiting: str = "") -> None:
        """Ask about something else, so a yes that was on its way is none."""
        self.is_yes = False
        self.waiting = waiting
        self.drawn_at = None
        self.refresh()

    def render(self) -> Content:
        """The answers there are."""
        if not self.waiting:
            return super().render()
        return Content.assemble(
            (f" {printable(self.waiting)}    ", "$quiet"),
            (" n ", "bold $key reverse"),
            (" do not send ", "bold"),
        )

    def render_lines(self, crop: Region) -> list[Strip]:
        """Remember when this was painted for the first time."""
        lines = super().render_lines(crop)
        if self.drawn_at is None:
            self.drawn_at = Message().time
        return lines


class ConsentScreen(ModalScreen[bool]):
    """Ends with True only if somebody who could see all of it said yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,Y", "answer(True)", "Send it", id="consent.yes"),
        Binding("n,N,q", "answer(False)", "Do not send", id="consent.no"),
        Binding("escape", "answer(False)", "Do not send", id="consent.close"),
        Binding("r", "redact", "Mask users, hosts and paths, or not", id="consent.redact"),
        Binding("v", "switch", "The text, or the facts about it", id="consent.view"),
        Binding("down,j", "move(1)", "Down", show=False, id="consent.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="consent.up"),
        Binding("pagedown,space", "turn(1)", "Page down", show=False, id="consent.page_down"),
        Binding("pageup", "turn(-1)", "Page up", show=False, id="consent.page_up"),
        Binding("home,g", "end(False)", "Beginning", show=False, id="consent.first"),
        Binding("end,G", "end(True)", "End", show=False, id="consent.last"),
    ]
    AUTO_FOCUS = "ConsentAnswers"
    VERTICAL_BREAKPOINTS = HEIGHTS
    _answers = query_one(ConsentAnswers)
    _page = query_one(SentPage)

    @dataclass
    class RedactionWanted(Message):
        """It is to be packed anew, with users, hosts and paths masked or not; `show` ends that."""

        is_redacted: bool

    def __init__(self, packed: Packed) -> None:
        """`packed` must hold something to send."""
        super().__init__()
        if packed.preview is None:
            raise ValueError(f"there is nothing to agree to: {packed.problem}")
        self._packed = packed
        self._preview = packed.preview
        self._can_send = True

    @property
    def preview(self) -> Preview:
        """What is being agreed to."""
        return self._preview

    def compose(self) -> ComposeResult:
        """What it is, and the answers."""
        with Vertical(id="consent", classes="dialog") as box:
            box.border_title = "Send this to Claude? Nothing has been sent yet"
            yield SentPage(id="consent-page")
            yield ConsentAnswers()

    def on_mount(self) -> None:
        """Fill it."""
        self._fill()

    def show(self, packed: Packed) -> None:
        """Replace what is shown, and ask anew; without a preview nothing can be sent."""
        self._packed = packed
        self._preview = packed.preview or self._preview
        self._can_send = packed.preview is not None
        if self.is_mounted:
            self._answers.ask_anew("" if self._can_send else "nothing can be sent")
            self._fill()

    def _fill(self) -> None:
        packed, preview = self._packed, self._preview
        if packed.preview is None:
            self._page.show(packed.problem, [Fact("to do", packed.hint)], "")
        else:
            known = [*facts(preview), Fact("asked", ONCE)]
            self._page.show(headline(preview), known, packed.text)
        self._tell_keys()

    def _tell_keys(self) -> None:
        names = "unmask names" if self._preview.is_redacted else "mask names"
        words = (("v", "text/facts"), ("r", names), ("↑↓", "scroll"))
        parts = [
            Content.assemble((key_sign(self.app, key), "bold $key"), (f" {what}", "$quiet"))
            for key, what in words
        ]
        self.query_one("#consent").border_subtitle = Content("  ").join(parts)

    # -- keys ------------------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        """Stop keys that were pressed before what they answer was on screen."""
        drawn_at = self._answers.drawn_at
        is_ahead = drawn_at is None or event.time <= drawn_at
        # The way out is always open: it agrees to nothing.
        if is_ahead and event.key != "escape":
            event.stop()
            event.prevent_default()

    def action_answer(self, is_yes: bool) -> None:
        """End with this answer, if it can be given now."""
        if self.is_current and (self._can_send or not is_yes):
            self.dismiss(is_yes)

    def action_redact(self) -> None:
        """Have it packed anew the other way; until then there is nothing to agree to."""
        if self._answers.waiting and self._packed.preview is not None:
            return
        self._can_send = False
        self._answers.ask_anew("packing anew...")
        self.post_message(self.RedactionWanted(not self._preview.is_redacted))

    def action_switch(self) -> None:
        """Go to the text, or back."""
        self._page.switch()

    def action_move(self, rows: int) -> None:
        """Scroll by rows."""
        self._page.move(rows)

    def action_turn(self, pages: int) -> None:
        """Scroll by pages."""
        self._page.turn(pages)

    def action_end(self, is_last: bool) -> None:
        """Scroll to an end."""
        self._page.go_to_end(is_last=is_last)
