"""The part of the app that follows experiments: their runs, before and after, the verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .engine.curve_protocol import CompareRequest, Comparison
from .engine.protocol import Facts, FactsRequest, News
from .escaping import printable
from .settings import ScreenSettings
from .terminal import Terminal
from .theming import LoadedThemes
from .triaging import TriagingApp, prints_of

if TYPE_CHECKING:
    from mltd.sessions.model.experiment import Experiment
    from mltd.sessions.model.result import BeforeAfter
    from mltd.sessions.model.run_ref import RunRef
    from mltd.sessions.model.session import Session

    from .desk.desk import Desk
    from .screens.compare import CompareScreen

LOOK_EVERY = 15.0
"""Seconds between two verdicts on an experiment whose run still goes on."""
FIRST_TICKET = 2_000_000
"""Far from those of the panes and of jumps."""


class ExperimentingApp(TriagingApp):
    """Links runs to experiments and lets their verdicts move hypotheses."""

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
        session_folder: Path | None = None,
    ) -> None:
        super().__init__(themes, terminal, settings, *wishes, session_folder=session_folder)
        self._linking: dict[int, str] = {}
        """Experiments that wait for the facts about the run they are to be linked with."""
        self._tickets: dict[int, tuple[Desk, str]] = {}
        self._compared_at: dict[tuple[str, str], object] = {}
        """State and last line of the run when it was last compared, by session and experiment."""
        self._verdict_screen: tuple[int, CompareScreen] | None = None

    def begin_triage(self) -> None:
        """Follow experiments too."""
        super().begin_triage()
        self.set_interval(LOOK_EVERY, self.look_at_experiments)

    def hear_of_triage(self, news: News) -> None:
        """Also of runs to be linked, and of comparisons."""
        if isinstance(news, Facts) and news.run in self._linking:
            self._link(news, self._linking.pop(news.run))
            return
        super().hear_of_triage(news)
        match news:
            case Comparison() if news.ticket in self._tickets:
                self._compared_experiment(news)
            case _:
                pass

    # -- runs -----------------------------------------------------------------------------

    def number_of(self, run: RunRef) -> int | None:
        """The engine's number of one of the session's runs."""
        paths = {run.location, *(file.path for file in run.files)}
        for number, row in self.book.rows.items():
            if paths & set(row.logs):
                return number
        return None

    # -- linking --------------------------------------------------------------------------

    def link_run(self, experiment: str, number: int) -> None:
        """The run that came out of an experiment was named; without one it is the baseline."""
        if self.desk is None:
            return
        self._linking[number] = experiment
        self._desk_of[number] = self.desk
        self.bridge.send(FactsRequest(number))

    def _link(self, facts: Facts, experiment: str) -> None:
        from mltd.sessions.actions.experiments import LinkRun
        from mltd.sessions.actions.records import SetRunPart
        from mltd.sessions.model.run_ref import RunPart, RunRef
        from mltd.sessions.triage import now

        desk = self._desk_of.get(facts.run)
        if desk is None or desk is not self.desk:
            return
        prints = prints_of(facts)
        known = desk.run_of(facts.location, prints)
        part = RunPart.EXPERIMENT if experiment else RunPart.BASELINE
        run = known or RunRef(
            id=desk.triage.new_id("R"),
            location=facts.location,
            name=self.book.name(facts.run),
            part=part,
            files=prints,
            added=now(),
        )
        if not experiment:
            self.change(lambda desk: desk.do(SetRunPart(id=run.id, part=part, ref=run)))
        elif self.change(lambda desk: desk.do(LinkRun(id=experiment, run=run.id, ref=run))):
            desk.live.pop(experiment, None)
            self.compare_experiment(experiment)

    # -- before and after -----------------------------------------------------------------

    def look_at_experiments(self) -> None:
        """See whether experiments whose runs go on have come to something."""
        if self.desk is None or self.desk.why_read_only:
            return
        for experiment in self.desk.session.experiments:
            run = self.desk.session.run(experiment.run) if experiment.run else None
            number = self.number_of(run) if run is not None else None
            if number is None or experiment.status.value not in ("running", "inconclusive"):
                continue
            status = self.book.of(number).status
            # The state too: a job may end a run, though no line came.
            seen = (status.state, status.last_line_at) if status is not None else ()
            key = (self.desk.session.id, experiment.id)
            if self._compared_at.get(key) != seen:
                self._compared_at[key] = seen
                self.compare_experiment(experiment.id)

    def compare_experiment(self, name: str) -> int | None:
        """Ask for before and after; the ticket of the question, None if a run is missing."""
        desk = self.desk
        experiment = desk.session.experiment(name) if desk is not None else None
        if desk is None or experiment is None:
            return None
        before, after = self._sides(desk, experiment)
        if before is None or after is None:
            return None
        ticket = FIRST_TICKET + len(self._tickets)
        self._tickets[ticket] = (desk, name)
        self.bridge.send(
            CompareRequest(
                ticket,
                before,
                after,
                experiment=experiment.model_dump_json(),
                onset=onset_of(desk.session, experiment),
                is_at_end=_is_about_the_end(desk.session, experiment),
            )
        )
        return ticket

    def _sides(self, desk: Desk, experiment: Experiment) -> tuple[int | None, int | None]:
        session = desk.session
        hypothesis = session.hypothesis(experiment.hypothesis)
        first = session.run(experiment.baseline or (hypothesis.run if hypothesis else ""))
        second = session.run(experiment.run) if experiment.run else None
        sides = [None if run is None else self.number_of(run) for run in (first, second)]
        return sides[0], sides[1]

    def _compared_experiment(self, news: Comparison) -> None:
        from mltd.sessions.actions.base import changed
        from mltd.sessions.model.result import BeforeAfter

        desk, experiment = self._tickets[news.ticket]
        found = desk.session.experiment(experiment)
        if found is None or not news.verdict:
            return
        result = changed(
            BeforeAfter.model_validate_json(news.verdict),
            before=self._label(news.before),
            after=self._label(news.after),
        )
        if self.number_of_run(desk, found.run) != news.after:
            return  # another run was linked meanwhile, or none is
        if found.is_run_over and result.is_preliminary:
            return  # asked for before the user said that the run is over; the next one is coming
        desk.live[experiment] = result
        if not result.is_preliminary:
            self._record_if_new(desk, found, result)
        self._update_verdict(desk, experiment, news, result)
        self.show_desk()

    def _update_verdict(self, desk: Desk, name: str, news: Comparison, result: BeforeAfter) -> None:
        """Show newer numbers on the screen that is open; a verdict that was given stands."""
        experiment = desk.session.experiment(name)
        if self._verdict_screen is None or experiment is None:
            return
        ticket, screen = self._verdict_screen
        if self._tickets[ticket] == (desk, name):
            screen.set_comparison(news)
            given = experiment.result if experiment.status.is_over else None
            screen.set_verdict(given or result, can_record=_can_record(desk, experiment))

    def number_of_run(self, desk: Desk, run: str) -> int | None:
        """The engine's number of a run by the id that a session gives it."""
        ref = desk.session.run(run) if run else None
        return None if ref is None else self.number_of(ref)

    def _label(self, number: int) -> str:
        return self.book.name(number)

    def _record_if_new(self, desk: Desk, experiment: Experiment, result: BeforeAfter) -> None:
        known = experiment.result
        is_told = known is not None and (known.outcome, known.summary) == (
            result.outcome, result.summary,
        )  # fmt: skip
        is_open = experiment.status.value in ("running", "inconclusive")
        if is_open and not is_told and not desk.was_recorded(experiment.id, result):
            self.record(desk, experiment.id, result)

    def record(self, desk: Desk, name: str, result: BeforeAfter) -> None:
        """Write the verdict down; it moves the hypothesis."""
        from mltd.sessions.actions.experiments import RecordResult

        if desk is self.desk and self.change(
            lambda desk: desk.do(RecordResult(id=name, result=result))
        ):
            severity = "information" if result.outcome.value == "passed" else "warning"
            self.notify(
                printable(result.summary),
                title=f"{name} {result.outcome.value}",
                severity=severity,  # type: ignore[arg-type]
                markup=False,
            )

    def show_verdict(self, name: str) -> None:
        """Before and after of an experiment, with the curves over one another."""
        desk = self.desk
        experiment = desk.session.experiment(name) if desk is not None else None
        if desk is None or experiment is None:
            return
        run = desk.session.run(experiment.run) if experiment.run else None
        if run is None:
            self.complain(f"{name} has no run yet: L links the one that came out of it")
            return
        hypothesis = desk.session.hypothesis(experiment.hypothesis)
        first = desk.session.run(experiment.baseline or (hypothesis.run if hypothesis else ""))
        for one in filter(None, (first, run)):
            if self.number_of(one) is None:
                self.with_run(one.location, lambda _: self.show_verdict(name))
                return
        before, after = self._sides(desk, experiment)
        if before is None or after is None:
            self.complain(f"{name} has no run before the change to compare with")
            return
        self._open_verdict(desk, experiment, before, after)

    def _open_verdict(self, desk: Desk, experiment: Experiment, before: int, after: int) -> None:
        from .screens.compare import CompareScreen

        ticket = self.compare_experiment(experiment.id)
        if ticket is None:
            return
        curves = self._compared_curves = self.main_screen.make_curves()
        self._compared = (after,)
        self.main_screen.fill_curves(curves, self._compared)
        known = desk.live.get(experiment.id) or experiment.result
        if experiment.status.is_over:
            known = experiment.result
        screen = CompareScreen(
            self.book.name(before),
            self.book.name(after),
            None,
            curves,
            verdict=known,
            title=f"{experiment.id}: {experiment.change}",
            can_record=_can_record(desk, experiment),
        )
        self._verdict_screen = (ticket, screen)
        self._comparing = screen

        def closed(_: None) -> None:
            self._comparing = self._compared_curves = self._verdict_screen = None
            for request in curves.last_requests():
                self.bridge.send(request)

        self.push_screen(screen, closed)

    def on_compare_screen_recorded(self) -> None:
        """Record the final verdict that is shown: it was undone, or is inconclusive."""
        if self._verdict_screen is None:
            return
        desk, name = self._tickets[self._verdict_screen[0]]
        result = desk.live.get(name)
        if result is not None and not result.is_preliminary:
            self.record(desk, name, result)
            experiment = desk.session.experiment(name)
            if experiment is not None:
                can_record = _can_record(desk, experiment)
                self._verdict_screen[1].set_verdict(result, can_record=can_record)

    # -- the end of a run -----------------------------------------------------------------

    def on_compare_screen_run_ended(self) -> None:
        """The user says that the run whose verdict is shown is over."""
        from mltd.sessions.actions.experiments import EndRun

        if self._verdict_screen is None:
            return
        desk, name = self._tickets[self._verdict_screen[0]]
        experiment = desk.session.experiment(name)
        if desk is self.desk and experiment is not None:
            self.change(lambda desk: desk.do(EndRun(id=name, run=experiment.run)))

    def change(self, work: Callable[[Desk], object]) -> bool:
        """Compare again where the change said that a run is over, or took that back."""
        before = self._ended_runs()
        is_done = super().change(work)
        after = self._ended_runs()
        for name in sorted(before ^ after):
            if self.compare_experiment(name) is None and name in after:
                self.complain(f"the verdict on {name} follows when both of its runs can be read")
        return is_done

    def _ended_runs(self) -> set[str]:
        """Experiments whose runs are over by the user's word."""
        experiments = self.desk.session.experiments if self.desk is not None else ()
        return {experiment.id for experiment in experiments if experiment.is_run_over}


def _can_record(desk: Desk, experiment: Experiment) -> bool:
    return not experiment.status.is_over and not desk.why_read_only


def onset_of(session: Session, experiment: Experiment) -> float | None:
    """The step by which all that a hypothesis explains had shown itself."""
    hypothesis = session.hypothesis(experiment.hypothesis)
    first = session.run(experiment.baseline or (hypothesis.run if hypothesis else ""))
    record = session.diagnosis_of(first.id) if first is not None else None
    found = record.body.get("findings") if record is not None else None
    steps = [
        finding.get("first_step")
        for finding in (found if isinstance(found, list) else ())
        if isinstance(finding, dict)
        and hypothesis is not None
        and finding.get("id") in hypothesis.explains
    ]
    return max((float(step) for step in steps if isinstance(step, int | float)), default=None)


def _is_about_the_end(session: Session, experiment: Experiment) -> bool:
    """What is cured by stopping earlier cannot be seen at equal steps."""
    hypothesis = session.hypothesis(experiment.hypothesis)
    return hypothesis is not None and "overfitting" in hypothesis.explains
