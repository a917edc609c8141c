"""lr_too_high: the learning rate is larger than the loss surface bears.

What it is: updates overshoot, so the loss climbs, oscillates or blows up to infinity.
Told apart by: gradients or a loss that grow over several steps before the break; the rate at its
    peak or still rising; trouble in the first part of the run, or trouble that comes back. A bad
    batch shows in one step only; an overflow begins with the loss scale; a resume bug sits at the
    restart; a curriculum change has its own moment; an operation without a finite value or slope
    shows in a recording as one layer that breaks while all values are of their usual size.
Try next: divide the rate by three, clip gradients, warm up longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import (
    FAR,
    climbs_from_the_start,
    goes_on_growing,
    gradient_growth_before,
    is_slow_swing,
    labels_changed,
    lead_of_gradients,
    loss_growth_before,
    passing_nan,
    rate_share_of_peak,
    restart_near,
    sank_until,
    share_of_run,
    usual_rate,
)
from ..core.finding import Basis
from ..core.fixes import (
    clip_gradients,
    learning_rate_of,
    longer_warmup,
    lower_learning_rate,
    shown,
)
from ..core.rates import highest_rate, thrown_about_a_guess, thrown_to_a_guess
from ..core.registry import cause
from ..core.shifts import shifted_gradients
from ..core.sudden import leap_before, sudden_break
from ..loss.lost_reward import BY_REWARD
from ..loss.outcomes import peak_rate, unlearned

_BREAKS = ("nan_loss", "loss_divergence", "exploding_gradients", "loss_spike")


@cause
@dataclass(frozen=True, slots=True)
class LearningRateTooHigh:
    """Weighs what speaks for a step size beyond the stable range."""

    id: ClassVar[str] = "lr_too_high"
    explains: ClassVar[tuple[str, ...]] = (
        "loss_divergence",
        "loss_spike",
        "oscillating_loss",
        "nan_loss",
        "not_learning",
        "exploding_gradients",
        "dead_units",
        "plateau",
        "update_ratio",
        "suspicious_metric",
        "forgetting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Growth before the break, a rate at its peak, an early break, repetition."""
        step = case.onset(*_BREAKS)
        broken = case.get(*_BREAKS)
        if broken is not None:
            yield case.because(broken, 0.2)
            early = share_of_run(case, step) < 0.2
            if share_of_run(case, step) < 0.1 and case.has("loss_spike"):
                yield case.because(broken, 0.4)
            sunk = sank_until(case, case.onset("nan_loss"))
            if sunk is not None and sunk.value < 0.5:
                yield Clue(-0.4, sunk.evidence)
            elif early and case.has("nan_loss", "loss_divergence"):
                yield case.because(broken, 0.35)
            elif case.has("loss_divergence"):
                yield case.because(broken, 0.15)
        for finding in case.all("oscillating_loss"):
            # Steps that overshoot come back at once; a long period is that of the data.
            yield case.because(finding, 0.15 if is_slow_swing(case, finding) else 0.4)
        for finding in case.all("not_learning", "plateau", "dead_units")[:1]:
            yield case.because(finding, 0.12)
        for finding in case.all("forgetting"):
            if finding.number(BY_REWARD):
                # One step too far, and the agent sees nothing but its own failures.
                yield case.because(finding, 0.5)
        for finding in case.all("plateau"):
            if finding.number("overdriven"):
                yield case.because(finding, 0.6)
        for finding in case.all("update_ratio"):
            if finding.details.get("kind") == "large":
                yield case.because(finding, 0.5)
        lost = unlearned(case.view)
        if lost is not None:
            yield Clue(0.3, lost)
        thrown = thrown_to_a_guess(case)
        if thrown is not None:
            yield case.because(thrown, 0.5)
        restless = thrown_about_a_guess(case)
        if restless is not None:
            yield case.because(restless, 0.5)
        yield from self._thrown_at_once(case)
        yield from self._growth(case, step)
        yield from self._rate(case, step)
        yield from self._against(case, step)

    @staticmethod
    def _thrown_at_once(case: Case) -> Iterator[Clue]:
        """A wild first value that was logged after some steps already."""
        for finding in case.all("suspicious_metric"):
            is_wild = finding.details.get("kind") == "wild_start"
            peak = peak_rate(case.view)
            if is_wild and (finding.first_step or 0.0) > 3 and peak is not None and peak >= 0.1:
                yield case.because(finding, 0.6)

    def _growth(self, case: Case, step: float | None) -> Iterator[Clue]:
        grown = gradient_growth_before(case, case.onset("nan_loss") or step)
        if grown is not None and grown.value > 2.0:
            yield Clue(0.35, grown.evidence)
        elif grown is not None and grown.value < 1.3 and case.has("nan_loss"):
            yield Clue(-0.45, grown.evidence)
        lead = lead_of_gradients(case)
        if lead is not None and lead.value >= 2:
            yield Clue(0.4, lead.evidence)
        rising = loss_growth_before(case, case.onset("nan_loss"))
        if case.has("nan_loss") and rising is not None:
            yield Clue(0.35 if rising.value > 5 else -0.4, rising.evidence)
        leap = leap_before(case)
        if leap is not None and case.has("nan_loss", "nan_gradients"):
            yield Clue(0.75, leap, "probe")
        growing = goes_on_growing(case, step)
        if growing is not None and growing.value > 1.5:
            yield Clue(0.35, growing.evidence)
        if len(case.all("loss_spike")) >= 3:
            yield case.because(case.all("loss_spike")[-1], 0.3)

    def _rate(self, case: Case, step: float | None) -> Iterator[Clue]:
        share = rate_share_of_peak(case, step)
        if share is not None:
            warm = case.view.facts.warmup_until
            in_warmup = warm is not None and step is not None and step <= warm * 1.2
            if in_warmup or (share.value > 0.9 and warm is not None):
                yield Clue(0.3, share.evidence, "schedule")
            elif share.value < 0.15:
                yield Clue(-0.4, share.evidence, "schedule")
        setting = case.view.settings.learning_rate()
        rate = setting.number if setting is not None else None
        if setting is None or rate is None:
            logged = highest_rate(case)
            if logged is not None and logged.value >= FAR * usual_rate(case):
                yield Clue(0.5, logged.evidence, "schedule")
            return
        momentum = case.setting("momentum")
        if momentum is not None and momentum.number is not None and 0.985 < momentum.number < 1:
            yield Clue(0.4, momentum.evidence)
        usual = usual_rate(case)
        stepped = peak_rate(case.view)
        if stepped is not None and stepped > 2 * rate and stepped >= FAR * usual:
            # What was meant does not matter where another rate is logged.
            curve = case.view.curve("lr")
            if curve is not None:
                yield Clue(0.75, curve.remark(f"reaches {stepped:.3g}"), "schedule")
        elif rate >= usual:
            yield Clue(0.55 if rate >= FAR * usual else 0.25, setting.evidence)
        elif rate <= usual / 25:
            yield Clue(-0.35, setting.evidence)

    def _against(self, case: Case, step: float | None) -> Iterator[Clue]:
        boundary = restart_near(case, step)
        if boundary is not None:
            yield Clue(-0.5, boundary)
        shift = shifted_gradients(case)
        if shift is not None:
            # Steps that are too large make them grow; they do not lift them to a new level.
            yield Clue(-0.5, shift.evidence)
        if step is not None:
            loss = case.view.curve("train/loss")
            reach = 5 * loss.spacing if loss is not None else 5.0
            change = case.view.facts.change_near(step, max(reach, 0.02 * step), reach)
            if change is not None:
                yield Clue(-0.35, change.evidence)
        scale = case.onset("loss_scale_collapse")
        if scale is not None and (step is None or scale <= step):
            yield case.because(case.all("loss_scale_collapse")[0], -0.35)
        passing = passing_nan(case)
        if passing is not None:
            yield case.because(passing, -0.6)
        climbing = climbs_from_the_start(case)
        if climbing is not None:
            yield Clue(-0.5, climbing)
        changed = labels_changed(case)
        if changed is not None:
            yield Clue(-0.6, changed)
        seen = sudden_break(case)
        if seen is not None and case.has("nan_loss"):
            yield Clue(-0.75, seen.evidence)
        jump = case.all("lr_anomaly")
        if jump and step is not None and jump[0].details.get("kind") == "jump":
            yield case.because(jump[0], 0.25)

    def issue(self, case: Case) -> str:
        """One sentence with the rate."""
        found = learning_rate_of(case)
        rate = f" ({found[0]} {shown(found[1])})" if found else ""
        return f"the learning rate{rate} is higher than this training bears"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Lower, clip, warm up."""
        yield lower_learning_rate(case, self.id)
        yield clip_gradients(case, self.id)
        yield longer_warmup(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a bad batch."""
        if case.view.curve("lr") is None:
            yield "log the learning rate at every step: did the trouble begin at its peak?"
        if case.view.curve("grad_norm") is None:
            yield (
                "log grad_norm at every step: growth over several steps before the break speaks "
                "for the learning rate, a single step for a bad batch"
            )
        step = case.onset(*_BREAKS)
        # A run that stops before the place of the trouble would show nothing.
        far = f"well past step {step:,.0f}" if step else "200 steps"
        yield (
            f"a run at a third of the learning rate, {far}, from the same start or from the "
            "checkpoint before: if the trouble is gone, the rate was the cause"
        )
