"""bad_config: a setting is wrong, missing or contradicts another.

What it is: names that the program does not know, values it cannot use, sizes that do not fit
    together.
Told apart by: the message comes from the parser or from the code that reads the config, before
    any training step.
Try next: correct the setting that the message names; compare with a config that worked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..errors.hypothesis import MessageCause


@cause
@dataclass(frozen=True)
class BadConfig(MessageCause):
    """Weighs what speaks for a wrong setting."""

    id: ClassVar[str] = "bad_config"
    explains: ClassVar[tuple[str, ...]] = (
        "config_error",
        "permission_denied",
        "checkpoint_missing",
        "checkpoint_mismatch",
        "empty_data",
        "shape_mismatch",
        "dtype_mismatch",
        "index_out_of_range",
        "device_assert",
        "environment_error",
        "dataloader_worker_died",
        "exception",
        "config_mismatch",
        "unseeded",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Messages, and files that contradict each other."""
        yield from super().clues(case)
        for finding in case.all("config_mismatch", "unseeded"):
            if finding.is_alarm:
                yield Clue(0.75, finding.evidence[0])

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return "a setting is wrong, missing or contradicts another"

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Compare with a config that worked."""
        yield Fix(
            addresses=self.id,
            change="compare the resolved config with that of a run that worked",
            example="diff <(sort good/config.yaml) <(sort bad/config.yaml)",
            expected_impact="the setting that differs is in a short list; the program starts",
            verify="the run with the good value of that setting alone starts",
            if_it_fails="if the good config fails too, code, packages or data have changed",
            is_quick=True,
        )
