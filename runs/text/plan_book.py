"""The plans of one log: which shape each line has, and what is done with lines of that shape.

Lines are grouped by *skeleton*: the line without digits, signs, dots, white space and the
letter e. Lines of one skeleton were printed by one format string, so one careful look at
the first of them tells how to read all the others at C speed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat

import numpy as np

from ..harvest import Ints
from .chunk_view import ChunkView
from .cleaning import CleanChunk
from .families import Families
from .layouts import Fitting
from .plan import Plan, Planner, Shape
from .shape_budget import ShapeBudget
from .variety import Variety, split_digits, without_values

_IGNORED = b"0123456789.+-eE \t=>#\xe2\x96\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x81\x94\x95\x9a"
_UNKNOWN = -1
_TABLE = 1
"""Number of the plan that all table lines share."""
MAX_PLANS = 100_000
"""Shapes remembered; beyond that a log is prose, and prose is judged line by line."""


class PlanBook:
    """Plans by number; number 0 is that of lines of which nothing is wanted."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        # Blank lines and ruled lines have an empty skeleton: they may close a table.
        self._numbers: dict[bytes, int] = {b"": _TABLE}
        self._plans: list[Plan] = [Plan(Shape.NOTHING), Plan(Shape.TABLE)]
        # One byte per plan: a log of prose has a hundred thousand, and many chunks.
        self._is_special = bytearray(2)
        self._is_table = bytearray([0, 1])
        self._is_heading = bytearray(2)
        self.has_tables = False
        self._families = Families()
        self.budget = ShapeBudget(planner.roles)
        self._varieties: dict[tuple[int, bytes], tuple[Variety, int]] = {}
        """Sharp plan and text without digits to what is known of such lines, and their plan."""
        self.sharp: set[int] = set()
        """Plans whose lines differ in digits inside names: told apart line by line."""
        self._below: dict[tuple[int, str], int] = {}
        """Plan and split to the plan of such lines below a heading of that split."""
        self.is_below: set[int] = set()
        """Plans of lines below a heading."""

    def __getitem__(self, number: int) -> Plan:
        """The plan with a number."""
        return self._plans[number]

    @property
    def has_headings(self) -> bool:
        """True if any line so far named the split of those below it."""
        return any(self._is_heading)

    def headings(self, numbers: Ints) -> Ints:
        """Lines that name the split of those below them."""
        return _lines_of(self._is_heading, numbers)

    def tables(self, numbers: Ints) -> Ints:
        """Lines that are drawn as a part of a table."""
        return _lines_of(self._is_table, numbers)

    def special(self, numbers: Ints) -> Ints:
        """Lines that may hold events, settings or statements."""
        return _lines_of(self._is_special, numbers)

    def note_heard(self, number: int) -> None:
        """Look again whether lines of a plan have to be looked at."""
        self._is_special[number] = self._plans[number].is_special

    def classify(self, view: ChunkView, fittings: Iterable[Fitting]) -> Ints:
        """The number of the plan of every piece of a chunk."""
        chunk = view.chunk
        numbers = np.full(len(chunk.pieces), _UNKNOWN, dtype=np.int64)
        for layout, indices, _ in fittings:
            numbers[indices] = layout.plan
        others = np.flatnonzero(numbers == _UNKNOWN)
        if len(others):
            skeletons = view.join(others).translate(None, _IGNORED).split(b"\n")
            known = map(self._numbers.get, skeletons, repeat(_UNKNOWN))
            numbers[others] = np.fromiter(known, dtype=np.int64, count=len(skeletons))
            unknown = np.flatnonzero(numbers[others] == _UNKNOWN).tolist()
            self.budget.begin(len(chunk.joined), [skeletons[place] for place in unknown])
            for place in unknown:
                index = int(others[place])
                numbers[index] = self._number(skeletons[place], chunk, index)
        if self.sharp:
            self.sharpen(chunk, numbers, np.flatnonzero(np.isin(numbers, list(self.sharp))))
        return numbers

    def _number(self, skeleton: bytes, chunk: CleanChunk, index: int) -> int:
        number = self._numbers.get(skeleton)
        if number is not None:
            return number
        piece = chunk.pieces[index]
        family = self._families.of(piece)
        if family.is_idle:
            return 0  # not remembered: there may be as many skeletons as lines
        if not self.budget.allows(skeleton, piece):
            return 0
        plan = self._planner.plan(piece)
        self.budget.note(plan)
        family.note(plan)
        if plan.is_idle:
            number = 0
        elif plan.shape is Shape.TABLE and plan.rule is None and not plan.may_state:
            number = _TABLE
            self.has_tables = True
        else:
            number = self._add(plan)
            self.has_tables |= plan.shape is Shape.TABLE and plan.rule is None
        if len(self._numbers) < MAX_PLANS:
            self._numbers[skeleton] = number
        return number

    def forget_shapes(self) -> None:
        """Plan all shapes anew: something was learned about the log as a whole."""
        self._numbers = {b"": _TABLE}
        self._varieties.clear()
        self.budget.renew()

    def _add(self, plan: Plan) -> int:
        self._plans.append(plan)
        self._is_special.append(plan.is_special)
        self._is_table.append(plan.shape is Shape.TABLE)
        self._is_heading.append(bool(plan.heading))
        return len(self._plans) - 1

    def sharpen(self, chunk: CleanChunk, numbers: Ints, indices: Ints) -> None:
        """Replace the numbers of shapes with varying names by those of the lines' exact shapes."""
        for index in indices.tolist():
            exact = without_values(chunk.pieces[index])
            known = self._numbers.get(b"\n" + exact)
            if known is None:
                known = self._exact_number(int(numbers[index]), exact, chunk, index)
            numbers[index] = known

    def _exact_number(self, sharp: int, exact: bytes, chunk: CleanChunk, index: int) -> int:
        """The number for lines with these very names, or for all that differ in digits alone."""
        general, digits = split_digits(exact)
        variety, number = self._varieties.get((sharp, general)) or (Variety(), 0)
        if number:
            return number
        own = self._number(b"\n" + exact, chunk, index)
        plan = variety.learn(digits, self._plans[own])
        number = 0 if plan is None else self._add(replace(plan, variety=variety))
        self._varieties[sharp, general] = variety, number
        return own

    def number_below(self, number: int, split: str) -> int:
        """The number of the plan for lines of a plan below a heading."""
        known = self._below.get((number, split))
        if known is not None:
            return known
        plan = self._plans[number]
        assert plan.template is not None
        reading = replace(plan.template.reading, split=split)
        below = self._add(replace(plan, template=replace(plan.template, reading=reading)))
        # Such lines were looked at before they were moved.
        self._is_special[below] = self._is_heading[below] = False
        self.is_below.add(below)
        self._below[number, split] = below
        return below


def _lines_of(flags: bytearray, numbers: Ints) -> Ints:
    """Lines whose plans have a flag."""
    # A copy: a bytearray that an array looks into could not grow.
    return np.flatnonzero(np.array(flags, dtype=np.uint8)[numbers])
