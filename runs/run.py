"""A run: the columns, events, config and artifacts of one training, from all its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .coordinates import Coordinates
from .course import role_behind_losses, role_by_company, role_by_course
from .event import Event
from .events.log import EventLog
from .harvest import Column, ColumnKey, Floats, Harvest, Ints
from .limits import KNOWN_SERIES, MOST_SERIES, LeftOut, describe_left_out
from .open_artifact import ANYWHERE
from .roles import Roles, shipped
from .series import Series
from .sources.pieces import LINES_MISSING
from .statements import Statement

if TYPE_CHECKING:
    from .schedulers.job import Job
    from .surroundings import Surroundings


MOST_STATEMENTS = 4096
"""Kept per run; programs introduce themselves, and each of their ranks may."""


@dataclass(slots=True)
class SourceFile:
    """One file of a run and how far it has been read."""

    path: str
    format: str = ""
    bytes: int = 0
    lines: int = 0
    generations: int = 1
    is_snapshot: bool = False
    ends_open: bool = False
    """The last line has no end yet: a bar that is still drawn, or a writer that was stopped."""
    note: str = ""
    """Something the reader of the screen should know, e.g. a cut-off archive."""
    gaps: int = 0
    """Places where lines may be missing."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How much was left out beyond which of the `limits`."""
    coordinates: Coordinates = field(default_factory=Coordinates)
    root: str = ANYWHERE
    """The folder that it must really lie in to be read; `ANYWHERE` if the user named the file."""

    @property
    def notice(self) -> str:
        """The note, and a sentence for everything that is missing or was left out."""
        places = f" ({self.gaps:,} places)" if self.gaps > 1 else ""
        missing = LINES_MISSING + places if self.gaps else ""
        return "; ".join(filter(None, [self.note, missing, *describe_left_out(self.left_out)]))

    def leave_out(self, kind: str, count: int) -> None:
        """Count what was left out."""
        self.left_out[kind] = self.left_out.get(kind, 0) + count


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that belongs to the run and is not a log."""

    kind: str
    path: str
    root: str = ANYWHERE
    """The folder that it must really lie in to be read; `ANYWHERE` if the user named the file."""
    problem: str = ""
    """Why it could not be read; empty if it was, or if nobody tried."""


_FAR_BEYOND = 1.5
"""Times the planned steps; who gets so far did not plan the training with them."""


class Run:
    """Everything known about one training.

    Grows by `append`; shrinks only by `thin`, and where a snapshot is replaced by a newer one.
    """

    def __init__(self, name: str, roles: Roles | None = None) -> None:
        self.name = name
        self.files: list[SourceFile] = []
        self.config: dict[str, object] = {}
        self.printed: dict[str, object] = {}
        """The settings that logs print themselves, also where a config file says otherwise."""
        self.artifacts: list[Artifact] = []
        self.totals: dict[str, float] = {}
        self.statements: list[Statement] = []
        """What logs say about the model and the machine, in the order in which it was read."""
        self.job: Job | None = None
        """What the scheduler last said about the job that trains this."""
        self.surroundings: Surroundings | None = None
        """Where it lives; None if it came through a pipe."""
        self.is_over = False
        """Known not to be running, however fresh its files are: a recording, a copy."""
        self.thinnings = 0
        """How often rows were dropped to bound memory; what was derived from them is then old."""
        self._roles = roles or shipped()
        self._series: dict[tuple[int, str], Series] = {}
        self._by_key: dict[tuple[int, ColumnKey], tuple[Series, float]] = {}
        self._origins: dict[tuple[int, str], ColumnKey] = {}
        """First key that made a series, to tell whether another key means the same."""
        self._moved: dict[tuple[int, str], str | None] = {}
        """Measures that were taken for those of validation, and the roles of their names."""
        self._in_roles: dict[tuple[int, str | None], set[str]] = {}
        """File and role to the names of the series that have it, but for those in `_moved`."""
        self._moved_to: dict[tuple[int, str | None], set[str]] = {}
        """File and role to the names of the measures that were moved there."""
        self._counts: dict[int, int] = {}
        """File to the number of its series."""
        self._named_losses: dict[int, set[str]] = {}
        """File to the roles of its losses whose names tell on what they were measured."""
        self._events: list[EventLog] = []

    # -- growing --------------------------------------------------------------------------

    def add_file(self, source: SourceFile) -> int:
        """Register a file; its number."""
        self.files.append(source)
        self._events.append(EventLog())
        return len(self.files) - 1

    def drop_last_file(self) -> None:
        """Forget a file that turned out to be unreadable before it gave anything."""
        self.files.pop()
        self._events.pop()

    def repeats(self, file: int, harvest: Harvest) -> bool:
        """True if a harvest begins with the values with which this file began."""
        first = {s.name: s.values[0] for (f, _), s in self._series.items() if f == file and len(s)}
        again = [c for c in harvest.columns if c.key.name in first and len(c.values)]
        return bool(again) and all(
            np.array_equal(c.values[0], first[c.key.name], equal_nan=True) for c in again
        )

    def start_generation(self, file: int, *, replaces: bool = False) -> None:
        """The file began anew: a restart, or a newer state of the same that replaces it."""
        source = self.files[file]
        source.generations += 1
        source.lines = source.bytes = 0
        if source.is_snapshot or replaces:
            source.coordinates = Coordinates()
            source.left_out = {}
            self._series = {k: s for k, s in self._series.items() if k[0] != file}
            self._by_key = {k: s for k, s in self._by_key.items() if k[0] != file}
            self._origins = {k: o for k, o in self._origins.items() if k[0] != file}
            self._moved = {k: r for k, r in self._moved.items() if k[0] != file}
            self._in_roles = {k: n for k, n in self._in_roles.items() if k[0] != file}
            self._moved_to = {k: n for k, n in self._moved_to.items() if k[0] != file}
            self._named_losses.pop(file, None)
            self._counts.pop(file, None)
            self._events[file] = EventLog()
            self.statements = [stated for stated in self.statements if stated.file != file]
        else:
            source.coordinates.restart()

    def append(self, file: int, harvest: Harvest) -> None:
        """Take in what a reader found in the next stretch of a file."""
        source = self.files[file]
        generation = source.generations - 1
        first = source.coordinates.append(harvest, source.lines, generation)
        self._append_columns(file, harvest.columns, first)
        self._append_events(file, harvest)
        for key, value in harvest.config.items():
            self.config.setdefault(key, value)
            self.printed.setdefault(key, value)
        self.totals.update(harvest.totals)
        self._revise_plan(source.coordinates)
        self._append_statements(file, harvest)
        for kind, count in harvest.left_out.items():
            source.leave_out(kind, count)
        source.lines += harvest.lines
        source.bytes += harvest.consumed

    def _revise_plan(self, coordinates: Coordinates) -> None:
        """Take the end of a bar for the plan; forget a total that was that of a part only."""
        planned, reached = coordinates.planned_steps, coordinates.reached("step")
        if planned is not None:
            self.totals.setdefault("step", planned)
        if reached > _FAR_BEYOND * self.totals.get("step", np.inf):
            del self.totals["step"]

    def _append_events(self, file: int, harvest: Harvest) -> None:
        if not harvest.events:
            return
        source = self.files[file]
        lines = np.array([event.line for event in harvest.events])
        steps = source.coordinates.current_steps(harvest, lines)
        for event, step in zip(harvest.events, steps, strict=True):
            self._events[file].add(
                replace(
                    event,
                    line=event.line + source.lines,
                    last_line=max(event.last_line, event.line) + source.lines,
                    offset=event.offset + source.bytes if event.offset >= 0 else -1,
                    step=step,
                )
            )

    def _append_statements(self, file: int, harvest: Harvest) -> None:
        room = max(0, MOST_STATEMENTS - len(self.statements))
        lines = self.files[file].lines
        self.statements.extend(
            replace(stated, line=stated.line + lines, file=file)
            for stated in harvest.statements[:room]
        )

    def _append_columns(self, file: int, columns: Sequence[Column], first: int) -> None:
        parts: dict[str, tuple[Series, list[Ints], list[Floats]]] = {}
        # Who comes first in the file gets the plain name, however the file was cut.
        for column in sorted(columns, key=lambda c: int(c.rows[0]) if len(c.rows) else 0):
            found = self._by_key.get((file, column.key))
            if found is None:
                if not self._has_room(file, column.key):
                    self.files[file].leave_out(LeftOut.SERIES, len(column.values))
                    continue
                found = self._by_key[file, column.key] = self._resolve(file, column.key)
            series, factor = found
            series.is_certain |= column.is_certain
            _, rows, values = parts.setdefault(series.name, (series, [], []))
            rows.append(column.rows + first)
            values.append(column.values if factor == 1.0 else column.values * factor)
        for series, rows, values in parts.values():
            if len(rows) == 1:
                series.append(rows[0], values[0])
            else:
                # Lines of several shapes speak of one series: back into the order of the file.
                merged = np.concatenate(rows)
                order = np.argsort(merged, kind="stable")
                series.append(merged[order], np.concatenate(values)[order])
            if series.role is None and not series.dropped:
                role = self._role_beside_others(file, series)
                if role is not None:
                    self._in_roles[file, None].discard(series.name)
                    series.role = role
                    self._note_role(file, series)

    def _has_room(self, file: int, key: ColumnKey) -> bool:
        """False if a file has so many series that this one is not kept as well."""
        count = self._counts.get(file, 0)
        if count < MOST_SERIES:
            return True
        return count < MOST_SERIES + KNOWN_SERIES and self._roles.is_outcome(key.name)

    def _role_beside_others(self, file: int, series: Series) -> str | None:
        """What a series is by the one beside it, else by its course."""
        role = role_by_company(series.name, lambda other: (file, other) in self._series)
        if role is None and not series.unit:
            role = role_by_course(series.name, series.values, self._roles)
        return role

    def thin(self, file: int, kept: npt.NDArray[np.bool_]) -> None:
        """Forget all rows of a file but some; `thinning` says which ones matter."""
        numbers = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        for series in self.of_file(file):
            series.keep(kept, numbers)
        self.files[file].coordinates.keep(kept)
        self.thinnings += 1

    # -- names ----------------------------------------------------------------------------

    def _resolve(self, file: int, key: ColumnKey) -> tuple[Series, float]:
        """The series for a key: names are told apart only where they would collide."""
        for name in _spellings(key):
            series = self._series.get((file, name))
            if series is None:
                role = self._roles.role_of(key.name.removesuffix(" (progress)"), key.split)
                role = self._role_behind_losses(file, key, role)
                if role == "lr" and key.unit.endswith("/s"):
                    role = "throughput"  # `rate: 1.4it/s`
                series = Series(
                    name, role, key.unit, key.rank, key.split, file, self.files[file].coordinates
                )
                series.layer = key.layer
                self._series[file, name] = series
                self._origins[file, name] = key
                self._counts[file] = self._counts.get(file, 0) + 1
                self._note_role(file, series)
                return series, 1.0
            origin = self._origins[file, name]
            if _is_same(origin, key):
                factor = self._conversion(key.unit, origin.unit)
                if factor is not None:
                    self._origins[file, name] = replace(
                        origin, level=origin.level or key.level, split=origin.split or key.split
                    )
                    return series, factor
        raise AssertionError("the last spelling is unique")

    def _note_role(self, file: int, series: Series) -> None:
        """Remember which series have a role: looking through all of them takes too long."""
        if (file, series.name) not in self._moved:
            self._in_roles.setdefault((file, series.role), set()).add(series.name)
        if series.role in ("train/loss", "val/loss") and self._roles.split_of(series.name):
            self._named_losses.setdefault(file, set()).add(series.role)

    def _role_behind_losses(self, file: int, key: ColumnKey, role: str | None) -> str | None:
        """The role of a measure without a split, unless one of validation is logged as well."""
        if self._roles.split_of(key.name) or key.split:
            # `auc  val_auc`: the first one was of the training after all.
            for name in self._moved_to.pop((file, role), ()):
                if self._series[file, name].role == role:
                    self._series[file, name].role = self._moved[file, name]
            return role
        moved = role_behind_losses(role, self._named_losses.get(file, ()))
        if moved == role or self._in_roles.get((file, moved)):
            return role
        if (known := self._series.get((file, key.name))) is not None:
            self._in_roles[file, known.role].discard(key.name)
        self._moved[file, key.name] = role
        self._moved_to.setdefault((file, moved), set()).add(key.name)
        return moved

    def _conversion(self, unit: str, target: str) -> float | None:
        if unit == target:
            return 1.0
        units = self._roles.units
        if unit in units and target in units and units[unit][0] == units[target][0]:
            return units[unit][1] / units[target][1]
        return None

    # -- reading --------------------------------------------------------------------------

    @property
    def series(self) -> list[Series]:
        """All metrics, in the order in which they first appeared."""
        return [
            series
            for (file, name), series in self._series.items()
            if len(series) and series.is_metric and not self._is_repetition(file, name, series)
        ]

    def find(self, file: int, name: str) -> Series | None:
        """The series of a file that has this name."""
        return self._series.get((file, name))

    def of_file(self, file: int) -> list[Series]:
        """Everything that one file logs, metrics or not."""
        return [series for (owner, _), series in self._series.items() if owner == file]

    @property
    def thinned(self) -> int:
        """One row in so many is kept, besides those that matter; 1 if all are."""
        return max((source.coordinates.stride for source in self.files), default=1)

    def _is_repetition(self, file: int, name: str, bar: Series) -> bool:
        """A bar that was only ever drawn complete adds nothing to its end values."""
        if not name.endswith(" (progress)"):
            return False
        ends = self._series.get((file, name.removesuffix(" (progress)")))
        return ends is not None and ends.logged == bar.logged

    def with_role(self, role: str) -> Iterator[Series]:
        """Metrics that have a role."""
        return (series for series in self.series if series.role == role)

    @property
    def events(self) -> list[tuple[SourceFile, Event]]:
        """Events with the file that reports them, in the order of their lines."""
        return [
            (source, event)
            for source, log in zip(self.files, self._events, strict=True)
            for event in log
        ]

    def add_config(self, config: Mapping[str, object]) -> None:
        """Settings from a config file; what a log printed comes second."""
        self.config = {**self.config, **config}

    @property
    def nbytes(self) -> int:
        """Bytes held in columns."""
        return sum(s.nbytes for s in self._series.values()) + sum(
            f.coordinates.nbytes for f in self.files
        )

    @property
    def allocated(self) -> int:
        """Bytes held in columns, with the spare room in which they grow."""
        return sum(s.allocated for s in self._series.values()) + sum(
            f.coordinates.allocated for f in self.files
        )


def _is_same(known: ColumnKey, key: ColumnKey) -> bool:
    """A line that says less than another may still speak of the same thing."""
    has_same_level = known.level == key.level or not known.level or not key.level
    has_same_split = known.split == key.split or {known.split, key.split} == {"", "train"}
    return has_same_level and has_same_split and known.rank == key.rank


def _spellings(key: ColumnKey) -> Iterator[str]:
    yield key.name
    name = key.name if key.rank is None else f"{key.name} [rank {key.rank}]"
    if key.rank is not None:
        yield name
    if key.split:
        yield f"{key.split}/{name}"
    if key.level:
        yield f"{name} ({key.level})"
        if key.split:
            yield f"{key.split}/{name} ({key.level})"
    if key.unit:
        yield f"{name} [{key.unit}]"
    number = 2
    while True:
        yield f"{name} #{number}"
        number += 1
