"""Whether what was done is safe, in words; loud where it is not."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..findings.spans import Line, Span, clean, hang


class Saving(Protocol):
    """What the storage says about itself."""

    @property
    def state(self) -> str:
        """draft, saved, saving, unsaved or read-only."""

    @property
    def pending(self) -> int:
        """Changes that are not on disk."""

    @property
    def problem(self) -> str:
        """Why they are not, or why nothing can be changed."""

    @property
    def is_held(self) -> bool:
        """True if it could be taken over from somebody."""


class Draft(NamedTuple):
    """Nothing was done yet that is worth a file."""

    state: str = "draft"
    pending: int = 0
    problem: str = ""
    is_held: bool = False


def is_unsaved(saving: Saving) -> bool:
    """True if something would be lost, also to somebody who took the session over."""
    return saving.state == "unsaved" or (is_read_only(saving) and saving.pending > 0)


def is_read_only(saving: Saving) -> bool:
    """True if somebody else works on it, or nobody can."""
    return saving.state.replace("_", "-") == "read-only"


def short(saving: Saving) -> Line:
    """The state in a few words, for the end of a line; empty if it takes lines of its own."""
    match saving.state:
        case "draft":
            return (Span("draft: saved when you first change something", "quiet"),)
        case "saving":
            waiting = f" ({saving.pending})" if saving.pending > 1 else ""
            return (Span(f"saving…{waiting}", "quiet"),)
        case "saved":
            return (Span("✔ saved", "severity-fine"),)
        case _:
            return ()


def loud(saving: Saving, width: int) -> list[Line]:
    """What nobody may overlook."""
    if is_unsaved(saving):
        said = f"NOT SAVED ({saving.pending}): {clean(saving.problem)}: press s to save elsewhere"
        return hang((Span("✖ ", "severity-critical"),), said, width, "severity-critical", most=3)
    if is_read_only(saving):
        said = clean(saving.problem) + " (T takes over)" * saving.is_held
        return hang((Span("read-only: ", "stale"),), said, width, "stale", most=2)
    return []
