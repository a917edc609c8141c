"""A form over whatever lies behind it: all by keyboard, and nothing typed is lost by a slip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Static

from ..ascii_filter import key_sign
from ..escaping import printable
from ..forms.field import Field, Kind, Values, neutral, tidy
from ..forms.form import Form, problems_of
from ..widgets.form_fields import (
    ChoiceField,
    Edited,
    FormField,
    LineField,
    TextField,
    Touched,
    field_widget,
)

Result = TypeVar("Result")
_DISCARD = "Discard what you typed? Esc again discards, any other key goes on"
_CHROME = 4
"""Lines of the dialog besides note, fields and hint: border, blank line, keys."""
_AIR = 2
"""Lines more where there is room for blank ones."""
_MOST_HINT = 3
_TEXT_LINES = (3, 8)
"""Least and most lines of a text where there is room; the stylesheet says the same."""


class FormScreen(ModalScreen[dict[str, str] | None]):
    """Ends with the answers by key once `check` has nothing against them, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Some terminals keep Ctrl+S for themselves; Ctrl+J is a plain byte, and so gets through.
        Binding("ctrl+s,f2,ctrl+j,ctrl+enter", "accept", "Accept", key_display="^s",
                id="form.accept"),
        Binding("tab", "app.focus_next", "Next field", show=False, id="form.tab"),
        Binding("shift+tab", "app.focus_previous", "Field before", show=False, id="form.back"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="form.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="form.page_up"),
        Binding("escape", "leave", "Cancel", id="form.close"),
    ]  # fmt: skip
    AUTO_FOCUS = ""
    _body = query_one("#form-fields", VerticalScroll)
    _hint = query_one("#form-hint", Static)

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        check: Callable[[dict[str, str]], dict[str, str]],
        note: str = "",
        accept_label: str = "Save",
        asides: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._caption = title
        self._check = check
        self._note = note
        self._asides = tuple(asides)
        self._accept_label = accept_label
        self._fields = tuple(fields)
        self._widgets: dict[str, FormField] = {}
        """What answers the questions that are not locked."""
        self._problems: dict[str, str] = {}
        self._checked: dict[str, str] = {}
        """The answers that the problems are about."""
        self._is_asking = False
        """Escape was pressed once, and there is something to lose."""

    # -- what there is to see -----------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """What to know, the questions, and what to enter in the current one."""
        with Vertical(id="form", classes="dialog") as dialog:
            dialog.border_title = Content(printable(self._caption))
            if self._note:
                yield Static(Content(neutral(self._note)), id="form-note")
            if self._asides:
                lines = "\n".join(map(printable, self._asides))
                yield Static(Content(lines), id="form-asides")
            with VerticalScroll(id="form-fields", can_focus=False):
                for field in self._fields:
                    yield from self._row(field)
            yield Static(id="form-hint", markup=False)
            yield Static(id="form-keys", markup=False)

    def _row(self, field: Field) -> ComposeResult:
        with Horizontal(classes="form-row"):
            needed = (" *", "bold $key") if field.is_required else ("", "")
            label = Content.assemble(printable(field.label), needed)
            yield Static(label, classes="form-label")
            with Vertical(classes="form-answer"):
                if field.is_locked:
                    yield Static(Content(_shown(field)), classes="form-locked")
                else:
                    yield self._widgets.setdefault(field.key, field_widget(field))
                    problem = Static(classes="form-problem", id=_problem_id(field.key))
                    problem.display = False
                    yield problem

    def on_mount(self) -> None:
        """Begin with the first answer that is missing."""
        asked = [field for field in self._fields if not field.is_locked]
        missing = (field for field in asked if field.is_required and not tidy(field.first_value))
        first = next(missing, None) or next(iter(asked), None)
        if first is not None:
            self.set_focus(self._widgets[first.key])
        self._tell()

    def on_resize(self, event: Resize) -> None:
        """The questions scroll where the screen is too low for them."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        width = max(1, self._hint.size.width)
        longest = max((cell_len(field.hinted(self.values)) for field in self._fields), default=0)
        lines = max(1, min(_MOST_HINT, -(-longest // width)))
        self._hint.styles.min_height = lines
        above = sum(one.outer_size.height + 1 for one in self.query("#form-note, #form-asides"))
        room = self.size.height - _CHROME - lines - above
        told = sum(one.size.height for one in self.query(".form-problem") if one.display)
        airy = sum(map(self._height, self._fields)) + len(self._fields) + told
        is_dense = airy > room - _AIR
        self.set_class(is_dense, "-dense")
        self._body.styles.max_height = max(3, room if is_dense else room - _AIR)

    def _height(self, field: Field) -> int:
        """Lines of an answer where there is room; not of the widget, which may be denser now."""
        if field.kind is Kind.TEXT and not field.is_locked:
            return min(_TEXT_LINES[1], max(_TEXT_LINES[0], field.first_value.count("\n") + 1))
        widget = self._widgets.get(field.key)
        return widget.size.height if widget is not None else _shown(field).count("\n") + 1

    @on(DescendantFocus)
    def _tell(self) -> None:
        """Say what to enter here, what is wrong with all of it, or what Escape would do."""
        problem = self._problems.get("", "")
        if self._is_asking:
            said = Content.styled(_DISCARD, "bold $severity-warning")
        elif problem:
            said = Content.styled(f"✖ {printable(problem)}", "$severity-critical")
        else:
            said = Content.styled(printable(self._advice()), "$quiet")
        self._hint.update(said)
        self.query_one("#form-keys", Static).update(self._keys())

    def _advice(self) -> str:
        widget = self._current
        if widget is None:
            return ""
        hint = widget.field.hinted(self.values)
        typed = widget.answer.strip().casefold()
        if not widget.field.suggestions or not typed:
            return hint
        matching = [one for one in widget.field.suggestions if typed in one.casefold()]
        return "  ".join(matching[:8]) if matching and matching != [widget.answer] else hint

    def _keys(self) -> Content:
        widget = self._current
        keys = [("^s", self._accept_label)]
        if isinstance(widget, ChoiceField):
            keys.append(("← →", "choose"))
        elif isinstance(widget, TextField):
            keys.append(("enter", "new line"))
        elif isinstance(widget, LineField) and widget.field.suggestions:
            keys.append(("→", "complete"))
        keys += [("tab", "next"), ("esc", "cancel")]
        parts = [
            Content.assemble((key_sign(self.app, key), "bold $key"), (f" {does}", "$quiet"))
            for key, does in keys
        ]
        return Content("   ").join(parts)

    # -- answers ------------------------------------------------------------------------------

    @property
    def values(self) -> dict[str, str]:
        """All answers as they would be kept."""
        return {
            field.key: field.value if field.is_locked else tidy(self._widgets[field.key].answer)
            for field in self._fields
        }

    @property
    def is_changed(self) -> bool:
        """True if there is something to lose."""
        asked = (field for field in self._fields if not field.is_locked)
        return any(self._widgets[f.key].answer != f.first_value for f in asked)

    @property
    def problems(self) -> dict[str, str]:
        """What is wrong with the answers, as far as it is shown."""
        return dict(self._problems)

    @property
    def _current(self) -> FormField | None:
        return next((w for w in self._widgets.values() if w is self.focused), None)

    def on_edited(self, event: Edited) -> None:
        """An answer is another one: what was wrong with it may be right now."""
        event.stop()
        values = self.values
        # The news may be older than the check: then it is about what was checked.
        if values != self._checked:
            self._problems.pop("", None)
        if values[event.key] != self._checked.get(event.key) and self._problems.pop(event.key, ""):
            self._show_problem(event.key)
        self._tell()

    def on_touched(self, event: Touched) -> None:
        """Any key but Escape means to go on."""
        event.stop()
        if self._is_asking:
            self._is_asking = False
            self._tell()

    def action_pass_on(self, by: int, is_enter: bool = False) -> None:
        """Go to a neighbour; Enter on the last one accepts."""
        widget = self._current
        if widget is None:
            return
        keys = list(self._widgets)
        place = keys.index(widget.field.key) + by
        if 0 <= place < len(keys):
            self.set_focus(self._widgets[keys[place]])
        elif is_enter:
            self.action_accept()

    def action_page(self, by: int) -> None:
        """Look further up or down."""
        self._body.scroll_relative(y=by * max(1, self._body.size.height - 2), animate=False)

    # -- leaving ------------------------------------------------------------------------------

    def action_accept(self) -> None:
        """End with the answers, or show what is wrong with them."""
        if not self.is_current:
            return  # the key was pressed twice, and the first one has closed it
        values = self.values
        self._is_asking = False
        shown = {*self._problems}
        self._problems, self._checked = self._check(values), values
        if not self._problems:
            self.dismiss(values)
            return
        unknown = [said for key, said in self._problems.items() if key not in self._widgets]
        if unknown:
            self._problems[""] = "; ".join(unknown)
        for key in {*shown, *self._problems}:
            self._show_problem(key)
        faulty = next((key for key in self._widgets if key in self._problems), None)
        if faulty is not None:
            self.set_focus(self._widgets[faulty])
            # Its problem has just appeared below it, and is to be seen too.
            line = self.query_one(f"#{_problem_id(faulty)}", Static)
            self.call_after_refresh(self._make_room_for, line)
        self._tell()

    def _make_room_for(self, line: Static) -> None:
        self._fit()
        self.call_after_refresh(self._body.scroll_to_widget, line, animate=False)

    def _show_problem(self, key: str) -> None:
        if key not in self._widgets:
            return
        line = self.query_one(f"#{_problem_id(key)}", Static)
        said = self._problems.get(key, "")
        line.display = bool(said)
        line.update(Content(f"✖ {printable(said)}" if said else ""))

    def action_leave(self) -> None:
        """Leave; if something was typed, only when asked twice."""
        if not self.is_current:
            return
        if self.is_changed and not self._is_asking:
            self._is_asking = True
            self._tell()
        else:
            self.dismiss(None)


def form_screen(
    form: Form[Result], attempt: Callable[[Result], object] | None = None
) -> FormScreen:
    """The screen of a form; `attempt` may try what its answers ask for before it closes."""

    def check(values: Values) -> dict[str, str]:
        return problems_of(form, values, attempt)

    return FormScreen(form.title, form.fields, check, form.note, form.accept_label, form.asides)


def _problem_id(key: str) -> str:
    return f"form-problem-{key}"


def _shown(field: Field) -> str:
    if field.kind is Kind.CHOICE:
        return printable(dict(field.choices)[field.first_value])
    return neutral(field.value) or "–"
