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
from ..core.settings_lookup import Setting
from ..errors.hypothesis import MessageCause
from ..loss.splitless import no_split_allowed


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
        "not_learning",
        "plateau",
        "underfitting",
        "slow_convergence",
        "vanishing_gradients",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Messages, and files that contradict each other."""
        yield from super().clues(case)
        about_files = ("config_mismatch", "unseeded")
        # Beside a graver symptom it is more often a label that was left behind than its cause.
        is_all = all(f.id in about_files for f in case.findings if f.is_alarm)
        for finding in case.all(*about_files):
            if finding.is_alarm:
                yield Clue(0.75 if is_all else 0.35, finding.evidence[0])
        for finding in case.all("not_learning"):
            if finding.number("exploring"):
                yield case.because(finding, 0.75)
        grown = no_split_allowed(case.view)
        if grown is not None and case.has("not_learning"):
            # Limits such as the least samples of a leaf that the data cannot meet.
            yield Clue(0.8, grown)
            yield case.because(case.all("not_learning")[0], 0.2)
        decay = _crushing_decay(case)
        if decay is not None:
            yield Clue(0.75, decay.evidence)
            norm = case.view.curve("param_norm")
            if norm is not None and len(norm) >= 5 and norm.y[-1] < 0.5 * norm.y[0]:
                yield Clue(0.5, norm.evidence(0, len(norm) - 1))

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        decay = _crushing_decay(case)
        if decay is not None:
            return f"{decay.path} {decay.value} shrinks the weights faster than they learn"
        if any(finding.number("exploring") for finding in case.all("not_learning")):
            return "exploration is never reduced: the agent cannot use what it has learned"
        if no_split_allowed(case.view) is not None and case.has("not_learning"):
            return "the limits of a leaf (or the features) allow no split: every tree is empty"
        return "a setting is wrong, missing or contradicts another"

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Compare with a config that worked."""
        decay = _crushing_decay(case)
        if decay is not None:
            yield Fix(
                addresses=self.id,
                change=f"{decay.path} {decay.value} -> 0.01",
                example=f"{decay.path}: 0.01",
                expected_impact="parameter norms stop shrinking, and the training loss leaves its "
                "level within 200 steps",
                verify="the parameter norm after 200 steps is at least that of the start",
                if_it_fails="set it to 0 for a test: a loss that stays flat has another cause",
            )
        if no_split_allowed(case.view) is not None and case.has("not_learning"):
            yield Fix(
                addresses=self.id,
                change="lower the least samples of a leaf and of a bin below a tenth of the rows",
                example="min_data_in_leaf=1, min_data_in_bin=1, min_gain_to_split=0",
                expected_impact="the first trees have several leaves and the loss falls at once",
                verify="the training loss of the second iteration is below that of the first",
                if_it_fails="count the distinct values of each feature: constant ones are left out",
                is_quick=True,
            )
        yield Fix(
            addresses=self.id,
            change="compare the resolved config with that of a run that worked",
            example="diff <(sort good/config.yaml) <(sort bad/config.yaml)",
            expected_impact="the setting that differs is in a short list; the program starts",
            verify="the run with the good value of that setting alone starts",
            if_it_fails="if the good config fails too, code, packages or data have changed",
            is_quick=True,
        )


def _crushing_decay(case: Case) -> Setting | None:
    """A weight decay under which weights shrink faster than they learn."""
    decay, optimizer = case.setting("weight_decay"), case.setting("optimizer")
    if decay is None or decay.number is None:
        return None
    stuck = case.get("not_learning", "plateau", "underfitting", "slow_convergence")
    # Part of the gradient, or scaled by the rate alone, as AdamW does it.
    is_coupled = optimizer is not None and optimizer.text in ("sgd", "adam", "rmsprop")
    is_much = decay.number >= (0.1 if is_coupled else 1.0)
    return decay if is_much and stuck is not None and stuck.is_alarm else None
