"""Two runs side by side: curves over one another, and what became of each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from ..change_text import Verdict, change_of
from ..engine.curve_protocol import CompareRow, Comparison, Curves
from ..escaping import printable
from ..quantities import short_value
from ..widgets.compare_table import CompareTable, parting_of, place_of, usual_place
from ..widgets.notice_bar import NoticeBar
from ..widgets.verdict_banner import VerdictBanner

if TYPE_CHECKING:
    from mltd.sessions.model.result import BeforeAfter

    from ..widgets.curves_pane import CurvesPane

_AROUND_ROWS = 6
"""Lines of the pane besides its rows: frame, heading, and the sentence about one of them."""


class CompareScreen(Screen[None]):
    """Before and after; `curves` is whatever shows them over one another.

    With a title it is about an experiment, whose verdict stands above everything else.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "record", "Record verdict", id="compare.record"),
        Binding("F", "end_run", "Run is over", id="compare.end_run"),
        Binding("o", "app.overlay", "Draw another run", id="compare.overlay"),
        Binding("tab", "app.focus_next", "Curves or table", id="compare.next"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="compare.leave"),
    ]
    AUTO_FOCUS = "CompareTable"
    table = query_one(CompareTable)
    banner = query_one(VerdictBanner)

    @dataclass
    class Recorded(Message):
        """The user wants this verdict written down."""

        verdict: BeforeAfter

    class RunEnded(Message):
        """The user says that the run after the change is over."""

    def __init__(
        self,
        before_name: str,
        after_name: str,
        comparison: Comparison | None = None,
        curves: CurvesPane | None = None,
        verdict: BeforeAfter | None = None,
        title: str = "",
        *,
        can_record: bool = False,
    ) -> None:
        super().__init__()
        self._names = (before_name, after_name)
        self._comparison = comparison
        self._curves = curves
        self._verdict = verdict
        self._heading = title
        self._can_record = can_record

    def compose(self) -> ComposeResult:
        """The runs, the verdict, their curves, their numbers, more about one metric."""
        yield Static(id="compare-runs", markup=False)
        yield VerdictBanner(id="compare-verdict")
        with Container(id="compare-curves"):
            if self._curves is not None:
                yield self._curves
        with Container(id="compare-metrics", classes="pane") as pane:
            pane.border_title = Content("metrics")
            yield CompareTable(id="compare-table")
            yield Static(id="compare-more", markup=False)
        yield Footer(compact=True, show_command_palette=False)
        yield NoticeBar()

    def on_mount(self) -> None:
        """Show what is known so far."""
        self.query_one("#compare-curves").display = self._curves is not None
        self._show()
        self._show_verdict()

    def set_comparison(self, comparison: Comparison) -> None:
        """There are numbers, or newer ones."""
        self._comparison = comparison
        if self.is_mounted:
            self._show()

    def set_verdict(self, verdict: BeforeAfter, *, can_record: bool) -> None:
        """There is a verdict, or a newer one; `can_record`: none was recorded for good."""
        self._verdict, self._can_record = verdict, can_record
        if self.is_mounted:
            self._show_verdict()

    def set_curves(self, curves: Curves) -> None:
        """There are curves, or newer ones; they may be somebody else's."""
        if self._curves is not None:
            self._curves.set_curves(curves)

    def _show_verdict(self) -> None:
        is_asked = bool(self._heading) or self._verdict is not None
        self.banner.display = is_asked
        if is_asked:
            self.banner.show(self._verdict, self._heading)
        self.refresh_bindings()

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
        if self._curves is not None and rows:
            # What few metrics leave over is better used by the curves.
            pane.styles.max_height = len(rows) + _AROUND_ROWS
        counted = f"▲ {better} better, ▼ {worse} worse" if rows else ""
        told = ", ".join(filter(None, (counted, place and f"levels over {place}")))
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A final verdict can be recorded; while it is preliminary, the run can be ended."""
        if action in ("record", "end_run"):
            is_preliminary = self._verdict is not None and self._verdict.is_preliminary
            is_open = self._can_record and self._verdict is not None
            return is_open and is_preliminary == (action == "end_run")
        return super().check_action(action, parameters)

    def action_record(self) -> None:
        """Say that the verdict is to be written down; whoever keeps the session does it."""
        if self._verdict is not None:
            self.post_message(self.Recorded(self._verdict))

    def action_end_run(self) -> None:
        """Say that the run is over; whoever keeps the session makes its verdict final."""
        self.post_message(self.RunEnded())

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
    axis = "point" if row.axis == "index" else row.axis
    parts = [
        f"{change.percent} ({change.interval})" if change.interval else change.percent,
        f"{change.effect} times the noise" if change.effect else "",
        f"parting at {axis} {parting_of(row.parts_at)}" if row.parts_at is not None else "",
        f"best {', '.join(best)}" if best else "",
        f"{row.points[0]} and {row.points[1]} points" if all(row.points) else "",
        place_of(row),
        f"{row.needed} more for an interval" if row.needed else "",
    ]
    return Content.assemble(
        (printable(row.name), "bold"),
        (f"  {said}", f"${change.verdict.meaning}"),
        ("  " + "; ".join(filter(None, parts)), "$quiet"),
    )
