"""What is known about the weights of one run, and what is being read of them just now."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ..engine.model_protocol import (
    Branch,
    CheckpointRow,
    Checkpoints,
    Inspected,
    MemoryTold,
    ModelPage,
    ModuleRow,
)

MOST_PAGES = 4
"""As many as the engine keeps."""


class Mode(StrEnum):
    """What stands below the findings."""

    MODULES = "modules"
    MOVES = "moves"
    MEMORY = "memory"


@dataclass(slots=True)
class Look:
    """A look that is under way."""

    ticket: int
    path: str
    needs_values: bool
    against: str = ""
    done: int = 0
    total: int = 0
    is_stopping: bool = False


@dataclass(slots=True)
class Shown:
    """A page, and what came to it since."""

    ticket: int
    page: ModelPage
    branches: dict[str, list[ModuleRow]]
    memory: MemoryTold | None = None
    asked: set[tuple[str, int]] = field(default_factory=set)
    """Rows that are on their way."""

    def rows(self, key: str) -> list[ModuleRow]:
        """The rows below a row, as far as they are here."""
        return self.branches.get(key, [])


class Study:
    """The checkpoints of a run; everything the pane shows is in here."""

    def __init__(self, run: int, name: str) -> None:
        self.run = run
        self.name = name
        self.rows: tuple[CheckpointRow, ...] = ()
        self.places: tuple[str, ...] = ()
        self.is_listed = False
        self.is_listing_all = False
        """Also the older checkpoints, of many."""
        self.chosen = ""
        """Path of the one that is shown."""
        self.against = ""
        """Path of the earlier one that it is compared with, if what is shown is a comparison."""
        self.mode = Mode.MODULES
        self.look: Look | None = None
        self.unfolded: set[str] = set()
        self.notice = ""
        """What came of the last wish, if there is nothing else to see of it."""
        self._pages: dict[tuple[str, str], Shown] = {}
        """By the checkpoint and the one that it was compared with; the newest at the end."""
        self._problems: dict[str, Inspected] = {}
        self.version = 0
        """Another number whenever something is to be drawn anew."""

    # -- what there is --------------------------------------------------------------------

    @property
    def row(self) -> CheckpointRow | None:
        """The checkpoint that is shown."""
        return next((row for row in self.rows if row.path == self.chosen), None)

    @property
    def shown(self) -> Shown | None:
        """What is known of it."""
        return self._pages.get((self.chosen, self.against))

    @property
    def worst(self) -> tuple[str, int]:
        """The severity of the worst alarm in what is shown, and how many there are."""
        found = self.shown.page.diagnosis.findings if self.shown is not None else ()
        alarms = [finding for finding in found if finding.is_alarm]
        worst = max(alarms, key=lambda finding: finding.severity.rank, default=None)
        return (worst.severity.value if worst is not None else "", len(alarms))

    @property
    def home(self) -> Mode:
        """What stands below the findings unless somebody wants something else."""
        return Mode.MOVES if self.against else Mode.MODULES

    @property
    def compared(self) -> str:
        """Path of the checkpoint with which the chosen one was compared last; may be empty."""
        pairs = [against for path, against in self._pages if path == self.chosen and against]
        return pairs[-1] if pairs else ""

    @property
    def problem(self) -> Inspected | None:
        """Why it could not be looked into."""
        return self._problems.get(self.chosen)

    @property
    def is_busy(self) -> bool:
        """True while something is being read that can be stopped."""
        return self.look is not None and not self.look.is_stopping

    def beside(self, distance: int) -> CheckpointRow | None:
        """The checkpoint so many places further down the list."""
        paths = [row.path for row in self.rows]
        if self.chosen not in paths:
            return self.rows[0] if self.rows else None
        place = paths.index(self.chosen) + distance
        return self.rows[place] if 0 <= place < len(paths) else None

    def pair(self, path: str = "") -> tuple[CheckpointRow, CheckpointRow] | None:
        """The shown checkpoint and another, the older one first; by default the one before it."""
        shown = self.row
        other = next((row for row in self.rows if row.path == path), None)
        if other is None or other == shown:
            other = self.beside(1) or self.beside(-1)
        if shown is None or other is None:
            return None
        paths = [row.path for row in self.rows]
        is_older = paths.index(other.path) > paths.index(shown.path)
        return (other, shown) if is_older else (shown, other)

    def choose(self, path: str) -> None:
        """Show another checkpoint."""
        self.chosen, self.look = path, None
        self.show_against("")

    def show_against(self, path: str) -> None:
        """Show the comparison with a checkpoint, or with an empty path the chosen one alone."""
        self.against, self.notice = path, ""
        self.mode = self.home
        self.version += 1

    # -- news -----------------------------------------------------------------------------

    def take(self, news: Checkpoints) -> None:
        """Take in which checkpoints there are; the one that is shown stays."""
        known = {row.path: row.modified for row in self.rows}
        self.rows, self.places, self.is_listed = news.rows, news.places, True
        for row in news.rows:
            if row.path in known and known[row.path] != row.modified:
                # It was written anew: what is known of it is about another file.
                for pair in [pair for pair in self._pages if row.path in pair]:
                    del self._pages[pair]
                self._problems.pop(row.path, None)
        if self.row is None or (self.against and self.shown is None):
            self.chosen = self.chosen if self.row is not None else self._first
            self.show_against("")
        self.version += 1

    @property
    def _first(self) -> str:
        return self.rows[0].path if self.rows else ""

    def begin(self, look: Look) -> None:
        """Somebody wants to see more of a checkpoint."""
        self.look, self.notice = look, ""
        if self.chosen != look.path:
            self.chosen = look.path
            self.show_against("")
        self._problems.pop(look.path, None)
        self.version += 1

    def end(self, news: Inspected) -> None:
        """A look is over."""
        look = self.look
        if look is None or look.ticket != news.ticket:
            return
        self.look = None
        if news.page is not None:
            page = news.page
            branches = {key: list(rows) for key, rows in page.branches.items()}
            self._pages.pop((look.path, look.against), None)
            self._pages[look.path, look.against] = Shown(news.ticket, page, branches)
            for pair in list(self._pages)[:-MOST_PAGES]:
                del self._pages[pair]
            self.show_against(look.against)
            if not self.unfolded:
                top = page.branches.get("", ())
                self.unfolded = {row.key for row in top if _is_most(row)}
        elif news.is_cancelled:
            self.notice = "Stopped; nothing more was read."
        elif self.shown is not None:
            # What was there before stays.
            self.notice = f"{news.problem}{f' ({news.hint})' if news.hint else ''}"
        else:
            self._problems[look.path] = news
        self.version += 1

    def unfold(self, news: Branch) -> None:
        """More rows of the tree."""
        shown = next((one for one in self._pages.values() if one.ticket == news.ticket), None)
        if shown is None:
            return
        shown.asked.discard((news.key, news.start))
        rows = shown.branches.setdefault(news.key, [])
        if len(rows) == news.start:
            rows.extend(news.rows)
            self.version += 1

    def account(self, news: MemoryTold) -> None:
        """What the memory is filled with."""
        for shown in self._pages.values():
            if shown.ticket == news.ticket:
                shown.memory = news
                self.version += 1

    def forget(self) -> None:
        """The engine has ended: what it kept for this is gone."""
        if self.look is not None:
            self.notice = "The engine ended while it read; ask again."
        self.look, self.against = None, ""
        self._pages.clear()
        self.version += 1


def _is_most(row: ModuleRow) -> bool:
    """True for a module that holds most of the model: it is where one would look first."""
    return row.sort == "module" and row.children > 0 and row.share > 0.5
