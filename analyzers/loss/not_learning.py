"""not_learning: the training loss has not moved from where it began.

What it sees: a loss that is the same to the last of many digits; after enough steps, the last
    windows within three percent of the first values, no slope beyond chance, and no other outcome
    that improves. Warm-up, objectives that are not meant to fall, and logs that begin in the middle
    of a training are left alone. A few epochs are enough where loss and accuracy are those of a
    guess among the same number of classes, also after a wild beginning. Being right less often
    than a guess is no progress, however it rises. A regression whose R2 stays
    at 0 foretells the mean. A loss that moves little at a small rate may be that of tuned weights,
    and is information, unless all that is measured on validation stays the same to the last digit.
    A classifier that gives every sample the same answer, or whose loss falls from many times that
    of a guess while it is right as seldom as at first, has learned nothing; nor has an agent that
    earns less than at first, or whose actions stay random.
Why it matters: the gradient does not reach the parameters, or there is nothing to learn in what
    the model is shown; more steps will not help.
Fires on:
    train/loss: 2.303~0.02*400
    train/loss: 2.303~0.01*200 ; train/accuracy: 0.1~0.01*20 ; config: num_classes=10, lr=0.1
    train/loss: 2.9~0.65*240 ; val/loss: 2.92~0.01*15 ; lr: 0.002*240
    train/loss: 1900 100 50 20 1.83~0.08*120 ; val/loss: 1.81~0.03*10 ; val/accuracy: 0.18~0.01*10
    loss: 172 112 4 5 2.2>2.37*4 2.37~0.03*80 ; acc: 0.2~0.1*8 0.095~0.03*80 ; lr: 0.6*88
    train/loss: 2.33~0.01*200 ; val_acc: 0.047>0.058*12 ; config: num_classes=10, lr=0.01
    train/loss: 1150~300*100 ; val_r2: -0.019*20
    exploration_rate: 1>0.9*10 0.9*40 ; reward: 17~2*50
    reward: -0.3>-1*10 -1~0.02*40
    reward: 0*60 ; entropy: 1.38>1.32*60
    train/loss: 1.61>1.57*90 ; val/loss: 1.61>1.57*20 ; val_dice: 0.194*20 ; lr: 1e-5*90
    train/loss: 1.33 1.07~0.01*40 ; val/loss: 1.05~0.003*12 ; val_acc: (0.43 0.39 0.39)*4
    train/loss: 15.6>11.5~0.3*22 ; train/accuracy: 0.1~0.01*22 ; val/accuracy: 0.11~0.01*22
    train/loss: 0.688139*40 ; val/loss: 0.70553*40
    train/loss: 1.792*15 ; val/loss: 1.792*15 ; acc: 0.17~0.005*15 ; config: steps=15
Stays quiet:
    loss: 172 112 4 5 2.2>1.9*40 1.8~0.03*40 ; acc: 0.2~0.1*8 0.1>0.3~0.03*80 ; lr: 0.6*88
    train/loss: 2.33~0.01*200 ; val_acc: 0.047>0.2*12 ; config: num_classes=10, lr=0.01
    train/loss: 1.07~0.01*40 ; val/loss: 1.07>1.01*12 ; val_acc: 0.43 0.42 0.42 0.43 0.44 0.43*7
    train/loss: 15.6>4~0.3*22 ; train/accuracy: 0.1>0.3~0.01*22 ; val/accuracy: 0.11>0.3~0.01*22
    exploration_rate: 1>0.55*50 ; reward: 17>30~2*50
    train/loss: 1.8~0.12*80 ; lr: 0.0001*80
    train/loss: 2.9~0.65*240 ; val/loss: 2.92~0.01*15 ; lr: 2e-5*240
    train/loss: 2.303>1.9~0.02*400
    train/loss: 2.303~0.02*8
    train/loss: 0.69*40 ; val/loss: 0.71 0.7>0.6*39
    train/loss: 0.688139*40 ; val/loss: 0.70553>0.6*40
    train/loss: 4.6>3.1~0.1*100 ; val_r2: -0.1>0.3*20
    train/loss: 1900 100 50 20 1.83>1.5~0.08*120 ; val/accuracy: 0.18>0.4~0.01*10
Try next: overfit 16 samples: if the loss falls, look at data and labels; if not, at the graph
    from loss to parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .completion import is_complete
from .explained import explains_nothing
from .exploring import still_exploring
from .guessing import Guessing, guessing, never_hit
from .levels import (
    Shape,
    begins_at_start,
    goes_on_falling,
    is_too_coarse,
    is_warming_up,
    shape_of,
)
from .memorised import guess_of_validation, was_never_right
from .outcomes import (
    accuracy,
    as_fraction,
    chance_loss,
    classes,
    creeps_down,
    does_well,
    is_fine_tuning,
    is_improving,
    may_be_fine_tuning,
    peak_rate,
)
from .rewardless import never_rewarded
from .unmoved import constant_outcomes, never_changed, one_answer, worse_than_a_guess


@analyzer
@dataclass(frozen=True, slots=True)
class NotLearning:
    """Compares the end of the loss with its beginning."""

    id: ClassVar[str] = "not_learning"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_points: int = 12
    least_steps: float = 80.0
    least_seen: int = 5
    """Points that are enough where loss and accuracy agree that it guesses."""
    least_equal: int = 24
    """Values that are enough where all are the same to the last digit."""
    least_evaluations: int = 8
    least_rate: float = 5e-4
    """Learning rate from which on nobody fine-tunes."""
    most_noise: float = 0.2
    """Jitter from batch to batch, as a share of the level, that guessing does not have."""
    flat: float = 0.03
    thrown: float = 0.05
    """How far from a guess, as a share, a loss may be whose accuracy is that of the guess."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary loss once the run had a chance to learn."""
        yield from self._policy(view)
        yield from still_exploring(view, self.id)
        yield from never_rewarded(view, self.id)
        yield from self._worse_than_at_first(view)
        found = list(self._by_loss(view))
        if not any(finding.is_alarm for finding in found):
            surer = (explains_nothing, one_answer, worse_than_a_guess)
            found = next((told for see in surer if (told := list(see(view, self.id)))), found)
        yield from found

    def _by_loss(self, view: RunView) -> Iterator[Finding]:
        """A loss that is where it began, or where a guess is."""
        curve = view.curve("train/loss")
        if (
            curve is None
            or curve.is_interleaved
            or not view.facts.is_monotone
            or is_too_coarse(view, curve)
        ):
            return
        shape = shape_of(curve)
        if shape is None or is_fine_tuning(view):
            return
        known = chance_loss(view)
        seen = guessing(view, curve)
        if seen is not None and known is not None and abs(seen.loss - known) > 1e-6:
            seen = None
        guess = seen.loss if seen is not None else known
        # From a wild beginning down to a guess is no progress.
        only_guessed = seen is not None and (
            never_hit(view, seen, shape.best)
            or (self._validation_is_flat(view) and was_never_right(view, view.curve("val/loss")))
        )
        if is_improving(view) and not only_guessed:
            return
        # A run that made all its steps as a guess, and was evaluated again and again, is no test.
        is_result = (
            seen is not None
            and len(curve) >= self.least_points
            and self._validation_is_flat(view)
            and is_complete(view, curve)
        )
        is_constant = len(curve) >= self.least_equal and never_changed(view, curve)
        least = self.least_seen if seen else self.least_points
        if not self._had_its_chance(view, curve, least, is_result=is_result or is_constant):
            return
        if guess is not None and shape.first < 0.6 * guess:
            return  # it had learned before this log begins
        if guess is None and (
            self._is_too_noisy(view, curve, shape) or does_well(view, shape.last)
        ):
            return
        is_flat = self._is_flat(shape, is_confirmed=self._validation_is_flat(view))
        if is_flat or only_guessed or self._stays_at_chance(guess, shape, seen):
            is_tuned = may_be_fine_tuning(view, curve) and constant_outcomes(view) is None
            if guess is None and is_complete(view, curve):
                guess = guess_of_validation(view)
            is_normal = guess is None and (
                is_tuned or creeps_down(view, shape) or goes_on_falling(curve)
            )
            severity = Severity.INFO if is_normal else Severity.CRITICAL
            yield self._report(view, curve, shape, guess, seen, severity)

    def _is_too_noisy(self, view: RunView, curve: Curve, shape: Shape) -> bool:
        """Guessing is steadier: such a loss may be small for what its batches vary by.

        Not where the rate is one that nobody fine-tunes with and validation is as flat.
        """
        if curve.noise <= self.most_noise * abs(shape.last):
            return False
        if curve.noise > 3 * self.most_noise * abs(shape.last):
            return True
        rate = peak_rate(view)
        is_gentle = rate is not None and rate < self.least_rate
        return is_gentle or not self._validation_is_flat(view)

    def _validation_is_flat(self, view: RunView) -> bool:
        val = view.curve("val/loss")
        if val is None or len(val) < self.least_evaluations:
            return False
        if int(val.bins[5].sum()) < len(val):
            return False
        begin, end = float(np.median(val.y[:3])), float(np.median(val.y[-3:]))
        return begin > 0 and abs(end - begin) < self.flat * begin

    def _policy(self, view: RunView) -> Iterator[Finding]:
        """An agent that goes on acting at random, with a reward that does not rise."""
        reward, entropy = view.curve("reward"), view.curve("entropy")
        shape = shape_of(reward) if reward is not None else None
        random = shape_of(entropy) if entropy is not None else None
        if reward is None or entropy is None or shape is None or random is None:
            return
        if len(reward) < 30 or not begins_at_start(reward) or random.first <= 0:
            return
        is_random = bool(np.all(np.abs(random.levels - random.first) < self.flat * random.first))
        gained = float(np.median(shape.levels[-4:])) - float(np.median(shape.levels[:4]))
        if not is_random or gained > 3 * shape.error:
            return
        yield Finding(
            id=self.id,
            title=f"{reward.name} went from {np.median(shape.levels[:4]):.4g} to "
            f"{np.median(shape.levels[-4:]):.4g} while {entropy.name} stays at {random.last:.4g}, "
            "where it began: the policy acts at random",
            severity=Severity.CRITICAL,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(
                reward.evidence(0, len(reward) - 1),
                entropy.evidence(0, len(entropy) - 1),
            ),
            first_step=reward.step(0),
            details={"random": 1.0},
        )

    def _worse_than_at_first(self, view: RunView) -> Iterator[Finding]:
        """An agent that earns less than before it had learned anything."""
        reward = view.curve("reward")
        shape = shape_of(reward) if reward is not None else None
        if reward is None or shape is None or len(reward) < 30 or not begins_at_start(reward):
            return
        few = max(2, len(shape.levels) // 5)
        begin, end = float(np.median(reward.y[:3])), float(np.median(shape.levels[-few:]))
        best = float(np.max(shape.levels[few:]))
        spread = max(6 * shape.error, 0.2 * abs(begin), 1e-12)
        if begin - end < spread or best > begin + 0.5 * (begin - end):
            return
        yield Finding(
            id=self.id,
            title=f"{reward.name} fell from {begin:.4g} to {end:.4g} and was never better: the "
            "agent does worse than before it learned",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.8),
            basis=Basis.OBSERVATION,
            evidence=(reward.evidence(0, len(reward) - 1),),
            first_step=reward.step(0),
            details={"random": 1.0, "worse": 1.0},
        )

    def _had_its_chance(self, view: RunView, curve: Curve, least: int, *, is_result: bool) -> bool:
        _, ends, _, _, _, counts = curve.bins
        # Values that are not finite are no chance to learn, however many there are.
        if int(counts.sum()) < least or not begins_at_start(curve):
            return False
        steps = float(ends[counts > 0][-1] - curve.x[0])
        if curve.axis_name == "step" and steps < self.least_steps and not is_result:
            return False
        if is_warming_up(view, curve):
            return False
        return curve.axis_name != "epoch" or steps >= 4

    def _is_flat(self, shape: Shape, *, is_confirmed: bool) -> bool:
        size = abs(shape.first)
        if size == 0 or np.ptp(shape.levels) == 0:
            return size > 0
        # A loss that was thrown far up and comes down again is not flat within its own noise.
        noise = min(3 * shape.error, self.most_noise * size)
        now = float(np.median(shape.levels[-max(2, len(shape.levels) // 4) :]))
        won = shape.first - now < max(self.flat * size, noise)
        # The best of many windows may be low by chance; where validation never moved, it was.
        never_won = is_confirmed or shape.first - shape.best < 0.06 * size + noise
        # What rises by more is divergence, another finding.
        return won and never_won and now - shape.first < max(0.1 * size, noise)

    def _stays_at_chance(self, guess: float | None, shape: Shape, seen: Guessing | None) -> bool:
        """A wild beginning that ends in guessing has not learned either.

        Steps that are too large throw the guess itself about; where the accuracy says that it is
        one, its loss may be further off.
        """
        if guess is None or len(shape.levels) < 10:
            return False
        later = shape.levels[len(shape.levels) * 2 // 5 :]
        off = self.flat if seen is None else self.thrown
        is_guessing = np.all(np.abs(later - guess) < off * guess)
        return bool(is_guessing) and shape.best > (0.95 if seen is None else 0.9) * guess

    def _report(
        self,
        view: RunView,
        curve: Curve,
        shape: Shape,
        guess: float | None,
        seen: Guessing | None,
        severity: Severity,
    ) -> Finding:
        evidence: list[Evidence] = [curve.evidence(0, len(curve) - 1)]
        raw = 0.80
        at_chance = guess is not None and abs(shape.last - guess) < 0.05 * guess
        says = ""
        if at_chance and guess is not None:
            raw = 0.93
            says = f", where guessing gives {guess:.4g}"
            if seen is not None:
                says = f", where guessing one of {seen.classes} gives {guess:.4g}"
                evidence.append(seen.evidence)
            setting = view.settings.get("classes") or view.settings.get("vocab_size")
            if setting is not None:
                evidence.append(setting.evidence)
        for split in ("train", "val"):
            measured = accuracy(view, split)
            known = classes(view)
            if measured is None or known is None or len(measured) < 2:
                continue
            level = float(np.nanmedian(as_fraction(measured)[-5:]))
            if level < 2.0 / known:
                raw = 0.93
                evidence.append(measured.evidence(len(measured) - 1))
        values = curve.series.logged
        title = (
            f"{curve.name} went from {shape.first:.4g} to {shape.last:.4g} in "
            f"{values:,} values up to {curve.axis_name} {curve.x[-1]:.10g}{says}"
        )
        if severity is Severity.INFO:
            title += ": usual where trained weights are tuned on"
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, raw),
            basis=Basis.OBSERVATION,
            evidence=(*evidence, *view.facts.remarks(curve)),
            first_step=curve.step(0),
            details={
                "at_chance": float(at_chance),
                "level": shape.last,
                "thrown": _thrown(view, guess) if guess else 0.0,
                "constant": float(never_changed(view, curve)),
                "excess": _excess(curve, guess) if guess and at_chance else 0.0,
            },
        )


def _excess(curve: Curve, guess: float) -> float:
    """Share by which the later half of a loss is above a guess for certain, else 0.

    Whoever guesses at labels without sense learns how often each comes, and pays no more than
    that; steps that are too large throw the guess itself about.
    """
    means = curve.bins[2][np.isfinite(curve.bins[2])]
    over = means[len(means) // 2 :] - guess
    if len(over) < 6:
        return 0.0
    level, error = float(np.mean(over)), float(np.std(over)) / np.sqrt(len(over))
    return level / guess if level > 4 * error else 0.0


def _thrown(view: RunView, guess: float) -> float:
    """Times the guess that the first values were, of any training loss that ends as the guess.

    A mean over the first epoch keeps what single steps, logged now and then, do not show.
    """
    highest = 0.0
    for curve in view.curves("train/loss"):
        means = curve.bins[2]
        first = curve.y[:5][np.isfinite(curve.y[:5])]
        if len(first) and abs(float(np.median(means[-3:])) - guess) < 0.1 * guess:
            highest = max(highest, float(np.max(first)) / guess)
    return highest
