"""Help: every command that there is, made from the bindings themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.events import Resize
from textual.getters import query_one
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from ..keymap import bindings_of, remapped
from ..widgets.steady_input import SteadyInput

Group = tuple[str, Sequence[Binding]]
Entry = tuple[str, str]
"""Keys as they are written on the keyboard, and what they do."""
Block = tuple[str, Sequence[Entry]]

TWO_COLUMNS = 64
"""Cells from which two columns are easier to read than one."""
GAP = 3
MOST_FOR_KEYS = 16


def help_groups(
    owners: Iterable[tuple[str, type[DOMNode]]],
    keymap: Mapping[str, str],
    focused: DOMNode | None = None,
) -> list[Group]:
    """Commands by title, with the keys they have now; those of the focused pane come first."""
    around = [] if focused is None else focused.ancestors_with_self
    panes = [node for node in around if not isinstance(node, Screen | App)]
    first: dict[str, list[Binding]] = {}
    others: dict[str, list[Binding]] = {}
    for title, kind in owners:
        groups = first if any(isinstance(pane, kind) for pane in panes) else others
        shown = [remapped(binding, keymap) for binding in bindings_of(kind) if binding.description]
        groups.setdefault(title, []).extend(shown)
    return [(title, shown) for title, shown in (*first.items(), *others.items()) if shown]


class HelpScreen(ModalScreen[None]):
    """All keys, grouped by pane; `/` leaves only what matches."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="help.close"),
        Binding("question_mark,q", "dismiss", "Close", show=False, id="help.leave"),
        Binding("slash", "filter", "Filter", key_display="/", id="help.filter"),
        Binding("down,j", "scroll(1)", "Down", show=False, id="help.down"),
        Binding("up,k", "scroll(-1)", "Up", show=False, id="help.up"),
        Binding("pagedown,space", "page(1)", "Page down", show=False, id="help.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="help.page_up"),
    ]
    AUTO_FOCUS = "VerticalScroll"
    _field = query_one("#help-filter", Input)
    _scroll = query_one(VerticalScroll)
    _table = query_one("#help-table", Static)

    def __init__(self, groups: Sequence[Group]) -> None:
        super().__init__()
        self._groups = groups

    def compose(self) -> ComposeResult:
        """A box with a table that scrolls."""
        with Vertical(id="help", classes="dialog") as box:
            box.border_title = "Keys"
            box.border_subtitle = "/ filter   esc close"
            yield SteadyInput(placeholder="part of a key or of what it does", id="help-filter")
            with VerticalScroll():
                yield Static(id="help-table")

    def on_mount(self) -> None:
        """The filter appears when it is asked for."""
        self._field.display = False

    def on_resize(self, event: Resize) -> None:
        """The number of columns depends on the width."""
        self.call_after_refresh(self._fill)

    @on(Input.Changed)
    def _fill(self) -> None:
        # The scroll bar needs a cell that the table then does not have.
        width = self._scroll.scrollable_content_region.width or self._scroll.size.width
        wanted = self._field.value if self._field.display else ""
        lines = lay_out(matching(self._blocks(), wanted), width)
        self._table.update(Content("\n").join(lines) if lines else Content("nothing matches"))

    def _blocks(self) -> list[Block]:
        return [
            (title, [(self._keys(binding), binding.description) for binding in bindings])
            for title, bindings in self._groups
        ]

    def _keys(self, binding: Binding) -> str:
        if binding.key_display:
            return binding.key_display
        each = Binding.make_bindings([Binding(binding.key, binding.action)])
        return " ".join(dict.fromkeys(self.app.get_key_display(one) for one in each))

    def action_filter(self) -> None:
        """Show only what matches what is typed now."""
        self._field.display = True
        self.set_focus(self._field)

    @on(Input.Submitted)
    def _accept(self) -> None:
        self.set_focus(self._scroll)

    def action_leave(self) -> None:
        """Give up the filter first, and the help then."""
        if not self._field.display:
            self.dismiss()
            return
        self._field.value = ""
        self._field.display = False
        self.set_focus(self._scroll)
        self._fill()

    def action_scroll(self, lines: int) -> None:
        """Move by lines."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self._scroll.scroll_relative(y=pages * self._scroll.size.height, animate=False)


def matching(blocks: Iterable[Block], wanted: str) -> list[Block]:
    """Only the entries that hold every wanted word, in their keys, words or title."""
    words = wanted.lower().split()
    kept = (
        (title, [e for e in entries if all(w in f"{e[0]} {e[1]} {title}".lower() for w in words)])
        for title, entries in blocks
    )
    return [(title, entries) for title, entries in kept if entries]


def lay_out(blocks: Sequence[Block], width: int) -> list[Content]:
    """The lines of the table, in one column or in two of about the same height."""
    if width < TWO_COLUMNS or not blocks:
        return _column(blocks, max(width, 1))
    half = (width - GAP) // 2
    columns = min(
        ((_column(blocks[:at], half), _column(blocks[at:], half)) for at in range(len(blocks) + 1)),
        key=lambda pair: max(len(pair[0]), len(pair[1])),
    )
    height = max(map(len, columns))
    left, right = ([*column, *[Content(" " * half)] * (height - len(column))] for column in columns)
    return [Content.assemble(one, " " * GAP, other) for one, other in zip(left, right, strict=True)]


def _column(blocks: Sequence[Block], width: int) -> list[Content]:
    longest = max((cell_len(keys) for _, entries in blocks for keys, _ in entries), default=0)
    for_keys = min(longest, MOST_FOR_KEYS, width // 2)
    lines: list[Content] = []
    for title, entries in blocks:
        if lines:
            lines.append(Content(" " * width))
        lines.append(Content.styled(_fitted(title, width), "bold $heading"))
        for keys, description in entries:
            lines.append(
                Content.assemble(
                    (_fitted(keys, for_keys), "bold $key"),
                    "  ",
                    _fitted(description, width - for_keys - 2),
                )
            )
    return lines


def _fitted(text: str, width: int) -> str:
    if cell_len(text) > width > 0:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, max(width, 0))
