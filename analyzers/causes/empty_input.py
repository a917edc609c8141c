"""empty_input: the data that arrives is empty or cannot be read.

What it is: a dataset, batch, graph or file without content: a filter that leaves nothing, an
    empty split, a file that was never filled.
Told apart by: counts of 0 in messages; a path that exists. If the path does not exist, it is
    bad_path.
Try next: count the samples after every step of the preparation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..errors.hypothesis import MessageCause


@cause
@dataclass(frozen=True)
class EmptyInput(MessageCause):
    """Weighs what speaks for missing content."""

    id: ClassVar[str] = "empty_input"
    explains: ClassVar[tuple[str, ...]] = (
        "empty_data",
        "index_out_of_range",
        "missing_file",
        "exception",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return "the data that arrives is empty or cannot be read"

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Count and clean."""
        yield Fix(
            addresses=self.id,
            change="print the number of samples after every step of the preparation",
            example="print('read', len(rows), 'kept', len(kept), 'train', len(train))",
            expected_impact="shows at which step the last sample is lost",
            verify="every count is above 0 and the loader has at least one batch",
            if_it_fails="if all counts are above 0, a single sample or graph is empty: log sizes",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="leave samples without content out when the dataset is made, and log how many",
            example="kept = [s for s in samples if len(s) > 0]; print(len(samples) - len(kept))",
            expected_impact="the loader passes one epoch; train loss is logged",
            verify="iterate over the loader alone for one epoch",
            if_it_fails="look for files of size 0 in the data directory",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What tells an empty dataset from a wrong path."""
        yield (
            "the number of files in the data directory as the job sees it: tells an empty "
            "dataset or filter from a wrong path"
        )
