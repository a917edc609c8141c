"""seed_variance: the result depends on chance more than on what was changed.

What it is: initialisation, order of data and kernels without a fixed order decide where the
    training ends; single runs cannot be compared.
Told apart by: repetitions with equal settings that end apart. If one run alone is apart, look for
    an error in that run first (data, node, restart); if runs with one seed differ, something is
    not seeded.
Try next: five seeds or more, mean and interval; warm up longer; seed everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Finding
from ..core.fixes import learning_rate_of, shown
from ..core.registry import cause

_SIBLINGS = "sibling run"


@cause
@dataclass(frozen=True, slots=True)
class SeedVariance:
    """Weighs what the comparison with other runs showed."""

    id: ClassVar[str] = "seed_variance"
    explains: ClassVar[tuple[str, ...]] = ("nondeterminism",)
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Repetitions that ended apart, operations without a fixed order, a missing seed."""
        found = self._compared(case)
        if found is None:
            return
        is_outlier = bool(found.number("is_outlier"))
        yield Clue(0.6 if is_outlier else 0.85, found.evidence[0], _SIBLINGS)
        if len(found.evidence) > 2:
            yield Clue(0.4 if is_outlier else 0.6, found.evidence[1], _SIBLINGS)
        seed = case.setting("seed")
        if seed is not None:
            yield Clue(0.2, seed.evidence)
        for other in case.all("nondeterminism"):
            if other.details.get("kind") == "operation":
                yield Clue(0.5, other.evidence[0])
        failed = ("exception", "nan_loss", "resume_discontinuity", "config_mismatch")
        if (
            trouble := next((case.get(name) for name in failed if case.has(name)), None)
        ) is not None:
            yield Clue(-0.6, trouble.evidence[0])

    def _compared(self, case: Case) -> Finding | None:
        found = [f for f in case.all("nondeterminism") if f.is_alarm and "kind" in f.details]
        return next((f for f in found if f.details["kind"] not in ("operation", "replicas")), None)

    def issue(self, case: Case) -> str:
        """One sentence with the spread."""
        found = self._compared(case)
        if found is None:
            return "results depend on randomness that is not controlled"
        metric = found.details.get("metric", "the metric")
        if found.details["kind"] == "same seed":
            return (
                f"{metric} differs between runs with one seed: some source of randomness is not "
                "seeded or not deterministic"
            )
        if found.number("is_outlier"):
            return f"this seed's {metric} is far from that of its siblings: an unlucky start"
        share = found.number("deviation") / max(found.number("effect"), 1e-12)
        return (
            f"the seed alone moves {metric} by {share:.0%} of what the training achieves, so "
            "single runs cannot be compared"
        )

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Measure, steady, seed."""
        found = self._compared(case)
        metric = str(found.details.get("metric", "the metric")) if found else "the metric"
        count = int(found.number("runs", 5)) if found else 5
        seed = case.setting("seed")
        name = seed.path.rpartition(".")[2] if seed is not None else "seed"
        if found is not None and found.details["kind"] == "same seed":
            yield self._fix(
                "seed Python, NumPy, torch and the workers, and use deterministic algorithms",
                "torch.manual_seed(seed); np.random.seed(seed); random.seed(seed)\n"
                "torch.use_deterministic_algorithms(True)",
                f"two runs agree in {metric} to 4 digits after 10 steps",
                "compare the data order first: log the indices of the first batches",
            )
        yield self._fix(
            f"report {metric} as mean and interval over at least {max(5, count)} seeds",
            f"for {name} in range({max(5, count)}): train(seed={name})",
            f"the 95 % interval of {metric} halves with four times the runs",
            "compare with paired seeds: the same seeds for both settings",
            is_quick=False,
        )
        rate = learning_rate_of(case)
        warmup = case.setting("warmup")
        number = warmup.number if warmup is not None else None
        if warmup is not None and number:
            change = f"{warmup.path} {number:g} -> {2 * number:g}"
            example = f"{warmup.path}: {2 * number:g}"
        elif rate is not None:
            change = f"warm {rate[0]} up to {shown(rate[1])} over the first 5 % of the steps"
            example = "lr = peak * min(1.0, step / (0.05 * total_steps))"
        else:
            change = "warm the learning rate up over the first 5 % of the steps"
            example = "lr = peak * min(1.0, step / (0.05 * total_steps))"
        yield self._fix(
            change,
            example,
            f"the spread of {metric} between seeds falls by a third or more at the end",
            "normalise activations, or scale the initial weights of residual branches down",
            is_quick=False,
        )
        yield self._fix(
            "average the weights over the last 20 % of the steps (EMA 0.999)",
            "ema = torch.optim.swa_utils.AveragedModel(model)",
            f"the spread of {metric} between evaluations and seeds falls within one epoch",
            "use a larger batch for the last part of the run",
        )

    def _fix(
        self, change: str, example: str, impact: str, next_step: str, *, is_quick: bool = True
    ) -> Fix:
        return Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact=impact,
            verify="repeat with the same seeds: mltd-tui check RUN RUN ... shows the spread",
            if_it_fails=next_step,
            is_quick=is_quick,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates bad luck from a fault of one run."""
        yield (
            "the outlier's run repeated with the same seed: if it ends well, the cause was outside "
            "(node, data, restart)"
        )
        if case.setting("seed") is None:
            yield "the seed of every run, in its config or name"
