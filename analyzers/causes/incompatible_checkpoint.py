"""incompatible_checkpoint: the checkpoint does not belong to this model or is broken.

What it is: weights of another architecture, wrapper, vocabulary or code version, or a file that
    was not written whole.
Told apart by: keys that differ by a prefix only (wrapper), shapes that differ in the head only
    (classes) or in the embedding (vocabulary), or unreadable files (interrupted writes, git-lfs
    pointers); a loss that jumps where a checkpoint was loaded of which keys were missing, or that
    repeats the beginning of the run there.
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
from ..core.reloading import begins_anew, loaded_in_part
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
        "resume_discontinuity",
        "loss_spike",
        "loss_divergence",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        partly = loaded_in_part(case)
        if partly is not None:
            return f"not all weights came from the checkpoint: {partly.text.strip()[:160]}"
        if begins_anew(case) is not None:
            return "the loss begins anew where the run was resumed: the weights were not loaded"
        return "the checkpoint does not belong to this model, or is broken"

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """A setting that names what is loaded."""
        setting = case.setting("resume")
        if setting is not None and case.has("checkpoint_mismatch") and setting.value:
            yield Clue(0.15, setting.evidence)
        partly = loaded_in_part(case)
        jump = case.get("resume_discontinuity", "loss_spike", "loss_divergence")
        if partly is not None and jump is not None:
            # What is not in the file begins as random numbers.
            yield Clue(0.75, partly.evidence(partly.text), states=True)
            yield case.because(jump, 0.4)
        anew = begins_anew(case)
        if anew is not None:
            yield Clue(0.75, anew, "restart")

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
