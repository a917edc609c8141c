"""incompatible_checkpoint: the checkpoint does not belong to this model or is broken.

What it is: weights of another architecture, wrapper, vocabulary or code version, or a file that
    was not written whole.
Told apart by: keys that differ by a prefix only (wrapper), shapes that differ in the head only
    (classes) or in the embedding (vocabulary), or unreadable files (interrupted writes, git-lfs
    pointers).
Try next: compare keys and shapes; build the model from the checkpoint's own config; go back one
    checkpoint.
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
class IncompatibleCheckpoint(MessageCause):
    """Weighs what speaks for a checkpoint that does not fit."""

    id: ClassVar[str] = "incompatible_checkpoint"
    explains: ClassVar[tuple[str, ...]] = (
        "checkpoint_mismatch",
        "checkpoint_missing",
        "exception",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return "the checkpoint does not belong to this model, or is broken"

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """A setting that names what is loaded."""
        setting = case.setting("resume")
        if setting is not None and case.has("checkpoint_mismatch") and setting.value:
            yield Clue(0.15, setting.evidence)

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Load what fits, on purpose."""
        yield Fix(
            addresses=self.id,
            change="load the weights that fit on purpose, and list those that do not",
            example="print(model.load_state_dict(state, strict=False))",
            expected_impact="training starts; the first loss shows how much was loaded",
            verify="the list names only what you meant to leave out",
            if_it_fails="if layers of the body are listed, the checkpoint is of another model",
            is_quick=True,
        )
