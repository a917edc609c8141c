"""Jumps between panes: from evidence to its place, from a line to the curve and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.getters import query_one
from textual.screen import Screen
from textual.widget import Widget

from ..engine.curve_protocol import HeatRequest, Place, PlaceRequest
from ..engine.protocol import Wish
from ..run_book import RunBook
from ..widgets.log_pane import LogPane

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Evidence

    from ..evidence_place import SeriesPlace
    from ..widgets.curves_pane import CurvesPane
    from ..widgets.findings_pane import FindingsPane
    from ..widgets.heat_map import HeatMap

FIRST_TICKET = 1_000_000
"""Far from those that panes of curves count up from 1."""


class JumpingScreen(Screen[None]):
    """A screen whose panes lead to one another."""

    book: RunBook
    curves: CurvesPane
    findings: FindingsPane
    heat: HeatMap
    log_pane = query_one("#log", LogPane)

    def __init__(self) -> None:
        super().__init__()
        self._tickets = FIRST_TICKET
        self._jump: tuple[int, str, bool] = (0, "", False)
        """Ticket of the jump under way, its axis, and whether it leads to the log."""

    def wish(self, wish: Wish) -> None:
        """Ask the engine for something."""
        raise NotImplementedError

    def reveal(self, pane: Widget) -> None:
        """Bring a pane into view and focus it."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Tell the user in a notice why nothing happens."""
        self.notify(text, markup=False)

    def on_findings_pane_evidence_chosen(self, event: FindingsPane.EvidenceChosen) -> None:
        """Show the place that a piece of evidence names."""
        self.show_evidence(event.run, event.evidence)

    def show_evidence(self, run: int, evidence: Evidence) -> None:
        """Show the place that a piece of evidence about a run names."""
        from ..evidence_place import LinePlace, SeriesPlace, place_of

        place = place_of(evidence)
        if isinstance(place, SeriesPlace):
            self._show_metric(run, place)
        elif isinstance(place, LinePlace):
            path = self.book.find_path(run, place.name)
            if path is None:
                self.say(f"{place.name} is not one of this run's logs")
            else:
                self.reveal(self.log_pane)
                self.log_pane.show_line(path, place.line)
        else:
            self.say(f"{evidence.ref} has no line in the log and no place on a curve")

    def _show_metric(self, run: int, place: SeriesPlace) -> None:
        info = self.book.find_series(run, place.name)
        if info is None:
            self.say(f"{place.name} is not drawn")
            return
        self.reveal(self.curves)
        self.curves.choose(info.key)
        if place.x is not None:
            self.curves.show_x(info.axes[0] if info.axes else "step", place.x)

    def on_curves_pane_wanted(self, event: CurvesPane.Wanted) -> None:
        """Curves are drawn from what the engine keeps."""
        event.stop()
        self.wish(event.request)

    def on_curves_pane_line_wanted(self, event: CurvesPane.LineWanted) -> None:
        """Find the line that logged a point."""
        self._ask(PlaceRequest(0, event.run, x=event.x, axis=event.axis, key=event.key))

    def on_log_pane_place_wanted(self, event: LogPane.PlaceWanted) -> None:
        """Find the point that a line logged."""
        axis = self.curves.axis
        self._ask(PlaceRequest(0, self.book.selected, event.path, event.line, axis=axis))

    def _ask(self, request: PlaceRequest) -> None:
        self._tickets += 1
        self._jump = (self._tickets, request.axis, request.x is not None)
        asked = PlaceRequest(
            self._tickets, request.run, request.path, request.line, request.x, request.axis,
            request.key,
        )  # fmt: skip
        self.wish(asked)

    def arrive(self, place: Place) -> None:
        """The engine knows where a jump leads."""
        ticket, axis, leads_to_log = self._jump
        if place.ticket != ticket:
            return
        if leads_to_log and place.line:
            self.reveal(self.log_pane)
            self.log_pane.show_line(place.path, place.line)
        elif not leads_to_log and place.x is not None:
            self.reveal(self.curves)
            self.curves.show_x(axis, place.x)
        elif leads_to_log:
            self.say("the line of this point is in no file any more")
        else:
            self.say("no point of a curve belongs to this line")

    def on_heat_map_wanted(self, event: HeatMap.Wanted) -> None:
        """Norms per layer, in as many columns as there is room for."""
        self.want_heat(event.columns)

    def on_heat_map_place_chosen(self, event: HeatMap.PlaceChosen) -> None:
        """Show the curves at a step of the heat map."""
        self.reveal(self.curves)
        self.curves.show_x("step", event.x)

    def want_heat(self, columns: int = 0) -> None:
        """Ask for the norms of the selected run."""
        wanted = columns or self.heat.columns
        self._tickets += 1
        wished = self.heat.quantity
        self.wish(HeatRequest(self._tickets, self.book.selected, wanted, quantity=wished))
