"""Two runs side by side: curves over one another, and what became of each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.screen import Screen
from textual.widgets import Footer, Static

from ..change_text import Verdict, change_of
from ..engine.protocol import CompareRow, Comparison, Curves
from ..escaping import printable
from ..quantities import short_value
from ..widgets.compare_table import CompareTable, place_of, usual_place

if TYPE_CHECKING:
    from ..widgets.curves_pane import CurvesPane


class CompareScreen(Screen[None]):
    """Before and after; `curves` is whatever shows them over one another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "app.overlay", "Draw another run", id="compare.overlay"),
        Binding("tab", "app.focus_next", "Curves or table", id="compare.next"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="compare.leave"),
    ]
    AUTO_FOCUS = "CompareTable"
    table = query_one(CompareTable)

    def __init__(
        self,
        before_name: str,
        after_name: str,
        comparison: Comparison | None = None,
        curves: CurvesPane | None = None,
    ) -> None:
        super().__init__()
        self._names = (before_name, after_name)
        self._comparison = comparison
        self._curves = curves

    def compose(self) -> ComposeResult:
        """The runs, their curves, their numbers, more about one metric."""
        yield Static(id="compare-runs", markup=False)
        with Container(id="compare-curves"):
            if self._curves is not None:
                yield self._curves
        with Container(id="compare-metrics", classes="pane") as pane:
            pane.border_title = Content("metrics")
            yield CompareTable(id="compare-table")
            yield Static(id="compare-more", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show what is known so far."""
        self.query_one("#compare-curves").display = self._curves is not None
        self._show()

    def set_comparison(self, comparison: Comparison) -> None:
        """There are numbers, or newer ones."""
        self._comparison = comparison
        if self.is_mounted:
            self._show()

    def set_curves(self, curves: Curves) -> None:
        """There are curves, or newer ones; they may be somebody else's."""
        if self._curves is not None:
            self._curves.set_curves(curves)

    def _show(self) -> None:
        rows = self._comparison.rows if self._comparison is not None else ()
        is_waiting = self._comparison is None
        self.table.set_empty("comparing..." if is_waiting else "these runs have logged no metric")
        self.table.set_rows(rows)
        place = usual_place(rows)
        verdicts = [change_of(row).verdict for row in rows]
        better, worse = verdicts.count(Verdict.BETTER), verdicts.count(Verdict.WORSE)
        before, after = (printable(name) for name in self._names)
        parts: list[str | tuple[str, str]] = [
            ("before ", "$quiet"), (before, "bold $chart-1"),
            ("  after ", "$quiet"), (after, "bold $chart-2"),
        ]  # fmt: skip
        self._say("#compare-runs", Content.assemble(*parts))
        pane = self.query_one("#compare-metrics")
        counted = f"▲ {better} better, ▼ {worse} worse" if rows else ""
        told = ", ".join(filter(None, (counted, place and f"medians at {place}")))
        # Setting it draws the whole pane again, even to the same text.
        if (pane.border_subtitle or "") != told:
            pane.border_subtitle = Content(told)

    def _say(self, selector: str, content: Content) -> None:
        line = self.query_one(selector, Static)
        if line.content != content:
            line.update(content)

    def on_compare_table_pointed(self, event: CompareTable.Pointed) -> None:
        """Say about one metric what its line has no room for."""
        event.stop()
        content = Content("") if event.row is None else _described(event.row)
        self._say("#compare-more", content)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()


def _described(row: CompareRow) -> Content:
    """One metric in a sentence."""
    change = change_of(row)
    sides = (("before", row.before, row.before_best), ("after", row.after, row.after_best))
    if change.verdict is Verdict.MISSING:
        said = "only " + next((side for side, value, _ in sides if value is not None), "named")
    else:
        said = f"{change.verdict.glyph} {change.verdict}"
    best = [f"{short_value(value)} {side}" for side, _, value in sides if value is not None]
    parts = [f"best {', '.join(best)}" if best else "", place_of(row)]
    return Content.assemble(
        (printable(row.name), "bold"),
        (f"  {said}", f"${change.verdict.meaning}"),
        ("  " + ", at ".join(filter(None, parts)), "$quiet"),
    )
