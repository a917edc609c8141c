"""An app around the hand, without a screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mltd.sessions.errors import Refused
from mltd.tui.desk.desk import Desk
from mltd.tui.forms.field import Values
from mltd.tui.forms.form import Form, problems_of

Result = TypeVar("Result")


class Room:
    """An app around the hand that only remembers what it was asked for."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.said: list[str] = []
        """Everything that happened, in words."""
        self.form: Form[Any] | None = None
        self.then: Callable[[Any], object] | None = None
        self.attempt: Callable[[Any], object] | None = None
        self.agree: Callable[[], object] | None = None
        self.asked_for: list[str] = []

    def change(self, work: Callable[[Desk], object]) -> bool:
        before = len(self.desk.triage.entries)
        try:
            work(self.desk)
        except Refused as problem:
            self.said.append(f"refused: {problem}")
            return False
        new = self.desk.triage.entries[before:]
        self.said += [entry.action.op if entry.action else entry.kind for entry in new]
        return True

    def ask(
        self,
        form: Form[Result],
        then: Callable[[Result], object],
        attempt: Callable[[Result], object] | None = None,
    ) -> None:
        self.form, self.then, self.attempt = form, then, attempt
        self.said.append(f"form: {form.title}")

    def confirm(self, question: str, consequence: str, then: Callable[[], object]) -> None:
        self.agree = then
        self.said.append(f"confirm: {question} {consequence}")

    def complain(self, text: str) -> None:
        self.said.append(f"complaint: {text}")

    def pick_run_for(self, experiment: str) -> None:
        self.said.append(f"pick a run for {experiment}")

    def pick_baseline(self) -> None:
        self.said.append("pick a baseline")

    def show_verdict(self, experiment: str) -> None:
        self.said.append(f"verdict of {experiment}")

    def point_at(self, row: str) -> None:
        if row:
            self.said.append(f"at {row}")

    def metrics_of(self, run: str) -> tuple[str, ...]:
        self.asked_for.append(run)
        return ("train/loss", "val/loss", "throughput")

    def fill_in(self, **answers: str) -> None:
        """Answer the form; what is not named stays as it was suggested."""
        assert self.form is not None
        assert self.then is not None
        values: Values = {field.key: field.first_value for field in self.form.fields} | answers
        assert problems_of(self.form, values, self.attempt) == {}
        self.then(self.form.read(values))
