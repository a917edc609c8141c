"""The dialog that asks which lines of the log are shown."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from mltd.runs.sources.line_level import ERROR, WARNING
from mltd.runs.sources.line_scan import Conditions, PatternError, compile_pattern

from ..widgets.steady_input import SteadyInput

LEVELS = (("", "all"), (WARNING, "warnings"), (ERROR, "errors"))


class LevelChoice(Widget, can_focus=True):
    """One of a few words on one line; the arrow keys choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "choose(-1)", "Less", show=False, id="log.filter_level_down"),
        Binding("right,l,space", "choose(1)", "More", show=False, id="log.filter_level_up"),
    ]

    chosen: reactive[int] = reactive(0)

    def render(self) -> Content:
        """The chosen one is told by its shape too."""
        words = [f"{'●' if n == self.chosen else '○'} {name}" for n, (_, name) in enumerate(LEVELS)]
        return Content("   ".join(words))

    def action_choose(self, direction: int) -> None:
        """Take the next one."""
        self.chosen = (self.chosen + direction) % len(LEVELS)


class LogFilterScreen(ModalScreen[Conditions | None]):
    """Gives the new conditions, empty ones to show everything, or None to change nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="log.filter_cancel"),
        Binding("ctrl+r", "clear", "Show all", id="log.filter_clear"),
        Binding("enter", "apply", "Apply", show=False, id="log.filter_apply"),
    ]

    def __init__(self, conditions: Conditions) -> None:
        super().__init__()
        self._conditions = conditions

    def compose(self) -> ComposeResult:
        """Four questions, one below the other."""
        now = self._conditions
        with Vertical(id="log-filter", classes="dialog") as dialog:
            dialog.border_title = Content("Filter the log")
            with Horizontal(classes="row"):
                yield Static("show only", classes="name")
                yield SteadyInput(now.show, id="log-filter-show", placeholder="regular expression")
            with Horizontal(classes="row"):
                yield Static("hide", classes="name")
                yield SteadyInput(now.hide, id="log-filter-hide", placeholder="regular expression")
            with Horizontal(classes="row"):
                yield Static("level", classes="name")
                choice = LevelChoice(id="log-filter-level")
                choice.chosen = [level for level, _name in LEVELS].index(now.level)
                yield choice
            with Horizontal(classes="row"):
                yield Static("rank", classes="name")
                rank = str(now.rank) if now.rank >= 0 else ""
                yield SteadyInput(rank, id="log-filter-rank", placeholder="any")
            yield Static("", id="log-filter-problem", markup=False)
            keys = "tab next   enter apply   ctrl+r show all   esc cancel"
            yield Static(Content(keys), id="log-filter-keys")

    @on(Input.Changed)
    def _check(self, event: Input.Changed) -> None:
        event.stop()
        self._read()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_apply()

    def action_apply(self) -> None:
        """Use what was typed, if it makes sense."""
        conditions = self._read()
        if conditions is not None:
            self.dismiss(conditions)

    def action_clear(self) -> None:
        """Show everything again."""
        self.dismiss(Conditions())

    def action_cancel(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)

    def _read(self) -> Conditions | None:
        """The conditions, or None and a word about what is wrong with them."""
        problem = self.query_one("#log-filter-problem", Static)
        try:
            conditions = self._conditions_typed()
        except PatternError as error:
            problem.update(Content(str(error)))
            return None
        problem.update(Content(""))
        return conditions

    def _conditions_typed(self) -> Conditions:
        show = self.query_one("#log-filter-show", Input).value
        hide = self.query_one("#log-filter-hide", Input).value
        rank = self.query_one("#log-filter-rank", Input).value.strip()
        for name, pattern in (("show only", show), ("hide", hide)):
            try:
                compile_pattern(pattern)
            except PatternError as error:
                raise PatternError(f"{name}: {error}") from None
        if rank and not (rank.isascii() and rank.isdigit() and len(rank) <= 6):
            raise PatternError("rank: a number, or nothing for all ranks")
        level = LEVELS[self.query_one(LevelChoice).chosen][0]
        return Conditions(show=show, hide=hide, level=level, rank=int(rank) if rank else -1)
