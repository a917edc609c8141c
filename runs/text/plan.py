"""What to do with every line of one shape, decided once on its first example."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from importlib import resources

from ..events.classify import classify
from ..events.rule import FAILURES, EventRule
from ..roles import Roles
from ..statements import MOST_PER_SHAPE, may_state
from .cleaning import decode
from .grids import (
    header_cells,
    heading_cells,
    logged_row,
    row_cells,
    split_cells,
    trial_cells,
)
from .headings import heading_split
from .labels import Labels
from .lexer import read_line
from .numbers import NUMBER, parse_number
from .reading import Coordinate, Reading, Slot
from .record_blocks import may_open_record
from .source_code import may_open_source
from .tables import is_row, is_rule
from .template import Template, learn
from .variety import Variety

_NUMBER_HINT = re.compile(r"\d|\bnan\b|\binf", re.IGNORECASE)
_PATTERN_REACH = 8192
"""Characters of a line that patterns see: anybody may write them, and lines of megabytes exist."""
_COORDINATES = ("step", "epoch", "tokens", "samples", "inner")
_TOTALS = {"total_step": "total step", "total_epoch": "total epoch"}
"""Groups of patterns that say how far the run means to go."""


class Shape(Enum):
    """How lines of a plan are read."""

    NOTHING = auto()
    TEMPLATE = auto()
    CAREFUL = auto()
    """Tokens do not fit the careful reading: every line is read carefully."""
    TABLE = auto()


@dataclass(slots=True)
class Plan:
    """How to read one shape of line."""

    shape: Shape
    template: Template | None = None
    rule: EventRule | None = None
    may_start_config: bool = False
    may_open_record: bool = False
    """A record over several lines may begin with such lines."""
    may_open_source: bool = False
    """The source of a program that prints itself may begin with such lines."""
    looks_in_vain: int = 0
    """Lines that were looked at for a dump or a record below such a line, where none was."""
    events_seen: int = 0
    may_state: bool = False
    """Such lines may say something about the model or the machine."""
    statements_seen: int = 0
    heading: str = ""
    """The split that such lines announce for those below them."""
    variety: Variety | None = None
    """What the names in such lines are, if their digits differ from line to line."""

    @property
    def is_heard(self) -> bool:
        """True while further lines may state something new."""
        return self.may_state and self.statements_seen < MOST_PER_SHAPE

    @property
    def is_special(self) -> bool:
        """True if such lines have to be looked at, whatever their numbers are."""
        opens = self.may_start_config or self.may_open_record or self.may_open_source
        return self.rule is not None or opens or self.is_heard

    def may_hold_metrics(self) -> bool:
        """False if all its numbers have names that mean nothing, and no place in training."""
        if self.shape is Shape.TABLE:
            return True
        if self.template is None:
            return self.shape is Shape.CAREFUL
        reading = self.template.reading
        return reading.is_anchored or reading.is_record or any(s.is_known for s in reading.slots)

    @property
    def is_idle(self) -> bool:
        """Nothing to do for such lines."""
        is_special = self.rule is not None or self.may_start_config or self.may_state
        is_special |= self.may_open_record or self.may_open_source
        return self.shape is Shape.NOTHING and not is_special and not self.heading

    @property
    def takes_split(self) -> bool:
        """True if a heading above such lines may tell their split."""
        if self.template is None:
            return False
        reading = self.template.reading
        return bool(reading.slots) and not reading.split and not reading.is_anchored


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression with named groups that overrules the general reading."""

    name: str
    regex: re.Pattern[str]

    def read(self, text: str, roles: Roles) -> Reading | None:
        """The reading of a line that the pattern matches."""
        found = self.regex.search(text, 0, _PATTERN_REACH)
        if found is None:
            return None
        reading = Reading(is_record=True)
        for group, content in found.groupdict().items():
            number = NUMBER.match(content.rstrip(",.;")) if content else None
            if number is None:
                continue
            start = found.start(group)
            span = (start + number.start("number"), start + number.end("number"))
            value = parse_number(number["number"])
            if group in _COORDINATES:
                reading.coordinates.append(Coordinate(group, span, value))
            elif group in _TOTALS:
                reading.coordinates.append(Coordinate(_TOTALS[group], span, value))
            else:
                name = group.replace("__", " ")
                reading.slots.append(Slot(name, span, value, number["unit"] or "", is_known=True))
        has_plan = any(c.axis in _TOTALS.values() for c in reading.coordinates)
        return reading if reading.slots or has_plan else None


