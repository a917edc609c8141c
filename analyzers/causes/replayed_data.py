"""replayed_data: after a resume the model is shown data that it has seen.

What it is: the data stream begins again at its start, so the training loss looks too good.
Told apart by: the training loss steps down at the restart without a change of rate, and the
    validation loss does not follow.
Try next: restore the sampler, or skip the batches that were done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import restart_near
from ..core.finding import Basis
from ..core.registry import cause
from ..loss.easier import faster_since_resume


@cause
@dataclass(frozen=True, slots=True)
class ReplayedData:
    """Weighs a step down at a restart."""

    id: ClassVar[str] = "replayed_data"
    explains: ClassVar[tuple[str, ...]] = (
        "resume_discontinuity",
        "overfitting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A step down at a boundary that validation does not share."""
        found = case.get("resume_discontinuity")
        if found is None:
            turned = case.onset("overfitting")
            boundary, faster = restart_near(case, turned), faster_since_resume(case.view, turned)
            if faster is not None:
                # Validation turned where the same loss became easier: what is shown is known.
                yield Clue(0.6, faster[0], "restart")
                yield Clue(0.5, faster[1])
                yield case.because(case.all("overfitting")[0], 0.4)
            elif boundary is not None:
                yield Clue(0.3, boundary, "restart")
            return
        if found.number("jump") >= 0:
            yield case.because(found, 0.1)
            return
        yield Clue(0.6, found.evidence[-1], "restart")
        yield case.because(found, 0.5)
        val = case.view.curve("val/loss")
        if val is not None and len(val) >= 4 and found.first_step is not None:
            at = int(np.searchsorted(val.x, found.first_step))
            if 1 <= at < len(val):
                change = (np.median(val.y[at:]) - val.y[at - 1]) / abs(val.y[at - 1])
                weight = 0.4 if change > found.number("jump") / 3 else -0.5
                yield Clue(weight, val.evidence(at - 1, len(val) - 1), "validation")

    def issue(self, case: Case) -> str:
        """One sentence with the place."""
        found = case.get("resume_discontinuity")
        where = (
            f" at step {found.first_step:.10g}" if found and found.first_step is not None else ""
        )
        return f"since the resume{where} the model is trained on data that it has seen before"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Restore the sampler, skip, reseed."""
        yield Fix(
            addresses=self.id,
            change="restore the position of the data loader with the checkpoint",
            example="loader.load_state_dict(state['loader'])  # torchdata StatefulDataLoader",
            expected_impact="the training loss goes on within two deviations across a resume",
            verify="log the first sample id after a resume: it follows the last one before",
            if_it_fails="skip the batches that were done: itertools.islice(loader, done, None)",
        )
        yield Fix(
            addresses=self.id,
            change="seed the sampler with the epoch and the step, not with a constant",
            example="sampler.set_epoch(epoch); generator.manual_seed(seed + step)",
            expected_impact="another order after every resume; the loss does not step down",
            verify="hash the first ten batches of two resumes: they differ",
            if_it_fails="store the list of sample ids that were done",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="judge the run by validation from this step on",
            example="early stopping and model choice on val loss, never on train loss",
            expected_impact="the choice of checkpoint is no longer misled by replayed data",
            verify="the best checkpoint by validation is before or far behind the resume",
            if_it_fails="go back to the checkpoint of the resume and continue with new data",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What proves it."""
        yield "sample ids (or hashes) of the first batches after the resume and of the first epoch"
