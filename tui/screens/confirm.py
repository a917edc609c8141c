"""A question before something that cannot be taken back, or that one should know about."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from ..escaping import printable
from ..forms.field import neutral
from ..widgets.steady_input import SteadyInput


class Answers(Widget, can_focus=True):
    """Yes and no with their keys; the one that Enter takes is reversed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right,tab,h,l", "other", "The other answer", show=False, id="confirm.other"),
        Binding("enter", "take", "This answer", show=False, id="confirm.take"),
    ]
    is_yes: reactive[bool] = reactive(False)

    def __init__(self, yes: str, no: str, *, is_yes: bool) -> None:
        super().__init__(id="confirm-answers")
        self._labels = (printable(yes), printable(no))
        self.set_reactive(Answers.is_yes, is_yes)

    def render(self) -> Content:
        """Both, side by side."""
        yes, no = self._labels
        parts = [
            Content.assemble(
                (f" {key} ", "bold $key reverse" if is_taken else "bold $key"),
                (f" {label} ", "bold" if is_taken else "$quiet"),
            )
            for key, label, is_taken in (("y", yes, self.is_yes), ("n", no, not self.is_yes))
        ]
        return Content("   ").join(parts)

    def action_other(self) -> None:
        """Let Enter take the other one."""
        self.is_yes = not self.is_yes

    async def action_take(self) -> None:
        """Answer with what is marked."""
        await self.run_action(f"screen.answer({self.is_yes})")


class ConfirmScreen(ModalScreen[bool]):
    """Ends with the answer; Escape is a no, and so is Enter where something would be lost."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,Y", "answer(True)", "Yes", id="confirm.yes"),
        Binding("n,N,q", "answer(False)", "No", id="confirm.no"),
        Binding("escape", "answer(False)", "No", id="confirm.close"),
    ]
    AUTO_FOCUS = "Answers, Input"

    def __init__(
        self,
        question: str,
        what: str = "",
        *,
        yes: str = "yes",
        no: str = "no",
        is_destructive: bool = True,
        word: str = "",
    ) -> None:
        """`what` tells what will happen; `word` must be typed to agree, if it is given."""
        super().__init__()
        self._question = question
        self._what = what
        self._labels = (yes, no)
        self._is_destructive = is_destructive
        self._word = word

    def compose(self) -> ComposeResult:
        """The question, what it means, and the answers."""
        classes = "dialog is-destructive" if self._is_destructive else "dialog"
        with Vertical(id="confirm", classes=classes):
            yield Static(Content(neutral(self._question)), id="confirm-question")
            if self._what:
                yield Static(Content(neutral(self._what)), id="confirm-what")
            if self._word:
                yield SteadyInput(placeholder=f"type {printable(self._word)}", id="confirm-word")
                yield Static(self._word_keys(), id="confirm-answers")
            else:
                yield Answers(*self._labels, is_yes=not self._is_destructive)

    def _word_keys(self, said: str = "") -> Content:
        yes, no = map(printable, self._labels)
        if said:
            return Content.styled(f"✖ {said}", "$severity-critical")
        return Content.assemble(
            ("enter", "bold $key"), (f" {yes}   ", "$quiet"), ("esc", "bold $key"), f" {no}"
        )

    @on(Input.Changed)
    def _forget_problem(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one("#confirm-answers", Static).update(self._word_keys())

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() == self._word:
            self.dismiss(True)
        else:
            said = f"type {printable(self._word)} to go on, or press Esc"
            self.query_one("#confirm-answers", Static).update(self._word_keys(said))

    def action_answer(self, is_yes: bool) -> None:
        """End with this answer; a word that must be typed is not skipped by a letter."""
        if (is_yes and self._word) or not self.is_current:
            return
        self.dismiss(is_yes)
