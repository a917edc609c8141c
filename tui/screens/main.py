"""The main screen: header, panes, and the traffic between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.css.query import NoMatches
from textual.getters import query_one
from textual.message import Message
from textual.widget import MountError, Widget
from textual.widgets import Static

from ..engine.curve_protocol import Curves, Heat, Place
from ..engine.protocol import (
    Diagnosed,
    Grew,
    LogFile,
    News,
    Rows,
    RunsFound,
    Select,
    SeriesChanged,
    StatusChanged,
    Wish,
)
from ..pane import tell
from ..run_book import RunBook
from ..terminal import too_small
from ..widgets.key_line import KeyLine
from ..widgets.log_pane import LogPane
from ..widgets.run_header import RunHeader
from .jumping import JumpingScreen
from .late_panes import LATE, make_late
from .run_state import state_of

if TYPE_CHECKING:
    from textual.events import Resize

    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Finding

    from ..log.reader import LogReader
    from ..widgets.checklist_pane import ChecklistPane
    from ..widgets.curves_pane import CurvesPane
    from ..widgets.diagnosis_pane import DiagnosisPane
    from ..widgets.findings_pane import FindingsPane
    from ..widgets.model_pane import ModelPane

VIEWS = {
    "overview": "",
    "curves": "curves",
    "findings": "findings",
    "log": "log",
    "heat": "heat",
    "checklist": "checklist",
    "diagnosis": "diagnosis",
    "model": "model",
}
"""Views by name, and the pane that has each of them to itself; the overview shows three."""
BREADTHS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]
"""Columns from which on another layout is used."""

HEIGHTS = [(0, "-low"), (40, "-tall")]
"""Lines from which on there is room for a fourth pane."""


class MainScreen(JumpingScreen):
    """One run at a time: what is wrong, its curves, its log."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "view('overview')", "Overview", id="view.overview", show=False),
        Binding("2", "view('curves')", "Curves", id="view.curves", show=False),
        Binding("3", "view('findings')", "Findings", id="view.findings", show=False),
        Binding("4", "view('log')", "Log", id="view.log", show=False),
        Binding("5", "view('heat')", "Gradients per layer", id="view.heat", show=False),
        Binding("6", "view('checklist')", "Checklist", id="view.checklist"),
        Binding("7", "view('diagnosis')", "Claude", id="view.diagnosis", show=False),
        Binding("8", "view('model')", "Model", id="view.model", show=False),
        Binding("c", "app.consult", "Ask Claude", id="diagnosis.ask", show=False),
        Binding("z", "zoom", "Zoom", id="view.zoom"),
        Binding("tab", "app.focus_next", "Next pane", id="view.next", show=False),
        Binding("shift+tab", "app.focus_previous", "Previous pane", id="view.previous", show=False),
        Binding("slash", "search", "Search", key_display="/", id="log.search"),
        Binding("r", "app.runs", "Runs", id="runs.pick"),
        Binding("o", "app.compare", "Compare", id="runs.compare", show=False),
        Binding("S", "app.sessions", "Sessions", id="sessions.pick", show=False),
        Binding("x", "app.report", "Report", id="sessions.report"),
        Binding("left_square_bracket", "beside(-1)", "Previous run", key_display="[",
                id="runs.previous", show=False),
        Binding("right_square_bracket", "beside(1)", "Next run", key_display="]",
                id="runs.next", show=False),
    ]  # fmt: skip
    HORIZONTAL_BREAKPOINTS = BREADTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    header = query_one("#run-header", RunHeader)
    checklist: ChecklistPane | None = None
    diagnosis: DiagnosisPane | None = None
    model: ModelPane | None = None

    @dataclass
    class Wished(Message):
        """The engine is to do something."""

        wish: Wish

    class Composed(Message):
        """There is a screen to show news on."""

    class Furnished(Message):
        """All panes are there."""

    @dataclass
    class PaneMade(Message):
        """There is one more pane."""

        view: str

    @dataclass
    class Viewed(Message):
        """Somebody looks at this now."""

        view: str

    @dataclass
    class Adopted(Message):
        """A finding or a cause is to be kept as a hypothesis."""

        run: int
        finding: Finding | None
        cause: RootCause | None

    def __init__(self, book: RunBook, reader: LogReader, files: tuple[str, ...]) -> None:
        super().__init__()
        self.book = book
        self._reader = reader
        self._named = files
        """Files known before the engine has said anything: their end is shown at once."""
        self._view = "overview"
        self._focused_before: Widget | None = None
        self._is_furnished = False
        """True once all panes are there; the log and its last line come first."""
        self._untold: Widget | None = None
        """A pane that has got the keys and was not told its size yet."""

    def compose(self) -> ComposeResult:
        """The log first; what takes longer to load gets its place kept."""
        # Now, not at the first resize: all styles would be worked out a second time.
        self.add_class(_breadth(self.app.size.width))
        yield RunHeader(id="run-header")
        with Container(id="body", classes="view-overview"):
            yield Static(classes="pane kept")
            yield Static(classes="pane kept")
            yield LogPane(self._reader, id="log")
        yield Static(id="too-small", markup=False)
        yield Static(id="hint", markup=False)
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Show the end of the log before anything else is known."""
        if not self.query("#run-header"):
            return  # told to leave before there was anything to show
        self.header.position = self.book.position
        if self._named:
            self.header.waiting_for = self._named[0]
            self.log_pane.set_files(tuple(LogFile(path) for path in self._named))
        self.set_interval(1.0, lambda: tell(self.header, self.header.tick))
        self.log_pane.focus()
        self.post_message(self.Composed())
        self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        """Bring in the other panes, now that the first picture is there.

        Views only show and hide them, so that none loses its place.
        """
        from ..widgets.checklist_pane import ChecklistPane
        from ..widgets.curves_pane import CurvesPane
        from ..widgets.findings_pane import FindingsPane
        from ..widgets.heat_map import HeatMap

        self.curves = CurvesPane(id="curves")
        self.curves.is_ascii = self.has_class("ascii") or self.app.has_class("ascii")
        self.findings = FindingsPane(id="findings")
        self.heat = HeatMap(id="heat")
        self.checklist = ChecklistPane(id="checklist")
        body = self.query_one("#body")
        try:
            with self.app.batch_update():
                await body.query(".kept").remove()
                await body.mount(self.curves, self.findings, before=self.log_pane)
                await body.mount(self.heat, self.checklist)
        except MountError:
            # The app was told to leave before it had quite arrived.
            return
        self._is_furnished = True
        self.screen_layout_refresh_signal.subscribe(self, self._tell_size)
        self.post_message(self.Furnished())
        self._show_status()
        self._show_series()
        self.findings.set_diagnosis(self.book.selected, self.book.current.diagnosis)
        if self._view != "overview":
            # Asked for before there was such a pane: now it can have the keys.
            self.action_view(self._view)

    def on_resize(self, event: Resize) -> None:
        """Below a certain size a sentence is better than a broken layout."""
        is_small = too_small(event.size.width, event.size.height)
        if is_small and not self.has_class("-too-small"):
            self._focused_before = self.focused
        self.set_class(is_small, "-too-small")
        if not is_small and self.focused is None and self._focused_before is not None:
            # What is hidden loses the focus, and should have it again when it is back.
            self.call_after_refresh(self.set_focus, self._focused_before)
        if is_small:
            size = f"{event.size.width}x{event.size.height}"
            said = f"mltd-tui needs 60x15, and this terminal is {size}: enlarge it, or use check"
            self.query_one("#too-small", Static).update(Content(said))

    # -- news -----------------------------------------------------------------------------

    def hear(self, news: News) -> None:
        """Pass news on to the panes that show it."""
        self.book.learn(news)
        match news:
            case Grew():
                tell(self.log_pane, self.log_pane.files_grew, news.paths)
            case RunsFound():
                self.header.position = self.book.position
            case Rows() if any(row.job is not None for row in news.rows):
                # A job that has begun or ended has another place.
                self.header.position = self.book.position
            case StatusChanged() if news.status.run == self.book.selected:
                self._show_status()
            case _ if not self._is_furnished:
                pass
            case Curves():
                tell(self.curves, self.curves.set_curves, news)
            case Heat():
                tell(self.heat, self.heat.set_heat, news)
            case Place():
                self.arrive(news)
            case SeriesChanged() if news.run == self.book.selected:
                self._show_series()
            case Diagnosed() if news.run == self.book.selected:
                tell(self.findings, self.findings.set_diagnosis, news.run, news.diagnosis)
                self._suggest_log()
            case _:
                pass

    def wish(self, wish: Wish) -> None:
        """Ask the engine for something."""
        self.post_message(self.Wished(wish))

    def select(self, run: int) -> None:
        """Look at another run."""
        self.book.selected = run
        self.wish(Select(run))
        self.header.position = self.book.position
        self._show_status()
        if self._is_furnished:
            self.findings.set_diagnosis(run, self.book.current.diagnosis)
            self._show_series()

    def _suggest_log(self) -> None:
        """Of several logs show the one that the worst finding points to."""
        diagnosis = self.book.current.diagnosis
        if diagnosis is None:
            return
        for finding in diagnosis.findings:
            for evidence in finding.evidence if finding.is_alarm else ():
                name = evidence.ref.rpartition(":")[0]
                path = self.book.find_path(self.book.selected, name)
                if path is not None:
                    tell(self.log_pane, self.log_pane.suggest, path)
                    return

    def make_curves(self) -> CurvesPane:
        """Another pane of curves, for another screen."""
        pane = type(self.curves)()
        pane.is_ascii = self.curves.is_ascii
        return pane

    def fill_curves(self, pane: CurvesPane, others: tuple[int, ...]) -> None:
        """Draw the selected run there, and others over it, as far as they are known by now."""
        book = self.book
        tell(pane, pane.set_series, book.selected, book.name(book.selected), book.current.series)
        drawn = tuple((run, book.name(run), book.of(run).series) for run in others)
        tell(pane, pane.set_overlay, drawn)

    def show_trouble(self, trouble: str) -> None:
        """Nothing new comes from the engine: say so, and look at the log without it."""
        if not self.query("#run-header"):
            return  # on the way out
        self.header.trouble = trouble
        if trouble:
            self.look_at_log()

    def look_at_log(self) -> None:
        """See whether the log grew, though nobody said so."""
        if self.query("#log") and self.log_pane.path:
            tell(self.log_pane, self.log_pane.files_grew, [self.log_pane.path])

    def show_hint(self) -> None:
        """Tell a newcomer the most important keys."""
        hint = self.query_one("#hint", Static)
        hint.update(
            Content("? all keys  q quit  1-8 views  tab panes  z zoom  enter jumps  h hypothesis")
        )
        hint.add_class("-shown")

    def _show_status(self) -> None:
        status = self.book.current.status
        tell(self.header, self.header.show, status)
        if status is not None:
            tell(self.log_pane, self.log_pane.set_files, status.files)
            if self._is_furnished:
                self.findings.is_reading = status.share_read < 1.0
                self.findings.state = state_of(status)
                self.curves.is_over = status.state in ("finished", "failed", "stalled")

    def _show_series(self) -> None:
        self.fill_curves(self.curves, ())
        self.set_class(self.book.current.has_layers, "-has-layers")
        if self._view == "heat":
            self.want_heat()

    def on_findings_pane_adopted(self, event: FindingsPane.Adopted) -> None:
        """Keep what was adopted; whoever owns hypotheses decides what that means."""
        self.post_message(self.Adopted(event.run, event.finding, event.cause))

    # -- views ----------------------------------------------------------------------------

    def action_view(self, view: str) -> None:
        """Show one pane alone, or the overview."""
        body = self.query_one("#body")
        if view in LATE:
            self._make_late(view, body)
        body.remove_class(*(f"view-{name}" for name in VIEWS))
        body.add_class(f"view-{view}")
        self._view = view
        pane = self._pane(VIEWS[view]) if VIEWS[view] else None
        if pane is not None and not pane.has_focus_within:
            _focus(pane)
            # Focus looks up where the pane will be, and what was looked up is news to nobody: it
            # would hear neither that it is shown nor how large it is.
            self._untold = pane
            self.call_after_refresh(self._tell_size)
        if view == "heat":
            self.want_heat()
        self.post_message(self.Viewed(view))

    def _tell_size(self, _: object = None) -> None:
        """Tell a pane its size once it has one: a new pane may be laid out some turns later."""
        pane = self._untold
        if pane is not None and pane.is_attached and pane.size:
            self._untold = None
            pane.post_message(events.Resize(pane.size, pane.virtual_size, pane.container_size))

    def is_viewing(self, view: str) -> bool:
        """True if this pane has the screen to itself."""
        return self._view == view

    def _make_late(self, view: str, body: Widget) -> None:
        if getattr(self, view) is None and self._is_furnished:
            setattr(self, view, pane := make_late(view))
            body.mount(pane)
            self.post_message(self.PaneMade(view))

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or give it back."""
        if self._view != "overview":
            self.action_view("overview")
            return
        for name in VIEWS:
            if (pane := self._pane(name)) is not None and pane.has_focus_within:
                self.action_view(name)
                return

    def action_search(self) -> None:
        """Search the log from wherever one is."""
        self.reveal(self.log_pane)
        self.log_pane.start_search()

    def action_beside(self, distance: int) -> None:
        """Look at the previous or the next run."""
        if self.book.position[1] > 1:
            self.select(self.book.beside(distance))

    def _pane(self, name: str) -> Widget | None:
        try:
            return self.query_one(f"#{name}") if name in VIEWS.values() and name else None
        except NoMatches:
            return None

    def reveal(self, pane: Widget) -> None:
        """Bring a pane into view and focus it."""
        if self._view != "overview" and VIEWS[self._view] != pane.id:
            self.action_view("overview")
        _focus(pane)


def _breadth(columns: int) -> str:
    return next(name for least, name in reversed(BREADTHS) if columns >= least)


def _focus(pane: Widget) -> None:
    """Let a pane have the keys."""
    # At once, not by `focus`, which waits a turn: the next key may be on its way.
    if pane.can_focus:
        pane.screen.set_focus(pane)
