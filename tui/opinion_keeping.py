"""The part of the app that keeps what Claude said: in the session, in the pane, after undo."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from mltd.runs.errors import MltdError

from .engine.consult_protocol import KeptOpinions, OpinionRequest
from .engine.protocol import News
from .session_keeping import SessionKeepingApp
from .settings import ScreenSettings
from .terminal import Terminal
from .theming import LoadedThemes

if TYPE_CHECKING:
    from mltd.sessions.model.records import DiagnosisRecord

    from .app import Wanted
    from .claude.talk import Talk
    from .desk.desk import Desk
    from .screens.main import MainScreen

FIRST_TICKET = 3_000_000
"""Far from those of panes, jumps and experiments."""
CLAUDE = "claude"
NOWHERE = -1
"""Number of a run that is not open."""


class OpinionKeepingApp(SessionKeepingApp):
    """One conversation with Claude for each session, and what the session has kept of it."""

    wanted: Wanted

    def __init__(
        self,
        themes: LoadedThemes,
        terminal: Terminal,
        settings: ScreenSettings,
        *wishes: str | None,
        session_folder: Path | None = None,
    ) -> None:
        super().__init__(themes, terminal, settings, *wishes, session_folder=session_folder)
        self._talks: dict[Desk, Talk] = {}
        self._talk_desks: dict[int, Desk] = {}
        """Whose conversation has which ticket."""
        self._recalled: dict[Desk, tuple[object, ...]] = {}
        """From what a kept conversation was made: records, and runs that are open."""
        self._unlaid: dict[int, Talk] = {}
        """Kept conversations that wait to be laid out; their turns may be part of newer ones."""
        self._next_ticket = count(FIRST_TICKET)

    # -- conversations --------------------------------------------------------------------

    @property
    def _shown_talk(self) -> Talk | None:
        return self._talks.get(self.desk) if self.desk is not None else None

    @property
    def _busy_talk(self) -> Talk | None:
        """The conversation that is under way, in whatever session."""
        return next((talk for talk in self._talks.values() if talk.is_busy), None)

    def _talk(self, ticket: int) -> Talk | None:
        """The conversation that a ticket belongs to, unless it was begun anew meanwhile."""
        desk = self._talk_desks.get(ticket)
        talk = self._talks.get(desk) if desk is not None else None
        return talk if talk is not None and talk.ticket == ticket else None

    def _numbered(self, desk: Desk) -> tuple[tuple[str, int], ...]:
        numbers = [(run.id, self.number_of(run)) for run in desk.session.runs]
        return tuple((name, number) for name, number in numbers if number is not None)

    # -- the pane -------------------------------------------------------------------------

    def show_desk(self) -> None:
        """The session with its conversation."""
        super().show_desk()
        self.show_talk()

    def show_talk(self) -> None:
        """Show the conversation of the session that is looked at, or what was kept of earlier."""
        pane, desk = self.main_screen.diagnosis, self.desk
        if pane is None:
            return
        if desk is not None:
            self._catch_up(desk)
        talk, busy, notice = self._shown_talk, self._busy_talk, ""
        if self.wanted.is_claude_off and not (talk is not None and talk.problem):
            notice = "Claude is switched off: --no-claude"
        elif busy is not None and busy is not talk:
            notice = f"Claude is asked about {busy.about} just now: one question at a time"
        pane.show(talk, notice=notice)

    def _catch_up(self, desk: Desk) -> None:
        """Bring a conversation in line with what the session holds by now."""
        talk, records = self._talks.get(desk), opinions_of(desk)
        if talk is None or talk.is_kept:
            self._recall(desk, records)
            return
        there = {one.at for one in records}
        for turn in talk.turns:
            turn.set_undone(turn.kept_at is not None and turn.kept_at not in there)

    def _recall(self, desk: Desk, records: list[DiagnosisRecord]) -> None:
        """Show what was kept; again if there is more or less of it, or a run was opened."""
        from .claude.talk import Talk

        if not records:
            self._talks.pop(desk, None)
            self._recalled.pop(desk, None)
            return
        numbered = dict(self._numbered(desk))
        made_from = (tuple(numbered.items()), tuple(one.at for one in records))
        if self._recalled.get(desk) == made_from:
            return
        self._recalled[desk] = made_from
        run = desk.session.run(records[-1].run)
        number = numbered.get(run.id, NOWHERE) if run is not None else NOWHERE
        about = run.name if run is not None else desk.session.title
        ticket = next(self._next_ticket)
        talk = Talk.kept(ticket, number, about, [(one.at, one.body) for one in records])
        self._talks[desk], self._unlaid[ticket] = talk, talk
        bodies = tuple(json.dumps(one.body) for one in records)
        session = desk.session.model_dump_json()
        self.bridge.send(OpinionRequest(ticket, number, session, tuple(numbered.items()), bodies))

    def hear_of_triage(self, news: News) -> None:
        """Also of opinions that were laid out."""
        super().hear_of_triage(news)
        if not isinstance(news, KeptOpinions):
            return
        talk, pane = self._unlaid.pop(news.ticket, None), self.main_screen.diagnosis
        if talk is None:
            return
        talk.lay_out(news.pages)
        if pane is not None and pane.talk is talk:
            pane.show_newest()
        elif pane is not None:
            pane.update_talk()

    def _refresh_talk(self, talk: Talk) -> None:
        pane = self.main_screen.diagnosis
        if pane is None or talk is not self._shown_talk:
            return
        if pane.talk is talk:
            pane.update_talk()
        else:
            self.show_talk()

    def on_main_screen_pane_made(self, event: MainScreen.PaneMade) -> None:
        """Now there is somewhere to show it."""
        if event.view == "diagnosis":
            self.show_talk()

    # -- the session ----------------------------------------------------------------------

    def _keep(self, desk: Desk, talk: Talk, status: str, body: dict[str, object]) -> str:
        """Write it down; what went wrong, in a sentence, or nothing."""
        from mltd.sessions.actions.records import RecordDiagnosis
        from mltd.sessions.model.records import DiagnosisRecord
        from mltd.sessions.triage import now

        place, at = self._ref_of(talk.run), now()
        content = {"at": at, "source": CLAUDE, "status": status, "body": body}
        content["run"] = place.id if place is not None else ""
        try:
            record = DiagnosisRecord.model_validate(content)
            desk.do(RecordDiagnosis(diagnosis=record))
            desk.observe()
        except (MltdError, OSError, ValueError) as problem:
            return f"what Claude said is not kept in the session: {problem}"
        talk.turns[-1].kept_at = at
        return ""

    def _keep_half(self, desk: Desk, talk: Talk, why: str) -> str:
        """Write down what came of a question that nobody will answer any more."""
        turn = talk.turns[-1]
        if not turn.said.strip() and not turn.looks:
            return ""
        body: dict[str, object] = {
            "model": talk.model,
            "question": turn.question,
            "text": turn.said,
            "looks": [f"{look.name} {look.what}: {look.result}" for look in turn.looks],
            "usage": turn.usage._asdict() if turn.usage is not None else None,
            "error": {"kind": "lost", "message": why, "hint": "ask anew", "is_temporary": True},
        }
        return self._keep(desk, talk, "failed", body)

    def close_sessions(self) -> list[str]:
        """Keep what came of a question that is still under way, then let go."""
        said = [
            self._keep_half(desk, talk, "the app was closed before the answer was there")
            for desk, talk in self._talks.items()
            if talk.is_asking
        ]
        return [*filter(None, said), *super().close_sessions()]


def opinions_of(desk: Desk) -> list[DiagnosisRecord]:
    """What a session has kept of Claude."""
    return [one for one in desk.session.diagnoses if one.source == CLAUDE]
