"""data_pipeline_change: two paths of the data that should agree do not.

What it is: normalisation, tokenisation, label map or mode differ between two paths that should
    agree.
Told apart by: validation is bad from the first evaluation on while training learns; or a level
    shift, most of it at once, without any excursion of the gradient.
Try next: send training samples through the validation path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import (
    early_gap,
    goes_on_growing,
    gradient_at,
    jump_of_training_near,
    share_at_once,
    share_of_run,
    turned_with_a_jump,
)
from ..core.finding import Basis
from ..core.registry import cause
from ..core.shifts import shifted_gradients
from ..errors.hypothesis import clues_of, fixes_of, issue_of
from ..loss.damaged import changed_itself
from ..loss.first_pass import never_as_good_as_first_epoch
from ..loss.inverted import less_than_a_guess
from ..loss.memorised import memorises
from ..loss.ordered import one_class_batches


@cause
@dataclass(frozen=True, slots=True)
class DataPipelineChange:
    """Weighs a gap that is there from the first evaluation on."""

    id: ClassVar[str] = "data_pipeline_change"
    explains: ClassVar[tuple[str, ...]] = (
        "suspicious_metric",
        "loss_divergence",
        "oscillating_loss",
        "loss_spike",
        "overfitting",
        "not_learning",
        "resume_discontinuity",
        "exception",
        "dtype_mismatch",
        "exploding_gradients",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Bad from the start, or shifted without a gradient."""
        yield from clues_of(self.id, case)
        for finding in case.all("suspicious_metric"):
            if finding.details.get("kind") == "validation":
                yield case.because(finding, 0.6)
                yield Clue(0.3, finding.evidence[1], "training")
        worse = never_as_good_as_first_epoch(case.view)
        if worse is not None and case.has("overfitting", "suspicious_metric"):
            yield Clue(0.35, worse)
        inverted = less_than_a_guess(case.view)
        if inverted is not None:
            # What is only seen in another way is guessed at, and not missed on purpose.
            yield Clue(-0.5, inverted)
        ordered = one_class_batches(case.view)
        stuck = case.get("not_learning")
        if ordered is not None and stuck is not None:
            # Sorted by class, each batch undoes what the one before taught.
            yield Clue(0.7, ordered)
            yield case.because(stuck, 0.3)
        # What is learned by heart before the first evaluation leaves a gap there, too.
        gap = None if memorises(case.view) else early_gap(case)
        if gap is not None and gap.value > 2.0 and case.has("overfitting"):
            yield Clue(0.55, gap.evidence)
            yield case.because(case.all("overfitting")[0], 0.3)
        turned = turned_with_a_jump(case)
        jump = jump_of_training_near(case, turned.first_step) if turned is not None else None
        if jump is not None and turned is not None:
            yield Clue(0.45, jump)
            yield case.because(turned, 0.45)
        step = case.onset("loss_divergence", "resume_discontinuity")
        sudden = gradient_at(case, step)
        shifted = case.get("loss_divergence", "resume_discontinuity")
        growing = goes_on_growing(case, case.onset("loss_divergence"))
        late = share_of_run(case, case.onset("loss_divergence")) > 0.1
        lasting = case.get("loss_divergence")
        at_once = share_at_once(case, case.onset("loss_divergence"))
        if lasting is not None and at_once is not None and at_once.value < 0.4:
            yield Clue(-0.4, at_once.evidence)
        elif lasting is not None and growing is not None and growing.value < 1.5 and late:
            # A new level at once, that stays: what comes in has changed.
            yield case.because(lasting, 0.4)
            yield Clue(0.3, growing.evidence)
        itself = changed_itself(case.view, case.onset("loss_divergence"))
        if lasting is not None and itself is not None:
            # What comes in is not all that changed.
            yield Clue(-0.5, itself)
        if shifted is not None and sudden is not None and sudden.value < 1.5:
            yield case.because(shifted, 0.25)
            yield Clue(0.2, sudden.evidence)
        shift = shifted_gradients(case)
        if shift is not None:
            # The scale of what comes in has changed from one step to the next.
            yield Clue(0.55, shift.evidence)
            yield case.because(case.all("exploding_gradients")[0], 0.3)
        odd = case.get("lr_anomaly", "resume_discontinuity")
        if odd is not None and odd.id == "lr_anomaly" and odd.is_alarm:
            yield case.because(odd, -0.5)
        collapsed = case.get("mode_collapse")
        if collapsed is not None and collapsed.is_alarm:
            yield case.because(collapsed, -0.5)
        for finding in case.all("oscillating_loss"):
            yield case.because(finding, 0.15)

    def issue(self, case: Case) -> str:
        """One sentence."""
        if said := issue_of(self.id, case):
            return said
        if case.has("not_learning") and one_class_batches(case.view) is not None:
            return "the data come in the order of their classes, so that every batch holds only one"
        step = _changed_at(case)
        if step is not None:
            return f"since step {step:.10g} the data that the model is trained on are others"
        return "data reach the model differently in training and in evaluation (or since a change)"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """What the message asks for; else probe, mode, share the code."""
        if told := fixes_of(self.id, case):
            yield from told.values()
            return
        if case.has("not_learning") and one_class_batches(case.view) is not None:
            yield Fix(
                addresses=self.id,
                change="shuffle the training set before every epoch",
                example="DataLoader(train_set, batch_size=..., shuffle=True)",
                expected_impact="each batch holds most classes; the loss leaves the level of a "
                "guess within 200 steps",
                verify="print the labels of three batches: each has several",
                if_it_fails="look for a sampler or a sorted file that undoes the shuffling",
                is_quick=True,
            )
        step = _changed_at(case)
        if step is not None:
            yield Fix(
                addresses=self.id,
                change=f"compare the batches right before and after step {step:.10g}: source, "
                "transforms, label map",
                example=f"for step in ({step:.0f} - 2, {step:.0f} + 2): print(ids[step], "
                "x[step].mean(), x[step].std(), y[step].unique())",
                expected_impact="one of them differs: the file, the scale or the labels",
                verify="replay from the checkpoint before with the old data: the loss passes the "
                "step without a jump",
                if_it_fails="the data are the same: look at the rate, and at what else changed",
                is_quick=True,
            )
        yield Fix(
            addresses=self.id,
            change="evaluate 256 training samples through the validation path",
            example="evaluate(Subset(train_set, range(256)), transform=val_transform)",
            expected_impact="bad there too: the path is wrong; good: the data really differ",
            verify="compare with the training loss of the same samples",
            if_it_fails="print mean and deviation of one batch of both paths",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="call model.eval() before and model.train() after every evaluation",
            example="model.eval()\nwith torch.no_grad(): ...\nmodel.train()",
            expected_impact="validation no longer depends on the batch size of the evaluation",
            verify="two validation batch sizes give the same loss",
            if_it_fails="look at normalisation and label map of both paths",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="one function for normalisation and label map, used by both splits",
            example="transform = make_transform(stats); train, val = Train(transform), "
            "Val(transform)",
            expected_impact="the first validation loss equals the training loss at that step",
            verify="first evaluation within 10 % of the training loss",
            if_it_fails="check for a real shift between the splits",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates path from shift, or data from code."""
        if not case.has(*self.explains[:-2]):
            yield (
                "the columns and types of the data (`dataset.features`, `df.dtypes`), now and of a "
                "run that worked: tells data that have changed from code that asks for the wrong "
                "name"
            )
            return
        yield "the loss of 256 training samples when sent through the validation path"


def _changed_at(case: Case) -> float | None:
    """Where the training loss jumped to a level that stays, or that validation never left."""
    step = case.onset("loss_divergence", "loss_spike")
    is_lasting = case.has("loss_divergence") or turned_with_a_jump(case) is not None
    return step if is_lasting and share_of_run(case, step) > 0.05 else None
