"""The three ways to answer a question of a form: a line, a text, a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Key, Paste
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ..escaping import printable
from ..forms.field import Field, Kind, neutral
from .steady_input import SteadyInput

LONGEST_PASTE = 20_000
"""Characters; more than that is a log, and belongs into a file that one refers to."""
_GAP = 2


@dataclass
class Edited(Message):
    """An answer is another one now."""

    key: str


@dataclass
class Touched(Message):
    """A key other than Escape did something here."""


async def take_in_order(field: Widget, event: Key, *, is_text: bool) -> None:
    """Run bindings here and now, and pass on what came after the focus had left.

    Textual runs a binding only after its key has travelled up to the app, while letters are typed
    at once. Over a slow line keys come in bunches, and letters would overtake a Tab or Backspace.
    """
    focused = field.screen.focused
    if focused is not None and focused is not field:
        event.stop()
        event.prevent_default()
        focused._forward_event(Key(event.key, event.character))
    elif not is_text and (active := field.screen.active_bindings.get(event.key)):
        event.stop()
        event.prevent_default()
        if event.key != "escape":
            field.post_message(Touched())
        await field.app.run_action(active.binding.action, active.node)


def pasted(field: Widget, event: Paste) -> str:
    """The text to take in; empty if the focus has left meanwhile, and the text with it."""
    event.stop()
    event.prevent_default()
    focused = field.screen.focused
    if focused is None or focused is field:
        return neutral(event.text[:LONGEST_PASTE])
    focused._forward_event(Paste(event.text))
    return ""


class LineField(SteadyInput):
    """An answer of one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "screen.pass_on(-1)", "Field above", show=False, id="form.up"),
        Binding("down", "screen.pass_on(1)", "Field below", show=False, id="form.down"),
    ]

    def __init__(self, field: Field) -> None:
        suggester = None
        if field.suggestions:
            suggester = SuggestFromList(field.suggestions, case_sensitive=False)
        super().__init__(field.first_value, suggester=suggester, select_on_focus=False)
        self.field = field

    @property
    def answer(self) -> str:
        """What was typed."""
        return self.value

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell it in the way that all fields do."""
        event.stop()
        self.post_message(Edited(self.field.key))

    async def action_submit(self) -> None:
        """Enter goes on."""
        await self.run_action("screen.pass_on(1, True)")

    async def on_key(self, event: Key) -> None:
        """Take keys in the order in which they come."""
        await take_in_order(self, event, is_text=event.is_printable)

    def on_paste(self, event: Paste) -> None:
        """Several pasted lines become one; Textual would drop all but the first."""
        line = " ".join(pasted(self, event).split())
        if self.selection.is_empty:
            self.insert_text_at_cursor(line)
        else:
            self.replace(line, *self.selection)


class TextField(TextArea):
    """An answer of several lines, without any colours; arrow keys leave it at its ends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "leave_up", "Line or field above", show=False, id="form.line_up"),
        Binding("down", "leave_down", "Line or field below", show=False, id="form.line_down"),
    ]

    def __init__(self, field: Field) -> None:
        super().__init__(
            field.first_value,
            soft_wrap=True,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
        )
        self.field = field
        self.cursor_blink = False
        self.move_cursor(self.document.end)

    @property
    def answer(self) -> str:
        """What was typed."""
        return self.text

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Tell it in the way that all fields do."""
        event.stop()
        self.post_message(Edited(self.field.key))

    async def on_key(self, event: Key) -> None:
        """Take keys in the order in which they come; Enter is text here."""
        await take_in_order(self, event, is_text=event.is_printable or event.key == "enter")

    def on_paste(self, event: Paste) -> None:
        """Take in a pasted text, but nothing that a terminal could act on."""
        if text := pasted(self, event):
            self.move_cursor(self.replace(text, *self.selection).end_location)

    async def action_leave_up(self) -> None:
        """From the first line on to the field above."""
        if self.navigator.is_first_wrapped_line(self.cursor_location):
            await self.run_action("screen.pass_on(-1)")
        else:
            self.action_cursor_up()

    async def action_leave_down(self) -> None:
        """From the last line on to the field below."""
        if self.navigator.is_last_wrapped_line(self.cursor_location):
            await self.run_action("screen.pass_on(1)")
        else:
            self.action_cursor_down()


class ChoiceField(Widget, can_focus=True):
    """One of a few words; arrows, the space bar and first letters choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "choose(-1)", "Choice before", show=False, id="form.choose_before"),
        Binding("right,space", "choose(1)", "Next choice", show=False, id="form.choose_next"),
        Binding("up", "screen.pass_on(-1)", "Field above", show=False, id="form.up"),
        Binding("down", "screen.pass_on(1)", "Field below", show=False, id="form.down"),
        Binding("enter", "screen.pass_on(1, True)", "Next field", show=False, id="form.next"),
    ]
    chosen: reactive[int] = reactive(0)

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._words = [printable(words) for _, words in field.choices]
        first = [value for value, _ in field.choices].index(field.first_value)
        self.set_reactive(ChoiceField.chosen, first)

    @property
    def answer(self) -> str:
        """The value that was chosen."""
        return self.field.choices[self.chosen][0]

    def render(self) -> Content:
        """All of them; the chosen one is told by its shape too."""
        lines = []
        for line in packed([cell_len(word) + 2 for word in self._words], self.size.width):
            words = [self._shown(number) for number, _ in line]
            lines.append(Content(" " * _GAP).join(words))
        return Content("\n").join(lines)

    def _shown(self, number: int) -> Content:
        is_chosen = number == self.chosen
        style = "bold" if is_chosen else "$quiet"
        return Content.styled(f"{'●' if is_chosen else '○'} {self._words[number]}", style)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the words need."""
        return len(packed([cell_len(word) + 2 for word in self._words], width))

    def watch_chosen(self) -> None:
        """Tell it in the way that all fields do."""
        self.post_message(Edited(self.field.key))

    def action_choose(self, by: int) -> None:
        """Take a neighbour."""
        self.chosen = (self.chosen + by) % len(self._words)

    async def on_key(self, event: Key) -> None:
        """Take keys in the order in which they come; letters choose, but the space bar moves."""
        is_letter = event.is_printable and event.character != " "
        await take_in_order(self, event, is_text=is_letter)
        if is_letter and event.character is not None and self.screen.focused is self:
            event.stop()
            self.choose_letter(event.character)

    def on_paste(self, event: Paste) -> None:
        """A text is no choice, but it may be for the field that has the focus by now."""
        pasted(self, event)

    def choose_letter(self, letter: str) -> None:
        """Take the next choice that begins with a letter, if there is one."""
        count = len(self._words)
        for step in range(1, count + 1):
            number = (self.chosen + step) % count
            if self._words[number].casefold().startswith(letter.casefold()):
                self.chosen = number
                return

    def on_click(self, event: Click) -> None:
        """Take what the mouse points at."""
        lines = packed([cell_len(word) + 2 for word in self._words], self.size.width)
        for number, start in lines[event.y] if 0 <= event.y < len(lines) else ():
            if start <= event.x < start + cell_len(self._words[number]) + 2:
                self.chosen = number


FormField = LineField | TextField | ChoiceField


def field_widget(field: Field) -> FormField:
    """What answers a question."""
    if field.kind is Kind.CHOICE:
        return ChoiceField(field)
    return TextField(field) if field.kind is Kind.TEXT else LineField(field)


def packed(widths: Sequence[int], room: int) -> list[list[tuple[int, int]]]:
    """Numbers of words and the columns where they begin, line by line, as many as fit in each."""
    lines: list[list[tuple[int, int]]] = [[]]
    column = 0
    for number, width in enumerate(widths):
        if lines[-1] and column + width > room:
            lines.append([])
            column = 0
        lines[-1].append((number, column))
        column += width + _GAP
    return lines
