"""A checkpoint judged as a whole: what is wrong, why it may be so, what to try."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mltd.runs.checkpoints import CheckpointSummary, Comparison
from mltd.runs.run import Run

from ..core.case import Case
from ..core.cause import Fix, RootCause
from ..core.finding import Finding
from ..core.ranking import rank
from ..core.registry import load_causes
from ..core.view import RunView
from ..diagnosis import examine
from .balance import Balance, balance_of, lopsided
from .broken import broken, newly_broken
from .fitting import misfits
from .kinds import Kind, kinds_of
from .movement import LayerMove, are_unrelated, layer_moves, still_layers
from .odd_weights import ODD_WEIGHTS, constant_matrices, odd_sizes
from .optimizer_health import optimizer_findings
from .places import counted
from .progress import remarks_on_steps, step_findings
from .silent import dead_outputs, silent_layers
from .tree import ModuleNode, module_tree
from .usual import has_adapters, is_adapter_alone, is_packed

MOST_CAUSES = 4
LEAST_CAUSE = 0.3
"""Weights alone seldom say why; guesses below this only hide that."""
_ADVISERS = {
    "param_imbalance": "embedding_heavy", "dead_units": "dead_relu",
    "frozen_layers": "frozen_parameters", "nan_gradients": "numerical_instability",
    "nan_weights": "numerical_instability", "resume_discontinuity": "stale_optimizer_state",
    "checkpoint_mismatch": "incompatible_checkpoint", ODD_WEIGHTS: "lr_too_high",
}  # fmt: skip
"""Whose fixes are worth trying for a finding that no cause can be ranked for."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that a look into a checkpoint, or two, has shown."""

    summary: CheckpointSummary
    comparison: Comparison | None
    tree: ModuleNode
    balance: Balance
    moves: tuple[LayerMove, ...]
    findings: tuple[Finding, ...]
    """The worst first."""
    causes: tuple[RootCause, ...]
    fixes: tuple[Fix, ...]
    remarks: tuple[str, ...]
    """Things worth knowing that are no findings."""
    looked_at: tuple[str, ...]
    not_looked_at: tuple[str, ...]
    problems: tuple[str, ...] = ()
    """Parts of the analysis that failed, in a sentence each."""

    @property
    def has_alarm(self) -> bool:
        """True if someone should look."""
        return any(finding.is_alarm for finding in self.findings)


def inspect_weights(
    summary: CheckpointSummary, comparison: Comparison | None = None, run: Run | None = None
) -> Inspection:
    """Judge a checkpoint; with a comparison, `summary` is of its second one."""
    kinds = kinds_of(summary.model)
    balance = balance_of(summary, kinds)
    findings = sorted(
        _findings(summary, comparison, kinds, balance), key=lambda f: -f.severity.rank
    )
    failed: list[str] = []
    moves = layer_moves(comparison, summary) if comparison is not None else ()
    causes, fixes = _explained(findings, run or Run(os.path.basename(summary.path)), failed)
    return Inspection(
        summary=summary,
        comparison=comparison,
        tree=module_tree(summary, kinds),
        balance=balance,
        moves=moves,
        findings=tuple(findings),
        causes=tuple(causes),
        fixes=tuple(fixes),
        remarks=tuple(_remarks(summary, balance, moves, run)),
        looked_at=tuple(_looked_at(summary, comparison)),
        not_looked_at=tuple(_not_looked_at(summary, comparison, run)),
        problems=tuple(failed),
    )


def _findings(
    summary: CheckpointSummary,
    comparison: Comparison | None,
    kinds: dict[str, Kind],
    balance: Balance,
) -> Iterator[Finding]:
    news = list(newly_broken(comparison)) if comparison is not None else []
    yield from news or broken(summary)
    yield from optimizer_findings(summary)
    if comparison is not None:
        yield from misfits(comparison)
        yield from still_layers(comparison, summary)
    yield from silent_layers(summary, kinds)
    yield from dead_outputs(summary, kinds)
    yield from odd_sizes(summary, kinds)
    yield from constant_matrices(summary, kinds)
    yield from lopsided(summary, balance)
    yield from step_findings(summary)


