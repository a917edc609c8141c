"""The part of the app that looks into saved weights: what is listed, read, compared and kept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from .consulting import ConsultingApp
from .engine.model_protocol import (
    Branch,
    BranchRequest,
    Checkpoints,
    CheckpointsRequest,
    Inspected,
    Inspecting,
    InspectRequest,
    MemoryRequest,
    MemoryTold,
    StopInspect,
)
from .engine.protocol import News, RunsFound
from .settings import ScreenSettings
from .terminal import Terminal
from .theming import LoadedThemes

if TYPE_CHECKING:
    from .model.study import Study
    from .screens.main import MainScreen
    from .widgets.model_pane import ModelPane

FIRST_TICKET = 4_000_000
"""Far from those of panes, jumps, experiments and conversations."""
ASK_FROM = 1 << 30
"""Bytes from which on reading all values is asked for first: some seconds on a slow disk."""


class InspectingApp(ConsultingApp):
    """Nothing is read while nobody looks, and values only if somebody asks for them."""

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
        session_folder: Path | None = None,
    ) -> None:
        super().__init__(themes, terminal, settings, *wishes, session_folder=session_folder)
        self._studies: dict[int, Study] = {}
        self._look_tickets = count(FIRST_TICKET)

    # -- news -----------------------------------------------------------------------------

    def hear_of_triage(self, news: News) -> None:
        """Also of weights."""
        super().hear_of_triage(news)
        match news:
            case Checkpoints() if (study := self._studies.get(news.run)) is not None:
                study.take(news)
                self._look_at_first(study)
            case Inspecting() | Inspected() if (study := self._reading(news.ticket)) is not None:
                self._told(study, news)
            case Branch():
                for study in self._studies.values():
                    study.unfold(news)
            case MemoryTold():
                for study in self._studies.values():
                    study.account(news)
            case RunsFound():
                # There may be new checkpoints; and a new engine has none of the old looks.
                self._look_anew()
            case _:
                return
        self.show_study()

    def _reading(self, ticket: int) -> Study | None:
        """Whose look has this ticket."""
        for study in self._studies.values():
            if study.look is not None and study.look.ticket == ticket:
                return study
        return None

    def _told(self, study: Study, news: Inspecting | Inspected) -> None:
        look = study.look
        assert look is not None
        if isinstance(news, Inspecting):
            look.done, look.total = news.done, news.total
            return
        study.end(news)
        is_seen = study.run == self.book.selected and self.main_screen.is_viewing("model")
        if (look.needs_values or look.against) and not is_seen and not news.is_cancelled:
            said = news.problem or "the weights have been read"
            self.notify(f"{said}; 8 shows it", title=study.name, markup=False)

    def engine_ended(self) -> None:
        """What the engine kept of the weights is gone."""
        super().engine_ended()
        for study in self._studies.values():
            study.forget()
        self.show_study()

    # -- looking --------------------------------------------------------------------------

    def look_at_run(self, run: int) -> None:
        """Another run is looked at: so are its weights, if weights are."""
        super().look_at_run(run)
        self.show_study()
        self._look_anew()

    def on_main_screen_viewed(self, event: MainScreen.Viewed) -> None:
        """Somebody looks: see which checkpoints there are by now; nothing is read before."""
        if event.view == "model":
            self._look_anew()

    def _look_anew(self) -> None:
        pane = self.main_screen.model
        if pane is None or not self.main_screen.is_viewing("model"):
            return
        from .model.study import Study

        run = self.book.selected
        if run not in self._studies:
            self._studies[run] = Study(run, self.book.name(run))
        self.bridge.send(CheckpointsRequest(run))
        self.show_study()

    def _look_at_first(self, study: Study) -> None:
        """What shapes alone tell costs little, so the newest one is looked into unasked."""
        row = study.row
        if row is None or row.copy_command or study.look is not None:
            return
        if study.shown is None and study.problem is None:
            self._inspect(study, row.path)

    def _inspect(
        self, study: Study, path: str, *, needs_values: bool = False, against: str = ""
    ) -> None:
        from .model.study import Look

        self._stop(study)
        ticket = next(self._look_tickets)
        study.begin(Look(ticket, path, needs_values, against))
        self.bridge.send(InspectRequest(ticket, study.run, path, needs_values, against))
        self.show_study()

    def _stop(self, study: Study) -> None:
        if study.look is not None:
            self.bridge.send(StopInspect(study.look.ticket))

    def show_study(self) -> None:
        """Show what is known about the weights of the run that is looked at."""
        pane, study = self.main_screen.model, self._shown_study
        self.main_screen.header.weights = study.worst if study is not None else ("", 0)
        if pane is not None and study is not None:
            pane.show(study)

    @property
    def _shown_study(self) -> Study | None:
        return self._studies.get(self.book.selected)

    # -- what the pane wants --------------------------------------------------------------

    def on_model_pane_checkpoint_chosen(self, event: ModelPane.CheckpointChosen) -> None:
        """Look into another checkpoint."""
        event.stop()
        study = self._shown_study
        if study is None:
            return
        self._stop(study)
        study.choose(event.path)
        self._look_at_first(study)
        self.show_study()

    def on_model_pane_values_wanted(self, event: ModelPane.ValuesWanted) -> None:
        """Read all values of what is shown."""
        event.stop()
        study = self._shown_study
        row = study.row if study is not None else None
        if study is None or row is None or row.copy_command:
            return
        against = study.against

        def read() -> None:
            self._inspect(study, row.path, needs_values=True, against=against)

        self._ask_if_large(row.bytes, f"Read all values of {row.name}?", read)

    def on_model_pane_comparison_wanted(self, event: ModelPane.ComparisonWanted) -> None:
        """Compare the checkpoint that is shown with another: the older one comes first."""
        event.stop()
        study = self._shown_study
        pair = study.pair(event.path) if study is not None else None
        if study is None or pair is None:
            self.complain("there is no other checkpoint to compare with")
            return
        before, after = pair
        if before.copy_command or after.copy_command:
            self.complain("one of the two is on another host: copy it here first (y)")
            return

        def read() -> None:
            self._inspect(study, after.path, against=before.path)

        size = (before.bytes or 0) + (after.bytes or 0)
        self._ask_if_large(size, f"Read all values of {before.name} and {after.name}?", read)

    def _ask_if_large(self, size: int | None, question: str, then: Callable[[], None]) -> None:
        if size is None or size <= ASK_FROM:
            then()
            return
        from mltd.analyzers.resources.shortage import shown_bytes

        from .screens.confirm import ConfirmScreen

        what = (
            f"That is {shown_bytes(size)} to read from its file system, which may take minutes. "
            "The rest of the app goes on meanwhile, and Esc stops it at once."
        )

        def closed(is_meant: bool | None) -> None:
            if is_meant:
                then()

        screen = ConfirmScreen(question, what, yes="read", no="leave it", is_destructive=False)
        self.push_screen(screen, closed)

    def on_model_pane_memory_wanted(self, event: ModelPane.MemoryWanted) -> None:
        """Account for the memory of a training with these weights."""
        event.stop()
        study = self._shown_study
        if study is not None and study.shown is not None:
            self.bridge.send(MemoryRequest(study.shown.ticket, study.run))

    def on_model_pane_branch_wanted(self, event: ModelPane.BranchWanted) -> None:
        """Have more rows of the tree."""
        event.stop()
        study = self._shown_study
        if study is not None and study.shown is not None:
            self.bridge.send(BranchRequest(study.shown.ticket, event.key, event.start))

    def on_model_pane_stopped(self, event: ModelPane.Stopped) -> None:
        """End what is being read, at once."""
        event.stop()
        study = self._shown_study
        if study is not None and study.look is not None:
            self._stop(study)
            study.look.is_stopping = True
            study.version += 1
            self.show_study()

    def on_model_pane_adopted(self, event: ModelPane.Adopted) -> None:
        """A finding of the weights becomes a hypothesis like any other."""
        event.stop()
        main = self.main_screen
        main.post_message(main.Adopted(event.run, event.finding, event.cause))
