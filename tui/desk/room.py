"""What keys of the checklist need of the app around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ..forms.form import Form
    from .desk import Desk

Result = TypeVar("Result")


class Room(Protocol):
    """What a hand needs of the app around it."""

    def change(self, work: Callable[[Desk], object]) -> bool:
        """Do something to the session."""

    def ask(
        self,
        form: Form[Result],
        then: Callable[[Result], object],
        attempt: Callable[[Result], object] | None = None,
    ) -> None:
        """Let the user fill in a form, and go on with what came out."""

    def confirm(self, question: str, consequence: str, then: Callable[[], object]) -> None:
        """Go on only if the user means it."""

    def complain(self, text: str) -> None:
        """Say why nothing happens."""

    def pick_run_for(self, experiment: str) -> None:
        """Let the user name the run that came out of an experiment."""

    def pick_baseline(self) -> None:
        """Let the user name a run that did what this one should have done."""

    def show_verdict(self, experiment: str) -> None:
        """Show before and after."""

    def point_at(self, row: str) -> None:
        """Put the cursor on a row."""

    def metrics_of(self, run: str) -> tuple[str, ...]:
        """Roles and names of what a run of the session logs."""