def _explained(
    findings: list[Finding], run: Run, failed: list[str]
) -> tuple[list[RootCause], list[Fix]]:
    """Causes that the log supports too, if there is one; fixes for the rest from the catalogue."""
    alarms = [finding for finding in findings if finding.is_alarm]
    if not alarms:
        return [], []
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        view = RunView(run)
        view.update()
        own = {finding.id for finding in alarms}
        logged = _from_log(view, own, failed)
        case = Case(view, [*findings, *logged])
        known = load_causes().causes
        causes = [
            cause
            for cause in rank(case, known.values(), failed)
            if own.intersection(cause.explains) and cause.confidence >= LEAST_CAUSE
        ][:MOST_CAUSES]
        fixes = {fix.change: fix for cause in causes for fix in cause.fixes}
        covered = {name for cause in causes for name in cause.explains}
        for finding in alarms:
            adviser = known.get(_ADVISERS.get(finding.id, ""))
            if finding.id not in covered and adviser is not None:
                fixes |= {fix.change: fix for fix in adviser.fixes(case)}
    return causes, list(fixes.values())


def _from_log(view: RunView, own: set[str], failed: list[str]) -> list[Finding]:
    from ..core.registry import load_analyzers

    if not any(True for _ in view.all_curves()) and not view.events:
        return []
    found = examine(view, load_analyzers().analyzers.values(), failed)
    return [finding for finding in found if finding.id not in own]


def _remarks(
    summary: CheckpointSummary, balance: Balance, moves: tuple[LayerMove, ...], run: Run | None
) -> Iterator[str]:
    if are_unrelated(moves):
        yield (
            "The two do not look like one training: nearly all weights differ as much as those of "
            "models that were started with different numbers."
        )
    for names in balance.ties[:4]:
        yield f"{' and '.join(names[:4])} are tied: one tensor, counted once."
    copies = [names for names in summary.duplicates if names not in balance.ties]
    if copies:
        yield (
            f"{len(copies):,} groups of tensors hold equal numbers, as copies do that have not "
            f"been trained apart: {' = '.join(copies[0][:3])}."
        )
    if is_adapter_alone(summary):
        yield (
            "It holds adapters alone: their base is in another file, so neither the counts nor "
            "the memory include it."
        )
    elif has_adapters(summary):
        yield "It holds adapters: a frozen base with small trained additions."
    if is_packed(summary):
        yield (
            "Its weights are quantised and packed, several in one number: counts and shares are of "
            "what was saved, and the balance is not judged."
        )
    yield from remarks_on_steps(summary, run)


def _looked_at(summary: CheckpointSummary, comparison: Comparison | None) -> Iterator[str]:
    yield f"names, shapes and types of {counted(len(summary.model), 'tensor')}, and their balance"
    read = [tensor for tensor in summary.model if tensor.stats is not None]
    if read:
        tensors = counted(len(read), "tensor")
        yield f"all values of {tensors}: NaN, infinity, zeros, dead outputs, size"
    for facts in summary.optimizers:
        held = counted(len(facts.states), "parameter tensor")
        yield f"the state of the optimizer ({facts.label}, {held})"
    if comparison is not None:
        yield f"the movement of {counted(len(comparison.changes), 'tensor')} between the two"


def _not_looked_at(
    summary: CheckpointSummary, comparison: Comparison | None, run: Run | None
) -> Iterator[str]:
    if not summary.has_values:
        yield "values: NaN, dead outputs and sizes are not known"
    if not summary.optimizers:
        yield "the optimizer: its state is not in the checkpoint"
    if comparison is None:
        yield "movement: give a second checkpoint to see what learns and what stands still"
    if run is None:
        yield "the log: --run LOG adds its settings, steps and curves"
