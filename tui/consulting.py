"""The part of the app that asks Claude: evidence, consent, questions, and what to do with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from .engine.consult_protocol import (
    Consult,
    Consulted,
    Consulting,
    FollowUp,
    Packed,
    PackRequest,
    StopConsult,
)
from .engine.protocol import News
from .escaping import printable
from .opinion_keeping import OpinionKeepingApp, opinions_of
from .settings import ScreenSettings
from .terminal import Terminal
from .theming import LoadedThemes

if TYPE_CHECKING:
    from mltd.diagnosis.preview import Preview

    from .claude.talk import Talk
    from .desk.desk import Desk
    from .screens.consent import ConsentScreen
    from .widgets.diagnosis_pane import DiagnosisPane

UNSENT = "Nothing was sent."


class ConsultingApp(OpinionKeepingApp):
    """One question at a time; nothing is sent before somebody has seen it and agreed."""

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
        session_folder: Path | None = None,
    ) -> None:
        super().__init__(themes, terminal, settings, *wishes, session_folder=session_folder)
        self._former: dict[int, Talk] = {}
        """The conversation before that with this ticket, until something of this one was sent."""
        self._agreed: dict[Desk, set[tuple[str, bool]]] = {}
        """Hosts that somebody agreed to send to, and whether with names masked."""
        self._redacting: set[Desk] = set()
        self._consent: ConsentScreen | None = None

    # -- news -----------------------------------------------------------------------------

    def hear_of_triage(self, news: News) -> None:
        """Also of conversations."""
        super().hear_of_triage(news)
        match news:
            case Packed():
                self._packed(news)
            case Consulting() if (talk := self._talk(news.ticket)) is not None:
                talk.take(news.events)
                self._refresh_talk(talk)
            case Consulted():
                self._consulted(news)
            case _:
                pass

    def engine_ended(self) -> None:
        """The conversations were in the engine: what came of them stays."""
        for desk, talk in list(self._talks.items()):
            if not talk.is_live:
                continue
            if talk.is_asking and (problem := self._keep_half(desk, talk, "the engine ended")):
                self.complain(problem)
            talk.lose("The engine has ended, and with it this conversation; c asks anew")
            self._refresh_talk(talk)
        self.show_desk()

    # -- asking ---------------------------------------------------------------------------

    def action_consult(self) -> None:
        """Get the evidence ready, and show what would be sent."""
        from .claude.talk import Talk

        desk, busy = self.desk, self._busy_talk
        if self.main_screen.has_class("-too-small"):
            return  # nobody would see what is sent, or what comes
        if desk is None:
            self.complain("there is no session yet: the run is still being read")
        elif busy is not None:
            self.complain(f"Claude is asked about {busy.about} just now; Esc there stops it")
        else:
            run, former = self.book.selected, self._talks.get(desk)
            earlier = former.turns if former is not None else ()
            talk = Talk(next(self._next_ticket), run, self.book.name(run), earlier=earlier)
            talk.pack()
            if former is not None:
                self._former[talk.ticket] = former
            self._talks[desk], self._talk_desks[talk.ticket] = talk, desk
            self._pack(desk, talk, is_redacted=desk in self._redacting)
        self.main_screen.action_view("diagnosis")
        self.show_talk()

    def _pack(self, desk: Desk, talk: Talk, *, is_redacted: bool) -> None:
        wanted = self.wanted
        request = PackRequest(
            talk.ticket,
            talk.run,
            desk.session.model_dump_json(),
            self._numbered(desk),
            wanted.model,
            wanted.is_claude_off,
            is_redacted,
            wanted.wish.names,
            wanted.sources,
        )
        self.bridge.send(request)

    def _packed(self, news: Packed) -> None:
        talk, desk = self._talk(news.ticket), self._talk_desks.get(news.ticket)
        if talk is None or desk is None or not talk.is_packing:
            return
        if news.preview is None:
            if self._consent is not None:
                self._consent.dismiss(False)
            talk.packed(news)
            self._step_back(desk, talk, ": ".join(filter(None, (news.problem, news.hint))))
        elif self._consent is not None:
            self._consent.show(news)
        elif self._has_agreed(desk, news.preview):
            self._send(talk, news.preview)
        else:
            self._ask_consent(desk, talk, news)

    def _has_agreed(self, desk: Desk, preview: Preview) -> bool:
        """Whether what goes out was agreed to in this session: this host, no less masked."""
        agreed = self._agreed.get(desk, set()) | {
            (str(one.body.get("host")), bool(one.body.get("is_redacted")))
            for one in opinions_of(desk)
        }
        return any(
            host == preview.host and (preview.is_redacted or not was_redacted)
            for host, was_redacted in agreed
        )

    def _ask_consent(self, desk: Desk, talk: Talk, news: Packed) -> None:
        from .screens.consent import ConsentScreen

        screen = self._consent = ConsentScreen(news)

        def closed(is_agreed: bool | None) -> None:
            self._consent = None
            preview = screen.preview
            if is_agreed:
                self._agreed.setdefault(desk, set()).add((preview.host, preview.is_redacted))
                self._send(talk, preview)
            elif talk.is_packing:
                talk.decline()
                self._step_back(desk, talk, UNSENT)

        self.push_screen(screen, closed)

    def _step_back(self, desk: Desk, talk: Talk, why: str) -> None:
        """Nothing was sent: whoever had a conversation before can go on with that one."""
        former = self._former.pop(talk.ticket, None)
        if former is None or self._talks.get(desk) is not talk:
            self._refresh_talk(talk)
            return
        self._talks[desk] = former
        self.show_talk()
        if self.main_screen.diagnosis is not None and desk is self.desk:
            self.main_screen.diagnosis.show_newest()
        self.notify(printable(why), title="Claude", severity="warning", markup=False)

    def on_consent_screen_redaction_wanted(self, event: ConsentScreen.RedactionWanted) -> None:
        """Pack anew, with names masked or as they stand."""
        event.stop()
        talk = self._busy_talk
        desk = self._talk_desks.get(talk.ticket) if talk is not None else None
        if desk is None or talk is None:
            return
        if event.is_redacted:
            self._redacting.add(desk)
        else:
            self._redacting.discard(desk)
        self._pack(desk, talk, is_redacted=event.is_redacted)

    def _send(self, talk: Talk, preview: Preview) -> None:
        talk.model = preview.model
        talk.begin()
        self._former.pop(talk.ticket, None)
        self.bridge.send(Consult(talk.ticket))
        self._refresh_talk(talk)

    def on_diagnosis_pane_questioned(self, event: DiagnosisPane.Questioned) -> None:
        """Ask on in the same conversation."""
        event.stop()
        talk, busy = self._shown_talk, self._busy_talk
        if talk is None or not talk.can_follow_up:
            self.complain("there is no conversation to go on with; c asks Claude")
        elif busy is not None:
            self.complain(f"Claude is asked about {busy.about} just now; Esc there stops it")
        else:
            talk.begin(event.text)
            self.bridge.send(FollowUp(talk.ticket, event.text))
            self._refresh_talk(talk)

    def on_diagnosis_pane_stopped(self, event: DiagnosisPane.Stopped) -> None:
        """End the question that is under way."""
        event.stop()
        talk, desk = self._shown_talk, self.desk
        if talk is None or desk is None or not talk.is_busy:
            return
        was_packing = talk.is_packing
        talk.stop()
        self.bridge.send(StopConsult(talk.ticket))
        if was_packing:
            self._step_back(desk, talk, UNSENT)
        else:
            self._refresh_talk(talk)

    def on_diagnosis_pane_wanted(self) -> None:
        """The same as the key."""
        self.action_consult()

    # -- answers --------------------------------------------------------------------------

    def _consulted(self, news: Consulted) -> None:
        talk, desk = self._talk(news.ticket), self._talk_desks.get(news.ticket)
        if talk is None or desk is None:
            return
        talk.end(news)
        if news.page is not None or news.text.strip() or news.usage.input or news.usage.output:
            # What failed before anything came is told, and not worth a place in the session.
            if problem := self._keep(desk, talk, news.status, json.loads(news.body)):
                self.complain(problem)
            self.show_desk()
        self._refresh_talk(talk)
        is_here = desk is self.desk
        if is_here and self.main_screen.is_viewing("diagnosis"):
            self.show_talk()
            return
        said = news.problem or ("was stopped" if news.is_cancelled else "has answered")
        where = "7 shows it" if is_here else f"7 shows it once you are back at {talk.about}"
        title = f"Claude about {talk.about}"
        self.notify(printable(f"{said}; {where}"), title=printable(title), markup=False)

    def on_diagnosis_pane_adopted(self, event: DiagnosisPane.Adopted) -> None:
        """Keep one of Claude's causes as a hypothesis, marked as Claude's."""
        event.stop()
        from mltd.sessions.actions.hypotheses import AddHypothesis
        from mltd.sessions.model.hypothesis import Hypothesis
        from mltd.sessions.triage import now

        desk = self.desk
        if desk is None or not event.cause.hypothesis:
            return
        new = desk.triage.new_id("H")
        found = Hypothesis.model_validate_json(event.cause.hypothesis)
        hypothesis = found.model_copy(update={"id": new, "created": now()})
        if self.change(lambda desk: desk.do(AddHypothesis(hypothesis=hypothesis))):
            said = f"{printable(hypothesis.statement)}\n{hypothesis.confidence}; 6: checklist"
            self.notify(said, title=f"Hypothesis {new}, by Claude", markup=False)
            self.point_at(new)

    def on_diagnosis_pane_place_chosen(self, event: DiagnosisPane.PlaceChosen) -> None:
        """Show what Claude cites."""
        event.stop()
        from mltd.analyzers.core.finding import Evidence, EvidenceKind

        cited = event.cited
        if not cited.ref or cited.run is None:
            self.complain(f"{cited.place or 'this'} has no place in a log or on a curve")
            return
        if cited.run != self.book.selected:
            self.main_screen.select(cited.run)
        kind = EvidenceKind.SERIES if cited.kind == "series" else EvidenceKind.LOG
        self.main_screen.show_evidence(cited.run, Evidence(kind, cited.ref, cited.quote))
