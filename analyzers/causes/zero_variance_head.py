"""zero_variance_head: a statistic is taken over an output that has one element, or no spread.

What it is: a head (halting, gate, value, group of one) gives a single number where code takes its
    variance; the result is NaN and reaches the loss. Or it has come to give the same number for
    every example, and nothing can be learned from it any more.
Told apart by: the line of code under the warning names a head or a group and the warning comes at
    any step; a batch of one comes with the last batch of an epoch, and a batch size that leaves
    one example over.
Try next: guard the statistic, use correction=0, add an eps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Evidence, EvidenceKind, Finding
from ..core.registry import cause
from ..outputs.statistics_code import OF_A_HEAD, went_well_before


@cause
@dataclass(frozen=True, slots=True)
class ZeroVarianceHead:
    """Weighs the code that warned and what came after it."""

    id: ClassVar[str] = "zero_variance_head"
    explains: ClassVar[tuple[str, ...]] = ("degenerate_variance", "nan_loss", "nan_gradients")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The warning itself, its line of code, the NaN behind it."""
        found = self._warning(case)
        if found is None:
            return
        if found.number("collapsed"):
            yield Clue(0.7, found.evidence[0])
            yield Clue(0.4, found.evidence[1])
            return
        yield Clue(0.6, found.evidence[0])
        code = str(found.details.get("code", ""))
        if OF_A_HEAD.search(code):
            yield Clue(0.5, Evidence(EvidenceKind.LOG, found.evidence[0].ref, code[:200]))
        if found.number("nan_follows") and len(found.evidence) > 1:
            yield Clue(0.75, found.evidence[1])
        late = went_well_before(case, found)
        if late is not None:
            # A head with one output has one in every step.
            yield Clue(-0.4, late)
        batch = case.setting("batch_size")
        if batch is not None and batch.number == 1:
            yield Clue(-0.6, batch.evidence)

    def _warning(self, case: Case) -> Finding | None:
        found = case.get("degenerate_variance")
        # A normalisation layer that refuses says itself that the batch is to blame.
        return None if found is None or not found.is_alarm or "size" in found.details else found

    def issue(self, case: Case) -> str:
        """One sentence with the line of code."""
        found = self._warning(case)
        if found is not None and found.number("collapsed"):
            return f"the head {found.details.get('layer')} gives the same for every example"
        code = str(found.details.get("code", "")) if found is not None else ""
        where = f" in `{code[:80]}`" if code else ""
        tail = ", and the NaN reached the loss" if found and found.number("nan_follows") else ""
        return f"a variance is taken over a single element{where}{tail}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Guard, bias, batch."""
        found = self._warning(case)
        if found is not None and found.number("collapsed"):
            yield from self._revivals(str(found.details.get("layer")))
            return
        code = str(found.details.get("code", "")) if found is not None else ""
        place = f" in `{code[:60]}`" if code else ""
        yield self._fix(
            f"use the biased estimate with an eps{place}",
            "spread = x.var(correction=0) + 1e-6  # torch < 2.0: unbiased=False",
            "the warning is gone and train loss stays finite for the next 200 steps",
            "guard the statistic as well: the NaN comes from another place",
        )
        yield self._fix(
            f"take the statistic only over two or more elements{place}",
            "spread = x.var() if x.numel() > 1 else x.new_zeros(())",
            "no NaN in train loss for 200 steps",
            "log x.shape where it is taken: which dimension has one element?",
        )
        yield self._fix(
            "reduce over the batch rather than over the head's single output",
            "spread = halting.var(dim=0, correction=0)",
            "the statistic is over 0 and changes from step to step",
            "give the head more than one output, or drop the statistic",
        )
        yield self._fix(
            "find the first NaN with anomaly mode for ten steps",
            "with torch.autograd.detect_anomaly(): loss.backward()",
            "the traceback names the operation within the first step that fails",
            "check the inputs of that step for NaN",
        )

    def _revivals(self, layer: str) -> Iterator[Fix]:
        """A head that saturated or was pushed to one end."""
        check = f"act_unit_std/{layer} in a new recording stays above a thousandth of its start"
        yield Fix(
            addresses=self.id,
            change=f"weaken the term of the loss that pushes {layer} to one end",
            example=f"loss = task_loss + 0.01 * {layer.rpartition('.')[2]}_penalty",
            expected_impact="its outputs differ between examples within 200 steps",
            verify=check,
            if_it_fails="take the term out: if the head is constant even then, look at its input",
        )
        yield Fix(
            addresses=self.id,
            change=f"initialise {layer} anew with a bias of 0, and clamp its input to -5..5",
            example="nn.init.zeros_(head.bias); p = torch.sigmoid(head(x).clamp(-5, 5))",
            expected_impact="gradients reach the head again from the first step on",
            verify=check,
            if_it_fails="give it a tenth of the learning rate in a parameter group of its own",
            is_quick=True,
        )

    def _fix(self, change: str, example: str, impact: str, next_step: str) -> Fix:
        return Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact=impact,
            verify="rerun from the last checkpoint before the warning with warnings as errors: "
            "python -W error train.py",
            if_it_fails=next_step,
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a batch of one."""
        found = self._warning(case)
        if found is not None and found.number("collapsed"):
            yield f"the loss terms that reach {found.details.get('layer')}, logged one by one"
            return
        yield (
            "the shape of the tensor where the variance is taken: [1] says a head with one output, "
            "[1, n] a batch of one"
        )
