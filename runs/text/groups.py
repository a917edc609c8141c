"""Lines of one plan, read together: in columns where they can be, one by one where not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..harvest import Ints
from .assembly import Assembly
from .chunk_view import ChunkView
from .cleaning import CleanChunk, decode
from .layouts import Fitting, Layouts, Part, in_order, indices_besides, without
from .plan import Plan, Planner, Shape
from .plan_book import PlanBook
from .template import learn
from .variety import Variety


@dataclass(slots=True)
class GroupReader:
    """Reads the lines of a chunk plan by plan."""

    _planner: Planner
    _book: PlanBook
    _layouts: Layouts = field(default_factory=Layouts)

    def fit(self, chunk: CleanChunk) -> list[Fitting]:
        """Lines whose columns are known from the chunks before."""
        return self._layouts.fit(chunk)

    def read(
        self,
        view: ChunkView,
        numbers: Ints,
        skipped: npt.NDArray[np.bool_],
        fittings: list[Fitting],
        assembly: Assembly,
    ) -> None:
        """Give all lines that a template or the careful reading can read to an assembly."""
        if skipped.any() or len(numbers) < len(skipped):
            fittings = without(fittings, skipped, len(numbers))
        wanted = np.where(skipped[: len(numbers)], 0, numbers)
        for number, indices in _by_number(wanted, np.arange(len(wanted))):
            plan = self._book[number]
            if plan.variety is not None:
                self._read_variety(view, plan, plan.variety, indices, assembly)
            elif plan.shape is Shape.TEMPLATE:
                fitting = [one for one in fittings if one.layout.plan == number]
                self._read_group(view, number, indices, assembly, fitting)
            elif plan.shape is Shape.CAREFUL:
                self._read_carefully(view.chunk, indices, assembly)

    def _read_group(
        self,
        view: ChunkView,
        number: int,
        indices: Ints,
        assembly: Assembly,
        fittings: Sequence[Fitting] = (),
    ) -> None:
        chunk = view.chunk
        template = self._book[number].template
        assert template is not None
        parts = [
            Part(lines, values)
            for layout, lines, digits in fittings
            if (values := layout.read(digits)) is not None
        ]
        others = indices_besides(indices, parts)
        if len(others):
            joined = view.join(others)
            if number in self._book.is_below and not template.has_its_names(joined, len(others)):
                self._read_carefully(chunk, others, assembly)
            elif number not in self._book.sharp and not template.has_its_names(joined, len(others)):
                self._read_sharply(view, number, others, assembly)
            elif (matrix := template.parse(joined, len(others))) is None:
                self._read_carefully(chunk, others, assembly)
            else:
                parts.append(Part(others, matrix))
                if number not in self._book.is_below:
                    self._layouts.learn(number, template, chunk, others)
        if parts:
            assembly.add(template, *in_order(parts))

    def _read_sharply(
        self, view: ChunkView, number: int, indices: Ints, assembly: Assembly
    ) -> None:
        """Read lines whose names turned out to differ in their digits."""
        chunk = view.chunk
        self._book.sharp.add(number)
        numbers = np.full(int(indices[-1]) + 1, number, dtype=np.int64)
        self._book.sharpen(chunk, numbers, indices)
        for exact, group in _by_number(numbers[indices], indices):
            plan = self._book[exact]
            if exact == 0:
                continue  # nothing is wanted of such lines, as in the chunks that follow
            if plan.variety is not None:
                self._read_variety(view, plan, plan.variety, group, assembly)
            elif plan.shape is Shape.TEMPLATE and exact != number:
                self._read_group(view, exact, group, assembly)
            else:
                self._read_carefully(chunk, group, assembly)

    def _read_variety(
        self,
        view: ChunkView,
        plan: Plan,
        variety: Variety,
        indices: Ints,
        assembly: Assembly,
    ) -> None:
        """Read lines whose names differ in their digits, all at once."""
        assert plan.template is not None
        joined = view.join(indices)
        matrix = plan.template.parse(joined, len(indices))
        if matrix is None:
            self._read_carefully(view.chunk, indices, assembly)
        else:
            names = variety.names_in(joined.split(b"\n"))
            assembly.add_variety(plan.template, indices, matrix, names)

    def _read_carefully(self, chunk: CleanChunk, indices: Ints, assembly: Assembly) -> None:
        for index in indices.tolist():
            piece = chunk.pieces[index]
            text = decode(piece)
            reading = self._planner.read(text)
            if not (reading.slots or reading.coordinates or reading.bar):
                continue
            one = np.array([index])
            template = learn(piece, text, reading)
            matrix = template.parse(piece, 1) if template is not None else None
            if template is None or matrix is None:
                assembly.add_reading(reading, index, text)
            else:
                assembly.add(template, one, matrix)


def _by_number(numbers: Ints, indices: Ints) -> Iterator[tuple[int, Ints]]:
    """Each number that occurs, ascending, and the indices that have it."""
    order = np.argsort(numbers, kind="stable")
    values, first = np.unique(numbers[order], return_index=True)
    bounds = [*first.tolist(), len(order)]
    for number, start, end in zip(values.tolist(), bounds, bounds[1:], strict=False):
        yield number, indices[order[start:end]]