def compile_patterns(entries: Iterable[Mapping[str, object]]) -> tuple[Pattern, ...]:
    """Patterns from the tables of a TOML file; `re.error` if one is malformed."""
    return tuple(Pattern(str(e["name"]), re.compile(str(e["regex"]))) for e in entries)


@lru_cache(maxsize=1)
def shipped_patterns() -> tuple[Pattern, ...]:
    """The patterns that come with the package."""
    text = resources.files("mltd.runs").joinpath("patterns.toml").read_text(encoding="utf-8")
    return compile_patterns(tomllib.loads(text)["pattern"])


@dataclass(frozen=True)
class Planner:
    """Makes plans with one user's vocabulary and patterns."""

    roles: Roles
    patterns: tuple[Pattern, ...]
    labels: Labels = field(default_factory=Labels)

    def read(self, text: str) -> Reading:
        """The careful reading of a line, patterns first."""
        for pattern in self.patterns:
            if (reading := pattern.read(text, self.roles)) is not None:
                return reading
        return read_line(text, self.roles, is_labelled=self.labels.are_used)

    def plan(self, piece: bytes) -> Plan:
        """The plan for all lines that look like this one."""
        if not piece or piece.isspace():
            return Plan(Shape.NOTHING)
        text = decode(piece)
        plan = self._plan(piece, text)
        plan.may_state = may_state(text)
        plan.may_open_record = may_open_record(self.labels.without(text))
        plan.may_open_source = may_open_source(text)
        has_values = plan.template is not None and bool(plan.template.reading.slots)
        plan.heading = heading_split(self.labels.without(text), self.roles, has_values=has_values)
        return plan

    def _plan(self, piece: bytes, text: str) -> Plan:
        bare = self.labels.without(text)
        if is_rule(bare):
            return Plan(Shape.TABLE)
        rule = classify(text)
        if is_row(bare) or header_cells(bare, self.roles) or row_cells(bare):
            return Plan(Shape.TABLE, rule=rule)
        if split_cells(bare, self.roles) or heading_cells(bare) or trial_cells(bare):
            return Plan(Shape.TABLE, rule=rule)
        if logged_row(bare, self.roles) is not None:
            return Plan(Shape.TABLE, rule=rule)
        may_start = may_start_config(text)
        if rule is not None and rule.kind in FAILURES:
            return Plan(Shape.NOTHING, rule=rule)
        if not _NUMBER_HINT.search(text):
            return Plan(Shape.NOTHING, rule=rule, may_start_config=may_start)
        reading = self.read(text)
        if reading.bar is not None and not reading.slots and _is_side_bar(text):
            reading = Reading()
        if not (reading.slots or reading.coordinates or reading.bar):
            return Plan(Shape.NOTHING, rule=rule, may_start_config=may_start)
        template = learn(piece, text, reading)
        if template is None:
            return Plan(Shape.CAREFUL, rule=rule, may_start_config=may_start)
        return Plan(Shape.TEMPLATE, template, rule, may_start)


def may_start_config(text: str) -> bool:
    """True if a configuration dump may begin at this line."""
    from ..config import may_start_config as look

    return look(text)


def _is_side_bar(text: str) -> bool:
    """A bar with a caption and no metrics ("Map: 45%|...") is not the training's own."""
    return bool(re.match(r"\s*[^\W\d]", text.split("%|")[0]))
