"""bad_batch: one batch holds data that the model cannot take.

What it is: corrupt, mislabelled or extreme samples give one step a huge loss and gradient, or
    cannot be read at all.
Told apart by: loss and gradient jump in the same step, without growth before; the rate is flat; the
    run recovers by itself, or is NaN at once. The proof is the same sample in another run, or a
    replay that skips it.
Try next: print the batch of that step; skip it and replay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import (
    goes_on_growing,
    gradient_at,
    gradient_growth_before,
    lead_of_gradients,
    loss_growth_before,
    passing_nan,
    share_at_once,
    share_of_run,
    turned_with_a_jump,
)
from ..core.finding import Basis, Finding
from ..core.fixes import clip_gradients
from ..core.recording import first_bad
from ..core.registry import cause
from ..errors.hypothesis import clues_of, fixes_of, issue_of

LASTING = 20
"""Logged points for which a batch that is over keeps no gradients large."""


@cause
@dataclass(frozen=True, slots=True)
class BadBatch:
    """Weighs a sudden step against growth before it."""

    id: ClassVar[str] = "bad_batch"
    explains: ClassVar[tuple[str, ...]] = (
        "loss_spike",
        "nan_loss",
        "loss_divergence",
        "exploding_gradients",
        "nan_gradients",
        "exception",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Suddenness, recovery, a healthy rate, a late moment."""
        yield from clues_of(self.id, case)
        breaks = ("loss_spike", "nan_loss", "loss_divergence", "exploding_gradients")
        broken = case.get("loss_spike", "nan_loss", "nan_gradients", *breaks)
        step = case.onset(*breaks, "nan_gradients")
        if broken is None:
            return
        spikes = case.all("loss_spike")
        alone = len(spikes) == 1 and not case.has("loss_divergence", "nan_loss")
        stays = case.has("loss_divergence") and not case.has("nan_loss")
        yield case.because(broken, 0.45 if alone else 0.08 if stays else 0.2)
        undefined = case.get("degenerate_variance")
        if undefined is not None and undefined.number("nan_follows"):
            # A statistic of one element is NaN, whatever the element is.
            yield case.because(undefined, -0.6)
        rare = case.get("class_imbalance")
        if rare is not None and rare.is_alarm and alone:
            # To a model that ignores rare classes, a batch with a few of them is a spike.
            yield Clue(-0.5, rare.evidence[-1])
        passing = passing_nan(case)
        if passing is not None:
            # The weights survive them: what is not finite comes with some batches and goes.
            yield case.clue(0.5, passing.evidence[0])
        bad = first_bad(case.view)
        if bad is not None and bad.origin.kind == "input":
            yield case.clue(0.97, bad.evidence, "probe", states=True)
        elif bad is not None and bad.origin.kind in ("activation", "weight"):
            # What the first layer got was finite, though it may have been extreme.
            yield Clue(-0.6, bad.evidence)
        elif bad is not None and bad.origin.kind == "gradient":
            # So were all outputs and the loss; the data may still have met a pole of a slope.
            yield Clue(-0.5, bad.evidence)
        # A new level that stays is as sudden, and has other causes.
        share = 0.5 if stays else 1.0
        grown = gradient_growth_before(case, step)
        if grown is not None:
            yield Clue(0.3 * share if grown.value < 1.5 else -0.4, grown.evidence)
        sudden = gradient_at(case, step)
        if sudden is not None and sudden.value > 8 and (grown is None or grown.value < 2):
            yield Clue(0.3 * share, sudden.evidence)
        rising = loss_growth_before(case, step)
        if rising is not None:
            yield Clue(0.25 * share if rising.value < 4 else -0.4, rising.evidence)
        lead = lead_of_gradients(case)
        if lead is not None and lead.value >= 2:
            yield Clue(-0.5, lead.evidence)
        grown_for_good = case.get("exploding_gradients")
        if grown_for_good is not None and grown_for_good is broken and _lasts(case, broken):
            # One batch is over at the next step.
            yield case.because(broken, -0.6)
        growing = goes_on_growing(case, step) if passing is None else None
        if growing is not None and growing.value > 1.5:
            yield Clue(-0.55, growing.evidence)
        creeping = share_at_once(case, case.onset("loss_divergence")) if stays else None
        if creeping is not None and creeping.value < 0.4:
            yield Clue(-0.5, creeping.evidence)
        early = share_of_run(case, step)
        if early < 0.05:
            yield case.because(broken, -0.35)
        odd = case.get("lr_anomaly")
        if odd is not None and odd.is_alarm:
            yield case.because(odd, -0.5)
        for other in case.all("loss_scale_collapse", "resume_discontinuity")[:1]:
            if other.first_step is not None and step is not None and other.first_step <= step:
                yield case.because(other, -0.4)
        if len({spike.first_step for spike in spikes}) >= 3:
            # Again and again: it is not one batch.
            yield case.because(spikes[-1], -0.55)
        turned = turned_with_a_jump(case)
        if turned is not None:
            # Validation does not come back: what the model is trained on has changed.
            yield case.because(turned, -0.7)
        if step is not None:
            change = case.view.facts.change_near(step, 0.02 * step + 3, 3)
            if change is not None:
                yield Clue(-0.4, change.evidence)

    def issue(self, case: Case) -> str:
        """One sentence with the file that cannot be read, else with the step."""
        if said := issue_of(self.id, case):
            return said
        step = case.onset("loss_spike", "nan_loss", "loss_divergence", "exploding_gradients")
        where = f" at step {step:.10g}" if step is not None else ""
        return f"the batch{where} holds corrupt or extreme data"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """What the message asks for; else look, filter, skip, clip."""
        if told := fixes_of(self.id, case):
            yield from told.values()
            return
        step = case.onset("loss_spike", "nan_loss", "loss_divergence", "exploding_gradients")
        where = f"{step:.0f}" if step is not None else "the step"
        yield Fix(
            addresses=self.id,
            change=f"print the samples of the batch at step {where} and of the two before",
            example=f"if step == {where}: print(batch_ids, x.abs().max(), x.isfinite().all(), y)",
            expected_impact="one sample stands out by size, non-finite values or label",
            verify="replay from the checkpoint before without it: the step passes smoothly",
            if_it_fails="replay with it from another checkpoint; if that passes, the state was the "
            "cause and not the data",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="check every batch before the update and skip what is not finite or extreme",
            example="if not x.isfinite().all() or x.abs().max() > limit: continue",
            expected_impact="no spike when the same samples come again; under 0.1 % skipped",
            verify="count the skipped batches for one epoch",
            if_it_fails="filter the dataset by source; a pocket of bad records is usual",
            is_quick=True,
        )
        yield clip_gradients(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from the learning rate, or from the code that reads."""
        if issue_of(self.id, case):
            yield (
                "the path of the file that could not be read, and its first bytes (`head -c 64 "
                "FILE | xxd`): tells a broken file from code that reads it in the wrong way"
            )
            return
        yield (
            "the sample ids of the batches around the onset, or a second run over the same data: a "
            "spike at the same samples proves the data, at another place the step size"
        )


def _lasts(case: Case, grown: Finding) -> bool:
    """Gradients that stay large over many points of a run that goes on."""
    norm = case.view.curve("grad_norm")
    if norm is None or grown.first_step is None:
        return False
    end = grown.last_step if grown.last_step is not None else float(norm.x[-1])
    return end - grown.first_step > LASTING * norm.spacing
